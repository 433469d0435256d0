"""Decorators that call a test once for each dtype, order or choice of axes."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import random
import sys
import unittest
from collections.abc import Callable, Iterable

import numpy as np

COMPLEX = (np.complex64, np.complex128)
FLOATS = (np.float64, np.float32)
SIGNED = tuple(np.dtype(code).type for code in "bhilq")
UNSIGNED = tuple(np.dtype(code).type for code in "BHILQ")


def hiding(test: Callable, *names: str) -> Callable:
    """A decorator of what stands for ``test``: it is called as that is, but without ``names``, in
    which pytest would look for fixtures. ValueError where the test has no such parameter."""

    def give(function: Callable) -> Callable:
        function = functools.wraps(test)(function)
        given = functools.partial(test, **dict.fromkeys(names))
        function.__signature__ = inspect.signature(given)
        return function

    return give


def skips() -> tuple[type[BaseException], ...]:
    """What is raised to skip a test; pytest's as soon as somebody has imported pytest."""
    pytest = sys.modules.get("pytest")
    return (unittest.SkipTest, *([pytest.skip.Exception] if pytest else []))


def _each(names: Iterable[str], cases: Iterable[dict], tolerant: bool) -> Callable:
    """A decorator: call the test with each of the ``cases``, which are arguments for ``names``.

    ``tolerant`` takes a case that is skipped for a passed one, and goes on with the next.
    """

    def decorator(test: Callable) -> Callable:
        @hiding(test, *names)
        def every(*args, **kwargs) -> None:
            for case in cases:
                text = ", ".join(f"{name} = {value}" for name, value in case.items())
                try:
                    test(*args, **{**kwargs, **case})
                except skips() as why:
                    if not tolerant:
                        raise
                    print(f"skipped: {text} ({why})")
                except Exception as error:
                    error.add_note(f"with {text}")
                    raise

        return every

    return decorator


def for_dtypes(dtypes, name="dtype") -> Callable:
    """Call the test with each of the ``dtypes`` as the keyword argument ``name``.

    It gets NumPy's type: ``numpy.float32`` for ``"f"``. A skip inside skips one dtype.
    """
    return _each([name], [{name: np.dtype(dtype).type} for dtype in dtypes], True)


def _integers(no_bool: bool) -> tuple[type, ...]:
    return (*SIGNED, *UNSIGNED, *(() if no_bool else (np.bool_,)))


def _all(no_float16: bool, no_bool: bool, no_complex: bool) -> tuple[type, ...]:
    floats = FLOATS if no_float16 else (*FLOATS, np.float16)
    return (*floats, *_integers(no_bool), *(() if no_complex else COMPLEX))


def for_all_dtypes(name="dtype", no_float16=False, no_bool=False, no_complex=False) -> Callable:
    """``for_dtypes`` of all that CuPy has, less those that are named."""
    return for_dtypes(_all(no_float16, no_bool, no_complex), name)


def for_float_dtypes(name="dtype", no_float16=False) -> Callable:
    """``for_dtypes`` of ``float64``, ``float32`` and ``float16``."""
    return for_dtypes(FLOATS if no_float16 else (*FLOATS, np.float16), name)


def for_signed_dtypes(name="dtype") -> Callable:
    """``for_dtypes`` of the signed integers."""
    return for_dtypes(SIGNED, name)


def for_unsigned_dtypes(name="dtype") -> Callable:
    """``for_dtypes`` of the unsigned integers."""
    return for_dtypes(UNSIGNED, name)


def for_int_dtypes(name="dtype", no_bool=False) -> Callable:
    """``for_dtypes`` of the integers and ``bool``."""
    return for_dtypes(_integers(no_bool), name)


def for_complex_dtypes(name="dtype") -> Callable:
    """``for_dtypes`` of ``complex64`` and ``complex128``."""
    return for_dtypes(COMPLEX, name)


def for_dtypes_combination(types, names=("dtype",), full=None) -> Callable:
    """Call the test with combinations of ``types``, one for each of the keyword arguments.

    ``full`` takes all combinations, False twice as many as there are types: the same for all names,
    and a shuffled lot, which is always the same here. None asks ``CUPY_TEST_FULL_COMBINATION``.
    """
    types = list(types)
    if len(types) == 1:
        (name,) = names
        return for_dtypes(types, name)
    if full is None:
        full = bool(int(os.environ.get("CUPY_TEST_FULL_COMBINATION", "0")))
    if full:
        rows = itertools.product(types, repeat=len(names))
    else:
        draw = random.Random(0)
        shuffled = [draw.sample(types, len(types)) for _ in names]
        rows = dict.fromkeys(
            [*((one,) * len(names) for one in types), *zip(*shuffled, strict=True)]
        )
    return _each(names, [dict(zip(names, row, strict=True)) for row in rows], True)


def for_all_dtypes_combination(
    names=("dtyes",), no_float16=False, no_bool=False, full=None, no_complex=False
) -> Callable:
    """``for_dtypes_combination`` of all dtypes; ``names`` has CuPy's default, as it is spelled."""
    return for_dtypes_combination(_all(no_float16, no_bool, no_complex), names, full)


def for_signed_dtypes_combination(names=("dtype",), full=None) -> Callable:
    """``for_dtypes_combination`` of the signed integers."""
    return for_dtypes_combination(SIGNED, names, full)


def for_unsigned_dtypes_combination(names=("dtype",), full=None) -> Callable:
    """``for_dtypes_combination`` of the unsigned integers."""
    return for_dtypes_combination(UNSIGNED, names, full)


def for_int_dtypes_combination(names=("dtype",), no_bool=False, full=None) -> Callable:
    """``for_dtypes_combination`` of the integers and ``bool``."""
    return for_dtypes_combination(_integers(no_bool), names, full)


def for_orders(orders, name="order") -> Callable:
    """Call the test with each of the ``orders`` as the keyword argument ``name``."""
    return _each([name], [{name: order} for order in orders], False)


def for_CF_orders(name="order") -> Callable:
    """``for_orders`` of None, "C" and "F", and both in small letters."""
    return for_orders([None, "C", "F", "c", "f"], name)


def for_contiguous_axes(name="axis") -> Callable:
    """Call the test with each choice of axes that lie side by side in memory.

    The test is given ``shape`` and ``order`` by keyword. Of three axes these are (0, 1, 2), (1, 2)
    and (2,) in C order, (0,), (0, 1) and (0, 1, 2) in Fortran's.
    """

    def decorator(test: Callable) -> Callable:
        @hiding(test, name)
        def every(*args, **kwargs) -> None:
            axes, order = range(len(kwargs["shape"])), kwargs["order"]
            if order not in ("c", "C", "f", "F"):
                raise ValueError("Please specify the array order.")
            chosen = [axes[k:] if order in "cC" else axes[: k + 1] for k in axes]
            _each([name], [{name: tuple(one)} for one in chosen], False)(test)(*args, **kwargs)

        return every

    return decorator
