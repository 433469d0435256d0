"""What a sparse matrix on the device is: arrays of CuPy's, and SciPy's arithmetic on them.

Every call builds SciPy's matrix over the memory of these arrays, without a copy, asks it, and
brings the answer to the device.
"""

from __future__ import annotations

import numbers
import warnings

import cupy
import numpy as np
import scipy.sparse
from cupy._core import _alignment
from cupy._core._dispatch import named
from cupy._core._ndarray import place
from cupy._core._run import unwrap
from cupy.cuda.stream import refuse_library_while_capturing
from scipy.sparse import SparseEfficiencyWarning, SparseWarning  # noqa: F401

from cupyx.scipy.sparse import _pairs
from gpuless import not_covered

_FORMATS = {
    "csr": "Compressed Sparse Row",
    "csc": "Compressed Sparse Column",
    "coo": "COOrdinate",
    "dia": "DIAgonal",
}
# Of what arrays a matrix consists.
PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
_DTYPES = "?fdFD"
_CLASSES: dict[str, type] = {}  # csr_matrix and the like, by their names
_SILENT = "A GPU would read or overwrite other memory there, without a word"
_GAPS = (
    "The arrays of this {} are not in one piece, as the real parts of complex numbers are not. A "
    "GPU's libraries and some of CuPy's kernels read what lies between, too: copy() it first."
)
BAD_DTYPE = "Only bool, float32, float64, complex64 and complex128 are supported"


class _spbase:
    """A sparse matrix or array of two dimensions; ``format`` says how it is stored.

    dtypes: bool, float32, float64, complex64, complex128.
    """

    __array_priority__ = 101
    __hash__ = None
    format = ""
    maxprint = 50

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        _CLASSES.setdefault(cls.__name__, cls)

    def _here(self, gaps: bool = False):
        """SciPy's matrix over the same memory; waits for the device. A warning, unless ``gaps``
        are minded, where the arrays are not in one piece, as those of ``a.real`` are not."""
        refuse_library_while_capturing("cuSPARSE")
        _alignment.check(*(getattr(self, name) for name in PARTS[self.format]))
        held = {name: getattr(self, name)._host() for name in PARTS[self.format]}
        if self.format != "dia":
            gaps |= all(part.flags.c_contiguous for part in held.values())
            held = {name: np.ascontiguousarray(part) for name, part in held.items()}
        if not gaps and self.format in ("csr", "csc"):  # CuPy copies coordinates first
            warnings.warn(_GAPS.format(type(self).__name__), RuntimeWarning, stacklevel=4)
        self._check_places(held)
        make = getattr(scipy.sparse, type(self).__name__)
        if self.format == "coo":
            found = make((held["data"], (held["row"], held["col"])), shape=self.shape, copy=False)
            found.has_canonical_format = self.has_canonical_format
            return found
        found = make(tuple(held.values()), shape=self.shape, copy=False)
        if self.format != "dia" and not found.has_canonical_format:
            found = found.copy()  # SciPy adds duplicates up, and sorts, in place
        for flag in self._said():
            setattr(found, flag[1:], vars(self)[flag])
        return found

    def _check_places(self, held: dict[str, np.ndarray]) -> None:
        """IndexError where an index or a pointer leads out of the matrix: nobody checks that on a
        device, and SciPy's loops would leave their memory, too."""
        if any(part.ndim != 1 for part in held.values()):
            return  # a matrix by diagonals has no indices; what else there is SciPy refuses
        what = f"of this {type(self).__name__} of shape {self.shape}"
        if self.format == "coo":
            parts = zip((held["row"], held["col"]), ("row", "col"), self.shape, strict=True)
        else:
            pointers, count = held["indptr"], len(held["indices"])
            falls = np.flatnonzero(pointers[1:] < pointers[:-1])
            if len(pointers) and (pointers[0] != 0 or len(falls) or pointers[-1] > count):
                at = 0 if pointers[0] != 0 else falls[0] + 1 if len(falls) else len(pointers) - 1
                raise IndexError(
                    f"indptr[{at}] {what} is {pointers[at]}: indptr begins with 0, never falls and "
                    f"ends with {count}, the length of indices, or less. {_SILENT}"
                )
            used = held["indices"][: pointers[-1] if len(pointers) else 0]
            parts = [(used, "indices", self.shape[self.format == "csr"])]
        for part, name, size in parts:
            if part.size and not (part.min() >= 0 and part.max() < size):
                at = np.flatnonzero((part < 0) | (part >= size))[0]
                raise IndexError(
                    f"{name}[{at}] {what} is {part[at]}: indices count from 0 and are less than "
                    f"{size} there. {_SILENT}"
                )

    def _said(self) -> list[str]:
        """What was said of the order of the indices, and is believed."""
        return [name for name in vars(self) if name.startswith("_has_")]

    def _hold(self, found) -> None:
        """Keep what SciPy's matrix ``found`` holds, in memory of the device."""
        for flag in self._said():
            delattr(self, flag)  # it is found anew
        for name in PARTS[self.format]:
            self._hold_part(name, getattr(found, name))
        self._shape = tuple(int(n) for n in found.shape)

    def _take(self, made) -> None:
        """Become ``made``, of the same format."""
        for flag in self._said():
            delattr(self, flag)
        for name in PARTS[self.format]:
            setattr(self, name, getattr(made, name))
        if self.format == "coo":
            self.has_canonical_format = False

    def _hold_part(self, name: str, array: np.ndarray) -> None:
        old = vars(self).get(name)
        if old is None or array is not old._array:
            setattr(self, name, place(np.ascontiguousarray(array)))

    def __setattr__(self, name: str, value) -> None:
        if name in PARTS.get(self.format, ()) and not isinstance(value, cupy.ndarray):
            raise TypeError(f"{name} must be a cupy.ndarray, not {type(value)}")
        object.__setattr__(self, name, value)

    # What it is

    dtype = property(lambda self: self.data.dtype)
    ndim = 2
    nnz = property(lambda self: int(self._getnnz()))
    size = property(lambda self: self.nnz)

    @property
    def device(self):
        raise NotImplementedError  # of `data` it is known

    shape = property(lambda self: self._shape)

    def _getnnz(self) -> int:
        return self._here().nnz if self.format == "dia" else self.data.size

    def get(self, stream=None):
        """A copy on the host, as SciPy's matrix of the same format."""
        if stream is not None:
            stream.synchronize()
        return self._here(gaps=True).copy()

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use shape[0] or .nnz")

    def __repr__(self) -> str:
        kind = "array" if isinstance(self, sparray) else "matrix"
        count = f" ({len(self.offsets)} diagonals)" if self.format == "dia" else ""
        return (
            f"<{_FORMATS[self.format]} sparse {kind} of dtype '{self.dtype}'\n"
            f"\twith {self.nnz} stored elements{count} and shape {self.shape}>"
        )

    def __str__(self) -> str:
        return str(self.get())

    def __iter__(self):
        return (self[row, :] for row in range(self.shape[0]))

    def __bool__(self) -> bool:
        if self.shape == (1, 1):
            return self.nnz != 0
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous. Use a.any() or "
            "a.all()."
        )

    def toarray(self, order=None, out=None):
        """The dense array, in the order 'C' (the default) or 'F'."""
        if order not in (None, "C", "F", "c", "f"):
            raise ValueError("order not understood")
        return place(self._here(gaps=True).toarray(), (order or "C").upper())

    todense = toarray

    def asformat(self, format):
        """The same matrix as it is stored in another format; itself if it is so already."""
        if format is None or format == self.format:
            return self
        return getattr(self, f"to{format}")()

    def _refused(self, *args, **kwargs):
        raise NotImplementedError

    tobsr = todok = tolil = todia = _refused


class sparray:
    """The base of ``csr_array`` and the like: ``*`` is by element."""


class spmatrix:
    """The base of ``csr_matrix`` and the like: ``*`` is the product of matrices."""

    def __init__(self, *args, maxprint=50, **kwargs):
        if type(self) is spmatrix and (args or kwargs):
            raise TypeError(
                "cannot instantiate spmatrix directly; use a format subclass such as csr_matrix"
            )
        super().__init__(*args, **kwargs)
        self.maxprint = maxprint

    @property
    def A(self):
        """``toarray()``, by a name that CuPy is about to drop."""
        _warn_of("A", "toarray()")
        return self.toarray()

    @property
    def H(self):
        """The conjugate of the transpose, by a name that CuPy is about to drop."""
        _warn_of("H", "T.conj()")
        return self.getH()

    def set_shape(self, shape) -> None:
        """Another shape of as many elements, in place."""
        self.__dict__ = self.reshape(shape).asformat(self.format).__dict__

    shape = property(lambda self: self._shape, set_shape)


def _warn_of(name: str, instead: str) -> None:
    text = f"`spmatrix.{name}` is deprecated. Use `{instead}` instead."
    warnings.warn(text, DeprecationWarning, stacklevel=3)


def issparse(x) -> bool:
    """Whether ``x`` is a sparse matrix or array of the device's."""
    return isinstance(x, _spbase)


def isspmatrix(x) -> bool:
    """Whether ``x`` is a sparse matrix of the device's; an array is none."""
    return isinstance(x, spmatrix)


def on_device(found):
    """SciPy's answer, with matrices and arrays on the device."""
    if scipy.sparse.issparse(found):
        if found.ndim != 2:
            raise not_covered("cupyx.scipy.sparse of one dimension")
        if found.format not in PARTS:
            found = found.tocoo()  # of blocks, which CuPy has not
        if found.dtype.char not in _DTYPES:
            raise ValueError(BAD_DTYPE)
        result = object.__new__(_CLASSES[f"{found.format}_{_kind(found)}"])
        result._hold(found)
        if found.format == "coo":
            result.has_canonical_format = bool(found.has_canonical_format)
        return result
    if isinstance(found, (np.ndarray, np.generic)):
        return place(np.asarray(found))
    if isinstance(found, tuple):
        return tuple(map(on_device, found))
    return found


def _kind(found) -> str:
    return "array" if isinstance(found, scipy.sparse.sparray) else "matrix"


def on_host(value):
    """What SciPy is given for an argument: TypeError for arrays and matrices of the host's."""
    if issparse(value):
        return value._here()
    if scipy.sparse.issparse(value):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (list, tuple)):
        return type(value)(on_host(item) for item in value)
    if isinstance(value, dict):
        return {key: on_host(item) for key, item in value.items()}
    if isinstance(value, slice):
        return value
    sources: list = []
    found = unwrap(value, sources)
    _alignment.check(*sources)
    return found


def _by_rows(found):
    """A sparse result of CuPy's kernels, all of which work on rows."""
    return found.tocsr() if scipy.sparse.issparse(found) else found


def _by_columns(found):
    """A dense product, as cuSPARSE leaves it."""
    return np.asfortranarray(found) if isinstance(found, np.ndarray) else found


_UNIONS = {"__add__": np.add, "__sub__": np.subtract}
_SUMS = "add", "radd", "sub", "rsub"


def _of_two(name: str, a, b):
    """What SciPy's matrices ``a`` and ``b`` give, in compressed rows, or a sum in columns if ``a``
    is. CuPy keeps an element wherever it computed one: SciPy drops those that are 0 now."""
    if name != "multiply" and a.dtype == b.dtype == bool:
        raise TypeError("dtype is not supported: bool")
    if name == "multiply":
        _check_product(a.dtype, b.dtype)
        return _pairs.product(a, b)
    if name in _UNIONS:
        if a.format == "csc":
            return _of_two(name, a.T, b.T).T
        return _pairs.total(a, b, _UNIONS[name])
    a, b = a.tocsr(), b.tocsr()
    found = a @ b
    kept = (_ones(a) @ _ones(b)).tocoo()
    if kept.nnz == found.nnz:
        found.sort_indices()
        return found
    there = found.tocoo()
    data = np.concatenate([there.data, np.zeros(kept.nnz, found.dtype)])
    places = (np.concatenate(pair) for pair in ((there.row, kept.row), (there.col, kept.col)))
    return type(there)((data, tuple(places)), shape=found.shape).tocsr()


def _check_product(one: np.dtype, other: np.dtype) -> None:
    """TypeError for types whose numbers C++ does not multiply."""
    first, second = sorted((one, other), key=lambda dtype: dtype.kind == "c")
    if second.kind == "c" and first.char not in (second.char, second.char.lower()):
        raise TypeError(f"CuPy's kernel does not multiply {one} and {other}; convert one of them")


def _ones(a):
    """A matrix with 1 in every place where the compressed ``a`` has an element."""
    return type(a)((np.ones(len(a.indices)), a.indices, a.indptr), shape=a.shape)


def _taken(self, name: str, args: tuple, kwargs: dict) -> tuple:
    """The arguments of the method ``name``; an error where CuPy raises one."""
    first = args[0] if args else next(iter(kwargs.values()), None)
    if name == "multiply":
        if len(args) + len(kwargs) != 1:
            raise TypeError("multiply() takes one argument")
        if not (issparse(first) or isinstance(first, (numbers.Number, np.bool_))):
            if not isinstance(first, cupy.ndarray):
                raise TypeError("expected scalar, dense matrix/vector or csr matrix")
            if first.ndim > 2:
                raise ValueError("a dense array of more than two dimensions")
    elif name == "dot" and isinstance(first, (list, tuple)):
        raise TypeError(f"unsupported operand type(s) for @: {type(self)} and {type(first)}")
    elif name == "diagonal" and isinstance(first, cupy.ndarray):
        raise TypeError("'ndarray' object cannot be interpreted as an integer")
    elif name == "reshape":
        shape = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        if any(isinstance(n, cupy.ndarray) for n in shape):
            raise TypeError("'ndarray' object cannot be interpreted as an integer")
        if kwargs.get("order", "C") is None:
            raise ValueError("'order' must be 'C' or 'F'")
    return args


def _method(name: str):
    def method(self, *args, **kwargs):
        args = _taken(self, name, args, kwargs)
        if name in ("dot", "multiply") and issparse(*(args or kwargs.values())):
            other = on_host(*(args or kwargs.values()))
            return on_device(_of_two("__matmul__" if name == "dot" else name, self._here(), other))
        if name in ("dot", "multiply") and _is_number(*(args or kwargs.values())):
            return _by_number(self, name, *(args or kwargs.values()))
        if name in ("max", "min"):
            self = _coalesced(self)
        kwargs = {key: value for key, value in kwargs.items() if value is not None}
        here = (self.tocsr() if self.format == "dia" and name == "multiply" else self)._here()
        if name == "multiply":
            (other,) = *args, *kwargs.values()
            _pairs.refuse_empty(self)
            _check_product(self.dtype, other.dtype)
            with np.errstate(all="ignore"):
                found = _pairs.times(here, on_host(other), lambda one, two: one.multiply(two))
            return on_device(_by_rows(found))
        with np.errstate(all="ignore"):
            found = getattr(here, name)(*on_host(args), **on_host(kwargs))
        if found is NotImplemented:
            return found
        if name == "dot":
            found = _by_columns(found)
        return on_device(found)

    return named(method, name, "of SciPy's matrix, on the device")


def _in_place(name: str):
    def method(self, *args, **kwargs) -> None:
        here = self._here().copy()  # who shares the arrays keeps them
        getattr(here, name)(*on_host(args), **on_host(kwargs))
        self._hold(here)

    return named(method, name, "of SciPy's matrix, in place")


def _char_of(other) -> str:
    return getattr(getattr(other, "dtype", None), "char", "")


def _operator(name: str):
    """An operator; NotImplemented where CuPy leaves the work to the other operand."""
    product = name in ("__matmul__", "__rmatmul__")

    def method(self, other):
        if name in ("__mul__", "__rmul__") and isinstance(self, sparray):
            return self.multiply(other)
        if not (issparse(other) or isinstance(other, (cupy.ndarray, numbers.Number, np.bool_))):
            return NotImplemented
        if product and _is_number(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        if name == "__truediv__":
            return _quotient(self, other)
        if "mul" in name and _is_number(other):
            return _scaled(self, other, product=True)
        if issparse(other) and name in (*_UNIONS, "__mul__", "__matmul__"):
            how = "__matmul__" if name == "__mul__" else name
            return on_device(_of_two(how, self._here(), on_host(other)))
        if isinstance(other, cupy.ndarray) and not other.ndim and name[2:-2] in _SUMS:
            return getattr(self.toarray(), name)(other)
        of_matrices = "mul" in name
        if of_matrices and self.nnz and isinstance(other, cupy.ndarray):
            made = np.result_type(self.dtype, other.dtype)
            if made.char not in "fdFD":
                raise TypeError(f"dtype is not supported: {made}")
        # Rows where CuPy makes rows first: of booleans, duplicates are one.
        summed = not issparse(other) and np.ndim(other) == 0 and name[2:-2] in _SUMS
        by_rows = self.format == "dia" or self.format == "coo" and (summed or self.dtype == bool)
        found = getattr((self.tocsr() if by_rows else self)._here(), name)(on_host(other))
        if found is NotImplemented:
            return found
        if of_matrices and self.format != "csc":
            found = _by_rows(found)
        if of_matrices and not name.startswith("__r"):
            found = _by_columns(found)
        elif isinstance(found, np.ndarray):
            found = np.ascontiguousarray(found)
        return on_device(found)

    return named(method, name, "of SciPy's matrix, on the device")


def _scaled(self, factor, product: bool):
    """A matrix by a number: a product of matrices first adds up duplicates, others work on rows."""
    made = self if product and self.format == "csc" else self.tocsr()
    if not product and isinstance(factor, cupy.ndarray):
        _pairs.refuse_empty(self)
        _check_product(self.dtype, factor.dtype)
    if product or isinstance(factor, cupy.ndarray):
        made = _tidied(made)
    return _with_data(made, made.data * factor)


def _by_number(self, name: str, factor):
    if name == "multiply":
        return _scaled(self, factor, product=False)
    if self.format == "coo":
        return _with_data(self, self.data * factor)
    return self @ factor if isinstance(factor, cupy.ndarray) else self * factor


def _quotient(self, other):
    """By a number rows; of two sparse matrices a dense array; by a dense array of the same type
    coordinates."""
    if _is_number(other):
        wide = np.dtype(float) if self.dtype == np.float32 else self.dtype
        dtype = cupy.result_type(wide, other)
        dtype = dtype if dtype.char in _DTYPES else np.dtype(float)
        rows = self.tocsr()
        return _with_data(rows, rows.data * cupy.reciprocal(other, dtype=dtype))
    if issparse(other):
        if self.shape != other.shape:
            raise ValueError("inconsistent shape")
        dtype = np.promote_types(self.dtype, other.dtype)
        dtype = dtype if dtype.kind == "c" else np.promote_types(dtype, float)
        return self.toarray().astype(dtype) / other.toarray()
    if self.dtype != other.dtype:
        raise TypeError(f"Type is mismatched. other {other.dtype} {self.dtype} T")
    made = self.tocsr().tocoo()
    whole = cupy.broadcast_to(cupy.atleast_2d(other), self.shape)
    made.data = (made.data / whole[made.row, made.col]).astype(self.dtype)
    return made


_COMPARISONS = {f"__{name}__": getattr(np, long) for name, long in (
    ("eq", "equal"), ("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"),
    ("gt", "greater"), ("ge", "greater_equal"),
)}  # fmt: skip
_OPPOSITE = {"__eq__": "__ne__", "__le__": "__gt__", "__ge__": "__lt__"}


def _compare(name: str):
    """A comparison: True where it holds, in rows, and no False is stored."""
    compare = _COMPARISONS[name]

    def method(self, other):
        if not (issparse(other) or isinstance(other, (cupy.ndarray, numbers.Number, np.bool_))):
            if name in ("__eq__", "__ne__"):  # else Python would compare who they are
                raise NotImplementedError(f"{name} of a sparse matrix and {type(other)}")
            return NotImplemented
        if isinstance(other, cupy.ndarray) and other.ndim:
            return getattr(self.toarray(), name)(other)
        here = self.tocsr()._here()
        if issparse(other):
            there = other._here()
            if name not in _OPPOSITE:
                return on_device(_pairs.either(here, there, compare, bool))
            _inefficient("Comparing sparse matrices using ==, <=, and >=", "!=, <, or >")
            not_so = _pairs.either(here, there, _COMPARISONS[_OPPOSITE[name]], bool)
            return on_device(type(not_so)(~not_so.toarray()))
        number = np.asarray(on_host(other), self.dtype)[()]  # of a boolean matrix it is 0 or 1
        if number != number:
            return on_device(type(here)(np.full(self.shape, name == "__ne__")))
        if not compare(self.dtype.type(0), number):
            tidy = _tidied(self.tocsr())._here()
            with np.errstate(all="ignore"):
                there = compare(tidy.data, number)
            rows = np.r_[0, np.cumsum(there)][tidy.indptr].astype(tidy.indptr.dtype)
            parts = there[there], tidy.indices[there], rows
            return on_device(type(here)(parts, shape=self.shape))
        _pairs.refuse_empty(self)
        if not here.has_canonical_format:
            text = (
                f"{name} of a sparse matrix that has duplicates, or indices in no order, and a "
                "number which holds for 0, too: a GPU stores other elements, and some twice. Call "
                "sum_duplicates() first."
            )
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        _inefficient(f"Comparing a sparse matrix with {number} by {name}", "its opposite")
        with np.errstate(all="ignore"):
            return on_device(type(here)(compare(here.toarray(), number)))

    return named(method, name, "of two by elements, as CuPy's kernels do it")


def _inefficient(what: str, instead: str) -> None:
    text = f"{what} is inefficient, try using {instead} instead."
    warnings.warn(text, SparseEfficiencyWarning, stacklevel=4)


def _greater_or_less(name: str):
    """``maximum`` and ``minimum``. By a number that is not beyond 0 all elements stay that are
    stored, though they are 0 then."""
    choose, of_two = getattr(cupy, name), np.fmax if name == "maximum" else np.fmin

    def method(self, other):
        if not (issparse(other) or isinstance(other, (cupy.ndarray, numbers.Number, np.bool_))):
            raise TypeError(f"Unsupported type {type(other)}")
        if issparse(other):
            return on_device(_pairs.either(self._here(), other._here(), of_two))
        if isinstance(other, cupy.ndarray) and other.ndim:
            return choose(self.toarray(), cupy.atleast_2d(other))
        dtype = cupy.result_type(self.dtype, other)
        number = cupy.asarray(other)
        if bool(number > 0 if name == "maximum" else number < 0):
            rows = _CLASSES[f"csr_{'array' if isinstance(self, sparray) else 'matrix'}"]
            return rows(choose(self.toarray(), number.astype(dtype)))
        tidy = self.tocsr()
        tidy = tidy if tidy.has_canonical_format else _tidied(tidy)
        return _with_data(tidy, choose(tidy.data, number).astype(dtype), copy=False)

    return named(method, name, "of two by elements, as CuPy's kernels do it")


def _by_element(name: str):
    def method(self):
        return _with_data(self, getattr(cupy, name)(self.data))

    return named(method, name, "of the elements that are stored")


def _raised(self, n, dtype=None):
    """The elements to the power ``n``, in their own type or ``dtype``."""
    if not _is_number(n):
        raise NotImplementedError("input is not scalar")
    if n == 0:
        raise NotImplementedError("zero power is not supported: it would densify the matrix")
    data = self.data.copy() if dtype is None else self.data.astype(dtype)
    data **= n
    return _with_data(self, data)


def _absolute(self):
    return _with_data(self, abs(self.data))


def _rounded(self, ndigits=0):
    return _with_data(self, cupy.around(self.data, decimals=ndigits))


def _coalesced(self):
    """The matrix; one of booleans, of which several in one place are one, without duplicates."""
    return _tidied(self) if self.dtype == bool and self.format != "dia" else self


def _tidied(self):
    """The matrix without duplicates and in order, in arrays of its own."""
    made = self.copy()
    made.sum_duplicates()
    return made


def _with_data(self, data, copy=True):
    """Other values in the same places; without ``copy`` of the same arrays."""
    if data.dtype.char not in _DTYPES:
        raise ValueError(BAD_DTYPE)
    places = [getattr(self, name) for name in PARTS[self.format][1:]]
    places = [part.copy() for part in places] if copy else places
    made = _shared(self.format, self, self.shape, (data, *places))
    for flag in self._said():
        setattr(made, flag, vars(self)[flag])
    if self.format == "coo":
        made.has_canonical_format = self.has_canonical_format
    return made


def _give(cls: type, maker, names: str) -> None:
    for name in names.split():
        setattr(cls, name, maker(name))


def _is_number(value) -> bool:
    return np.isscalar(value) or isinstance(value, cupy.ndarray) and not value.ndim


def _scale(self, factor):
    """``*=`` and ``/=`` by a number: in place, so that all who have the matrix see it."""
    if not _is_number(factor):
        return NotImplemented
    dtype = cupy.result_type(self.dtype, factor)
    dtype = dtype if dtype.char in _DTYPES else np.dtype(float)
    if dtype == self.dtype:
        self.data *= factor
    else:
        self.data = self.data.astype(dtype) * factor
    return self


def _unscale(self, divisor):
    return _scale(self, 1.0 / divisor) if _is_number(divisor) else NotImplemented


def _power(self, n):
    """Products of matrices, in rows; of no factor the identity, and of arrays by element."""
    if not isinstance(self, spmatrix):
        return self.power(n)
    if self.shape[0] != self.shape[1]:
        raise TypeError("sparse matrix is not square")
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError("exponent must be an integer, and not less than 0")
    if n == 0:
        return on_device(scipy.sparse.identity(self.shape[0], self.dtype, "csr"))
    if n == 1:
        return self.copy()
    half = self ** (n // 2)
    return self @ half @ half if n % 2 else half @ half


def _shared(kind: str, like, shape: tuple, parts: tuple):
    """A matrix of these arrays themselves in the format ``kind``; an array if ``like`` is one."""
    made = object.__new__(_CLASSES[f"{kind}_{'array' if isinstance(like, sparray) else 'matrix'}"])
    for name, part in zip(PARTS[kind], parts, strict=True):
        setattr(made, name, part)
    made._shape = shape
    return made


def _transpose(self, axes=None, copy=False):
    """Rows for columns; without ``copy`` of the same arrays."""
    if axes is not None:
        raise ValueError(
            "Sparse matrices do not support an 'axes' parameter because swapping dimensions is the "
            "only logical permutation."
        )
    if self.format == "dia":
        return self.tocsr().transpose()
    source = self.copy() if copy else self
    parts = [getattr(source, name) for name in PARTS[self.format]]
    if self.format == "coo":
        return _shared("coo", self, self.shape[::-1], (parts[0], *parts[:0:-1]))
    made = _shared("csc" if self.format == "csr" else "csr", self, self.shape[::-1], parts)
    for flag in self._said():
        setattr(made, flag, vars(self)[flag])
    return made


def _to_coordinates(self, copy=False):
    """The matrix as coordinates; without ``copy`` its values and half of the places are shared."""
    if self.format == "dia":
        return self.tocsr().tocoo()
    if self.format == "coo":
        return self.copy() if copy else self
    made = on_device(self._here(gaps=True).tocoo())
    said = vars(self).get("_has_canonical_format")
    made.has_canonical_format = self.format == "csr" and bool(said)
    if not copy:
        made.data = self.data
        setattr(made, "col" if self.format == "csr" else "row", self.indices)
    return made


def _converter(form: str):
    convert = _method(f"to{form}")

    def to(self, copy=False):
        if self.format != form:
            return _in_columns(self) if form == "csc" else convert(self)
        return self.copy() if copy else self

    return named(to, f"to{form}", "of SciPy's matrix, on the device; itself if it is so already")


_to_columns = _method("tocsc")


def _in_columns(self):
    """Compressed columns. CuPy leaves the values of booleans in the order of the rows when it puts
    coordinates into that of the columns, and a column of a matrix by diagonals in theirs."""
    if self.format == "coo" and self.dtype == bool:
        made = self.copy()
        made.sum_duplicates()
        columns = _to_columns(made)
        columns.data = made.data
        return columns
    if self.format != "dia":
        return _to_columns(self)
    data, offsets = self.data, self.offsets
    columns = cupy.arange(data.shape[1])
    rows = columns - offsets[:, None]
    mask = (rows >= 0) & (rows < self.shape[0]) & (columns < self.shape[1]) & (data != 0)
    count = np.zeros(self.shape[1] + 1, offsets.dtype)
    here = np.cumsum(mask.sum(axis=0).get())[: self.shape[1]]
    count[1 : len(here) + 1] = here
    count[len(here) + 1 :] = here[-1] if len(here) else 0
    parts = data.T[mask.T], rows.T[mask.T].astype(offsets.dtype), cupy.asarray(count)
    return _shared("csc", self, self.shape, parts)


_reshaped = _method("reshape")


def _astype(self, dtype, copy=True):
    """The matrix with elements of ``dtype``; without ``copy`` itself if it has that."""
    if np.dtype(dtype) == self.dtype:
        return self.copy() if copy else self
    return _with_data(self, self.data.astype(dtype))


def _conj(self, copy=True):
    """The complex conjugate; without ``copy`` in the same places, and the matrix itself if it is
    real."""
    if self.dtype.kind == "c":
        return _with_data(self, self.data.conj(), copy)
    return self.copy() if copy else self


def _real(self):
    """The real parts, in the same memory."""
    made = self.copy()
    made.data = self.data.real
    return made


def _imaginary(self):
    """The imaginary parts, in the same memory if the matrix is complex."""
    made = self.copy()
    made.data = self.data.imag
    return made


def _reshape(self, *args, **kwargs):
    """The elements in another shape; the matrix itself where it has that already."""
    if kwargs.keys() - {"order"}:
        raise TypeError("reshape() takes a shape and an order")
    made = _reshaped(self, *args, **kwargs)
    if made.shape == self.shape:
        return self
    if self.format != "dia":
        made.data = self.data  # in the same memory
    return made


def _asfptype(self):
    """The matrix itself where it is real, else with elements that have a fraction."""
    return self if self.dtype.kind == "f" else self.astype(np.promote_types(self.dtype, "f"))


def _nonzero(self) -> tuple:
    """The rows and columns of the elements that are not 0, in the order of coordinates without
    duplicates, which coordinates are put in."""
    there = self.tocoo()
    there.sum_duplicates()
    kept = there.data != 0
    return there.row[kept], there.col[kept]


_spbase.nonzero = _nonzero
_spbase.__imul__, _spbase.__itruediv__, _spbase.__pow__ = _scale, _unscale, _power
_diagonal_of_rows = _method("diagonal")


def _diagonal(self, k=0):
    """The elements ``[i, i + k]``; of a matrix by diagonals no more than its arrays are long."""
    found = _diagonal_of_rows(self, k)
    if self.format != "dia" or k not in self.offsets.get():
        return found
    return found[: max(0, self.data.shape[1] - max(0, k))]


_spbase.diagonal = _diagonal
_spbase.transpose, _spbase.tocoo = _transpose, _to_coordinates
_spbase.tocsr, _spbase.tocsc = _converter("csr"), _converter("csc")
_spbase.astype, _spbase.conj, _spbase.conjugate = _astype, _conj, _conj
_spbase.reshape = _reshape
_BY_ELEMENT = """arcsin arcsinh arctan arctanh ceil deg2rad expm1 floor log1p rad2deg rint sign sin
sinh sqrt tan tanh trunc"""
_EVERYWHERE = "dot multiply"
_OPERATORS = """add radd sub rsub mul rmul matmul rmatmul truediv"""
_give(_spbase, _method, _EVERYWHERE)
_give(_spbase, _by_element, _BY_ELEMENT)
_spbase.copy = lambda self: _with_data(self, self.data.copy())
_spbase.__neg__ = lambda self: _with_data(self, -self.data)
_spbase.power, _spbase.__abs__, _spbase.__round__ = _raised, _absolute, _rounded
_give(_spbase, _operator, " ".join(f"__{name}__" for name in _OPERATORS.split()))


def _sum(self, axis=None, dtype=None, out=None):
    """The sum of all elements, that of the rows' sums, or along ``axis``: CuPy adds in the type of
    the elements, and cuts afterwards."""
    if isinstance(axis, (bool, float, np.floating, cupy.ndarray)):
        raise TypeError(f"axis must be an integer, not {type(axis)}")
    if self.dtype == bool:
        self, dtype = _coalesced(self).astype(float), np.int64 if dtype is None else dtype
    here = (self.tocsr() if self.format == "dia" else self)._here()
    if axis is None or isinstance(axis, tuple) and len(axis) == 2 and here.sum(axis) is not None:
        found = place(np.asarray(here.sum(axis=1))).sum(dtype=dtype, out=out)
        return found if out is None else out
    found = place(np.asarray(here.sum(axis=axis)))
    if out is None:
        return found if dtype is None else found.astype(dtype, copy=False)
    if out.shape != found.shape:
        raise ValueError("dimensions do not match")
    out[...] = found
    return out


_spbase.sum = _sum
_spbase.trace = lambda self, offset=0: self.diagonal(offset).sum()


def _mean(self, axis=None, dtype=None, out=None):
    """The mean of all elements, or along ``axis``: a sum of what each has part in it."""
    if isinstance(axis, tuple):
        axis = None if len(axis) == 2 else axis[0] if axis else axis
    m, n = self.shape
    made = _coalesced(self)
    part = 1.0 / (m * n if axis is None else m if axis in (0, -2) else n)
    made = made.astype(float) if self.dtype == bool else made
    return _with_data(made, made.data * part).sum(axis=axis, dtype=dtype, out=out)


_spbase.mean = _mean


def _count_nonzero(self, axis=None):
    """How many elements are not 0: an int, or along ``axis`` an array."""
    found = _coalesced(self)._here().count_nonzero(axis)
    return int(found) if axis is None else on_device(found.astype(np.int64))


_spbase.count_nonzero = _count_nonzero
_give(_spbase, _greater_or_less, "maximum minimum")
_give(_spbase, _compare, " ".join(_COMPARISONS))
_spbase.T = property(lambda self: self.transpose())
_spbase.mT = _spbase.T
_spbase.real = property(_real)
_spbase.imag = property(_imaginary)


def _getnnz(self, axis=None):
    """How many elements are stored."""
    if axis is not None:
        raise NotImplementedError(f"getnnz over an axis is not implemented for {self.format}")
    return self.nnz


def _line(name: str):
    rows = name == "getrow"

    def of(self, i):
        if self.format not in ("csr", "csc"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute '_{name}'")
        if isinstance(i, cupy.ndarray):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        at = slice(i, i + 1)  # of the last one, by -1, that is nothing
        return self[at, :].tocsr() if rows else self[:, at]

    return named(of, name, "of SciPy's matrix, on the device")


spmatrix.asfptype, spmatrix.getnnz = _asfptype, _getnnz
spmatrix.getcol, spmatrix.getrow = _line("getcol"), _line("getrow")
_give(spmatrix, _method, "getformat getmaxprint get_shape")
spmatrix.getH = lambda self: self.transpose().conj()
