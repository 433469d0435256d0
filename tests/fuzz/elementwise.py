"""Random ElementwiseKernels: several outputs, each with an expression of its own."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from .bodies import Body
from .cases import Case, arrays, flat
from .expressions import COMPLEX, FLOATS, INTEGERS, variable
from .grammar import Pointer

TYPES = list(INTEGERS + FLOATS + COMPLEX)
SHAPES = st.lists(st.integers(1, 5), max_size=3).map(tuple)


def python_scalar(draw, type_: str):
    """A Python or NumPy scalar for a parameter of the type, and its value as the kernel sees it."""
    kind = np.dtype(type_).kind
    value = {"b": True, "i": draw(st.integers(-128, 127)), "u": draw(st.integers(0, 255))}.get(
        kind, draw(st.sampled_from([2.0, -0.5, 3.25, 1e3]))
    )
    value = value * (1 + 2j) if kind == "c" else value
    text = repr(value) if draw(st.booleans()) else f"np.dtype('{type_}').type({value!r})"
    return text, np.array([value], type_)


@st.composite
def elementwise(draw) -> Case:
    """A kernel, its arguments and what NumPy makes of them."""
    count = draw(st.integers(0, 3))
    sides = mutually_broadcastable_shapes(num_shapes=count, max_dims=4, min_side=0, max_side=5)
    shapes, shape = draw(sides) if count else ((), draw(SHAPES))
    named = draw(st.sampled_from([None, *TYPES]))  # the type that is called T
    case, env, scope, pointers = Case(""), {}, [], []
    parameters, passed, outs = [], [], []

    def type_of(name: str, type_: str) -> str:
        return "T" if type_ == named and name in voters else np.dtype(type_).name

    kinds = ["array"] * count + draw(st.lists(st.sampled_from(["scalar", "raw"]), max_size=2))
    types = [draw(st.sampled_from(TYPES)) for _ in kinds]
    if named and "array" in kinds:
        types[0] = named
    voters = {f"x{k}" for k, kind in enumerate(kinds)} if named and "array" in kinds else set()

    for k, (kind, type_) in enumerate(zip(kinds, types, strict=True)):
        name, text = f"x{k}", f"x{k}"
        if kind == "array":
            case.arrays[name] = draw(arrays(name, shapes[k], type_))
            env[name] = flat(case.arrays[name].host(name), shape)
        elif kind == "scalar":
            text, env[name] = python_scalar(draw, type_)
        else:
            own = draw(SHAPES)
            case.arrays[name] = draw(arrays(name, own, type_))
            env[name] = flat(case.arrays[name].host(name), own)
            pointers.append(Pointer(name, type_, own, True))
        if kind != "raw":
            scope.append(variable(name, type_))
        parameters.append(f"{'raw ' * (kind == 'raw')}{type_of(name, type_)} {name}")
        passed.append(text)

    size = math.prod(shape)
    reduce_dims = draw(st.booleans())
    env["i"] = np.arange(size)
    scope.append(variable("i", "q", "(long long)i"))
    given = draw(st.booleans()) or not count
    raw = bool(given and draw(st.integers(0, 3)) == 3 and shape)
    keywords = []
    if not count and (raw or draw(st.booleans())):  # nothing but raw arrays and scalars
        shape, keywords, given = (size,), [f"size={size}"], raw
    if not (reduce_dims or keywords):
        empty = [env["i"]] * len(shape)
        places = np.unravel_index(env["i"], shape) if size and shape else empty
        for axis, place in enumerate(places):
            env[f"at{axis}"] = place
            scope.append(variable(f"at{axis}", "q", f"(long long)_ind.get()[{axis}]"))

    body = Body(draw, scope, pointers)
    body.statements(3)
    case.count = draw(st.integers(1, 8))
    for k in range(case.count):
        name, type_ = f"z{k}", draw(st.sampled_from(TYPES))
        if given:
            case.arrays[name] = draw(arrays(name, shape, type_, output=True))
        if given and not raw:  # an output may be read as well
            env[name] = flat(case.arrays[name].host(name), shape)
            body.scope.append(variable(name, type_))
        outs.append((name, type_, body.root(type_, 3)))
        if given and not raw and outs[-1][2].rough:  # what reads it would not be exact
            body.scope.pop()
    lines = body.lines + [
        f"{name}[_ind.size() - 1 - i] = {e.text};" if raw else f"{name} = {e.text};"
        for name, _, e in outs
    ]
    _expect(case, body, env, outs, shape, raw)

    declared = [f"{'raw ' * raw}{type_of(name, type_)} {name}" for name, type_, _ in outs]
    names = [name for name, _, _ in outs]
    passed += names if given else []
    text = "\n".join(lines)
    case.code = (
        f"kernel = cp.ElementwiseKernel({', '.join(parameters)!r}, {', '.join(declared)!r}, '''\n"
        f"{text}\n''', 'fuzz', reduce_dims={reduce_dims})\n"
        f"{', '.join(names)} = kernel({', '.join(passed + keywords)})"
    )
    return case


def _expect(case: Case, body: Body, env: dict, outs, shape, raw: bool) -> None:
    """Fill in what must come out."""
    size = math.prod(shape)
    with np.errstate(all="ignore"):
        body.run(env)
        for name, _, e in outs:
            value = np.broadcast_to(e.value(env), size)
            if not raw:
                env[name] = value
            value = (value[::-1] if raw else value).reshape(shape)
            case.expect(name, value, e.rough)
