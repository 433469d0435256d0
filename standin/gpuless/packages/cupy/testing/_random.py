"""The same random numbers in every run of a test."""

from __future__ import annotations

import functools
import os
import random
import types
import unittest
from collections.abc import Callable

import numpy as np

import cupy

# ruff: noqa: NPY002  (the tests themselves draw from these)

_before: list = []  # for each test that has begun and not ended, outermost first: what there was


def _begin() -> None:
    _before.append((random.getstate(), np.random.get_state(), cupy.random._states))
    if len(_before) == 1:
        cupy.random.reset_states()
        vary = bool(int(os.environ.get("CUPY_TEST_RANDOM_NONDETERMINISTIC", "0")))
        for number, module in enumerate((random, np.random, cupy.random)):
            module.seed(None if vary else 99 + number)


def _end() -> None:
    python, numpys, cupys = _before.pop()
    if not _before:
        random.setstate(python)
        np.random.set_state(numpys)
        cupy.random._states = cupys


def generate_seed() -> int:
    """A seed for a generator of your own; only in a test with ``fix_random``."""
    assert _before, "random is not set up"
    return np.random.randint(0x7FFFFFFF)


def fix_random() -> Callable:
    """Seed ``random``, ``numpy.random`` and ``cupy.random`` for a test method, or for each of a
    ``unittest.TestCase``, and put back afterwards what there was.

    ``CUPY_TEST_RANDOM_NONDETERMINISTIC=1`` takes other seeds each time. ValueError for what is
    neither.
    """

    def decorator(impl):
        if isinstance(impl, types.FunctionType) and impl.__name__.startswith("test_"):
            return _around(_begin, impl, _end)
        if isinstance(impl, type) and issubclass(impl, unittest.TestCase):
            impl.setUp = _around(_begin, impl.setUp, lambda: None)
            impl.tearDown = _around(lambda: None, impl.tearDown, _end)
            return impl
        raise ValueError(f"Can't apply fix_random to {impl}")

    return decorator


def _around(before: Callable, function: Callable, after: Callable) -> Callable:
    @functools.wraps(function)
    def call(*args, **kwargs):
        before()
        try:
            return function(*args, **kwargs)
        finally:
            after()

    return call
