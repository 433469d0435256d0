"""Test classes that run once for each of several sets of attributes."""

from __future__ import annotations

import functools
import itertools
import operator
import sys
import types
import unittest
from collections.abc import Callable

from cupy.testing._helper import needed_pytest


def parameterize(*params: dict, _ids: bool = True) -> Callable[[type], type | None]:
    """Run a class of tests with each of ``params``, whose entries become its attributes.

    A ``unittest.TestCase`` is replaced by subclasses, one for each, in its module. Any other class
    is given to pytest's own ``parametrize``; RuntimeError where that was done already.
    """

    def decorator(cls: type) -> type | None:
        if issubclass(cls, unittest.TestCase):
            assert _ids, "the subclasses have no other names"
            return _subclasses(cls, params)
        return _parametrized(cls, params, _ids)

    return decorator


def product(parameter: dict) -> list[dict]:
    """``{"a": [1, 2], "b": [3]}`` gives ``[{"a": 1, "b": 3}, {"a": 2, "b": 3}]``."""
    assert isinstance(parameter, dict)
    keys = sorted(parameter)
    rows = itertools.product(*(parameter[key] for key in keys))
    return [dict(zip(keys, row, strict=True)) for row in rows]


def product_dict(*parameters: list[dict]) -> list[dict]:
    """One dictionary for each way to take one from every list, joined."""
    return [functools.reduce(operator.or_, row, {}) for row in itertools.product(*parameters)]


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    before = (most - 3) // 2
    return f"{text[:before]}...{text[len(text) - (most - 3 - before) :]}"


def _case_name(number: int, param: dict) -> str:
    """``_param_0_{a=1, b=float32}``: what has a name is called by it."""
    texts = []
    for key, value in sorted(param.items()):
        called = getattr(value, "__name__", None)
        text = called if isinstance(called, str) else repr(value)
        texts.append(f"{key}={_shortened(text, 100)}")
    return f"_param_{number}_{{{_shortened(', '.join(texts), 5000)}}}"


def _subclasses(cls: type, params: tuple[dict, ...]) -> None:
    module = sys.modules[cls.__module__]
    for number, param in enumerate(params):
        name = cls.__name__ + _case_name(number, param)
        members = {
            # As a function it would be taken for a method.
            key: staticmethod(value) if isinstance(value, types.FunctionType) else value
            for key, value in param.items()
        }
        made = type(name, (cls,), {"__module__": cls.__module__, **members})
        setattr(module, name, made)


def _parametrized(cls: type, params: tuple[dict, ...], ids: bool) -> type:
    pytest = needed_pytest("parameterize")
    if hasattr(cls, "_cupy_testing_parameterize"):
        raise RuntimeError("do not `@testing.parameterize` twice")

    @pytest.fixture(autouse=True)
    def give(self, _cupy_testing_param: dict) -> None:
        assert not self.__dict__, "the test's own attributes would be overwritten"
        self.__dict__.update(_cupy_testing_param)

    members = {"__module__": cls.__module__, "_cupy_testing_parameterize": give}
    made = type(cls.__name__, (cls,), {"__doc__": cls.__doc__, **members})
    cases = [
        pytest.param(param, id=_case_name(number, param) if ids else str(number))
        for number, param in enumerate(params)
    ]
    return pytest.mark.parametrize("_cupy_testing_param", cases)(made)
