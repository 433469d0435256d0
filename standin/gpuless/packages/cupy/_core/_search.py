"""Places in sorted arrays, where CuPy's kernels compare by C's rules: beside an integer as wide
without a sign, -1 is the largest, and beside float32 an integer is one of float32."""

from __future__ import annotations

import numpy as np

from cupy._core._dispatch import check_number


def compared_as(*types: np.dtype) -> np.dtype | None:
    """The type in which C compares these, None where NumPy's holds no more than it."""
    common = np.result_type(*types)
    if common.kind not in "iuf" or len(set(types)) == 1:
        return None
    if common.kind == "f" and any(one.kind == "f" for one in types):
        compared = np.dtype("d" if "d" in [one.char for one in types] else "f")
    else:
        wide = [one if one.itemsize >= 4 else np.dtype("i") for one in types]
        compared = max(wide, key=lambda one: (one.itemsize, one.kind))  # "u" after "i"
    return None if np.can_cast(common, compared) else compared


def _places(bins, x, right: bool, ascending: bool = True):
    """CuPy's search of each ``x`` among ``bins``, and these as they are compared."""
    compared = compared_as(bins.dtype, x.dtype) or np.result_type(bins, x)
    bins, x, n = bins.astype(compared), x.astype(compared), len(bins)
    empty = np.isnan(bins)
    low = np.zeros(x.shape, np.int64)
    if ascending:
        beyond = x >= bins[-1] if right else x > bins[-1]
        of_nan = n if right else n - np.argmin(np.append(empty[::-1], False))
    else:
        beyond = x < bins[-1] if right else x <= bins[-1]
        of_nan = 0 if right else np.argmin(np.append(empty, False))
        low += np.argmin(np.append(empty, False))
    high = np.maximum(low, n - 1)
    while (low < high).any():
        middle = low + (high - low) // 2
        here = bins[np.minimum(middle, n - 1)]
        if ascending:
            goes_on = here <= x if right else here < x
        else:
            goes_on = here > x if right else here >= x
        low, high = (
            np.where((low < high) & goes_on, middle + 1, low),
            np.where((low < high) & ~goes_on, middle, high),
        )
    return np.where(np.isnan(x), of_nan, np.where(beyond, n, high)), bins, x


def _exists(x, bins):
    """Which of ``x`` are where the search among ``bins`` ends, and that place."""
    if not bins.size:
        return np.zeros(x.shape, bool), np.zeros(x.shape, np.int64)
    place, bins, x = _places(bins, x, False)
    return (place < len(bins)) & (bins[np.minimum(place, len(bins) - 1)] == x), place


def searchsorted(a, v, side="left", sorter=None):
    if isinstance(v, np.generic) and not isinstance(v, (float, complex)):
        raise NotImplementedError("Only python scalars or ndarrays are supported for v")
    if not (sorter is None or isinstance(sorter, np.ndarray)):
        raise AttributeError(f"{type(sorter).__name__!r} object has no attribute 'dtype'")
    v = np.asarray(v)
    if a.ndim != 1 or not a.size or side not in ("left", "right") or v.dtype.kind == "c":
        return np.searchsorted(a, v, side, sorter)
    if compared_as(a.dtype, v.dtype) is None:
        return np.searchsorted(a, v, side, sorter)
    np.searchsorted(a, v[:0] if v.ndim else v, side, sorter)  # its errors
    return _places(a if sorter is None else a[sorter], v, side == "right")[0]


def digitize(x, bins, right=False):
    made = np.digitize(x, bins, right)
    if not bins.size or compared_as(bins.dtype, x.dtype) is None and not np.isnan(bins).any():
        return made
    first, last = bins[0], bins[-1]
    ascending = len(bins) < 2 or bool(first <= last or (first == first and last != last))
    return _places(bins, x, not right, ascending)[0]


def check_complex(a, b) -> None:
    types = a.dtype.char, b.dtype.char
    if a.size and {"F", "D"}.intersection(types) and types[0].upper() != types[1].upper():
        raise TypeError("no kernel compares complex numbers with others than their parts")


def isin(element, test_elements, assume_unique=False, invert=False):
    check_number(invert)
    if isinstance(invert, np.ndarray) and (invert.ndim or invert.dtype != bool):
        raise TypeError(f"Type is mismatched. invert {invert.dtype} bool")
    check_complex(element, test_elements)
    if compared_as(element.dtype, test_elements.dtype) is None:
        return np.isin(element, test_elements, assume_unique, invert)
    return _exists(element, np.sort(test_elements, axis=None))[0] ^ bool(invert)


def in1d(ar1, ar2, assume_unique=False, invert=False):
    return isin(ar1.ravel(), ar2, assume_unique, invert)


def intersect1d(arr1, arr2, assume_unique=False, return_indices=False):
    """Told that no number comes twice, in the order of ``arr1``, searched for in ``arr2`` as if it
    were sorted."""
    if not assume_unique and arr1.dtype == arr2.dtype:
        return np.intersect1d(arr1, arr2, assume_unique, return_indices)
    if assume_unique:
        (a, first), (b, second) = ((one.ravel(), np.arange(one.size)) for one in (arr1, arr2))
    else:
        (a, first), (b, second) = (np.unique(one, return_index=True) for one in (arr1, arr2))
    check_complex(a, b)
    there, place = _exists(a, b)
    found = a[there].astype(np.result_type(arr1, arr2))
    return (found, first[there], second[place[there]]) if return_indices else found


def setdiff1d(ar1, ar2, assume_unique=False):
    ar1 = ar1.ravel() if assume_unique else np.unique(ar1)
    return ar1[in1d(ar1, ar2 if assume_unique else np.unique(ar2), True, True)]
