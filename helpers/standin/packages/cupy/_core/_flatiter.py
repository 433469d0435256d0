"""``ndarray.flat``: one-dimensional access in C order."""

from __future__ import annotations


class flatiter:
    """Elements of an array in C order; indices as for a one-dimensional array."""

    def __init__(self, array):
        self._base = array

    base = property(lambda self: self._base)

    def __len__(self) -> int:
        return self._base.size

    def __iter__(self):
        return iter(self._base.ravel())

    def __getitem__(self, index):
        _check(index)
        return self._base.ravel()[index].copy()

    def __setitem__(self, index, value) -> None:
        import cupy

        _check(index)
        where = cupy.arange(self._base.size)[index]
        cupy.put(self._base, where, cupy.asarray(value).astype(self._base.dtype))

    def copy(self):
        return self._base.flatten()

    @property
    def __array_ufunc__(self):
        return None


def _check(index) -> None:
    if not (index is Ellipsis or isinstance(index, (int, slice))):
        raise NotImplementedError("flatiter takes integers, slices and an ellipsis")
