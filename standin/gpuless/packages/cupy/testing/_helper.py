"""What a test needs, what it expects, and marks."""

from __future__ import annotations

import contextlib
import importlib.metadata
import inspect
import os
import types
import unittest
import warnings
from collections.abc import Callable
from unittest import mock

import numpy as np

import cupy


def needed_pytest(feature: str) -> types.ModuleType:
    """pytest; RuntimeError where it is not installed."""
    try:
        import pytest
    except ImportError as error:
        raise RuntimeError(
            f"cupy.testing: {feature} is not available.\n\nReason: {type(error).__name__}: {error}"
        ) from error
    return pytest


def installed(*specifiers: str) -> bool:
    """Whether all these packages are there: ``installed("numpy>=1.26,<3", "scipy")``.

    CuPy is, in the version that the stand-in answers for.
    """
    from packaging.requirements import Requirement

    for requirement in map(Requirement, specifiers):
        found = _version(requirement.name)
        if found is None or not requirement.specifier.contains(found, prereleases=True):
            return False
    return True


def _version(name: str) -> str | None:
    """The version of a package, named as it is installed or as it is imported."""
    if name == "cupy":
        return cupy.__version__
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        from_import = importlib.metadata.packages_distributions().get(name)
        return importlib.metadata.version(from_import[0]) if from_import else None


def numpy_satisfies(version_range: str) -> bool:
    """Whether NumPy's version fits: ``numpy_satisfies(">=1.26")``."""
    return installed(f"numpy{version_range}")


def with_requires(*requirements: str) -> Callable:
    """Skip the test unless all these packages are ``installed``."""
    reason = f"requires: {','.join(requirements)}"
    try:
        skipif = needed_pytest("with_requires").mark.skipif
    except RuntimeError:
        skipif = unittest.skipIf
    return skipif(not installed(*requirements), reason=reason)


def multi_gpu(gpu_num: int) -> Callable:
    """Mark a test that needs so many devices, two or more.

    It is skipped where ``CUPY_TEST_GPU_LIMIT`` is less, and not where that is unset or negative.
    """
    mark = needed_pytest("multi_gpu attribute").mark
    assert gpu_num > 1
    limit = int(os.environ.get("CUPY_TEST_GPU_LIMIT", "-1"))
    skip = mark.skipif(0 <= limit < gpu_num, reason=f"{gpu_num} GPUs required")
    return lambda test: skip(mark.multi_gpu(test))


def slow(*args, **kwargs):
    """``pytest.mark.slow``."""
    return needed_pytest("pytest attributes").mark.slow(*args, **kwargs)


@contextlib.contextmanager
def assert_warns(expected):
    """AssertionError unless a warning of the class ``expected`` is given in the ``with`` block."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield
    if not any(isinstance(one.message, expected) for one in given):
        raise AssertionError(f"{getattr(expected, '__name__', expected)} not triggerred")


@contextlib.contextmanager
def AssertFunctionIsCalled(*args, times_called=1, **kwargs):
    """AssertionError unless a function is called so often in the ``with`` block; the arguments are
    those of ``unittest.mock.patch``."""
    with mock.patch(*args, **kwargs) as function:
        yield
        assert function.call_count == times_called


class _NumpyAlias(unittest.TestCase):
    """Of a function that CuPy and NumPy have, by the name in ``func``."""

    func: str
    cupy_func = property(lambda self: getattr(cupy, self.func))
    numpy_func = property(lambda self: getattr(np, self.func))


class NumpyAliasBasicTestBase(_NumpyAlias):
    """Its signature is NumPy's, its docstring is not."""

    def test_argspec(self):
        assert inspect.signature(self.cupy_func) == inspect.signature(self.numpy_func)

    def test_docstring(self):
        assert self.cupy_func.__doc__
        assert self.cupy_func.__doc__ is not self.numpy_func.__doc__


class NumpyAliasValuesTestBase(_NumpyAlias):
    """Of ``args`` it makes what NumPy's makes."""

    def test_values(self):
        assert self.cupy_func(*self.args) == self.numpy_func(*self.args)
