"""``cupyx.scipy.special`` on the CPU."""

from __future__ import annotations

import numpy as _np
from cupy._core._routines import round, sinc  # noqa: F401  (its own, not SciPy's, in CuPy too)
from cupy._core._ufunc import ufunc as _ufunc
from scipy import special as _library

from cupyx.scipy._faces import serve as _serve
from gpuless import missing as _missing

# The types of CuPy's functions where SciPy's function of the name has others. The first row that
# all operands fit into is taken.
_ROWS = {
    "e->d f->f d->d": "erf erfc erfcx expit log_expit log_ndtr logit ndtr",
    "f->f d->d": "ellipk ellipkm1 exp1 expi",
    "ff->f dd->d": "ellipeinc ellipkinc expn gammainc gammaincc gammainccinv gammaincinv",
    "ff->ffff dd->dddd": "ellipj",
    "fff->f ddd->d": "radian wright_bessel",
    "ll->d LL->d ee->d ff->f dd->d": "beta betaln",
    "ee->d ll->d LL->d ff->f dd->d FF->F DD->D": "xlog1py xlogy",
    "dd->d": "yn",
}
_TYPES = {name: rows.split() for rows, names in _ROWS.items() for name in names.split()}


class _Special(_ufunc):
    """A function of SciPy's, with CuPy's types."""

    def __init__(self, function: _np.ufunc, name: str):
        rows = _TYPES.get(name)
        super().__init__(function, name, self._wide if rows else None)
        if rows:
            self.types = rows

    def _wide(self, *operands):
        """Numbers of a type that is none of the results' are double ones."""
        made = self._function(*(v if v.dtype.char in "fdFD" else v.astype(float) for v in operands))
        return made if self.nout > 1 else (made,)

    def _resolve(self, types: tuple, dtype: _np.dtype | None) -> tuple:
        if not self._loop:
            return super()._resolve(types, dtype)
        if all(isinstance(t, type) for t in types):
            types = tuple(_np.asarray(t(0)).dtype for t in types)
        for row in self.types:
            needed, made = row.split("->")
            fits = all(map(_fits, types, needed)) if dtype is None else dtype.char == made[0]
            if fits:
                return tuple(map(_np.dtype, needed + made))
        raise TypeError(f"Wrong type ({types}) of arguments for {self.name}")


def _fits(given, needed: str) -> bool:
    if isinstance(given, type):  # a number of Python's, of which the kind alone counts
        given = {int: "b", float: "e", complex: "F"}[given]
        needed = needed if given == "F" else _np.dtype(needed).kind.replace("c", "f")
        return given == "b" or needed in "fFD"
    return _np.can_cast(given, needed)


for _name, _face in _serve(_library, arrays=False).items():
    _function = getattr(_library, _name)
    if isinstance(_function, _np.ufunc):
        _face = _Special(_function, _name)  # noqa: PLW2901
    globals().setdefault(_name, _face)

psi = digamma  # noqa: F821


def __getattr__(name: str):
    raise _missing(__name__, name)
