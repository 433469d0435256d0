"""Functions that make arrays: from shapes, from values, from the host."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import operator
from collections.abc import Callable

import numpy as np

from cupy._core import (
    _alignment,
    _methods,  # noqa: F401  (arrays need their methods here)
    _ndarray,
    _windows,
)
from cupy._core._casts import cast
from cupy._core._dispatch import check_dtype, check_number, named
from cupy._core._ndarray import ndarray
from cupy._core._protocols import as_device
from cupy._core._run import run, unwrap, unwrap_call
from cupy.cuda import _late, memory, runtime
from cupy.cuda.stream import catch_up, get_current_stream, refuse_while_capturing
from gpuless.engine.memory import holding


def _shape(shape) -> tuple:
    if isinstance(shape, (dict, set, str, bytes)) or hasattr(shape, "__next__"):
        raise TypeError(f"{type(shape).__name__!r} object cannot be interpreted as an integer")
    sizes = tuple(shape) if np.iterable(shape) else (shape,)
    if any(isinstance(n, (bool, np.bool_)) for n in sizes):
        raise TypeError("an integer is required")
    # A product of NumPy's short integers would run over.
    return tuple(int(n) if isinstance(n, np.integer) else n for n in sizes)


def empty(shape, dtype=float, order="C") -> ndarray:
    """New memory with undefined contents, as on a device."""
    return ndarray(_shape(shape), dtype, order=order)


def _like(a, dtype, order, subok, shape) -> ndarray:
    """New memory like ``a``'s; order 'K' keeps the order of its strides."""
    if subok is not None:
        raise TypeError("subok is not supported yet")
    if order is None:
        raise AttributeError("'NoneType' object has no attribute 'upper'")
    if not hasattr(a, "flags"):
        raise AttributeError(f"{type(a).__name__!r} object has no attribute 'dtype'")
    source = a._array if isinstance(a, ndarray) else a
    dtype = check_dtype(a.dtype if dtype is None else dtype)
    # NumPy knows the strides; nothing is written into its array.
    model = np.empty_like(source, dtype, order, subok=False, shape=shape or None)
    return _ndarray.allocate_like(model, dtype, "K")


def _fill(array: ndarray, value) -> ndarray:
    if isinstance(value, ndarray):
        _alignment.check(value)
        array[...] = value.astype(array.dtype)
    else:
        array.fill(value)
    return array


class _Lent:
    """Device memory that NumPy sees, as CUDA's own protocol has it."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.__cuda_array_interface__ = array.__array_interface__


class _Capsule:
    """Who lends what lies in a capsule of DLPack."""

    def __init__(self, capsule):
        self.__dlpack__ = lambda **_: capsule
        self.__dlpack_device__ = lambda: (1, 0)


def from_dlpack(x, /, *, device=None, copy=None) -> ndarray:
    """The array that ``x`` lends by DLPack: it lies on the device, and its memory is shared."""
    if device is not None:
        raise NotImplementedError("from_dlpack() does not support device yet.")
    if isinstance(x, ndarray):
        if copy:
            raise BufferError("copy=True only supported for copy to CPU.")
        return _ndarray.wrap(x._array, x._memory)
    if type(x).__name__ == "PyCapsule" and '"dltensor"' in repr(x):
        x = _Capsule(x)
    if hasattr(x, "__dlpack_device__"):
        lent = np.from_dlpack(x)
        if holding(lent.ctypes.data):
            return as_device(_Lent(lent))
        raise TypeError(
            "CPU arrays cannot be directly imported to CuPy. Use `cupy.array(numpy.from_dlpack("
            "input))` instead."
        )
    raise ValueError(
        "A DLPack tensor object cannot be consumed multiple times (or object was not a DLPack "
        f"capsule). Got: {x!r}"
    )


def empty_like(prototype, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    result = _like(prototype, dtype, order, subok, shape)
    result._poison()
    return result


def _filled(shape, value, dtype, order) -> ndarray:
    order = _ndarray.new_order(order)
    return _fill(_ndarray.allocate(_shape(shape), check_dtype(dtype), order), value)


def zeros(shape, dtype=float, order="C") -> ndarray:
    return _filled(shape, 0, dtype, order)


def zeros_like(a, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    return _fill(_like(a, dtype, order, subok, shape), 0)


def ones(shape, dtype=float, order="C") -> ndarray:
    return _filled(shape, 1, dtype, order)


def ones_like(a, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    return _fill(_like(a, dtype, order, subok, shape), 1)


def _check_plain(value) -> None:
    """TypeError for a number of a class made from Python's, such as an IntEnum."""
    made = isinstance(value, (int, float, complex)) and not isinstance(value, np.generic)
    if made and type(value) not in (bool, int, float, complex):
        raise TypeError(f"can_cast() does not support Python's numbers: {type(value)}")


def full(shape, fill_value, dtype=None, order="C") -> ndarray:
    if dtype is None:
        known = isinstance(fill_value, (ndarray, np.generic))
        dtype = fill_value.dtype if known else np.array(fill_value).dtype
    elif fill_value is None:
        raise AttributeError("'NoneType' object has no attribute 'dtype'")
    _check_plain(fill_value)
    return _filled(shape, fill_value, dtype, order)


def full_like(a, fill_value, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    if fill_value is None:
        raise AttributeError("'NoneType' object has no attribute 'dtype'")
    _check_plain(fill_value)
    return _fill(_like(a, dtype, order, subok, shape), fill_value)


def array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False):
    """A device array with a copy of ``obj``: numbers, nested lists, NumPy or device arrays."""
    if subok:
        raise NotImplementedError
    ndmin = operator.index(ndmin)
    copy, blocking = copy if copy is None else bool(copy), bool(blocking)
    order = "K" if order is None else order
    if order not in ("C", "F", "A", "K", "c", "f", "a", "k"):
        raise ValueError(f"order not understood: {order!r}")
    dtype = dtype if dtype is None else check_dtype(dtype)
    obj = as_device(obj)
    if isinstance(obj, ndarray):
        same = obj._memory.device_id == runtime.getDevice()
        dtype = obj.dtype if dtype is None else dtype
        result = obj.astype(dtype, order=order, copy=bool(copy) or not same)
        if copy is not None and not copy and result is not obj:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
    else:
        if _on_both(obj):
            raise TypeError(
                "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to "
                "construct a NumPy array explicitly."
            )
        if _late.pinned and isinstance(obj, np.ndarray) and obj.ndim:
            moved = _moved(obj, dtype, order, ndmin, blocking)
            if moved is not None:
                return moved
        if isinstance(obj, np.ndarray) and order in ("K", "A", "k", "a"):
            order = "F" if obj.flags.fnc else "C"  # of what lies in no order, a copy in C's
        joined = dtype is not None and _on_device(obj)  # which the device casts
        host = np.array(
            _host_values(obj), dtype=None if joined else dtype, order=order, ndmin=ndmin
        )
        if joined:
            host = cast(host, check_dtype(dtype)).astype(dtype, copy=False)
        if not host.dtype.isnative and dtype is None:  # the bytes are swapped on the way
            host = host.astype(host.dtype.newbyteorder("="))
        check_dtype(host.dtype)
        if not host.ndim and not host:
            host = np.zeros_like(host)  # CuPy clears the memory: of -0.0 it makes 0.0
        if host.ndim and not _on_device(obj):
            refuse_while_capturing("H2D transfers")
            if host.nbytes:
                memory.pass_through(host.nbytes)
        return _ndarray.place(host, order)
    if result.ndim < ndmin:
        result = result.view() if result is obj else result
        result.shape = (1,) * (ndmin - result.ndim) + result.shape
    return result


def _moved(obj: np.ndarray, dtype, order: str, ndmin: int, blocking: bool) -> ndarray | None:
    """The device array to which pinned memory is copied as it is, late where nothing waits; None
    where the host has to make a copy first."""
    host = np.array(obj, dtype=dtype, copy=None, ndmin=ndmin)
    wanted = "F" if order in ("F", "f") or (order in "KkAa" and host.flags.fnc) else "C"
    laid_out = host.flags.f_contiguous if wanted == "F" else host.flags.c_contiguous
    if not laid_out or not host.dtype.isnative or not np.may_share_memory(host, obj):
        return None
    result = _ndarray.allocate(host.shape, check_dtype(host.dtype), wanted)
    refuse_while_capturing("H2D transfers")
    stream = get_current_stream()
    if not _late.put_off(stream, result._array, host):
        return None
    result._poison(host)
    if blocking:
        stream.synchronize()
    return result


def _host_values(obj):
    if isinstance(obj, ndarray):
        catch_up()
        _alignment.check(obj)
        return obj._array
    if isinstance(obj, (list, tuple)):
        return [_host_values(item) for item in obj]
    return obj


def _on_device(obj) -> bool:
    """Whether a nested list has device arrays only, which CuPy joins without the host."""
    if isinstance(obj, (list, tuple)):
        return bool(obj) and all(map(_on_device, obj))
    return isinstance(obj, ndarray)


def _on_both(obj) -> bool:
    """Whether a nested list has device arrays beside something else."""
    return isinstance(obj, (list, tuple)) and _any_on_device(obj) and not _on_device(obj)


def _any_on_device(obj) -> bool:
    if isinstance(obj, (list, tuple)):
        return any(map(_any_on_device, obj))
    return isinstance(obj, ndarray)


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False) -> ndarray:
    """``a`` itself where it is a device array that fits, else a copy on the device."""
    return array(a, dtype, copy=copy, order=order, blocking=blocking)


asanyarray = asarray


def ascontiguousarray(a, dtype=None) -> ndarray:
    return _laid_out(a, dtype, "C")


def asfortranarray(a, dtype=None) -> ndarray:
    return _laid_out(a, dtype, "F")


def _laid_out(a, dtype, order: str) -> ndarray:
    if not isinstance(a, ndarray):
        kind = type(a).__name__
        raise TypeError(f"Argument 'a' has incorrect type (expected cupy.ndarray, got {kind})")
    return array(a, dtype, copy=None, order=order, ndmin=1)


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True) -> np.ndarray:
    """A NumPy array in host memory with the contents of ``a``."""
    a = as_device(a)
    if isinstance(a, ndarray):
        return a.get(stream=stream, order=order, out=out, blocking=blocking)
    if out is None:
        return np.asarray(a, order=order)
    np.copyto(out, a)
    return out


def copy(a, order="K"):
    return a.copy(order=order)  # of a NumPy array, one of NumPy's


def _item(value):
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _diagonal(value):
    """A number of which CuPy's kernels make an int32."""
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype != np.int32:
        raise TypeError(f"Type is mismatched. k {value.dtype} int32")
    return _item(value)


def copied(function: Callable) -> Callable:
    """NumPy's ``function``, which makes an array from what the host has, copied to the device."""

    def create(*args, **kwargs):
        return array(function(*args, **kwargs))

    return named(create, function.__name__)


def counted(function: Callable) -> Callable:
    """NumPy's ``function`` of a whole number first, where NumPy takes one with a fraction, too."""
    first = next(iter(inspect.signature(function).parameters))

    def create(*args, **kwargs):
        if isinstance(args[0] if args else kwargs.get(first), (bool, np.bool_)):
            raise TypeError("an integer is required")
        if args:
            args = (operator.index(args[0]), *args[1:])
        elif first in kwargs:
            kwargs[first] = operator.index(kwargs[first])
        return function(*args, **kwargs)

    create.__signature__ = inspect.signature(function)
    return named(create, function.__name__)


def created(function: Callable, order: str = "K", counts: str = "", item=_item) -> Callable:
    """NumPy's ``function``, which makes an array from numbers and shapes, on the device.

    ``order`` of it: see ``_run.run``. ``counts``: the parameters of which CuPy makes a shape, so
    that no device array will do. ``item`` makes a number of a device array without axes.
    """
    names = list(inspect.signature(function).parameters)
    counted = [(names.index(name), name) for name in counts.split()]
    # NumPy's parameters that CuPy's functions do not have.
    most = min(
        [names.index(name) for name in ("sparse", "device", "like") if name in names] or [99]
    )

    def create(*args, **kwargs):
        if len(args) > most or not kwargs.keys().isdisjoint(names[most:]):
            raise TypeError(f"{function.__name__}() takes only {', '.join(names[:most])}")
        for position, name in counted:
            given = args[position] if position < len(args) else kwargs.get(name)
            if any(isinstance(v, ndarray) for v in (given if type(given) is tuple else [given])):
                raise TypeError("'ndarray' object cannot be interpreted as an integer")
        values, options, sources = unwrap_call(args, kwargs)
        _alignment.check(*sources)
        values = [item(value) for value in values]
        options = {key: item(value) for key, value in options.items()}
        if options.get("dtype") is not None:
            check_dtype(options["dtype"])
        return run(lambda: function(*values, **options), order=order)

    return named(create, function.__name__)


def _arange(start, stop=None, step=1, dtype=None):
    """Integers are counted from the integer ``start`` is, in steps of the integer ``step`` is."""
    given, begin = (start, stop, step), 0 if stop is None else start
    start, stop, step = map(_item, given)
    if any(isinstance(value, (complex, np.complexfloating)) for value in (start, stop, step)):
        raise TypeError("arange is not for complex numbers")
    if stop is None and isinstance(start, int) and start >= 1 << 63:
        raise OverflowError("Python int too large to convert to C ssize_t")
    if dtype is None and any(isinstance(value, np.ndarray) for value in given):
        # CuPy asks Python's numbers alone whether there is one with a fraction.
        dtype = float if any(isinstance(value, (float, np.floating)) for value in given) else int
    dtype = None if dtype is None else np.dtype(dtype)
    if any(isinstance(value, np.ndarray) for value in (begin, given[2])) and dtype.char != "d":
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")
    if dtype is None or dtype.kind not in "iu":
        made = np.arange(start, stop, step, dtype)
        if made.dtype.char not in "fd":
            return made
        first = 0 if stop is None else start
        return _in_steps(first, 1 if step is None else step, made)
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    size = max(0, math.ceil((stop - start) / step))
    first, by = (dtype.type(value) for value in (start, step)) if size else (start, step)
    if first == start and by == step:
        return np.arange(start, stop, step, dtype)
    return (first + by * np.arange(size).astype(dtype)).astype(dtype)


def _in_steps(start, step, made: np.ndarray) -> np.ndarray:
    """start + i * step, rounded once, as by a GPU's fused multiplication and addition."""
    if start == 0 or made.dtype.char == "d" and start % 1 == step % 1 == 0:
        return made  # nothing to round, or once
    wide = np.longdouble if made.dtype.char == "d" else np.float64
    start, step = (wide(made.dtype.type(value)) for value in (start, step))
    return (start + np.arange(made.size).astype(wide) * step).astype(made.dtype)


def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Integers are the floors, made by a GPU's rule; of numbers the step is a number, too."""
    for value in (start, stop):
        if not isinstance(value, (list, tuple)):
            check_number(value)
    if isinstance(num, (bool, np.bool_)):
        raise TypeError("an integer is required")
    numbers = np.isscalar(start) and np.isscalar(stop)
    if numbers and (np.iscomplexobj(start) or np.iscomplexobj(stop)):
        raise TypeError("float() argument must be a string or a real number, not 'complex'")
    start, stop = (
        v if np.isscalar(v) or np.asarray(v).dtype.kind == "f" else np.asarray(v) * 1.0
        for v in (start, stop)
    )
    if not numbers:  # beside an array a number of Python's has no type of its own
        wide = np.result_type(start, stop, 1.0)
        start, stop = (np.asarray(v, wide) if np.isscalar(v) else v for v in (start, stop))
    made, step = np.linspace(start, stop, num, endpoint, True)
    if not numbers:
        made = np.moveaxis(np.ascontiguousarray(made), 0, axis)
    elif num == 1:  # whatever the end is
        made[:] = start
    elif num > 1 and step != 0:
        made[: num - endpoint] = _in_steps(start, step, made[: num - endpoint])
    if dtype is not None:
        dtype = np.dtype(dtype)
        made = _converted(np.floor(made) if dtype.kind in "iu" else made, dtype)
    return (made, float(step) if numbers else step) if retstep else made


def _tri(N, M=None, k=0, dtype=float):
    check_number(k)
    if isinstance(N, (bool, np.bool_)) or isinstance(M, (bool, np.bool_)):
        raise TypeError("an integer is required")
    if N < 0 or (M is not None and operator.index(M) < 0):
        raise ValueError("Negative dimensions are not allowed")
    return np.tri(N, M, k, dtype)


def _logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    exponents = _linspace(start, stop, num, endpoint, False, None, axis)
    if dtype is None:
        return np.power(base, exponents)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        exponents = exponents.astype(float)
    return _converted(np.power(base, exponents), dtype)


def _converted(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return cast(numbers, dtype).astype(dtype, copy=False)


arange = created(named(_arange, "arange"), item=lambda value: value)
bartlett = created(counted(_windows.bartlett), counts="M")
blackman = created(counted(_windows.blackman), counts="M")
diag_indices = created(np.diag_indices)
eye = created(np.eye, counts="N M k")
frombuffer = copied(np.frombuffer)
fromfile = copied(np.fromfile)
fromfunction = copied(np.fromfunction)
fromiter = copied(np.fromiter)
fromstring = copied(np.fromstring)
genfromtxt = copied(np.genfromtxt)
hamming = created(counted(_windows.hamming), counts="M")
hanning = created(counted(_windows.hanning), counts="M")
identity = created(np.identity, counts="n")
indices = created(np.indices, counts="dimensions")
kaiser = created(counted(_windows.kaiser), counts="M", item=lambda value: value)
linspace = created(named(_linspace, "linspace"), "S", "num", lambda value: value)
loadtxt = copied(np.loadtxt)
logspace = created(named(_logspace, "logspace"), "C", "num", lambda value: value)
tri = created(counted(named(_tri, "tri")), counts="N M", item=_diagonal)


def mask_indices(n, mask_func, k=0) -> tuple:
    """Where ``mask_func`` of ``n`` by ``n`` ones on the device, and of ``k``, is not 0."""
    return mask_func(ones((n, n), "i1"), k).nonzero()


def ravel_multi_index(multi_index, dims, mode="wrap", order="C") -> ndarray:
    """The places in C's order of indices along axes, of which those out of range wrap around."""
    for size in dims:
        if not isinstance(size, numbers.Integral):
            raise TypeError(f"{type(size)} object cannot be interpreted as an integer")
    for one in (mode,) if isinstance(mode, str) else mode:
        if one not in ("raise", "wrap", "clip"):
            raise ValueError(f"Unrecognized mode: {one}")
    if len(multi_index) == len(dims) and not isinstance(multi_index, ndarray):
        for index in multi_index:
            if not hasattr(index, "shape"):
                raise AttributeError(f"{type(index).__name__!r} object has no attribute 'shape'")
            if not isinstance(index, ndarray):
                raise TypeError("elements of multi_index must be cupy arrays")
    return _places(multi_index, dims, mode, "C" if order is None else order.upper())


_places = created(np.ravel_multi_index)


def _of_a_triangle(function: Callable) -> Callable:
    def indices(n, k=0, m=None):
        check_number(k)
        if isinstance(n, (bool, np.bool_)) or isinstance(m, (bool, np.bool_)):
            raise TypeError("an integer is required")
        m = m if m is None else operator.index(m)
        if n < 0 or m is not None and m < 0:
            raise ValueError("Negative dimensions are not allowed")
        return function(n, k, m)

    return created(counted(named(indices, function.__name__)), counts="n", item=_diagonal)


tril_indices, triu_indices = map(_of_a_triangle, (np.tril_indices, np.triu_indices))


def unravel_index(indices, dims, order="C"):
    if not isinstance(indices, ndarray) or not np.iterable(dims):
        raise TypeError(f"a device array and a shape are needed, not {indices!r} and {dims!r}")
    return _coordinates(indices, dims, "C" if order is None else order.upper(), indices.dtype)


@functools.partial(created, order="C")
def _coordinates(indices, dims, order, dtype):
    if not len(dims) and not np.any(indices):  # of an array without axes there are none
        return ()
    found = np.unravel_index(indices, dims, order)
    dtype = np.int64 if dtype.kind == "b" else dtype
    return tuple(np.asarray(one).astype(dtype) for one in found)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of device arrays of one axis."""
    for x in xi:
        if x.ndim != 1:
            raise ValueError("input has to be 1d")
        if not isinstance(x, ndarray):
            raise ValueError("input has to be cupy.ndarray")
    if len(xi) < 2:
        return xi
    sources: list = []
    values = unwrap(xi, sources)
    options = {"copy": copy, "sparse": sparse, "indexing": indexing}
    return run(lambda: tuple(np.meshgrid(*values, **options)), sources, "C")


class _Grid:
    """``cupy.mgrid`` and ``cupy.ogrid``."""

    def __init__(self, grid):
        self._grid = grid

    def __getitem__(self, key):
        sources: list = []

        def plain(part):
            limits = [unwrap(v, sources) for v in (part.start, part.stop, part.step)]
            return slice(*limits)

        key = plain(key) if isinstance(key, slice) else tuple(map(plain, key))
        found = run(lambda: self._grid[key], sources)
        return list(found) if isinstance(found, tuple) else found


mgrid, ogrid = _Grid(np.mgrid), _Grid(np.ogrid)


def load(file, mmap_mode=None, allow_pickle=None):
    """Arrays of a ``.npy`` or ``.npz`` file, on the device."""
    host = np.load(file, mmap_mode=mmap_mode, allow_pickle=bool(allow_pickle))
    if isinstance(host, np.ndarray):
        return array(host)
    return NpzFile(host) if isinstance(host, np.lib.npyio.NpzFile) else host


class NpzFile:
    """The arrays of an ``.npz`` file by their names, each read when asked for; for ``with``. The
    names are those of ``npz_file``, NumPy's."""

    def __init__(self, npz_file):
        self.npz_file = npz_file
        self.close = npz_file.close

    def __getitem__(self, name: str) -> ndarray:
        return array(self.npz_file[name])

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def save(file, arr, allow_pickle=True) -> None:
    np.save(file, asnumpy(arr), allow_pickle=allow_pickle)


def savez(file, *args, **kwargs) -> None:
    np.savez(file, *map(asnumpy, args), **{name: asnumpy(a) for name, a in kwargs.items()})


def savez_compressed(file, *args, **kwargs) -> None:
    np.savez_compressed(
        file, *map(asnumpy, args), **{name: asnumpy(a) for name, a in kwargs.items()}
    )


def savetxt(fname, X, *args, **kwargs) -> None:
    np.savetxt(fname, asnumpy(X), *args, **kwargs)
