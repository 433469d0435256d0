"""The functions that only a kernel can call: the barriers, shared memory, atomics, warps."""

# ruff: noqa: I001  (imported names in rows)

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable

import numpy as np
from cupy._core._syntax import Constant

from cupyx.jit._operations import apply
from cupyx.jit._values import (
    INT32, INT64, UINT32, VOID, Array, Pointer, Range, Scalar, Type, Value, cast, on_device, pack,
    scalar,
)  # fmt: skip


class Builtin:
    """``translate(function, *args, **kwargs)`` makes a value of a call's values and constants."""

    def __init__(self, translate: Callable, constants: bool = False):
        functools.update_wrapper(self, translate)
        self._translate, self._constants = translate, constants

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Cannot call this function from Python layer.")

    def __repr__(self) -> str:
        return "<cupyx.jit function>"

    def translate(self, function, args: list, kwargs: dict):
        if self._constants:
            if not all(isinstance(one, Constant) for one in (*args, *kwargs.values())):
                raise TypeError("Arguments must be constants.")
            args = [one.obj for one in args]
            kwargs = {name: one.obj for name, one in kwargs.items()}
        inspect.signature(self._translate).bind(function, *args, **kwargs)  # TypeError: arguments
        return self._translate(function, *args, **kwargs)


_of_constants = functools.partial(Builtin, constants=True)


@Builtin
def range_(function, *args, unroll=None):
    """As Python's ``range``. ``unroll``: True, False or how many turns, for the GPU's compiler."""
    if not 0 < len(args) < 4:
        most = "at least 1" if not args else "at most 3"
        raise TypeError(f"range expected {most} argument, got {len(args)}")
    bounds = [Constant(0), *args] if len(args) == 1 else list(args)
    bounds += [Constant(1)] * (3 - len(bounds))
    if unroll is not None:
        if not all(isinstance(one, Constant) for one in (*bounds, unroll)):
            raise TypeError("loop unrolling requires constant start, stop, step and unroll value")
        unroll = unroll.obj
        if not isinstance(unroll, int):
            raise TypeError(f"unroll value expected to be of type int, got {type(unroll).__name__}")
        unroll = 1 if unroll is False else unroll
        if not 0 < unroll < 1 << 31:
            warnings.warn(
                "loop unrolling is ignored as the unroll value is non-positive or greater than "
                "INT_MAX",
                stacklevel=2,
            )
    rising = bounds[2].obj >= 0 if isinstance(bounds[2], Constant) else None
    values = [on_device(one, function.mode) for one in bounds]
    if any(not isinstance(one.type, Scalar) or one.type.dtype.kind not in "iu" for one in values):
        raise TypeError("range supports only for integer type.")
    if rising is None and values[2].type.dtype.kind == "u":
        rising = True
    kind = values[1].type if function.mode == "cuda" else scalar("l")
    return Range(*values, kind, rising, unroll)


@Builtin
def len_(function, *args, **kwargs):
    if len(args) != 1:
        raise TypeError(f"len() expects only 1 argument, got {len(args)}")
    if kwargs:
        raise TypeError("keyword arguments are not supported")
    kind = getattr(args[0], "type", None)
    if not isinstance(kind, Array):
        raise TypeError("len() supports only array type")
    if not kind.ndim:
        raise TypeError("len() of unsized array")
    return Value(f"static_cast<long long>({args[0].code}.shape[0])", INT64)


def _extreme(name: str, ufunc: str) -> Builtin:
    def extreme(function, *args, **kwargs):
        if len(args) < 2:
            raise TypeError(f"{name}() expects at least 2 arguments, got {len(args)}")
        if kwargs:
            raise TypeError("keyword arguments are not supported")
        return functools.reduce(lambda x, y: apply(ufunc, [x, y], function.mode), args)

    return Builtin(extreme)


OF_PYTHON = {
    range: range_, len: len_, min: _extreme("min", "minimum"), max: _extreme("max", "maximum"),
}  # fmt: skip


@_of_constants
def syncthreads(function):
    """``__syncthreads()``: wait for all threads of the block."""
    return Value("__syncthreads()", VOID)


@Builtin
def syncwarp(function, *, mask=None):
    """``__syncwarp(mask)``: wait for the threads of the warp, or for those in ``mask``."""
    if mask is None or (isinstance(mask, Constant) and not mask.obj):
        return Value("__syncwarp()", VOID)
    if isinstance(mask, Constant) and not 0 <= mask.obj <= 0xFFFFFFFF:
        raise ValueError("mask is out of range")
    return Value(f"__syncwarp({on_device(cast(mask, INT32), function.mode).code})", VOID)


@_of_constants
def shared_memory(function, dtype, size, alignment=None):
    """An array of ``size`` elements that the block shares; of the launch's ``shared_mem`` bytes
    where ``size`` is None. ``alignment`` in bytes."""
    for name, value in (("size of shared_memory", size), ("alignment", alignment)):
        if not (value is None or isinstance(value, int)):
            raise TypeError(f"{name} must be integer or `None`")
    item = dtype if isinstance(dtype, Type) else scalar(dtype)
    name = function.fresh("_smem")
    align = "" if alignment is None else f"__align__({alignment}) "
    words = "extern __shared__" if size is None else "__shared__"
    function.declared.append(f"{words} {align}{item} {name}[{'' if size is None else size}];")
    return Value(name, Pointer(item))


def _atomic(name: str, dtypes: str) -> Builtin:
    def atomic(function, array, index, value, alt_value=None):
        array = on_device(array, function.mode)
        if not isinstance(array.type, Array | Pointer):
            raise TypeError("The first argument must be of array type.")
        target = function.index(array, index)
        kind = target.type
        if not isinstance(kind, Scalar) or kind.dtype.name not in dtypes.split():
            what = getattr(kind, "dtype", kind)
            raise TypeError(f"`{name}` does not support {what} input.")
        assert (alt_value is not None) == (name == "atomicCAS")
        operands = [value] if alt_value is None else [value, alt_value]
        codes = [on_device(cast(one, kind), function.mode).code for one in operands]
        return Value(f"{name}(&{target.code}, {', '.join(codes)})", kind)

    atomic.__doc__ = f"``{name}`` on ``array[index]``; its value before. Types: {dtypes}."
    return Builtin(atomic)


_WORDS = "int32 uint32 uint64"
atomic_add = _atomic("atomicAdd", f"{_WORDS} float32 float64 float16")
atomic_sub = _atomic("atomicSub", "int32 uint32")
atomic_exch = _atomic("atomicExch", f"{_WORDS} float32")
atomic_min, atomic_max = _atomic("atomicMin", _WORDS), _atomic("atomicMax", _WORDS)
atomic_inc, atomic_dec = _atomic("atomicInc", "uint32"), _atomic("atomicDec", "uint32")
atomic_cas = _atomic("atomicCAS", f"{_WORDS} uint16")
atomic_and, atomic_or = _atomic("atomicAnd", _WORDS), _atomic("atomicOr", _WORDS)
atomic_xor = _atomic("atomicXor", _WORDS)


def _place(code: str, doc: str) -> Builtin:
    def place(function, ndim):
        if not isinstance(ndim, int):
            raise TypeError("ndim must be an integer")
        if ndim == 1:
            return Value(f"({code.format('x')})", UINT32, open="+" in code)
        if ndim not in (2, 3):
            raise ValueError("Only ndim=1,2,3 are supported")
        return pack([Value(code.format(axis), UINT32) for axis in "xyz"[:ndim]])

    place.__doc__ = doc
    return _of_constants(place)


grid = _place("threadIdx.{0} + blockIdx.{0} * blockDim.{0}", "The thread's place in the grid.")
gridsize = _place("blockDim.{0} * gridDim.{0}", "How many threads the grid has.")


@_of_constants
def laneid(function):
    """The thread's place in its warp."""
    flat = "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)"
    return Value(f"(({flat}) % 32)", UINT32)


def _shuffle(name: str, lane: Scalar) -> Builtin:
    def shuffle(function, mask, var, val_id, *, width=None):
        var = on_device(var, function.mode)
        known = "int32 uint32 int64 uint64 float32 float64 float16".split()
        if not isinstance(var.type, Scalar) or var.type.dtype.name not in known:
            what = getattr(var.type, "dtype", var.type)
            raise TypeError(f"`{name}` does not support {what} input.")
        if not isinstance(mask, Constant):
            raise TypeError("mask must be an integer")
        if not 0 <= mask.obj <= 0xFFFFFFFF:
            raise ValueError("mask is out of range")
        if isinstance(width, Constant) and width.obj and width.obj not in (2, 4, 8, 16, 32):
            raise ValueError("width needs to be power of 2")
        if width is None or (isinstance(width, Constant) and not width.obj):
            width = Constant(32)
        lanes = on_device(cast(val_id, lane), function.mode).code
        width = on_device(cast(width, INT32), function.mode).code
        code = f"float({var.code})" if var.type.dtype == np.float16 else var.code
        return Value(f"{name}({mask.obj:#x}, {code}, {lanes}, {width})", var.type)

    shuffle.__doc__ = f"``{name}``: the value that another thread of the warp has."
    return Builtin(shuffle)


shfl_sync, shfl_xor_sync = _shuffle("__shfl_sync", INT32), _shuffle("__shfl_xor_sync", INT32)
shfl_up_sync = _shuffle("__shfl_up_sync", UINT32)
shfl_down_sync = _shuffle("__shfl_down_sync", UINT32)
