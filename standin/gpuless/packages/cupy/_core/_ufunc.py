"""Universal functions: NumPy's loops under CuPy's rules for arguments, types and outputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cupy._core._casts import as_type
from cupy._core._creation import array as as_array
from cupy._core._dispatch import SCALARS, check_device, check_numbers, submit, unsupported
from cupy._core._ndarray import allocate, ndarray
from cupy._core._protocols import as_device
from cupy._core._run import routine

_PYTHON_SCALARS = (int, float, complex)


class ufunc:
    """One elementwise function.

    Calling it takes scalars, device arrays and what offers one (TypeError: Unsupported type,
    otherwise) and returns a C-contiguous array, a tuple of them, or the outputs that were given.
    ``loop``, one of ``_loops``, goes before NumPy's where the operands are of a kind in
    ``loop_for``. An operand of no kind in ``kinds`` is a TypeError.
    """

    def __init__(
        self,
        function: np.ufunc,
        name: str | None = None,
        loop: Callable | None = None,
        loop_for: str = "biufc",
        kinds: str = "biufc",
    ):
        self._function, self._loop = function, loop
        self._loop_for, self._kinds = loop_for, kinds
        self.name = self.__name__ = f"cupy_{name or function.__name__}"
        self.nin, self.nout, self.nargs = function.nin, function.nout, function.nargs
        self.types = [t for t in function.types if not set(t) & set("OMmgG")]
        self.__doc__ = f"Elementwise {function.__name__}, as :func:`numpy.{function.__name__}`."
        self._resolved: dict = {}

    def __repr__(self) -> str:
        return f"<ufunc '{self.name}'>"

    def __reduce__(self):
        return self.name.removeprefix("cupy_")

    def __call__(self, *args, out=None, dtype=None, casting="same_kind", _where=None, **kwargs):
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or "
                f"{self.nargs} (with outputs), but given {len(args)}."
            )
        outs = self._outputs(args[self.nin :], out)
        values, types, shapes = [], [], []
        for arg in args[: self.nin]:
            if isinstance(arg, ndarray):
                check_device(arg)
                values.append(arg._array)
                types.append(arg._array.dtype)
                shapes.append(arg._array.shape)
            elif isinstance(arg, SCALARS):
                if type(arg) is int and not -(1 << 63) <= arg < 1 << 64:
                    raise OverflowError("Python int too large to convert to C long")
                weak = type(arg) in _PYTHON_SCALARS
                if not weak:
                    check_numbers(arg)
                values.append(arg)
                shapes.append(())
                types.append(type(arg) if weak else np.asarray(arg).dtype)
            else:
                if as_device(arg) is arg:
                    raise unsupported(arg)
                taken = map(as_device, args[: self.nin])
                return self(*taken, *outs, dtype=dtype, casting=casting, _where=_where)
        if all(isinstance(t, type) for t in types):  # no array says of which type they are
            values = list(map(np.asarray, values))
            types = [value.dtype for value in values]
        where = True
        if _where is not None:
            where = _where._array if isinstance(_where, ndarray) else bool(_where)
            shapes.append(np.shape(where))
        shapes += [o.shape for o in outs if o is not None]
        shape = broadcast(shapes)
        dtypes = self._resolve(tuple(types), None if dtype is None else np.dtype(dtype))
        for i, result_type in enumerate(dtypes[self.nin :]):
            if outs[i] is None:
                outs[i] = allocate(shape, result_type)
                continue
            if outs[i].shape != shape:
                raise ValueError("Out shape is mismatched")
            if not np.can_cast(result_type, outs[i].dtype, casting):
                raise TypeError(
                    f"Cannot cast output operand from {result_type!r} to {outs[i].dtype!r} with "
                    f"casting rule {casting!r}"
                )
        read = dtypes
        if self.name == "cupy_logical_xor":  # NumPy's reads booleans, CuPy's the array's type
            read = [t for t in types if isinstance(t, np.dtype)] * 2
        if 0 not in shape and (dtype is not None or read is not dtypes):
            for value, needed in zip(values, read, strict=False):
                if type(value) in _PYTHON_SCALARS and needed.kind in "iu":
                    np.asarray(value, needed)  # an error where it does not fit
        targets = tuple(o._array for o in outs)
        options = {} if dtype is None else {"signature": dtypes}
        if any(o.dtype != t for o, t in zip(outs, dtypes[self.nin :], strict=True)):
            options["casting"] = "unsafe"  # checked above

        def work() -> None:
            made, operands = None, values
            if dtype is not None:
                operands = list(map(as_type, values, dtypes))
            if self._loop and dtypes[0].kind in self._loop_for:
                with np.errstate(all="ignore"):
                    made = self._loop(*map(np.asarray, operands, dtypes))
            if made is None:
                self._function(*operands, out=targets, where=where, **options)
            for target, result in zip(targets, made or (), strict=False):
                np.copyto(target, result, "unsafe", where=where)

        submit(work)
        return outs[0] if self.nout == 1 else tuple(outs)

    def _outputs(self, positional: tuple, out) -> list:
        if out is not None:
            if positional:
                raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
            if isinstance(out, tuple):
                if len(out) != self.nout:
                    raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
                positional = out
            elif self.nout != 1:
                raise ValueError("'out' must be a tuple of arrays")
            else:
                positional = (out,)
        for array in positional:
            if array is not None and not isinstance(array, ndarray):
                raise TypeError("Output arguments type must be cupy.ndarray")
        return list(positional) + [None] * (self.nout - len(positional))

    def _resolve(self, types: tuple, dtype: np.dtype | None) -> tuple:
        key = (types, dtype)
        if key not in self._resolved:
            if any(np.dtype(t).kind not in self._kinds for t in types):
                raise TypeError(f"Wrong type ({types}) of arguments for {self.name}")
            self._resolved[key] = (
                self._function.resolve_dtypes((*types, *(None,) * self.nout), casting="unsafe")
                if dtype is None
                else self._first_of(dtype)
            )
        return self._resolved[key]

    def _first_of(self, dtype: np.dtype) -> tuple:
        """The types of the first loop whose results are of ``dtype``, whatever the operands'."""
        for row in self.types:
            needed, made = row.split("->")
            if all(np.dtype(t) == dtype for t in made):
                return tuple(map(np.dtype, needed + made))
        raise TypeError(f"Wrong type ({dtype}) of arguments for {self.name}")

    def outer(self, A, B, **kwargs):
        """The function applied to all pairs: shape ``A.shape + B.shape``."""
        a, b = as_array(A), as_array(B)
        return self(
            a.reshape(a.shape + (1,) * b.ndim), b.reshape((1,) * a.ndim + b.shape), **kwargs
        )

    def at(self, a, indices, b=None) -> None:
        """Apply in place at ``indices``, repeated indices included."""
        if self.name not in _AT:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        a._scatter(self, indices, b)

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False):
        if self.name not in ("cupy_add", "cupy_multiply"):
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        method = array.sum if self.name == "cupy_add" else array.prod
        return method(axis, dtype, out, keepdims)

    def accumulate(self, array, axis=0, dtype=None, out=None):
        if self.name not in ("cupy_add", "cupy_multiply"):
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        method = array.cumsum if self.name == "cupy_add" else array.cumprod
        return method(axis, dtype, out)

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        if self.name != "cupy_add":
            raise NotImplementedError(f"`{self.name}.reduceat` is not supported yet")
        return routine(self._function.reduceat, array, indices, axis, dtype, out=out)


def broadcast(shapes: list[tuple]) -> tuple:
    """The common shape; ValueError naming all of them where there is none."""
    distinct = {shape for shape in shapes if shape}
    if len(distinct) < 2:
        return distinct.pop() if distinct else ()
    try:
        return np.broadcast_shapes(*distinct)
    except ValueError:
        texts = " ".join(str(shape) for shape in shapes)
        raise ValueError(f"operands could not be broadcast together with shapes {texts}") from None


_AT = {
    f"cupy_{name}"
    for name in "add subtract maximum minimum bitwise_and bitwise_or bitwise_xor".split()
}
