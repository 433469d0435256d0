"""Universal functions: NumPy's loops under CuPy's rules for arguments, types and outputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cupy._core import _alignment
from cupy._core._casts import as_type, cast
from cupy._core._creation import array as as_array
from cupy._core._dispatch import (
    SCALARS,
    check_device,
    check_dtype,
    check_number,
    check_numbers,
    submit,
    unsupported,
)
from cupy._core._ndarray import allocate, ndarray
from cupy._core._protocols import as_device
from cupy._core._run import routine
from cupy._core._sums import added_at

_PYTHON_SCALARS = (int, float, complex)


class ufunc:
    """One elementwise function.

    Calling it takes scalars, device arrays and what offers one (TypeError: Unsupported type,
    otherwise) and returns a C-contiguous array, a tuple of them, or the outputs that were given.
    ``loop``, one of ``_loops``, goes before NumPy's where the operands are of a kind in
    ``loop_for``. ``types`` are those of CuPy's kernels where they are not those of NumPy's loops.
    """

    def __init__(
        self,
        function: np.ufunc,
        name: str | None = None,
        loop: Callable | None = None,
        loop_for: str = "biufc",
        types: str | None = None,
    ):
        self._function, self._loop = function, loop
        self._loop_for = loop_for
        self.name = self.__name__ = f"cupy_{name or function.__name__}"
        self.nin, self.nout, self.nargs = function.nin, function.nout, function.nargs
        rows = types.split() if types else function.types
        self.types = list(dict.fromkeys(t for t in rows if not set(t) & set("OMmgG")))
        self._by_dtype = self.types
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
        values, types, shapes, weaks = [], [], [], [False] * self.nin
        for i, arg in enumerate(args[: self.nin]):
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
                types.append(np.asarray(arg).dtype)
                weaks[i] = type(arg) if weak else False
            else:
                if as_device(arg) is arg:
                    raise unsupported(arg)
                taken = map(as_device, args[: self.nin])
                return self(*taken, *outs, dtype=dtype, casting=casting, _where=_where)
        if all(weaks):  # no array says of which type they are
            values = list(map(np.asarray, values))
        where = True if _where is None else mask_of(_where)
        shapes.append(np.shape(where))
        shapes += [o.shape for o in outs if o is not None]
        shape = broadcast(shapes)
        if _alignment.odd and 0 not in shape:
            _alignment.check(*args, *outs, _where)
        dtype = None if dtype is None else check_dtype(dtype)
        dtypes, plain = self._resolve(tuple(types), tuple(weaks), dtype)
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
        taken = values
        if 0 not in shape:  # an error or a warning where a number does not fit
            taken = list(map(_taken, values, dtypes))
        targets = tuple(o._array for o in outs)
        options = {} if plain else {"signature": dtypes}
        if any(o.dtype != t for o, t in zip(outs, dtypes[self.nin :], strict=True)):
            options["casting"] = "unsafe"  # checked above

        cut = any(
            o.dtype.kind in "iu" and t.kind in "fc"
            for o, t in zip(outs, dtypes[self.nin :], strict=True)
        )

        def work() -> None:
            made, operands = None, values
            if not plain:
                operands = list(map(as_type, taken, dtypes))
            if self._loop and dtypes[0].kind in self._loop_for:
                with np.errstate(all="ignore"):
                    made = self._loop(*map(np.asarray, operands, dtypes))
            if made is None and cut:  # by a GPU's rule
                made = self._function(*operands, **options)
                made = made if self.nout > 1 else (made,)
            elif made is None:
                self._function(*operands, out=targets, where=where, **options)
            for target, result in zip(targets, made or (), strict=False):
                np.copyto(target, cast(result, target.dtype), "unsafe", where=where)

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

    def _resolve(self, types: tuple, weaks: tuple, dtype: np.dtype | None) -> tuple:
        """The types of CuPy's kernel for operands of these types, and whether NumPy's own choice
        of a loop has the same results."""
        key = (types, weaks, dtype)
        if key not in self._resolved:
            row = self._row(types, weaks) if dtype is None else self._row_of(dtype)
            if row is None or row == _REFUSED.get(self.name):
                raise TypeError(f"Wrong type ({dtype or types}) of arguments for {self.name}")
            needed, made = row.split("->")
            dtypes = tuple(map(np.dtype, needed + made))
            given = [weak or t for weak, t in zip(weaks, types, strict=True)]
            given = types if all(weaks) else given
            self._resolved[key] = dtypes, dtype is None and self._is_plain(given, dtypes)
        return self._resolved[key]

    def _is_plain(self, given: tuple, dtypes: tuple) -> bool:
        asked = (*given, *(None,) * self.nout)
        try:
            natural = self._function.resolve_dtypes(asked, casting="unsafe")
        except TypeError:
            if not self._loop:
                raise
            return False
        return natural[self.nin :] == dtypes[self.nin :]

    def _row(self, types: tuple, weaks: tuple) -> str | None:
        """CuPy's first row for the operands. A number of Python's has no type of its own beside an
        array of its kind, or of a higher one."""
        kinds = [_SCORES[t.kind] for t, weak in zip(types, weaks, strict=True) if not weak]
        scores = [_SCORES[t.kind] for t, weak in zip(types, weaks, strict=True) if weak]
        use = bool(kinds and scores) and max(kinds) >= max(scores)
        for row in self.types:
            needed = map(np.dtype, row[: self.nin])
            if all(
                np.can_cast(t, n) or use and weak and np.result_type(weak(0), n) == n
                for t, n, weak in zip(types, needed, weaks, strict=True)
            ):
                return row
        return None

    def _row_of(self, dtype: np.dtype) -> str | None:
        """The first row whose results are of ``dtype``, whatever the operands'."""
        rows = (r for r in self._by_dtype if all(np.dtype(t) == dtype for t in r[self.nin + 2 :]))
        return next(rows, None)

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
        made = routine(added_at, array, as_array(indices), axis, dtype, new_order="C")
        if out is None:
            return made
        [target] = self._outputs((out,), None)
        if target.shape != made.shape:
            raise ValueError("Out shape is mismatched")
        if not np.can_cast(made.dtype, target.dtype, "same_kind"):
            raise TypeError(f"Cannot cast output operand from {made.dtype} to {target.dtype}")
        target[...] = made
        return target


class Kernel:
    """What ``ufunc`` asks of a function of NumPy's, where there is none and the loop does all."""

    def __init__(self, name: str, nin: int):
        self.__name__, self.nin, self.nout, self.nargs, self.types = name, nin, 1, nin + 1, []

    def __call__(self, *operands, **options):
        raise TypeError(f"no kernel of cupy_{self.__name__} for {operands[0].dtype}")

    def resolve_dtypes(self, *given, **options):
        raise TypeError


class Comparison(ufunc):
    """An integer of Python's beside integers has the type of its own that it needs."""

    def _row(self, types: tuple, weaks: tuple) -> str | None:
        for ours, theirs in ((0, 1), (1, 0)):
            if weaks[ours] is int and weaks[theirs] is False and types[theirs].kind in "iu":
                weaks = (False, False)
        return super()._row(types, weaks)


_SCORES = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 2}
_REFUSED = {"cupy_subtract": "??->?", "cupy_negative": "?->?", "cupy_positive": "?->?"}


def _taken(value, dtype: np.dtype):
    """A number as CuPy makes one of its kernel's types of it, by NumPy's rule for assignments."""
    if isinstance(value, np.ndarray):
        return value
    made = np.empty((), dtype)
    made[()] = value
    return made


def mask_of(where):
    if not isinstance(where, ndarray):
        if not isinstance(where, SCALARS):
            raise unsupported(where)
        check_number(where)
        return bool(where)
    if where.dtype != bool:
        raise TypeError(f"Cannot cast array data from {where.dtype!r} to dtype('bool')")
    return where._array


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
