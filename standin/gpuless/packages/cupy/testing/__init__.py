"""Assertions for device and host arrays, and decorators that hold CuPy's results to NumPy's.

Each name is imported when it is first asked for: `import cupy` needs none of them. pytest is
imported only by those that make its marks and fixtures.
"""

from __future__ import annotations

import importlib

from gpuless import missing

_NAMES = {
    "_array": "assert_allclose assert_array_almost_equal assert_array_almost_equal_nulp "
    "assert_array_equal assert_array_less assert_array_list_equal assert_array_max_ulp",
    "_compare": "numpy_cupy_allclose numpy_cupy_array_almost_equal "
    "numpy_cupy_array_almost_equal_nulp numpy_cupy_array_equal numpy_cupy_array_less "
    "numpy_cupy_array_list_equal numpy_cupy_array_max_ulp numpy_cupy_equal numpy_cupy_raises",
    "_helper": "AssertFunctionIsCalled NumpyAliasBasicTestBase NumpyAliasValuesTestBase "
    "assert_warns installed multi_gpu numpy_satisfies slow with_requires",
    "_loops": "for_CF_orders for_all_dtypes for_all_dtypes_combination for_complex_dtypes "
    "for_contiguous_axes for_dtypes for_dtypes_combination for_float_dtypes for_int_dtypes "
    "for_int_dtypes_combination for_orders for_signed_dtypes for_signed_dtypes_combination "
    "for_unsigned_dtypes for_unsigned_dtypes_combination",
    "_parameterized": "parameterize product product_dict",
    "_random": "fix_random generate_seed",
    "_shaped": "generate_matrix shaped_arange shaped_linspace shaped_random "
    "shaped_reverse_arange shaped_sparse_random",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = [*_HOMES]


def __getattr__(name: str):
    if name not in _HOMES:
        raise missing("cupy.testing", name)
    found = getattr(importlib.import_module(f"cupy.testing.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
