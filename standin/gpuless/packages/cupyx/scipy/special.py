"""``cupyx.scipy.special`` on the CPU."""

from __future__ import annotations

import warnings as _warnings

import numpy as _np
from cupy._core import _loops, _routines, _ufuncs
from cupy._core._creation import asarray as _asarray
from cupy._core._dispatch import unsupported as _unsupported
from cupy._core._ndarray import ndarray as _ndarray
from cupy._core._refused import checked as _checked
from cupy._core._routines import broadcast_arrays as _broadcast
from cupy._core._routines import round  # noqa: F401  (its own, not SciPy's, in CuPy too)
from cupy._core._routines import where as _where
from cupy._core._ufunc import ufunc as _ufunc
from cupy._core._ufuncs import sinc  # noqa: F401
from scipy import special as _library

from cupyx.scipy._ends import OWN as _ENDS
from cupyx.scipy._faces import serve as _serve
from gpuless import missing as _missing

# The types of CuPy's functions where SciPy's function of the name has others. The first row that
# all operands fit into is taken.
_ROWS = {
    "e->d f->f d->d": "erf erfc erfcx expit log_expit log_ndtr logit ndtr",
    "f->f d->d": "ellipk ellipkm1 exp1 expi",
    "ff->f dd->d": "ellipeinc ellipkinc expn gammainc gammaincc gammainccinv gammaincinv",
    "ff->ffff dd->dddd": "ellipj",
    "fff->f ddd->d": "wright_bessel",
    "lll->d LLL->d eee->d fff->f ddd->d": "radian",
    "ll->d LL->d ee->d ff->f dd->d": "beta betaln",
    "ee->d ll->d LL->d ff->f dd->d FF->F DD->D": "xlog1py xlogy",
    "ee->f ff->f dd->d": "boxcox boxcox1p inv_boxcox inv_boxcox1p",
    "id->d dd->d": "yn",
    "l->d L->d e->d f->f d->d": """cbrt cosdg cosm1 cotdg gammasgn i0 i0e i1 i1e j0 j1 k0 k0e k1
k1e sindg tandg y0 y1 zetac""",
    "e->d l->d L->d f->f d->d": "exp10 exp2",
    "l->d e->d f->f d->d": "gammaln",
    "l->d e->d f->f d->d F->F D->D": "digamma gamma loggamma rgamma",
    "e->d l->d L->d f->f d->d F->F D->D": "expm1",
    "l->d L->d e->d f->f d->d F->F D->D": "exprel",
    "l->d L->d e->d f->f F->F d->d D->D": "log1p",
}
_TYPES = {name: rows.split() for rows, names in _ROWS.items() for name in names.split()}


_IN_SINGLE = ("erf", "erfc", "erfcx")  # of half precision


def _bounded(function):
    """Of an infinity 0, as CUDA's, where SciPy's gives no number."""
    return lambda x: _np.where(_np.isposinf(x), x.dtype.type(0), function(x))


def _growing(function):
    """Of an infinity an infinity."""
    return lambda x: _np.where(_np.isinf(x), function(_np.sign(x)) * _np.abs(x), function(x))


def _scaled(function, sign: int):
    """The product that overflows: far out it is 0 times an infinity."""

    def call(x):
        parts = _np.exp(sign * (x if sign > 0 else _np.abs(x))), function(x)
        if x.dtype.char == "f":  # CuPy's kernels know no numbers nearer to zero
            parts = [_np.where(_np.abs(v) < _np.finfo("f").tiny, 0, v) for v in parts]
        return (parts[0] * parts[1]).astype(x.dtype)

    return call


def _of_degrees(function):
    return lambda x: function((_np.pi / 180 * x.astype(float)).astype(x.dtype))


def _exprel(x):
    return _np.where(_np.abs(x) >= 1e-16, _expm1(x) / x, 1).astype(x.dtype)


def _expm1(x):
    return _loops.expm1(x)[0] if x.dtype.kind == "c" else _np.expm1(x)


def _log1p(x):
    """Of a complex number in double precision, see cupy.log1p."""
    return _loops.log1p(x.astype("D"))[0].astype(x.dtype) if x.dtype.kind == "c" else _np.log1p(x)


def _order(n):
    """A number that a GPU casts to ``int``."""
    ends = _np.iinfo(_np.int32)
    return _np.clip(n.astype(float), ends.min, ends.max)


_I0, _I1 = _growing(_library.i0), _growing(_library.i1)
# What CuPy's sources compute in another way than SciPy's.
_OWN = {
    "cosdg": _of_degrees(_np.cos),
    "erfcinv": lambda x: _library.erfcinv(x) + 0,  # of 1 no negative zero
    "expm1": _expm1,
    "expi": lambda x: _np.where(_np.isposinf(x), x.dtype.type(_np.nan), _library.expi(x)),
    "exprel": _exprel,
    # Of a negative zero, as of a zero, 1.
    "gammasgn": lambda x: _np.where(_np.isneginf(x), x.dtype.type(1), _library.gammasgn(x + 0)),
    "i0": _I0,
    "i0e": _scaled(_I0, -1),
    "i1": _I1,
    "i1e": _scaled(_I1, -1),
    "k0e": _scaled(_library.k0, 1),
    "k1e": _scaled(_library.k1, 1),
    "log1p": _log1p,
    "sindg": _of_degrees(_np.sin),
    "j0": lambda x: _bounded(_library.j0)(_np.abs(x)),
    "j1": lambda x: _np.where(_np.isinf(x), _np.copysign(x.dtype.type(0), x), _library.j1(x)),
    "expn": lambda n, x: _library.expn(_order(n), x.astype(float)).astype(x.dtype),
    "yn": lambda n, x: _np.where(_np.trunc(n) < 0, _np.nan, _library.yn(n, x)),  # CUDA's
    **{name: _bounded(getattr(_library, name)) for name in ("y0", "y1")},
    **_ENDS,
}


def _most(x, axis):
    """The greatest number along ``axis``, where that is one."""
    most = _routines.amax(x, axis=axis, keepdims=True)
    return _where(_ufuncs.isfinite(most), most, most.dtype.type(0))


def softmax(x, axis=None):
    """Exponentials that sum to 1 along ``axis``."""
    if not isinstance(x, _ndarray):
        raise _unsupported(x)
    made = _ufuncs.exp(x - _routines.amax(x, axis=axis, keepdims=True))
    return made / _routines.sum(made, axis=axis, keepdims=True)


def log_softmax(x, axis=None):
    """Logarithms of the softmax."""
    if not isinstance(x, _ndarray):
        raise _unsupported(x)
    x = x - _most(x, axis)
    if x.dtype.kind in "iu":
        x = x.astype(next(t for t in "efd" if _np.can_cast(x.dtype, t)))
    return x - _ufuncs.log(_routines.sum(_ufuncs.exp(x), axis=axis, keepdims=True))


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """The logarithm of the sum of exponentials, each ``b`` times."""
    if not isinstance(a, _ndarray):
        raise _unsupported(a)
    if a.dtype.kind in "biu":
        a = a.astype(float)
    if b is not None:
        a, b = _broadcast(a, b)
        a = _where(b == 0, a.dtype.type(-_np.inf), a)
    most = _most(a.real, axis)
    if not a.ndim and not keepdims and not _ufuncs.isfinite(a.real):
        raise AttributeError("CuPy's logsumexp squeezes a 0 that is no array: give an array (1,)")
    made = _ufuncs.exp(a - most)
    total = _routines.sum(made if b is None else b * made, axis=axis, keepdims=keepdims)
    sign, total = (_ufuncs.sign(total), abs(total)) if return_sign else (None, total)
    found = _ufuncs.log(total)
    found += most if keepdims else most.squeeze(axis)
    return (found, sign) if return_sign else found


class _Special(_ufunc):
    """A function of SciPy's, with CuPy's types."""

    def __init__(self, function: _np.ufunc, name: str):
        self._rows, self._own = _TYPES.get(name), _OWN.get(name, function)
        own = self._rows or name in _OWN
        super().__init__(function, name, self._wide if own else None)
        self._others = _np.dtype("f" if name in _IN_SINGLE else "d")
        if self._rows:
            self.types = self._by_dtype = self._rows

    def _resolve(self, types: tuple, weaks: tuple, dtype: _np.dtype | None) -> tuple:
        if self._rows or dtype is not None:
            return super()._resolve(types, weaks, dtype)
        given = [weak or t for weak, t in zip(weaks, types, strict=True)]
        asked = (*(types if all(weaks) else given), *(None,) * self.nout)
        return self._function.resolve_dtypes(asked, casting="unsafe"), True

    def _wide(self, *operands):
        """Numbers of a type that is none of the results' are double ones."""
        made = self._own(
            *(v if v.dtype.char in "fdFD" else v.astype(self._others) for v in operands)
        )
        return made if self.nout > 1 else (made,)


for _name, _face in _serve(_library, arrays=False, order="C").items():
    _function = getattr(_library, _name)
    if isinstance(_function, _np.ufunc):
        _face = _Special(_function, _name)  # noqa: PLW2901
    globals().setdefault(_name, _face)

psi = digamma  # noqa: F821
_sph_harm_y, _spherical_yn = sph_harm_y, spherical_yn  # noqa: F821


def sph_harm_y(n, m, theta, phi, *, diff_n=0):
    """SciPy's, of the cosine of ``theta``, in which a small angle is lost; in single precision of
    angles in such, and NaN for an ``m`` above ``n``."""
    for value in (n, m, theta, phi):
        if isinstance(value, (list, tuple)):
            raise _unsupported(value)
    types = [v.dtype for v in (theta, phi) if hasattr(v, "dtype")]
    if any(dtype.kind == "c" for dtype in types):
        raise TypeError("sph_harm_y() takes no complex angles")
    single = types or any(hasattr(v, "dtype") for v in (n, m))  # of a type that is not Python's
    single = single and all(_np.can_cast(dtype, "f") for dtype in types)
    if isinstance(theta, (_ndarray, int, float)):
        theta = _ufuncs.arccos(_ufuncs.cos(_asarray(theta, dtype=float)))
    found = _sph_harm_y(n, m, theta, phi, diff_n=diff_n)
    if single:
        found = found.astype(_np.complex64)
    return _where(abs(_asarray(m)) > n, found.dtype.type(_np.nan), found)


def sph_harm(m, n, theta, phi, out=None):
    """``sph_harm_y(n, m, phi, theta)``, by a name that CuPy is about to drop."""
    text = "`cupyx.scipy.special.sph_harm` is deprecated, use sph_harm_y(n, m, phi, theta)."
    _warnings.warn(text, DeprecationWarning, stacklevel=2)
    found = sph_harm_y(n, m, phi, theta)
    return found if out is None else _ufuncs.positive(found, out=out)


def spherical_yn(n, z, derivative=False):
    """SciPy's, in double precision."""
    wide = z.astype(float) if isinstance(z, _ndarray) and z.dtype.kind == "f" else z
    return _spherical_yn(n, wide, derivative)


def multigammaln(a, d):
    """The logarithm of the multivariate gamma function of dimension ``d``, a sum of those of the
    gamma function, each in the precision of ``a``."""
    if isinstance(d, _ndarray) or not _np.isscalar(d) or _np.floor(d) != d:
        raise ValueError("d should be a positive integer (dimension)")
    a = _asarray(a, dtype=float) if _np.isscalar(a) else a
    if not isinstance(a, _ndarray):
        raise _unsupported(a)
    if bool((a <= 0.5 * (d - 1)).any()):
        raise ValueError("condition a > 0.5 * (d-1) not met")
    parts = [gammaln(a)] + [gammaln(a - (j - 1) / 2) for j in range(2, d + 1)]  # noqa: F821
    return sum(parts, d * (d - 1) / 4 * _np.log(_np.pi))


def polygamma(n, x):
    """The ``n``-th derivative of the digamma function, in double precision."""
    n, x = _broadcast(n, x)
    found = (-1.0) ** (n + 1) * gamma(n + 1.0) * zeta(n + 1.0, x)  # noqa: F821
    return _where(_asarray((n == 0).astype("?")), digamma(x), found)  # noqa: F821


globals().update(_checked("special", globals(), _library))


def __getattr__(name: str):
    raise _missing(__name__, name)
