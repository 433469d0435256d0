"""Functions that make arrays: from shapes, from values, from the host."""

from __future__ import annotations

import numpy as np

from cupy._core import _dispatch, _ndarray
from cupy._core._ndarray import check_dtype, ndarray
from cupy._core._protocols import as_device
from cupy.cuda import runtime


def _shape(shape) -> tuple:
    return tuple(shape) if np.iterable(shape) else (shape,)


def empty(shape, dtype=float, order="C") -> ndarray:
    """New memory with undefined contents, as on a device."""
    return ndarray(_shape(shape), dtype, order=order)


def _like(a, dtype, order, subok, shape) -> ndarray:
    """New memory like ``a``'s; order 'K' keeps the order of its strides."""
    if subok is not None:
        raise TypeError("subok is not supported yet")
    if not hasattr(a, "dtype"):
        a = array(a)
    source = a._array if isinstance(a, ndarray) else a
    dtype = check_dtype(a.dtype if dtype is None else dtype)
    # NumPy knows the strides; nothing is written into its array.
    model = np.empty_like(source, dtype, order or "K", subok=False, shape=shape)
    return _ndarray.allocate_like(model, dtype, "K")


def _fill(array: ndarray, value) -> ndarray:
    array.fill(value)
    return array


def empty_like(prototype, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    result = _like(prototype, dtype, order, subok, shape)
    result._poison()
    return result


def _filled(shape, value, dtype, order) -> ndarray:
    return _fill(_ndarray.allocate(_shape(shape), check_dtype(dtype), order or "C"), value)


def zeros(shape, dtype=float, order="C") -> ndarray:
    return _filled(shape, 0, dtype, order)


def zeros_like(a, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    return _fill(_like(a, dtype, order, subok, shape), 0)


def ones(shape, dtype=float, order="C") -> ndarray:
    return _filled(shape, 1, dtype, order)


def ones_like(a, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    return _fill(_like(a, dtype, order, subok, shape), 1)


def full(shape, fill_value, dtype=None, order="C") -> ndarray:
    if dtype is None:
        known = isinstance(fill_value, (ndarray, np.generic))
        dtype = fill_value.dtype if known else np.array(fill_value).dtype
    return _filled(shape, fill_value, dtype, order)


def full_like(a, fill_value, dtype=None, order="K", subok=None, shape=None) -> ndarray:
    return _fill(_like(a, dtype, order, subok, shape), fill_value)


def array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False):
    """A device array with a copy of ``obj``: numbers, nested lists, NumPy or device arrays."""
    if subok:
        raise NotImplementedError
    order = "K" if order is None else order
    obj = as_device(obj)
    if isinstance(obj, ndarray):
        same = obj._memory.device_id == runtime.getDevice()
        result = obj.astype(dtype or obj.dtype, order=order, copy=bool(copy) or not same)
        if copy is not None and not copy and result is not obj:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
    else:
        host = np.array(_host_values(obj), dtype=dtype, order=order, ndmin=ndmin)
        check_dtype(host.dtype)
        return _ndarray.place(host, order)
    if result.ndim < ndmin:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def _host_values(obj):
    if isinstance(obj, ndarray):
        return obj._array
    if isinstance(obj, (list, tuple)):
        return [_host_values(item) for item in obj]
    return obj


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False) -> ndarray:
    """``a`` itself where it is a device array that fits, else a copy on the device."""
    return array(a, dtype, copy=copy, order=order)


asanyarray = asarray


def ascontiguousarray(a, dtype=None) -> ndarray:
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a, dtype=None) -> ndarray:
    return array(a, dtype, copy=None, order="F")


def asnumpy(a, stream=None, order="C", out=None, *, blocking=True) -> np.ndarray:
    """A NumPy array in host memory with the contents of ``a``."""
    if isinstance(a, ndarray):
        return a.get(stream=stream, order=order, out=out, blocking=blocking)
    if out is None:
        return np.asarray(a, order=order)
    np.copyto(out, a)
    return out


def copy(a, order="K") -> ndarray:
    return array(a, order=order)


def _from_host(name: str):
    """A function that computes on the host and moves the result to the device."""
    function = getattr(np, name)

    def create(*args, **kwargs):
        values, options, _ = _dispatch.unwrap_call(args, kwargs)
        values = [_item(value) for value in values]
        options = {key: _item(value) for key, value in options.items()}
        if options.get("dtype") is not None:
            check_dtype(options["dtype"])
        return _dispatch.run(lambda: function(*values, **options))

    return _dispatch.named(create, name)


def _item(value):
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


CREATED = """arange linspace logspace eye identity tri indices bartlett blackman hamming hanning
kaiser diag_indices tril_indices triu_indices mask_indices frombuffer fromstring fromiter fromfile
fromfunction loadtxt genfromtxt unravel_index ravel_multi_index""".split()
for _name in CREATED:
    globals()[_name] = _from_host(_name)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    values = _dispatch.unwrap(xi, [])
    return _dispatch.run(lambda: np.meshgrid(*values, sparse=sparse, indexing=indexing))


class _Grid:
    """``cupy.mgrid`` and ``cupy.ogrid``."""

    def __init__(self, grid):
        self._grid = grid

    def __getitem__(self, key):
        return _dispatch.run(lambda: self._grid[key])


mgrid, ogrid = _Grid(np.mgrid), _Grid(np.ogrid)


def load(file, mmap_mode=None, allow_pickle=None):
    """Arrays of a ``.npy`` or ``.npz`` file, on the device."""
    host = np.load(file, mmap_mode=mmap_mode, allow_pickle=bool(allow_pickle))
    if isinstance(host, np.ndarray):
        return array(host)
    return {name: array(host[name]) for name in host.files}


def save(file, arr, allow_pickle=None) -> None:
    np.save(file, asnumpy(arr))


def savez(file, *args, **kwargs) -> None:
    np.savez(file, *map(asnumpy, args), **{name: asnumpy(a) for name, a in kwargs.items()})


def savez_compressed(file, *args, **kwargs) -> None:
    np.savez_compressed(
        file, *map(asnumpy, args), **{name: asnumpy(a) for name, a in kwargs.items()}
    )


def savetxt(fname, X, *args, **kwargs) -> None:
    np.savetxt(fname, asnumpy(X), *args, **kwargs)
