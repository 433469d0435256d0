"""Random functions for ``cp.fuse``: the same Python text run with CuPy's functions and NumPy's."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from .cases import Case, arrays

TYPES = list("idfqhbBHIQ?")
# Without // and %: of fractions CuPy's are other formulas than NumPy's (tests/standin has them).
BINARY = "+ - * / < <= == != > >= & | ^ maximum minimum arctan2 hypot logical_or".split()
BINARY += ["true_divide", "fmod", "copysign", "minimum", "logical_and"]
UNARY = (
    "negative abs sqrt floor sin exp tanh isnan square logical_not sign real astype copy".split()
)


def _sign(x):
    """Of Booleans, too, whose signs NumPy refuses and CuPy takes for integers of 8 bits."""
    return np.sign(x.astype("b") if x.dtype == bool else x)


_NUMPY = SimpleNamespace(**{**vars(np), "sign": _sign})


def _expression(draw, names: list[str], depth: int) -> str:
    kind = draw(st.integers(0, 5)) if depth else 0
    if kind <= 1:
        # A number without a type has that of CuPy's first kernel that takes it (tests/standin).
        name = draw(st.sampled_from(names))
        return draw(st.sampled_from([name, name, name, f"({name} * {name}.dtype.type(2))"]))

    def part() -> str:
        return _expression(draw, names, depth - 1)

    if kind == 2:
        return f"xp.where({part()} != 0, {part()}, {part()})"
    if kind == 3:
        name = draw(st.sampled_from(UNARY))
        if name == "real":  # of a plain number it is one, in NumPy alone
            return f"xp.real({draw(st.sampled_from(names))})"
        if name in ("astype", "copy"):
            call = f"astype(np.{np.dtype(draw(st.sampled_from(list('df')))).name})"
            return f"({draw(st.sampled_from(names))}).{call if name == 'astype' else 'copy()'}"
        return f"xp.{name}({part()})"
    name = draw(st.sampled_from(BINARY))
    if name.isidentifier():
        return f"xp.{name}({part()}, {part()})"
    return f"({part()} {name} {part()})"


@st.composite
def fused(draw) -> Case:
    """A function of a few statements, its arguments and what NumPy makes of it.

    What NumPy refuses (``~`` of a float, say) must be refused here as well: then ``error`` is set.
    """
    count = draw(st.integers(1, 3))
    sides = mutually_broadcastable_shapes(num_shapes=count, max_dims=3, min_side=0, max_side=5)
    shapes, _ = draw(sides)
    case = Case("")
    for k, shape in enumerate(shapes):
        case.arrays[f"x{k}"] = draw(arrays(f"x{k}", shape, draw(st.sampled_from(TYPES))))
    names, lines = list(case.arrays), []
    arguments = ", ".join(names)
    for k in range(draw(st.integers(0, 2))):
        lines.append(f"    v{k} = {_expression(draw, names, 2)}")
        names.append(f"v{k}")
    result = _expression(draw, names, 3)
    reduced = draw(st.integers(0, 3)) == 3
    if reduced:
        result = f"xp.{draw(st.sampled_from(['amax', 'any', 'all', 'sum']))}(x0 + {result})"
    lines.append(f"    return {result}")
    body = "\n".join(lines)
    case.code = f"xp = cp\n\n\ndef f({arguments}):\n{body}\n\n\nz = cp.fuse(f)({arguments})"
    host = {name: array.host(name) for name, array in case.arrays.items()}
    space = {"xp": _NUMPY, "np": np}
    exec(f"def f({arguments}):\n{body}", space)
    try:
        with np.errstate(all="ignore"):
            wanted = space["f"](**host)
    except (TypeError, ValueError, OverflowError, AttributeError):
        case.error = ""
        return case
    if not isinstance(wanted, (np.ndarray, np.generic)):
        reject()  # a plain number: it depends on no argument
    if not reduced:  # one kernel for all: its result has the shape that all arguments have together
        wanted = np.broadcast_to(wanted, np.broadcast_shapes(*(x.shape for x in host.values())))
    rough = wanted.dtype.char if wanted.dtype.kind == "f" else ""
    case.expect("z", np.asarray(wanted), rough)
    return case
