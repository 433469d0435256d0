"""``cupyx.scipy.sparse.linalg`` and ``.csgraph``: NumPy's dense answers, CuPy's refusals."""

import inspect
import subprocess
import sys

import cupy as cp
import cupyx.scipy.sparse.csgraph
import cupyx.scipy.sparse.linalg
import numpy as np
import pytest
import scipy.sparse
from cupyx.scipy import sparse
from cupyx.scipy.sparse import linalg
from operators import FORMATS, complex_of

import gpuless
import helpers

pytestmark = [
    pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own faces"),
    pytest.mark.filterwarnings("error"),
]
RNG = np.random.default_rng(17)
N = 23
A = RNG.random((N, N)) * (RNG.random((N, N)) < 0.3) + np.diag(RNG.random(N) + N / 2)
SYMMETRIC = A + A.T
B = RNG.random(N)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["cg", "cgs", "bicgstab", "gmres", "minres", "lsmr"])
def test_iterative_solvers(name, form):
    a = SYMMETRIC if name in ("cg", "minres") else A
    rest = {"lsmr": {"atol": 1e-12, "btol": 1e-12}, "minres": {"tol": 1e-12}}
    options = rest.get(name, {"rtol": 1e-12})
    x, info, *_ = getattr(linalg, name)(FORMATS[form](a), cp.asarray(B), **options)
    assert isinstance(x, cp.ndarray) and x.shape == (N,) and x.dtype == np.float64
    np.testing.assert_allclose(x.get(), np.linalg.solve(a, B), rtol=1e-8)
    assert info == 0 or name == "lsmr"


@pytest.mark.parametrize("name", ["cg", "cgs", "bicgstab", "gmres"])
def test_the_dtype_is_that_of_the_matrix(name):
    a = SYMMETRIC.astype("F")
    x, info = getattr(linalg, name)(sparse.csr_matrix(cp.asarray(a)), cp.asarray(B[:, None]))
    assert x.dtype == np.complex64 and x.shape == (N,) and info == 0
    np.testing.assert_allclose(x.get(), np.linalg.solve(SYMMETRIC, B), rtol=1e-3)
    low, _ = linalg.minres(cp.asarray(SYMMETRIC, "f"), cp.asarray(B))
    assert low.dtype == np.float64  # as CuPy gives it


def test_a_start_a_preconditioner_and_a_callback():
    exact = np.linalg.solve(SYMMETRIC, B)
    seen = []
    matrix = sparse.csr_matrix(cp.asarray(SYMMETRIC))
    inverse = sparse.diags([cp.asarray(1 / SYMMETRIC.diagonal())], [0])
    x, info = linalg.cg(matrix, cp.asarray(B), x0=cp.ones((N, 1)), M=inverse, callback=seen.append)
    assert info == 0 and all(isinstance(one, cp.ndarray) and one.shape == (N,) for one in seen)
    errors = [np.linalg.norm(one.get() - exact) for one in seen]
    assert errors[-1] < 1e-4 < errors[0] and (seen[-1] == x).all()
    near, info = linalg.cg(matrix, cp.asarray(B), x0=cp.asarray(exact), maxiter=1)
    assert info == 0 and np.allclose(near.get(), exact)
    _, info = linalg.cg(matrix, cp.asarray(B), rtol=1e-14, maxiter=2)
    assert info == 2


def test_cycles_of_gmres():
    solutions, norms = [], []
    a, b = cp.asarray(A), cp.asarray(B)
    options = {"restart": 3, "rtol": 1e-10}
    linalg.gmres(a, b, callback=lambda x: solutions.append(x.copy()), callback_type="x", **options)
    x, info = linalg.gmres(a, b, callback=norms.append, **options)
    assert info == 0 and not solutions[0].any() and (solutions[-1] == x).all()
    expected = [np.linalg.norm(B - A @ one.get()) / np.linalg.norm(B) for one in solutions[1:]]
    np.testing.assert_allclose([float(one) for one in norms], expected)
    assert isinstance(norms[0], cp.ndarray) and norms[-1] < 1e-10 < norms[-2]
    _, info = linalg.gmres(a, b, restart=4, maxiter=6, rtol=1e-14)
    assert info == 8  # two cycles
    with pytest.raises(ValueError, match="Unknown callback_type"):
        linalg.gmres(a, b, callback_type="legacy")


@pytest.mark.parametrize("name", ["cg", "cgs", "bicgstab", "gmres", "minres"])
def test_what_is_no_square_system_is_refused(name):
    solve, a, b = getattr(linalg, name), cp.asarray(A), cp.asarray(B)
    for bad in (A, scipy.sparse.csr_matrix(A), A.tolist()):
        with pytest.raises(TypeError, match="type not understood"):
            solve(bad, b)
    for bad in ({"b": B}, {"x0": B}):
        with pytest.raises(TypeError, match="Unsupported type <class 'numpy.ndarray'>"):
            solve(a, **{"b": b} | bad)
    with pytest.raises(TypeError, match="dtype"):
        solve(a.astype(int), b)
    for bad in ({"A": a[:-1]}, {"b": b[:-1]}, {"x0": b[:-1]}, {"M": a[:-1, :-1]}):
        with pytest.raises(ValueError):
            solve(**{"A": a, "b": b} | bad)


def test_a_function_that_gives_what_lies_on_the_host():
    bad = linalg.LinearOperator((N, N), lambda v: A @ v.get(), dtype=float)
    with pytest.raises(TypeError, match="Unsupported type <class 'numpy.ndarray'>"):
        linalg.cg(bad, cp.asarray(B))


def test_what_a_function_gives_may_be_memory_that_it_uses_again():
    out = cp.empty(N)
    a = cp.asarray(A)

    def matvec(v):
        out[...] = a @ v
        return out

    x, _ = linalg.gmres(linalg.LinearOperator((N, N), matvec, dtype=float), cp.asarray(B))
    np.testing.assert_allclose(x.get(), np.linalg.solve(A, B), rtol=1e-3)


def test_solvers_that_have_nothing_to_do_or_cannot():
    a, none = cp.eye(3, dtype="f"), cp.zeros(3, "f")
    found = linalg.minres(a, none)
    assert found[0].dtype == np.float32 and found[1] == 0
    told = []
    x, _ = linalg.minres(a * 2, none + 1, callback=told.append)
    assert x.dtype == np.float64 and told[0].dtype == np.float32
    x, *numbers = linalg.lsmr(a, none.astype("D"))
    assert x.dtype == np.complex128 and list(map(type, numbers[2:])) == [
        float,
        float,
        int,
        int,
        int,
    ]
    with pytest.raises(ValueError, match="more than one"):
        linalg.lsmr(a[:1, :1], none[:1])
    for start, kind in ((none, "D"), (none.astype("D"), "f")):
        with pytest.raises(TypeError, match="in place"):
            linalg.lsmr(a.astype(kind), none + 1, start)
    with pytest.raises(TypeError, match="another type"):
        linalg.cg(a, none + 1, M=sparse.eye(3, format="csr"))
    for call in (lambda: linalg.minres(a, none, none + 1), lambda: linalg.lsmr(a, none, none + 1)):
        with pytest.raises(NotImplementedError, match="x0"):
            call()
    with pytest.raises(NotImplementedError, match="complex"):
        linalg.minres(a.astype("F"), none)


def test_least_squares():
    tall, b = RNG.random((19, 7)), RNG.random(19)
    wanted = np.linalg.lstsq(tall, b, None)[0]
    got = linalg.lsmr(sparse.coo_matrix(cp.asarray(tall)), cp.asarray(b), atol=1e-13, btol=1e-13)
    assert len(got) == 8
    np.testing.assert_allclose(got[0].get(), wanted, rtol=1e-8)
    np.testing.assert_allclose(got[3], np.linalg.norm(b - tall @ wanted), rtol=1e-8)
    residual = b - tall @ np.ones(7)  # the way from the start is what is damped
    damped = 1 + np.linalg.solve(tall.T @ tall + 4 * np.eye(7), tall.T @ residual)
    got = linalg.lsmr(cp.asarray(tall), cp.asarray(b), cp.ones(7), 2.0, atol=1e-13, btol=1e-13)
    np.testing.assert_allclose(got[0].get(), damped, rtol=1e-6)
    x, *nothing = linalg.lsqr(cp.asarray(A, "f"), cp.asarray(B, "f"))
    assert x.dtype == np.float64 and nothing == [None] * 9
    np.testing.assert_allclose(x.get(), np.linalg.solve(A, B), rtol=1e-4)
    with pytest.raises(np.linalg.LinAlgError):
        linalg.lsqr(cp.asarray(tall), cp.asarray(b))
    with pytest.raises(ValueError, match="1-d array"):
        linalg.lsqr(cp.asarray(A), cp.asarray(B[:-1]))
    with pytest.raises(TypeError, match="whose bytes"):
        linalg.lsqr(cp.asarray(A), cp.asarray(B, "f"))


@pytest.mark.parametrize("dtype", "fdFD")
def test_direct_solvers(dtype):
    a = (complex_of(A) if dtype in "FD" else A).astype(dtype)
    b = RNG.random((N, 3)).astype(dtype)
    matrix, rtol = sparse.csr_matrix(cp.asarray(a)), 1e-3 if dtype in "fF" else 1e-10
    x = linalg.spsolve(matrix, cp.asarray(b))
    assert x.dtype == dtype and x.flags.f_contiguous
    np.testing.assert_allclose(x.get(), np.linalg.solve(a, b), rtol=rtol)
    assert linalg.spsolve(matrix, cp.asarray(b[:, 0])).shape == (N,)
    for lower, half in ((True, np.tril), (False, np.triu)):
        x = linalg.spsolve_triangular(matrix, cp.asarray(b), lower)
        assert x.dtype == np.promote_types(dtype, "d")
        np.testing.assert_allclose(x.get(), np.linalg.solve(half(a), b), rtol=rtol)
        unit = half(a, -1 if lower else 1) / N + np.eye(N, dtype=dtype)
        scaled = sparse.csr_matrix(cp.asarray((a / N).astype(dtype)))
        x = linalg.spsolve_triangular(scaled, cp.asarray(b), lower, unit_diagonal=True)
        np.testing.assert_allclose(x.get(), np.linalg.solve(unit, b), rtol=rtol)


@pytest.mark.parametrize("dtype", "fD")
def test_factors(dtype):
    a = (complex_of(A) if dtype == "D" else A).astype(dtype)
    a = a[RNG.permutation(N)]
    b = RNG.random((N, 2)).astype(dtype)
    factors = linalg.splu(sparse.csc_matrix(cp.asarray(a)))
    assert factors.L.format == factors.U.format == "csr" and factors.shape == (N, N)
    rows, columns = factors.perm_r.get(), factors.perm_c.get()
    product = (factors.L * factors.U).toarray().get()  # of matrices, not of arrays
    np.testing.assert_allclose(product, a[np.argsort(rows)][:, np.argsort(columns)], atol=1e-4)
    rtol = 1e-2 if dtype == "f" else 1e-10
    for trans, matrix in (("N", a), ("T", a.T), ("H", a.conj().T)):
        x = factors.solve(cp.asarray(b), trans)
        assert x.dtype == dtype and x.flags.f_contiguous
        np.testing.assert_allclose(x.get(), np.linalg.solve(matrix, b), rtol=rtol)
    x = linalg.factorized(sparse.csc_matrix(cp.asarray(a)))(cp.asarray(b[:, 0]))
    np.testing.assert_allclose(x.get(), np.linalg.solve(a, b[:, 0]), rtol=rtol)
    whole = linalg.spilu(sparse.csr_matrix(cp.asarray(a)), drop_tol=0, fill_factor=100)
    np.testing.assert_allclose(whole.solve(cp.asarray(b)).get(), np.linalg.solve(a, b), rtol=rtol)
    with pytest.raises(TypeError, match="SuperLU"):
        linalg.SuperLU(a)
    for bad, error in ((b, TypeError), (cp.asarray(b[1:]), ValueError), (cp.ones(()), ValueError)):
        with pytest.raises(error):
            factors.solve(bad)
    with pytest.raises(ValueError, match="trans"):
        factors.solve(cp.asarray(b), "C")


def test_factors_without_fill():
    exact = np.diag(np.full(6, 4.0)) + np.diag(np.arange(1.0, 6), 1) + np.diag(-np.ones(5), -1)
    factors = linalg.spilu(sparse.csr_matrix(cp.asarray(exact)), fill_factor=1)  # nothing to fill
    assert factors.perm_r is None and factors.nnz == 16
    np.testing.assert_allclose((factors.L @ factors.U).toarray().get(), exact)
    x = factors.solve(cp.arange(6.0), "T")
    np.testing.assert_allclose(x.get(), np.linalg.solve(exact.T, np.arange(6.0)))
    exact[0, 5] = exact[5, 0] = 1  # the rows between would fill up
    factors = linalg.spilu(sparse.csr_matrix(cp.asarray(exact)), fill_factor=1)
    product = (factors.L * factors.U).toarray().get()  # of matrices, not of arrays
    there = exact != 0
    np.testing.assert_allclose(product[there], exact[there])
    assert not np.allclose(product, exact) and (factors.L.toarray().get()[~there] == 0).all()
    with pytest.raises(ValueError, match=r"a\(1,1\) is missing"):
        linalg.spilu(sparse.csr_matrix(cp.asarray([[1.0, 0], [2, 0]])), fill_factor=1)
    with pytest.raises(ValueError, match=r"u\(1,1\) is zero"):
        linalg.spilu(sparse.csr_matrix(cp.asarray([[1.0, 2], [1, 2]])), fill_factor=1)


@pytest.mark.parametrize("name", ["spsolve", "spsolve_triangular", "splu", "spilu", "factorized"])
def test_what_direct_solvers_refuse(name):
    solve = getattr(linalg, name)
    matrix, b = sparse.csr_matrix(cp.asarray(A)), cp.asarray(B)
    rest = () if "lu" in name or name == "factorized" else (b,)
    for bad in (A, cp.asarray(A), scipy.sparse.csr_matrix(A)):
        with pytest.raises(TypeError, match="spmatrix"):
            solve(bad, *rest)
    with pytest.raises(ValueError, match="square"):
        solve(sparse.csr_matrix(cp.asarray(A[:-1])), *rest)
    with pytest.raises(TypeError, match="bool"):
        solve(sparse.csr_matrix(cp.asarray(A != 0)), *rest)
    if rest:
        with pytest.raises(TypeError, match="b must be cupy.ndarray"):
            solve(matrix, B)
        for bad in (b[1:], cp.ones((N, 1, 1))):
            with pytest.raises(ValueError):
                solve(matrix, bad)


def test_singular_and_mistyped_systems():
    matrix = sparse.csr_matrix(cp.asarray([[1.0, 2], [2, 4]]))
    with pytest.warns(UserWarning, match="singular"):
        assert cp.isnan(linalg.spsolve(matrix, cp.ones(2))).all()
    gap = sparse.csr_matrix(cp.asarray([[1.0, 0], [2, 0]]))
    assert cp.isnan(linalg.spsolve_triangular(gap, cp.ones(2))).all()
    with pytest.raises(TypeError, match="dtype mismatch"):
        linalg.spsolve_triangular(matrix, cp.ones(2, "f"))
    with pytest.raises(ValueError, match="contiguous"):
        linalg.spsolve_triangular(matrix, cp.ones((2, 6))[:, ::2])
    with pytest.warns(sparse.SparseEfficiencyWarning, match="CSR format is required"):
        linalg.spsolve(sparse.csc_matrix(cp.eye(2)), cp.ones(2))
    wide = sparse.csr_matrix(cp.eye(2))
    wide.indices, wide.indptr = wide.indices.astype("l"), wide.indptr.astype("l")
    with pytest.raises(ValueError, match="int64"):
        linalg.spsolve(wide, cp.ones(2))


@pytest.mark.parametrize("b", [None, cp.diag(cp.arange(1.0, 5))])
def test_lobpcg_gives_views_of_all_where_there_are_few_rows(b):
    a = cp.asarray(SYMMETRIC[:4, :4])
    w, v, *more = linalg.lobpcg(a, cp.ones((4, 2)), b, retLambdaHistory=True)
    assert not more and w.strides == (-8,)
    assert v.strides == ((8, -32) if b is None else (32, -8))
    assert abs(a @ v - (v if b is None else b @ v) * w).max() < 1e-9


@pytest.mark.parametrize(
    "error, call",
    [
        (IndexError, lambda a, b: linalg.gmres(a, b, restart=0)),
        (ValueError, lambda a, b: linalg.lsmr(a, b[:0])),
        (TypeError, lambda a, b: linalg.eigsh(a, 2, ncv=9.0)),
        (TypeError, lambda a, b: linalg.svds(a, 2, ncv=9.0)),
    ],
)
def test_numbers_that_do_not_fit(error, call):
    with pytest.raises(error):
        call(cp.asarray(A), cp.asarray(B))


def test_signatures_are_cupys():
    def names(function):
        return " ".join(inspect.signature(function).parameters)

    system = "A b x0 rtol atol maxiter M callback"
    assert names(linalg.cg) == names(linalg.cgs) == names(linalg.bicgstab) == system
    assert names(linalg.gmres) == "A b x0 rtol atol restart maxiter M callback callback_type"
    assert names(linalg.minres) == "A b x0 shift tol maxiter M callback check"
    assert names(linalg.lsmr) == "A b x0 damp atol btol conlim maxiter"
    assert names(linalg.eigsh) == "a k which v0 ncv maxiter tol return_eigenvectors"
    assert gpuless.public(linalg.__name__) <= set(vars(linalg))


def test_modules_that_are_not_imported_yet():
    """CuPy does not import them with ``sparse``; the name alone is an AttributeError."""
    code = """if True:
        import gpuless; gpuless.install()
        from cupyx.scipy import sparse
        try:
            sparse.linalg
        except AttributeError as error:
            print(error)
        from cupyx.scipy.sparse import linalg, csgraph
        print(sparse.linalg is linalg, sparse.csgraph is csgraph)"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "import it first" in run.stdout and run.stdout.endswith("True True\n")


def test_connected_components(tmp_path, monkeypatch):
    graph = np.zeros((7, 7), "f")
    for start, end in ((0, 3), (3, 5), (5, 0), (1, 2), (6, 1)):
        graph[start, end] = 2
    components = cupyx.scipy.sparse.csgraph.connected_components
    with pytest.raises(RuntimeError, match="^pylibcugraph is not available$"):
        components(cp.asarray(graph))
    (tmp_path / "pylibcugraph").mkdir()
    monkeypatch.syspath_prepend(tmp_path)  # as if it were installed
    n, labels = components(sparse.coo_matrix(cp.asarray(graph)))
    assert n == 3 and isinstance(labels, cp.ndarray) and labels.dtype == np.int32
    assert labels.tolist() == [0, 1, 1, 0, 2, 0, 1]
    assert components(cp.asarray(graph), connection="strong", return_labels=False) == 5
    assert components(cp.zeros((2, 2)), return_labels=False)[1].tolist() == [0, 1]
    for bad in ({"connection": "no"}, {"csgraph": cp.ones(3)}, {"csgraph": cp.ones((2, 3))}):
        with pytest.raises(ValueError):
            components(**{"csgraph": cp.asarray(graph)} | bad)


def test_a_capture_refuses_them():
    stream = cp.cuda.Stream()
    matrix, b = sparse.csr_matrix(cp.asarray(A)), cp.asarray(B)
    for solve in (linalg.spsolve, linalg.cg):
        with stream:
            stream.begin_capture()
            with pytest.raises((NotImplementedError, RuntimeError)):
                solve(matrix, b)
            stream.end_capture()


def test_convergence_in_the_last_step_is_convergence():
    """CuPy looks at the residual after a step, SciPy before."""
    a, b = cp.array([[4.0, 1], [1, 3]]), cp.array([1.0, 2])
    for name in ("cg", "cgs", "bicgstab", "gmres", "minres"):
        x, info = getattr(linalg, name)(a, b, maxiter=2)
        np.testing.assert_allclose(x.get(), [1 / 11, 7 / 11])
        assert info == 0
    for name in ("cg", "cgs", "bicgstab"):
        assert getattr(linalg, name)(a, b, maxiter=1)[1] == 1
    # The first step from the solution divides by zero, where nothing looks before it.
    for name, nan in (("cg", True), ("cgs", True), ("bicgstab", False)):
        x, _ = getattr(linalg, name)(cp.eye(2), b, x0=b)
        assert bool(cp.isnan(x).any()) is nan


@pytest.mark.parametrize("name", ["cg", "cgs", "bicgstab", "gmres"])
def test_a_callback_that_keeps_its_argument_has_one_array_but_of_cg(name):
    """As in CuPy, whose solvers write in place."""
    kept = []
    of_x = {"callback_type": "x", "restart": 2} if name == "gmres" else {}
    a, b = cp.asarray(SYMMETRIC), cp.asarray(B)
    x, _ = getattr(linalg, name)(a, b, callback=kept.append, **of_x)
    same = [bool((one == x).all()) for one in kept]
    assert len(same) > 2 and all(same) is (name != "cg")


def test_an_operator_that_gives_one_array_each_time_spoils_the_solution():
    a, b = sparse.diags([-1, 2.1, -1], [-1, 0, 1], (12, 12), format="csr"), cp.arange(12.0)
    buffer, scale = cp.empty(12), 1 / a.diagonal()

    def solved(**how):
        inverse = linalg.LinearOperator(
            (12, 12), lambda v: cp.multiply(v.ravel(), scale, **how), dtype="f8"
        )
        x, info = linalg.bicgstab(a, b, M=inverse)
        assert info == 0
        return float(abs(a @ x - b).max())

    assert solved() < 1e-3 and solved(out=buffer) > 0.1
    single = linalg.LinearOperator((12, 12), lambda v: v.astype("f"), dtype="d")
    with pytest.raises(TypeError):
        linalg.cg(a, b, M=single)  # cuBLAS takes no two types


def test_searches_that_end_elsewhere_are_refused():
    a = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (30, 30), format="csr")
    with pytest.raises(NotImplementedError, match="before it has converged"):
        linalg.eigsh(a, 2, maxiter=5)
    assert float(linalg.eigsh(a, 2, maxiter=300)[0][-1]) == pytest.approx(3.98973864)
    with pytest.raises(NotImplementedError, match="multiply it by a large number"):
        linalg.eigsh(a * 1e-18, 2)
    path = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (2000, 2000), format="csr")
    with pytest.raises(NotImplementedError, match="10 n"):
        linalg.eigsh(path, 4, which="SA")
    start = cp.asarray(np.random.default_rng(0).random((30, 2)))
    with pytest.raises(NotImplementedError, match="complex"):
        linalg.lobpcg(a.astype(complex), start)
    _, _, values, norms = linalg.lobpcg(
        a, start, maxiter=200, tol=1e-6, retLambdaHistory=True, retResidualNormsHistory=True
    )
    assert len(values) == len(norms) and bool((values[-1] != values[-2]).any())


def test_what_an_h200_reads_as_other_numbers_is_refused():
    lattice = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (9, 9), format="csr")
    for start, error in (
        (cp.arange(9), TypeError),
        (cp.ones(9, "f"), TypeError),
        (cp.ones((9, 1)), ValueError),
        (cp.arange(18.0)[::2], ValueError),
    ):
        with pytest.raises(error):
            linalg.eigsh(lattice, 2, v0=start)
    with pytest.raises(NotImplementedError, match="eigenvector"):
        linalg.eigsh(sparse.eye(9, format="csr"), 2, v0=cp.ones(9))
    a = sparse.eye(3, format="csr")
    for name in ("lsqr", "lsmr"):
        with pytest.raises(ValueError, match="gaps"):
            getattr(linalg, name)(a, cp.arange(3.0)[::-1])
    with pytest.raises(TypeError, match="complex"):
        linalg.lsqr(a.astype(complex), cp.ones(3, complex))
    assert type(linalg.lsmr(a, cp.ones(3))[-1]) is float


def test_powers_are_products():
    a = sparse.csc_matrix(cp.array([[1.0, 2], [0, 1]]))
    power = linalg.matrix_power(a, 3)
    assert power.format == "csr" and power.toarray().tolist() == [[1, 6], [0, 1]]
    assert linalg.matrix_power(a, 1).format == "csc"
    with pytest.raises(TypeError):
        linalg.matrix_power(a.astype(bool), 2)
    with pytest.raises(ValueError, match="integer"):
        linalg.matrix_power(a, 2.0)
    assert type(linalg.spilu(a, fill_factor=1)).__name__ == "CusparseLU"
    assert "MatrixLinearOperator" in repr(linalg.aslinearoperator(a))


@pytest.mark.parametrize("n", [20, 60])
def test_vectors_lie_in_rows(n):
    """A kernel reads them so; of ``svds`` the right ones are turned."""
    a = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n), format="csr")
    assert linalg.eigsh(a, 2)[1].flags.c_contiguous
    for part in (a[:, : n // 2], a[: n // 2]):
        u, _, vt = linalg.svds(part, 2)
        assert u.flags.c_contiguous and vt.flags.f_contiguous
