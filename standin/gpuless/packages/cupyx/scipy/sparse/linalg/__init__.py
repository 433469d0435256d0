"""``cupyx.scipy.sparse.linalg`` on the CPU: SciPy's solvers under CuPy's signatures and rules."""

from __future__ import annotations

from cupy._core._refused import checked as _checked

from cupyx.scipy.sparse.linalg._eigen import eigsh, lobpcg, svds  # noqa: F401
from cupyx.scipy.sparse.linalg._iterative import (  # noqa: F401
    bicgstab,
    cg,
    cgs,
    gmres,
    lsmr,
    minres,
)
from cupyx.scipy.sparse.linalg._matrices import matrix_power, norm  # noqa: F401
from cupyx.scipy.sparse.linalg._operators import LinearOperator, aslinearoperator  # noqa: F401
from cupyx.scipy.sparse.linalg._solve import (  # noqa: F401
    SuperLU,
    factorized,
    lsqr,
    spilu,
    splu,
    spsolve,
    spsolve_triangular,
)
from gpuless import missing as _missing

globals().update(_checked("sparse.linalg", globals()))


def __getattr__(name: str):
    raise _missing(__name__, name)
