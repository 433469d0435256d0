"""Which cases of a test are run in `make test` already, and which in `make test-all` only."""

import pytest


def long_but(quick, values):
    """The `values` as parameters, all but those in `quick` marked as long."""
    values = list(values)
    assert set(quick) <= set(values), f"{quick} are not all in {values}"
    return [v if v in quick else _long(v) for v in values]


def _long(value):
    """A value, or a tuple of several parameters' values."""
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.long)
