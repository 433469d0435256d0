"""Random ReductionKernels. The order of a reduction is free, so every one here is exact."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from .bodies import Body
from .cases import Case, arrays, flat
from .elementwise import TYPES, python_scalar
from .expressions import COMPLEX, CTYPES, FLOATS, cast, clamped, variable

# By kind of type: reduce_expr, identity, NumPy's function.
_ADD = [("a + b", "0", np.add)]
_ENDS = [("a < b ? a : b", "{high}", np.minimum), ("a > b ? a : b", "{low}", np.maximum)]
REDUCTIONS = {
    "b": [
        ("a || b", "false", np.logical_or),
        ("a && b", "true", np.logical_and),
        ("a != b", "false", np.logical_xor),
    ],
    "i": [
        *_ADD,
        ("a * b", "1", np.multiply),
        ("a ^ b", "0", np.bitwise_xor),
        ("a | b", "0", np.bitwise_or),
        ("a & b", "-1", np.bitwise_and),
        *_ENDS,
    ],
    "f": [*_ADD, *_ENDS],
    "c": _ADD,
}
REDUCTIONS["u"] = REDUCTIONS["i"]


def _mapped(body: Body, type_: str):
    """An expression of the type to reduce: among floats a small whole number, so sums are exact."""
    e = body.expression(2)
    if type_ in FLOATS + COMPLEX:
        limit = 2 if type_ == "e" else 999  # 1,000 of them fit into the type's mantissa
        e = cast(cast(clamped(body.real(2), -limit, limit, "d"), "i"), type_)
    return cast(e, type_)


@st.composite
def reduction(draw) -> Case:
    """A kernel, its arguments and what NumPy makes of them."""
    sides = mutually_broadcastable_shapes(
        num_shapes=draw(st.integers(1, 3)), max_dims=4, min_side=0, max_side=5
    )
    shapes, shape = draw(sides)
    if draw(st.integers(0, 3)) == 3:  # more elements than partial results
        length = draw(st.sampled_from([511, 512, 513, 700, 1000]))
        shapes, shape = [(*s, length) for s in shapes], (*shape, length)
    if np.prod(shape) > 1500:
        shapes, shape = [()], ()
    case, env, scope, parameters, passed = Case(""), {}, [], [], []
    for k, own in enumerate(shapes):
        name, type_ = f"x{k}", draw(st.sampled_from(TYPES))
        case.arrays[name] = draw(arrays(name, own, type_))
        env[name] = flat(case.arrays[name].host(name), shape)
        scope.append(variable(name, type_))
        parameters.append(f"{np.dtype(type_).name} {name}")
        passed.append(name)
    if draw(st.booleans()):
        type_ = draw(st.sampled_from(TYPES))
        text, env["s"] = python_scalar(draw, type_)
        scope.append(variable("s", type_))
        parameters.append(f"{np.dtype(type_).name} s")
        passed.append(text)

    # A kernel knows halves where a parameter is one.
    halves = any(one.startswith("float16") for one in parameters)
    type_ = draw(st.sampled_from([t for t in TYPES if t != "e" or halves]))
    expression, identity, function = draw(st.sampled_from(REDUCTIONS[np.dtype(type_).kind]))
    if type_ == "e" and function is np.add:
        expression = "float16(a + b)"
    initial, identity = _identity(function, identity, type_)
    mapped = _mapped(Body(draw, scope), type_)
    after = Body(draw, [variable("a", type_)])
    count = draw(st.integers(1, 2))
    outs = [(f"z{k}", t, after.root(t, 2)) for k, t in enumerate(draw(_types(count)))]

    axes = draw(st.none() | st.sets(st.integers(0, len(shape) - 1)) if shape else st.none())
    axis = None if axes is None else tuple(a - len(shape) * draw(st.booleans()) for a in axes)
    keepdims = draw(st.booleans())
    with np.errstate(all="ignore"):
        values = np.broadcast_to(mapped.value(env), math.prod(shape)).reshape(shape)
        env["a"] = np.asarray(
            function.reduce(values, axis, type_, keepdims=keepdims, initial=initial)
        ).astype(type_)
        out_shape = env["a"].shape
        env["a"] = env["a"].reshape(-1)
        results = [
            np.broadcast_to(e.value(env), env["a"].shape).reshape(out_shape) for _, _, e in outs
        ]
    keywords = f"axis={axis}, keepdims={keepdims}"
    names = [name for name, _, _ in outs]
    given = draw(st.booleans())
    for (name, out_type, e), value in zip(outs, results, strict=True):
        if given:
            case.arrays[name] = draw(arrays(name, out_shape, out_type, output=True))
        elif name != "z0":  # the call returns the first of them only
            continue
        case.expect(name, value, e.rough)
    passed += names if given else []
    declared = ", ".join(f"{np.dtype(t).name} {name}" for name, t, _ in outs)
    post = ", ".join(f"{name} = {e.text}" for name, _, e in outs)
    case.code = (
        f"kernel = cp.ReductionKernel({', '.join(parameters)!r}, {declared!r},\n"
        f"    {mapped.text!r},\n    {expression!r},\n    {post!r},\n"
        f"    {identity!r}, 'fuzz', reduce_type={CTYPES[type_]!r}, "
        f"reduce_dims={draw(st.booleans())})\n"
        f"z0 = kernel({', '.join(passed)}, {keywords})"
    )
    return case


def _types(count: int):
    return st.tuples(*(st.sampled_from(TYPES) for _ in range(count)))


def _identity(function, text: str, type_: str):
    """NumPy's initial value and the kernel's identity, both neutral."""
    if "{" not in text:
        neutral = {"-1": -1, "true": True, "false": False}.get(text, 0)
        neutral = 1 if text == "1" else neutral
        return np.array([neutral]).astype(type_)[0], text
    if type_ in FLOATS:
        high, low = (60000.0, -60000.0)
    else:
        info = np.iinfo(type_)
        high, low = info.max, info.min
    number = high if "high" in text else low
    suffix = "ull" if number > 2**63 - 1 else ""
    text = f"{number}{suffix}" if number != -(2**63) else "-9223372036854775807ll - 1"
    return np.dtype(type_).type(number), text
