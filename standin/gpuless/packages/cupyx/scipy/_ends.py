"""Distributions of ``cupyx.scipy.special`` at NaN and infinity, where CuPy's sources ask in another
order than SciPy's: a NaN beside an infinity or a zero may give a number there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special


def _in_double(function: Callable) -> Callable:
    """``function`` of double numbers, whose result has the operands' type."""

    def call(*operands):
        made = function(*(v.astype(float) for v in operands))
        return np.asarray(made).astype(np.result_type(*operands))

    return call


def _igam(a, x):
    """``gammainc``: 0 and 1 are found before a NaN."""
    nan_a, nan_x = np.isnan(a), np.isnan(x)
    nothing = (nan_a & (x == 0)) | (nan_x & np.isposinf(a))
    found = np.where(nan_a & np.isposinf(x), 1, special.gammainc(a, x))
    return np.where(nothing, 0, found)


def _igamc(a, x):
    found, below = special.gammaincc(a, x), _igam(a, x)
    return np.where(np.isnan(found) & ~np.isnan(below), 1 - below, found)


def _positive(x, found):
    return np.where(x < 0, np.nan, found)


def _incbet(a, b, x, found):
    """``betainc``, which is ``found`` of finite numbers."""
    far = np.isinf(a), np.isinf(b)
    found = np.where(far[0], x >= 1, np.where(far[1], x > 0, found))
    return np.where(np.isnan(x) | (far[0] & far[1]), np.nan, found)


def _fdtr(a, b, x):
    known = (a > 0) & (b > 0) & (x >= 0)
    at = a * x
    at = at / (b + at)
    return np.where(known, _incbet(a, b, at, special.betainc(a / 2, b / 2, at)), np.nan)


def _fdtrc(a, b, x):
    known = (a > 0) & (b > 0) & (x >= 0)
    at = b / (b + a * x)
    return np.where(known, _incbet(b, a, at, special.betainc(b / 2, a / 2, at)), np.nan)


def _fdtri(a, b, y):
    """By ``1 - y``, which loses a small ``y``."""
    known = (a > 0) & (b > 0) & (y > 0) & (y <= 1)
    y = 1 - y
    near = (special.betainc(b / 2, a / 2, 0.5) > y) | (y < 0.001)
    at, beside = special.betaincinv(b / 2, a / 2, y), special.betaincinv(a / 2, b / 2, 1 - y)
    found = np.where(near, (b - b * at) / (a * at), b * beside / (a * (1 - beside)))
    return np.where(known, found, np.nan)


def _binom(n, k):
    """Where SciPy's overflows too early, by the same number of a positive count."""
    found = special.binom(n, k)
    over = np.isinf(found) & (n < 0) & (k == np.floor(k))
    return np.where(over, np.where(k % 2, -1.0, 1.0) * special.binom(k - n - 1, k), found)


def _counted(function: Callable) -> Callable:
    """Of two counts that a GPU casts to ``int``, which ends at 2**31 - 1."""
    ends = np.iinfo(np.int32)
    return lambda k, n, p: function(*(np.trunc(np.clip(v, ends.min, ends.max)) for v in (k, n)), p)


def _of_many(function: Callable) -> Callable:
    """Of a second count that a GPU casts to ``int``; SciPy's warns of one that is no integer."""

    def call(k, n, p):
        whole = np.isfinite(n)
        ends = np.iinfo(np.int32)
        many = np.clip(np.where(whole, n, 0), ends.min, ends.max).astype(np.int64)
        return np.where(whole, function(k, many, p), np.nan)

    return call


def _nbdtri(k, n, y):
    # One more than the greatest ``int`` is the least: a count that only 0 and 1 do not need.
    over = (k >= 2**31 - 1) & ~np.isnan(n)
    return np.where(over, np.where((y == 0) | (y == 1), y, np.nan), special.nbdtri(k, n, y))


def _pseudo_huber(delta, r):
    """Without the care that SciPy takes of a small ``r / delta``."""
    ratio = r / delta
    found = np.where((delta == 0) | (r == 0), 0, delta * delta * (np.sqrt(1 + ratio * ratio) - 1))
    return np.where(delta < 0, np.inf, found)


def _xlog1py(x, y):
    made = x * np.log(1 + y) if y.dtype.kind == "c" else special.xlog1py(x, y)
    return np.where(x == 0, y.dtype.type(0), made)


OWN = {
    name: _in_double(function)
    for name, function in {
        "chdtr": lambda df, x: _positive(x, _igam(df / 2, x / 2)),
        "chdtrc": lambda df, x: _positive(x, _igamc(df / 2, x / 2)),
        **{name: _of_many(getattr(special, name)) for name in ("bdtr", "bdtrc", "bdtri")},
        "betainc": special.betainc,
        "betaincinv": special.betaincinv,
        "binom": _binom,
        "fdtr": _fdtr,
        "fdtrc": _fdtrc,
        "fdtri": _fdtri,
        "gammainc": _igam,
        "gammaincc": _igamc,
        "gdtr": lambda a, b, x: _positive(x, _igam(b, a * x)),
        "gdtrc": lambda a, b, x: _positive(x, _igamc(b, a * x)),
        "nbdtr": _counted(special.nbdtr),
        "nbdtrc": _counted(special.nbdtrc),
        "nbdtri": _counted(_nbdtri),
        "pdtr": lambda k, m: np.where(
            (k < 0) | (m < 0), np.nan, np.where(m == 0, 1, _igamc(np.floor(k) + 1, m))
        ),
        "pdtrc": lambda k, m: np.where(
            (k < 0) | (m < 0), np.nan, np.where(m == 0, 0, _igam(np.floor(k) + 1, m))
        ),
        "pseudo_huber": _pseudo_huber,
    }.items()
}
OWN["xlog1py"] = _xlog1py
