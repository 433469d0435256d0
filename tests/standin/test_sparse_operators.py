"""Operators, eigenvalues and norms of ``cupyx.scipy.sparse.linalg``: NumPy's dense answers."""

import cupy as cp
import numpy as np
import pytest
from cupyx.scipy import sparse
from cupyx.scipy.sparse import linalg
from operators import FORMATS, complex_of, of_functions

import helpers

pytestmark = [
    pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own faces"),
    pytest.mark.filterwarnings("error"),
]
RNG = np.random.default_rng(18)
N = 23
SYMMETRIC = RNG.normal(size=(N, N))
SYMMETRIC = SYMMETRIC + SYMMETRIC.T


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("size", [N, 71])  # of the larger one only a part is looked at
@pytest.mark.parametrize("which", ["LM", "LA", "SA"])
def test_eigenvalues(which, size, form):
    a = np.random.default_rng(size).normal(size=(size, size))
    a = a + a.T - 3 * np.eye(size)
    exact = np.linalg.eigvalsh(a)
    wanted = {"LM": np.sort(exact[np.argsort(abs(exact))[-4:]]), "LA": exact[-4:], "SA": exact[:4]}
    w, x = linalg.eigsh(FORMATS[form](a), 4, which=which)
    np.testing.assert_allclose(w.get(), wanted[which], rtol=1e-10)
    np.testing.assert_allclose(a @ x.get(), x.get() * w.get(), atol=1e-9)
    alone = linalg.eigsh(FORMATS[form](a), 4, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(alone.get(), wanted[which], rtol=1e-10)


@pytest.mark.parametrize("shape", [(29, 13), (13, 29), (61, 83)])
def test_singular_values(shape):
    a = complex_of(np.random.default_rng(shape[0]).normal(size=shape))
    exact = np.linalg.svd(a, compute_uv=False)[:5]
    u, s, vt = linalg.svds(of_functions(cp.asarray(a)), 5)
    assert (u.shape, s.shape, vt.shape) == ((shape[0], 5), (5,), (5, shape[1]))
    np.testing.assert_allclose(s.get()[::-1], exact, rtol=1e-10)
    np.testing.assert_allclose(a @ vt.get().conj().T, u.get() * s.get(), atol=1e-9)
    alone = linalg.svds(sparse.csr_matrix(cp.asarray(a)), 5, return_singular_vectors=False)
    np.testing.assert_allclose(alone.get()[::-1], exact, rtol=1e-10)


def test_singular_values_that_are_zero_come_last():
    a = np.outer(np.arange(1.0, 12), np.arange(3.0, 12)) + np.outer(np.ones(11), np.ones(9))
    u, s, vt = (one.get() for one in linalg.svds(cp.asarray(a), 4))
    np.testing.assert_allclose(s[:2], np.linalg.svd(a)[1][1::-1], rtol=1e-10)
    assert (s[2:] == 0).all()
    np.testing.assert_allclose(u * s @ vt, a, atol=1e-10)
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-10)


def test_what_eigenvalue_solvers_refuse():
    with pytest.raises(IndexError, match="no room"):
        linalg.svds(cp.ones((8, 20)))
    a = cp.asarray(SYMMETRIC)
    for solve in (linalg.eigsh, linalg.svds):
        for bad in ({"k": 0}, {"k": N}, {"which": "SM"}):
            with pytest.raises(ValueError):
                solve(a, **bad)
        with pytest.raises(ValueError, match="expected"):
            solve(a[0], 2)
        with pytest.raises(TypeError, match="dtype"):
            solve(a.astype(int), 2)
        with pytest.raises(TypeError, match="type not understood"):
            solve(SYMMETRIC, 2)
    large = cp.asarray(np.random.default_rng(1).normal(size=(200, 200)))
    start = cp.asarray(np.random.default_rng(0).random(200))  # another may be near enough
    with pytest.raises(NotImplementedError, match="before it has converged"):
        linalg.eigsh(large + large.T, 3, maxiter=1, v0=start)


def test_lobpcg():
    n = 60
    first = np.random.default_rng(4).normal(size=(n, 3))
    a, b = np.diag(np.arange(1.0, n + 1)), np.diag(np.linspace(1, 2, n))
    exact = np.sort(a.diagonal() / b.diagonal())
    inverse = of_functions(cp.asarray(np.linalg.inv(a)))
    for form in FORMATS:
        matrices = FORMATS[form](a), cp.asarray(first), FORMATS[form](b)
        w, v = linalg.lobpcg(*matrices, M=inverse, tol=1e-8, maxiter=60, largest=False)
        np.testing.assert_allclose(w.get(), exact[:3], rtol=1e-8)
        np.testing.assert_allclose(a @ v.get(), b @ v.get() * w.get(), atol=1e-5)
    with pytest.warns(RuntimeWarning, match="has not converged"):
        w, v, values, norms = linalg.lobpcg(
            matrices[0],
            matrices[1],
            Y=cp.eye(n, 2),
            maxiter=4,
            largest=False,
            retLambdaHistory=True,
            retResidualNormsHistory=True,
        )
    assert w.min() > 2 and abs(v[:2]).max() < 1e-10
    assert isinstance(values, list) and all(one.shape == (3,) for one in values + norms)
    with pytest.raises(ValueError, match="rank-2"):
        linalg.lobpcg(matrices[0], cp.ones(n))
    with pytest.raises(ValueError, match="invalid shape"):
        linalg.lobpcg(matrices[0], cp.ones((n - 1, 2)))
    with pytest.raises(NotImplementedError, match="constraints"):
        linalg.lobpcg(matrices[0], cp.ones((n, 20)), Y=cp.eye(n, 2))
    with pytest.raises(TypeError, match="Unsupported type"):
        linalg.lobpcg(matrices[0], first)


def test_norms_and_powers():
    a = RNG.normal(size=(7, 5)) * (RNG.random((7, 5)) < 0.5)
    matrix = sparse.csr_matrix(cp.asarray(a))
    for order in (None, "fro", 1, -1, np.inf, -np.inf):
        got = linalg.norm(matrix, order)
        assert isinstance(got, cp.ndarray) and got.shape == ()
        np.testing.assert_allclose(got.get(), np.linalg.norm(a, order))
    for axis in (0, 1, -1):
        for order in (None, 0, 1, 2, 3, np.inf):
            got = linalg.norm(matrix, order, axis)
            np.testing.assert_allclose(got.get(), np.linalg.norm(a, order, axis))
    for order in (2, -2):
        with pytest.raises(NotImplementedError):
            linalg.norm(matrix, order)
    with pytest.raises(ValueError, match="axes"):
        linalg.norm(matrix, axis=(0, -2))
    with pytest.raises(TypeError, match="booleans"):
        linalg.norm(matrix.astype(bool), 3, 0)
    for bad in (a, cp.asarray(a)):
        with pytest.raises(TypeError, match="not sparse"):
            linalg.norm(bad)
    with pytest.raises(ValueError, match="Invalid norm order"):
        linalg.norm(matrix, 7)
    square = sparse.csc_array(cp.asarray(a[:5]))
    for power in range(5):
        got = linalg.matrix_power(square, power)
        np.testing.assert_allclose(got.toarray().get(), np.linalg.matrix_power(a[:5], power))
    assert linalg.matrix_power(square, 0).format == "csr"
    for bad, error in (((square, -1), ValueError), ((square, 1.5), ValueError)):
        with pytest.raises(error, match="exponent"):
            linalg.matrix_power(*bad)
    with pytest.raises(TypeError, match="square"):
        linalg.matrix_power(matrix, 2)


def test_algebra_of_operators():
    a, b = complex_of(RNG.random((4, 6))), complex_of(RNG.random((6, 4)))
    left, right = of_functions(cp.asarray(a)), linalg.aslinearoperator(cp.asarray(b))
    square = left @ right
    cases = {
        "product": (square, a @ b),
        "sum": (left + right.T, a + b.T),
        "difference": (left - right.H, a - b.conj().T),
        "scaled": ((2 - 1j) * left * 3, (6 - 3j) * a),
        "power": (square**3, np.linalg.matrix_power(a @ b, 3)),
        "adjoint": ((left + right.T).H, (a + b.T).conj().T),
        "adjoint of a product": (square.H, (a @ b).conj().T),
        "transposed": (left.T, a.T),
        "sparse": (linalg.aslinearoperator(sparse.csr_matrix(cp.asarray(a))), a),
    }
    for name, (ours, wanted) in cases.items():
        assert ours.shape == wanted.shape and ours.dtype == wanted.dtype, name
        x, y = (complex_of(RNG.random((n, 3))) for n in wanted.shape[::-1])
        for got, want in (
            (ours @ cp.asarray(x), wanted @ x),
            (ours(cp.asarray(x[:, 0])), wanted @ x[:, 0]),
            (ours.matvec(cp.asarray(x[:, :1])), wanted @ x[:, :1]),
            (ours.rmatmat(cp.asarray(y)), wanted.conj().T @ y),
            (ours.rmatvec(cp.asarray(y[:, 0])), wanted.conj().T @ y[:, 0]),
        ):
            np.testing.assert_allclose(got.get(), want, err_msg=name)
    for scaled in (left * 1j, -left, left - right.T):
        with pytest.raises(ValueError, match="has no H"):
            _ = scaled.H
    with pytest.raises(ValueError, match="cannot add"):
        left + right
    with pytest.raises(ValueError, match="cannot multiply"):
        left @ left
    with pytest.raises(ValueError, match="Scalar operands"):
        left @ 2
    with pytest.raises(ValueError, match="square"):
        left**2
    with pytest.raises(ValueError, match="dimension mismatch"):
        left.matvec(cp.ones(5))


def test_operators_of_the_readers_own():
    class Twice(linalg.LinearOperator):
        def __init__(self):
            super().__init__("f", (5, 5))

        def _matvec(self, x):
            return 2 * x

        def _adjoint(self):
            return self

    twice = Twice()
    assert (twice @ cp.ones((5, 3), "f") == 2).all() and (twice.rmatvec(cp.ones(5)) == 2).all()
    assert repr(twice) == "<5x5 Twice with dtype=float32>"
    x = cp.ones(5, "f")
    assert (twice * 3).rmatvec(x).dtype == float and (twice * 3).matvec(x).dtype == np.float32
    assert not cp.shares_memory((twice**0).matvec(x), x)
    x, info = linalg.cg(twice, cp.ones(5, "f"))
    assert info == 0 and (x == 0.5).all() and x.dtype == np.float32
    known = linalg.LinearOperator((5, 5), lambda v: 1j * v)
    assert known.dtype == np.complex128
    with pytest.raises(NotImplementedError):
        known.rmatvec(cp.ones(5))
    with pytest.raises(ValueError, match="invalid shape"):
        linalg.LinearOperator((5,), lambda v: v)
    with pytest.warns(RuntimeWarning, match="_matvec"):
        type("Empty", (linalg.LinearOperator,), {})(float, (2, 2))
