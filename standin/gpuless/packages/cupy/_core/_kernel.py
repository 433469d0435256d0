"""What ElementwiseKernel and ReductionKernel share: parameters, their types, shapes and strides.

The rules and the error messages are those of CuPy 14 (``cupy/_core/_kernel.pyx``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from cupy._core._dispatch import unsupported
from cupy._core._ndarray import ndarray
from cupy._core._protocols import as_device
from cupy.cuda._ownership import check_device
from cupy.cuda.memory import Handle

CTYPES = {
    np.dtype(name): text
    for name, text in {
        "float64": "double",
        "float32": "float",
        "float16": "float16",
        "complex128": "thrust::complex<double>",
        "complex64": "thrust::complex<float>",
        "int64": "long long",
        "int32": "int",
        "int16": "short",
        "int8": "signed char",
        "uint64": "unsigned long long",
        "uint32": "unsigned int",
        "uint16": "unsigned short",
        "uint8": "unsigned char",
        "bool": "bool",
    }.items()
}

TEXTURE = np.dtype("V8")  # stands for the type of a texture object: no array has it
CTYPES[TEXTURE] = "cudaTextureObject_t"

_SCALAR_TYPES = {bool, int, float, complex} | {np.dtype(c).type for c in "?bhilqBHILQefdFD"}


def ctype_of(dtype) -> str:
    """The C++ name of a dtype; ``ValueError`` for a dtype that no kernel can take."""
    try:
        return CTYPES[np.dtype(dtype)]
    except KeyError:
        raise ValueError(f"Unsupported dtype {dtype}") from None


# ---------------------------------------------------------------------------------- parameters


@dataclass(frozen=True)
class ParameterInfo:
    """One parameter of a kernel: ``[raw] [_non_const] TYPE NAME``."""

    name: str
    dtype: np.dtype | None  # None for a placeholder such as T
    ctype: str
    raw: bool
    is_const: bool


def parse_parameters(text: str, is_const: bool) -> tuple[ParameterInfo, ...]:
    """Parse a comma-separated parameter list; an empty text has no parameters."""
    if len(text) == 0:
        return ()
    return tuple(_parse_parameter(part, is_const) for part in text.strip().split(","))


def _parse_parameter(text: str, is_const: bool) -> ParameterInfo:
    words = text.split()
    if len(words) < 2:
        raise Exception(f"Syntax error: {text}")
    *keywords, typename, name = words
    dtype = None if len(typename) == 1 else np.dtype(typename)
    ctype = typename if dtype is None else ctype_of(dtype)
    raw = False
    for word in keywords:
        if word == "raw":
            raw = True
        elif word == "_non_const":
            is_const = False
        else:
            raise Exception(f'Unknown keyword "{word}"')
    return ParameterInfo(name, dtype, ctype, raw, is_const)


# ----------------------------------------------------------------------------------- arguments


@dataclass(frozen=True)
class Scalar:
    """A Python or NumPy scalar argument: what is left of it in a plan, its dtype."""

    dtype: np.dtype

    @property
    def stored(self) -> np.dtype:
        """As what it is stored: the number of a texture object."""
        return np.dtype(np.uint64) if self.dtype == TEXTURE else self.dtype


def accept(value):
    """A scalar, a texture object or a device array, one offered by a protocol too; ``TypeError``
    for all else."""
    value = as_device(value)
    if isinstance(value, ndarray) or type(value) in _SCALAR_TYPES:
        if type(value) is int and not -(2**63) <= value < 2**64:  # whatever the parameter's type
            raise OverflowError("Python int too large to convert to C long")
        return value
    if isinstance(value, Handle) and value.is_texture:
        check_device(value._memory, "the texture")
        return value
    raise unsupported(value)


def seen(value) -> Argument:
    """An accepted argument as a plan sees it."""
    if isinstance(value, Handle):
        return Scalar(TEXTURE)
    return value._array if isinstance(value, ndarray) else Scalar(np.dtype(type(value)))


def votes(arg: Argument) -> bool:
    """Whether the argument decides what type a placeholder is; a number does not."""
    return isinstance(arg, np.ndarray) or arg.dtype == TEXTURE


def decide_types(
    in_params: Sequence[ParameterInfo],
    out_params: Sequence[ParameterInfo],
    in_dtypes: Sequence,
    out_dtypes: Sequence,
) -> tuple[list, list, dict]:
    """Dtypes of all parameters and of each placeholder. ``None`` is a scalar: it has no vote."""
    placeholders: dict[str, object] = {}

    def vote(p: ParameterInfo, given) -> None:
        if p.dtype is not None:
            if np.dtype(given) != p.dtype:
                raise TypeError(f"Type is mismatched. {p.name} {given} {p.dtype}")
        elif p.ctype in placeholders:
            first = placeholders[p.ctype]
            if np.dtype(first) != np.dtype(given):
                raise TypeError(f"Type is mismatched. {p.name} {given} {first} {p.ctype}")
        else:
            placeholders[p.ctype] = given

    for p, given in zip(out_params, out_dtypes, strict=False):  # none are given, or all
        if given is None:
            raise TypeError("Output arguments must be cupy.ndarray")
        vote(p, given)
    for p, given in zip(in_params, in_dtypes, strict=True):
        if given is not None:
            vote(p, given)

    def final(p: ParameterInfo) -> np.dtype:
        return np.dtype(placeholders[p.ctype]) if p.dtype is None else p.dtype

    return (
        [final(p) for p in in_params],
        [final(p) for p in out_params],
        {name: np.dtype(dtype) for name, dtype in sorted(placeholders.items())},
    )


def typed(args: Sequence[Argument], dtypes: Sequence[np.dtype]) -> list[Argument]:
    """The arguments, each scalar with the dtype that was decided for its parameter."""
    return [
        Scalar(dtype) if isinstance(arg, Scalar) else arg
        for arg, dtype in zip(args, dtypes, strict=True)
    ]


# ------------------------------------------------------------------------------ shapes, strides


# An array argument is seen as a NumPy array, of which only dtype, shape and strides are looked at.
Argument = np.ndarray | Scalar


def broadcast(
    args: Sequence[Argument], params: Sequence[ParameterInfo], has_size: bool
) -> tuple[tuple[int, ...], list[Argument]]:
    """Common shape of the arrays that are not raw, and all arguments seen through it."""
    voters = [
        arg if isinstance(arg, np.ndarray) and not p.raw else None
        for arg, p in zip(args, params, strict=False)  # outputs may be missing
    ]
    shapes = [v.shape for v in voters if v is not None]
    if has_size:
        if shapes:
            raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
    elif not shapes:
        raise ValueError("Loop size is undecided.")
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        given = " ".join("()" if v is None else str(v.shape) for v in voters)
        raise ValueError(f"operands could not be broadcast together with shapes {given}") from None
    return shape, [
        arg if v is None else np.broadcast_to(v, shape) for arg, v in zip(args, voters, strict=True)
    ]


def check_outputs(
    outputs: Sequence[Argument],
    params: Sequence[ParameterInfo],
    shape: tuple[int, ...],
    has_size: bool,
) -> None:
    """Raise unless the given outputs fit; or unless outputs that are not given can be made."""
    if not outputs:
        if any(p.raw for p in params) and not has_size:
            raise ValueError("Output array size is Undecided")
        return
    for arg, p in zip(outputs, params, strict=True):
        if not isinstance(arg, np.ndarray):
            raise TypeError("Output arguments type must be cupy.ndarray")
        if not p.raw and arg.shape != shape:
            raise ValueError("Out shape is mismatched")


def fold(
    args: Sequence[Argument], params: Sequence[ParameterInfo], shape: tuple[int, ...]
) -> tuple[tuple[int, ...], list[Argument]]:
    """Merge axes that lie one behind the other in all arrays that are not raw (`reduce_dims`)."""
    folded = list(args)
    chosen = [
        number
        for number, (arg, p) in enumerate(zip(args, params, strict=True))
        if isinstance(arg, np.ndarray) and not p.raw
    ]
    strided = [args[k] for k in chosen if not args[k].flags.c_contiguous]
    if len(shape) <= 1 or not chosen or (len(shape) == 2 and strided and len(args) > 1):
        return shape, folded
    if not strided:
        new_shape = (math.prod(shape),)
        for k in chosen:
            folded[k] = as_strided(args[k], new_shape, (args[k].itemsize,))
        return new_shape, folded

    groups: list[list[int]] = []  # neighbouring axes that merge into one
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        last = groups[-1][-1] if groups else None
        if last is not None and all(v.strides[axis] * length == v.strides[last] for v in strided):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if len(groups) == len(shape):
        return shape, folded
    new_shape = tuple(math.prod(shape[axis] for axis in group) for group in groups)
    for k in chosen:
        strides = tuple(args[k].strides[group[-1]] for group in groups)
        folded[k] = as_strided(args[k], new_shape, strides)
    return new_shape, folded
