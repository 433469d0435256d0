"""A case: arrays that lie in memory in odd ways, a program that uses them, and what must come out.

The program is text, so what is run and what is printed for a failure are the same thing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import cupy as cp
import numpy as np
from hypothesis import strategies as st

_NAMES = {"cp": cp, "np": np, "nan": np.nan, "inf": np.inf}
# By the type in which an inexact result is kept: relative, and absolute for what is nearly 0.
TOLERANCE = {"e": (2e-3, 1e-6), "f": (2e-6, 1e-35), "d": (1e-12, 1e-290)}
TOLERANCE |= {"F": (1e-5, 0), "D": (1e-12, 0)}


@dataclass
class Array:
    """``base`` in memory, and the text of the view of it (of ``NAME_base``) that is used."""

    base: np.ndarray
    view: str

    def host(self, name: str) -> np.ndarray:
        return eval(self.view.replace("cp.", "np."), {"np": np, f"{name}_base": self.base})


@dataclass
class Case:
    """``code`` uses ``arrays`` by name and leaves, under the names of ``wanted``, the results.

    ``error`` is for a program that is wrong: the name that the exception's text must contain.
    """

    code: str
    arrays: dict[str, Array] = field(default_factory=dict)
    wanted: dict[str, np.ndarray] = field(default_factory=dict)
    inexact: dict[str, str] = field(default_factory=dict)  # by result, the type it was computed in
    count: int = 1
    error: str | None = None

    def expect(self, name: str, value: np.ndarray, rough: str = "") -> None:
        """``value`` must be in ``name``; of an array that was given, nothing else may change.

        ``rough`` is the type in which it was computed, if inexactly.
        """
        if name in self.arrays:
            array = self.arrays[name]
            after = Array(array.base.copy(), array.view)
            after.host(name)[...] = value
            name, value = f"{name}_base", after.base
        self.wanted[name] = value
        if rough:
            types = (rough, value.dtype.char)
            self.inexact[name] = max(types, key=lambda c: TOLERANCE[c][0])

    def run(self) -> None:
        """Run it here; AssertionError where a result differs or a wrong program passes."""
        if self.error is None:
            return self._compare()
        try:
            self._execute()
        except Exception as error:
            assert self.error in str(error), f"{error!r} does not name {self.error!r}"
        else:
            raise AssertionError("a wrong program passed without an error")

    def _execute(self) -> dict:
        names = dict(_NAMES)
        for name, array in self.arrays.items():
            names[f"{name}_base"] = cp.asarray(array.base)
            names[name] = eval(array.view, names)
        exec(self.code, names)
        return names

    def _compare(self) -> None:
        names = self._execute()
        for name, wanted in self.wanted.items():
            got = names[name].get()
            assert got.dtype == wanted.dtype, f"{name}: dtype {got.dtype} instead of {wanted.dtype}"
            assert got.shape == wanted.shape, f"{name}: shape {got.shape} instead of {wanted.shape}"
            if name in self.inexact:
                rtol, atol = TOLERANCE[self.inexact[name]]
                np.testing.assert_allclose(got, wanted, rtol, atol, err_msg=name)
            else:
                np.testing.assert_array_equal(got, wanted, err_msg=name)

    def program(self) -> str:
        """The same as a program of its own, to be pasted."""
        lines = ["import cupy as cp, numpy as np", "from numpy import inf, nan"]
        for name, array in self.arrays.items():
            lines += [f"{name}_base = cp.asarray({literal(array.base)})", f"{name} = {array.view}"]
        lines.append(self.code)
        for name, wanted in self.wanted.items():
            function, more = "array_equal", ""
            if name in self.inexact:
                function, more = "allclose", ", {}, {}".format(*TOLERANCE[self.inexact[name]])
            lines.append(f"np.testing.assert_{function}({name}.get(), {literal(wanted)}{more})")
        return "\n".join(lines) + "\n"


def literal(array: np.ndarray) -> str:
    """NumPy code that makes the array."""
    array, view = np.ascontiguousarray(array).reshape(array.shape), ""
    if array.dtype.kind == "c":
        array, view = np.stack([array.real, array.imag], -1), f".view('{array.dtype.char}')[..., 0]"
    if not np.any(array):  # an empty one too
        return f"np.zeros({array.shape}, '{array.dtype.char}'){view}"
    return f"np.array({array.tolist()}, '{array.dtype.char}'){view}"


# ---------------------------------------------------------------------------------------- arrays


def numbers(rng: np.random.Generator, shape: tuple[int, ...], type_: str) -> np.ndarray:
    """Small numbers and a few that lie at the ends of what the type can hold."""
    kind = np.dtype(type_).kind
    if kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if kind == "c":
        parts = numbers(rng, (2, *shape), type_.lower())
        parts = np.where(np.isfinite(parts), parts, 1)
        return np.asarray(parts[0] + 1j * parts[1], type_)
    if kind in "iu":
        info = np.iinfo(type_)
        special = np.array([0, 1, info.max, info.min, info.max - 1, info.min + 1, 2], type_)
        ordinary = rng.integers(max(info.min, -100), 101, shape).astype(type_)
        wide = rng.integers(info.min, info.max, shape, type_, endpoint=True)
        ordinary = np.where(rng.random(shape) < 0.2, wide, ordinary)
    else:
        info = np.finfo(type_)
        special = [0, -0.0, 1, -1, 0.5, np.inf, -np.inf, np.nan, info.max, info.tiny, -info.max]
        special = np.array([*special, info.tiny / 8, 2.5], type_)
        ordinary = np.round(rng.normal(0, 20, shape), rng.integers(0, 4)).astype(type_)
    return np.where(rng.random(shape) < 0.15, rng.choice(special, shape), ordinary).astype(type_)


@st.composite
def arrays(draw, name: str, shape: tuple[int, ...], type_: str, output: bool = False) -> Array:
    """An array of that shape whose axes are permuted, stepped over, reversed, shifted, broadcast.

    An output is not broadcast, as two elements would share memory.
    """
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    if not draw(st.booleans()):
        return Array(numbers(rng, shape, type_), f"{name}_base")
    order = draw(st.permutations(range(len(shape))))
    steps = draw(
        st.tuples(*(st.sampled_from([1, 1, -1, 2, -3] + [0] * (not output)) for _ in shape))
    )
    starts = draw(st.tuples(*(st.integers(0, 2) for _ in shape)))
    cuts, base_shape = [], []
    for axis, step, start in zip(order, steps, starts, strict=True):
        length = shape[axis]
        if step == 0:
            cuts.append(":")
            base_shape.append(1 if length else 0)
            continue
        whole = start + abs(step) * length
        base_shape.append(whole)
        cuts.append(
            f"{start}:{whole}:{step}"
            if step > 0
            else f"{whole - 1}:{start - 1 if start else ''}:{step}"
        )
    view = f"{name}_base"
    if shape:
        back = [order.index(axis) for axis in range(len(shape))]
        view += f"[{', '.join(cuts)}].transpose({', '.join(map(str, back))})"
        if 0 in steps:
            view = f"cp.broadcast_to({view}, {shape})"
    array = Array(numbers(rng, tuple(base_shape), type_), view)
    assert array.host(name).shape == shape, (array, shape)
    return array


def flat(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Its elements in C order, after broadcasting: what a kernel's elements 0, 1, 2, ... read."""
    return np.broadcast_to(array, shape).reshape(math.prod(shape))
