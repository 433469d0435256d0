"""One matrix in the forms that the solvers of ``cupyx.scipy.sparse.linalg`` take."""

import cupy as cp
import numpy as np
from cupyx.scipy import sparse
from cupyx.scipy.sparse import linalg

FORMATS = {
    "dense": cp.asarray,
    "csr": lambda a: sparse.csr_matrix(cp.asarray(a)),
    "csc_array": lambda a: sparse.csc_array(cp.asarray(a)),
    "operator": lambda a: of_functions(cp.asarray(a)),
}


def of_functions(a):
    """An operator that holds whoever calls it to device arrays."""

    def by(matrix):
        def product(x):
            assert isinstance(x, cp.ndarray) and x.dtype == a.dtype
            return matrix @ x

        return product

    return linalg.LinearOperator(a.shape, by(a), by(a.conj().T), dtype=a.dtype)


def complex_of(a):
    return a + 1j * np.roll(a, 1, 0) / 7
