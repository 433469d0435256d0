"""The products of chapters 38 and 39, by the names of their rungs."""

import functools

from chapter_cells import Chapter


@functools.cache
def chapters():
    """Return the names of chapters 38 and 39 after their cells have run, two dicts."""
    return Chapter("38_matmul_fast").names, Chapter("39_matmul_limits").names


def rungs():
    """Return {rung: Product}, from the slowest to the fastest."""
    first, second = chapters()
    block = {"block": (32, 32), "BM": 32, "BN": 32}
    found = {"down a column": first["down"], "start": first["start"]}
    found["along a row"] = first["Product"](first["along_source"], **block)
    found |= {name: first[name] for name in ("tile", "column", "square", "vector")}
    found |= second["rungs"] | second["fast"]
    found["float64"] = second["double_product"](4, 4)
    return found | second["in_halves"]
