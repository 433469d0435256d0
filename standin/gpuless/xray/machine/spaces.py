"""Which bytes belong to which array of a launch."""

from __future__ import annotations

from dataclasses import dataclass

from gpuless.engine import memory
from gpuless.xray.machine.launch import Space


@dataclass(frozen=True)
class Given:
    """An array that a kernel was given: its name there, where it begins, its elements' bytes.

    ``end`` is the address behind its last byte, ``constant`` that the kernel may only read it;
    ``alignment`` and ``type_bytes`` are of the type the kernel takes its elements for; 16 and 1
    where it says nothing.
    """

    name: str
    address: int
    end: int
    item_bytes: int
    constant: bool
    alignment: int = 16
    type_bytes: int = 1

    @property
    def widest(self) -> int:
        """Bytes that one access to an element of the kernel's type can move at most."""
        return self.alignment if self.type_bytes % 16 == 0 else 16


def spaces(arrays: list[Given]) -> list[Space]:
    """Spaces that do not overlap: arrays that do are one, with all their names.

    What lies before, between and behind the arrays of one allocation belongs to the array before
    it, or to the first: a kernel may go there with a pointer.
    """
    groups: dict[tuple[int, int], list[list[Given]]] = {}
    for given in sorted(arrays, key=lambda g: (g.address, g.end)):
        held = memory.holding(given.address) or (given.address, given.end - given.address)
        clusters = groups.setdefault(held, [])
        if clusters and given.address < max(g.end for g in clusters[-1]):
            clusters[-1].append(given)
        else:
            clusters.append([given])
    found = []
    for (base, size), clusters in groups.items():
        starts = [base, *(cluster[0].address for cluster in clusters[1:])]
        ends = [*starts[1:], base + size]
        for cluster, start, end in zip(clusters, starts, ends, strict=True):
            if end <= start:
                continue
            found.append(
                Space(
                    name=" and ".join(dict.fromkeys(g.name for g in cluster)),
                    base=start,
                    size=end - start,
                    item_bytes=min(g.item_bytes for g in cluster),
                    origin=cluster[0].address - start,
                    read_only=all(g.constant for g in cluster),
                    alignment=min(g.alignment for g in cluster),
                    widest=min(g.widest for g in cluster),
                )
            )
    return found
