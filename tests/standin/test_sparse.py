"""``cupyx.scipy.sparse``: SciPy's results, in CuPy's matrices and with CuPy's refusals."""

import operator
import warnings

import cupy as cp
import numpy as np
import pytest
import scipy.sparse
from cupyx.scipy import sparse
from cupyx.scipy.sparse.linalg import norm, spsolve

import helpers

pytestmark = pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own faces")
RNG = np.random.default_rng(35)
DENSE = RNG.random((7, 5)) * (RNG.random((7, 5)) > 0.6)
OTHER = RNG.random((7, 5)) * (RNG.random((7, 5)) > 0.5)
FORMATS = "csr csc coo".split()


def plain(value):
    if sparse.issparse(value):
        return value.toarray().get()
    if scipy.sparse.issparse(value):
        return value.toarray()
    return value.get() if isinstance(value, cp.ndarray) else np.asarray(value)


CALLS = {
    "product": lambda a, x: a @ a.T,
    "star": lambda a, x: a * (a.T if isinstance(a, MATRICES) else a),
    "vector": lambda a, x: a @ x[0],
    "dense": lambda a, x: a @ x[:2].T,
    "from the left": lambda a, x: x[:2, :1].repeat(7, 1) @ a,
    "sum": lambda a, x: a.sum(),
    "sum of columns": lambda a, x: a.sum(axis=0),
    "mean": lambda a, x: a.mean(axis=1),
    "add": lambda a, x: a + 2 * a - a.tocsc().tocsr(),
    "add dense": lambda a, x: a + x,
    "dense minus": lambda a, x: x - a,
    "times": lambda a, x: a.multiply(x),
    "scaled": lambda a, x: -a / 3,
    "more": lambda a, x: a > 0.5,
    "diagonal": lambda a, x: a.diagonal(1),
    "power": lambda a, x: a.power(2),
    "sqrt": lambda a, x: a.sqrt(),
    "transposed": lambda a, x: a.T,
    "maximum": lambda a, x: a.maximum(a.tocsr().multiply(2)),
    "rows": lambda a, x: a.tocsr()[1:6:2],
    "a piece": lambda a, x: a.tocsc()[2:, [0, 3]],
    "an element": lambda a, x: a.tocsr()[3, 2],
    "largest": lambda a, x: a.tocsr().max(axis=0),
    "shape": lambda a, x: a.reshape((5, 7)),
    "count": lambda a, x: a.nnz,
}
MATRICES = (sparse.spmatrix, scipy.sparse.spmatrix)


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_scipys(name, form, kind):
    if form == "coo" and name in ("largest", "more"):
        form = "csr"
    ours = getattr(sparse, f"{form}_{kind}")(cp.asarray(DENSE))
    theirs = getattr(scipy.sparse, f"{form}_{kind}")(DENSE)
    if kind == "array" and name in ("largest",):
        pytest.skip("of one dimension")
    got, want = CALLS[name](ours, cp.asarray(OTHER)), CALLS[name](theirs, OTHER)
    assert isinstance(got, (cp.ndarray, int)) or sparse.issparse(got)
    assert scipy.sparse.issparse(want) == sparse.issparse(got)
    if sparse.issparse(got):
        assert isinstance(got, sparse.spmatrix) == (kind == "matrix")
    assert np.shape(want) == np.shape(plain(got)) or plain(want).shape == plain(got).shape
    np.testing.assert_allclose(plain(got), plain(want), rtol=1e-13)


def test_a_matrix_is_its_arrays():
    data, place = cp.array([1, 2, 3], "f"), cp.array([1, 0, 1], "i")
    a = sparse.csr_matrix((data, place, cp.array([0, 2, 3], "i")), shape=(2, 4))
    assert a.data is data and a.indices.dtype == np.int32 and a.dtype == np.float32
    data[2] = 9
    assert a.toarray().get().tolist() == [[2, 1, 0, 0], [0, 9, 0, 0]]
    assert sparse.csr_matrix(a, copy=True).data is not data
    double = cp.ElementwiseKernel("", "raw T x", "x[i] *= 2", "twice")
    double(a.data, size=3)
    assert a[1, 1] == 18 and isinstance(a[1, 1], cp.ndarray)


def test_coordinates_that_come_twice_add_up():
    twice = (cp.ones(3), (cp.array([0, 1, 1]), cp.array([2, 0, 0])))
    a = sparse.coo_matrix(twice)
    assert a.shape == (2, 3) and a.nnz == 3 and not a.has_canonical_format
    assert a.tocsr().toarray().get().tolist() == [[0, 0, 1], [2, 0, 0]]
    a.sum_duplicates()
    assert a.nnz == 2 and a.data.tolist() == [1, 2] and a.has_canonical_format


def test_elements_are_set_in_place():
    a = sparse.csr_matrix(cp.asarray(DENSE))
    a[0, 1], a[2:4, 0] = 5, 7
    want = DENSE.copy()
    want[0, 1], want[2:4, 0] = 5, 7
    assert np.array_equal(a.toarray().get(), want)
    a.setdiag(cp.arange(5.0))
    a.eliminate_zeros()
    np.fill_diagonal(want, np.arange(5.0))
    assert np.array_equal(a.toarray().get(), want) and a.nnz == np.count_nonzero(want)


def test_makers():
    diagonal = sparse.diags([cp.ones(3), cp.full(2, 4.0)], [0, 1])
    assert diagonal.toarray().get().tolist() == [[1, 4, 0], [0, 1, 4], [0, 0, 1]]
    a = sparse.eye(3, format="csr")
    assert np.array_equal(
        sparse.kron(a, diagonal).toarray().get(), np.kron(np.eye(3), plain(diagonal))
    )
    assert sparse.vstack([a, a]).shape == (6, 3) and sparse.hstack([a, a]).shape == (3, 6)
    some = sparse.random(20, 30, 0.1, "csr", random_state=3)
    assert some.nnz == 60 and some.format == "csr" and some.shape == (20, 30)
    back = some.get()
    assert isinstance(back, scipy.sparse.csr_matrix)
    assert np.array_equal(sparse.csc_matrix(back).toarray().get(), back.toarray())
    assert sparse.issparse(some) and not sparse.issparse(back)
    assert sparse.isspmatrix_csr(some) and not sparse.isspmatrix_csc(some)


@pytest.mark.parametrize("form", FORMATS)
def test_what_lies_on_the_host_or_has_no_such_type_is_refused(form):
    make = getattr(sparse, f"{form}_matrix")
    for bad in (DENSE, [[1.0, 2.0]], "x", (DENSE[0], (DENSE[0], DENSE[0]))):
        with pytest.raises((TypeError, ValueError), match="initializer|invalid input|must be 1-D"):
            make(bad)
    with pytest.raises(ValueError, match="Only bool, float32, float64"):
        make(cp.arange(6).reshape(2, 3))
    with pytest.raises(ValueError, match="negative"):
        make((-1, 3))
    a = make(cp.asarray(DENSE))
    for wrong in (DENSE, scipy.sparse.csr_matrix(DENSE)):
        for operation in (operator.add, operator.matmul):
            with pytest.raises((TypeError, ValueError, NotImplementedError)):
                operation(a, wrong)
    with pytest.raises(TypeError, match="ambiguous"):
        len(a)
    for name in ("tobsr", "todok", "tolil"):
        with pytest.raises(NotImplementedError):
            getattr(a, name)()


def test_what_is_not_covered_is_named():
    with pytest.raises(NotImplementedError, match="sparse of one dimension is not covered"):
        sparse.csr_array(cp.ones(3))
    with pytest.raises(NotImplementedError, match="cupyx.scipy.sparse.swapaxes is not covered"):
        sparse.swapaxes  # noqa: B018
    with pytest.raises(AttributeError):
        sparse.dok_matrix  # noqa: B018


def test_no_matrix_becomes_one_of_another_type_unasked():
    eye = sparse.csr_matrix(cp.eye(3))
    for ask in (
        lambda: eye.astype(int),
        lambda: sparse.eye(3, dtype=int, format="csr"),
        lambda: sparse.hstack([eye, eye], dtype="i"),
        lambda: sparse.csr_matrix(cp.eye(3, dtype=bool)) * 2,
    ):
        with pytest.raises(ValueError, match="Only bool"):
            ask()


@pytest.mark.parametrize("form", FORMATS)
def test_kernels_of_cupys_give_rows(form):
    a = getattr(sparse, f"{form}_matrix")(cp.asarray(DENSE))
    for made in (a < -0.5, a >= 0.5, a > a * 2, a.minimum(1), a / 2, a.multiply(2)):
        assert made.format == "csr"
    assert (a * 2).format == (1.5 * a).format == ("csc" if form == "csc" else "csr")
    dense, wide = cp.ones(DENSE.shape), cp.ones((3, 7))
    assert all(one.flags.c_contiguous for one in (a + dense, dense + a, a < dense, wide @ a))
    assert a.dot(cp.ones((5, 2))).flags.f_contiguous and isinstance(a.count_nonzero(), int)
    assert sparse.hstack([a, a]).format == ("csc" if form == "csc" else "coo")


def test_what_cupy_refuses_of_a_matrix():
    a = sparse.csr_matrix(cp.asarray(DENSE))
    truth = sparse.csr_matrix(cp.asarray(DENSE > 0))
    np.testing.assert_array_equal((truth >= 2).toarray().get(), DENSE > 0)  # 2 becomes True
    for error, call in (
        (ValueError, lambda: sparse.dia_matrix(a)),
        (ValueError, lambda: sparse.csr_matrix(cp.ones((3, 4)), (3, 3))),
        (NotImplementedError, lambda: a == None),  # noqa: E711
        (NotImplementedError, lambda: a != "a"),
        (NotImplementedError, lambda: (a * 1j).min(axis=0)),
        (NotImplementedError, lambda: truth.argmax(1)),
    ):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", [*FORMATS, "dia"])
def test_elements_that_become_zero_are_kept(form, kind):
    """By cuSPARSE, which looks at the places alone; SciPy drops them."""
    dense = cp.asarray(DENSE[:5])
    a = getattr(sparse, f"csr_{kind}")(dense)
    if form == "dia":
        corner = cp.arange(1.0, 6).reshape(1, 5), cp.array([0])
        a = getattr(sparse, f"dia_{kind}")(corner, shape=(5, 5))
    a = a.asformat(form)
    count, n = a.nnz, a.shape[0]
    none, twice = a - a, a + a
    assert none.nnz == count and not none.toarray().any() and none.has_sorted_indices
    assert none.format == twice.format == ("csc" if form == "csc" else "csr")
    assert a.multiply(none).nnz == count and bool((twice.toarray() == 2 * a.toarray()).all())
    for product in (a @ none, a.dot(none), none @ a.tocsc()):
        assert product.nnz == (a.astype(bool).astype(float) @ a).nnz > 0
        assert product.format == "csr" and product.has_canonical_format
        assert product.shape == (n, n) and type(product).__name__ == f"csr_{kind}"
    assert sparse.kron(a, sparse.eye(2)).nnz == 2 * count
    assert type(twice).__name__.endswith(kind)


@pytest.mark.parametrize("form", [*FORMATS, "dia"])
def test_a_number_scales_a_matrix_in_place(form):
    a = sparse.csr_matrix(cp.asarray(DENSE[:5], "f"))
    if form == "dia":
        a = sparse.dia_matrix((cp.ones((1, 5), "f"), cp.array([0])), shape=(5, 5))
    a = a.asformat(form)
    same, dense, data = a, a.toarray(), a.data
    a *= 3
    a /= cp.array(2, "f")
    assert a is same and a.data is data and a.format == form and a.dtype == np.float32
    np.testing.assert_allclose(a.toarray().get(), 1.5 * dense.get(), rtol=1e-6)
    a *= 1j
    assert a is same and a.dtype == np.complex64
    truth = sparse.csr_matrix(cp.ones((2, 2), bool))
    truth *= 2
    assert truth.dtype == np.float64 and float(truth.sum()) == 8
    truth += truth
    assert float(truth.sum()) == 16


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", FORMATS)
def test_what_need_not_be_copied_is_shared(form, kind):
    a = getattr(sparse, f"csr_{kind}")(cp.asarray(DENSE)).asformat(form)
    assert a.asformat(form) is getattr(a, f"to{form}")() is a.astype(float, copy=False) is a
    assert a.conj(copy=False) is a and a.astype("f", copy=False).dtype == np.float32
    for other in (a.T, a.tocoo(), a.transpose(), a.real):
        assert other.data is a.data
    assert a.reshape(a.shape) is a and a.reshape(1, -1).shape == (1, a.shape[0] * a.shape[1])
    assert not np.shares_memory((a * 1j).real.data._array, a.data._array)
    if kind == "matrix":
        assert a.asfptype() is a and a.astype(bool).asfptype().dtype == np.float32
    np.testing.assert_array_equal(a.T.toarray().get(), DENSE.T)
    np.testing.assert_array_equal(a.tocoo().toarray().get(), DENSE)
    a.data *= 2
    np.testing.assert_array_equal(a.T.toarray().get(), 2 * DENSE.T)
    for own in (a.copy(), a.transpose(copy=True), getattr(a, f"to{form}")(True), a.astype(float)):
        assert not np.shares_memory(own.data._array, a.data._array)
    with pytest.raises(ValueError, match="axes"):
        a.transpose((1, 0))
    rows, columns = a.nonzero()
    np.testing.assert_array_equal((rows.get(), columns.get()), DENSE.nonzero())


def test_the_place_of_an_extreme_is_an_array():
    matrix = sparse.csr_matrix(cp.array([[0, 2.0], [3, 0]]))
    for found, want in ((matrix.argmax(), 2), (matrix.tocsc().argmin(), 0)):
        assert isinstance(found, cp.ndarray) and found.shape == () and found.dtype == np.int64
        assert found == want
    assert type(sparse.csr_matrix((2, 2)).argmax()) is int  # as CuPy's of no elements


def test_functions_are_of_the_elements_as_they_are_stored():
    """Coordinates that come twice are not added first."""
    places = cp.array([0, 0]), cp.array([1, 1])
    twice = sparse.coo_matrix((cp.array([4.0, 9]), places), shape=(2, 2))
    assert twice.sqrt().toarray()[0, 1] == 5 and twice.power(2).toarray()[0, 1] == 97
    assert twice.sqrt().nnz == twice.nnz == 2
    rows = sparse.csr_matrix((cp.array([1.0, -2]), cp.array([1, 1]), cp.array([0, 2, 2])))
    assert abs(rows).toarray()[0, 1] == 3 and rows.power(2).toarray()[0, 1] == 5
    logical = sparse.coo_matrix((cp.array([True, True]), places), shape=(2, 2))
    assert (logical @ cp.array([1.0, 2])).tolist() == [2, 0]


def test_quotients_of_matrices():
    real, imaginary = (sparse.csr_matrix(cp.array([[one, 1]])) for one in (1.0, 2j))
    np.testing.assert_array_equal((real / imaginary).get(), [[-0.5j, 1]])
    assert (real / real).dtype == float
    diagonal = sparse.dia_matrix((cp.ones((1, 2)), cp.array([0])), shape=(2, 2))
    assert (diagonal / cp.ones((2, 2))).format == "coo" and (diagonal + 0).format == "csr"
    with pytest.raises(TypeError, match="mismatched"):
        real / cp.ones((1, 2), "f4")


def test_what_only_scipys_matrices_have():
    rows, coordinates = sparse.csr_matrix(cp.eye(2)), sparse.coo_matrix(cp.eye(2))
    assert rows.getnnz() == 2 and rows.getrow(0).shape == (1, 2)
    with pytest.raises(NotImplementedError):
        rows.getnnz(0)
    for name in ("getrow", "getcol"):
        with pytest.raises(AttributeError):
            getattr(coordinates, name)(0)
    with pytest.raises(NotImplementedError):
        (rows * 1j).argmax(0)


def test_negative_elements_that_cusparse_loses_are_told_of():
    matrix = sparse.csr_matrix((cp.array([1.0, 0]), cp.array([0, 1]), cp.array([0, 2])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix.eliminate_zeros()
    assert matrix.nnz == 1
    for kept in (-matrix, (-matrix).tocsc()):
        with pytest.warns(RuntimeWarning, match="cuSPARSE"):
            kept.eliminate_zeros()
        assert kept.nnz == 1
    with pytest.raises(ValueError, match="dtype"):
        matrix.astype(bool).eliminate_zeros()


def test_what_is_joined_is_rows_of_rows_columns_of_columns_or_coordinates():
    rows = sparse.csr_matrix(cp.eye(2))
    columns = rows.tocsc()
    for made, form in (
        (sparse.vstack([rows, rows]), "csr"),
        (sparse.vstack([columns, columns]), "coo"),
        (sparse.hstack([columns, columns]), "csc"),
        (sparse.hstack([rows, rows]), "coo"),
        (sparse.bmat([[rows, rows], [rows, None]]), "coo"),
        (sparse.block_array([[rows, rows]]), "coo"),
        (sparse.vstack([columns, columns], "csc"), "csc"),
    ):
        assert made.format == form and made.toarray()[0, 0] == 1


def test_types_that_a_gpu_does_not_multiply():
    matrix, flags = sparse.csr_matrix(cp.eye(2, dtype="F")), sparse.csr_matrix(cp.eye(2, dtype="?"))
    for other in (cp.ones((2, 2)), sparse.csr_matrix(cp.eye(2))):
        with pytest.raises(TypeError, match="does not multiply"):
            matrix.multiply(other)
    assert matrix.multiply(cp.ones((2, 2), "f")).dtype == np.complex64
    with pytest.raises(TypeError, match="bool"):
        flags @ flags
    with pytest.raises(TypeError, match="booleans"):
        norm(flags)
    assert norm(flags, 1) == 1


def test_duplicates_stay_in_another_type():
    places = cp.array([0, 0, 1]), cp.array([1, 1, 0])
    doubled = sparse.coo_matrix((cp.ones(3), places), shape=(2, 2)).astype("F")
    assert doubled.nnz == 3 and doubled.toarray().tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
def test_reading_leaves_a_matrix_with_duplicates_as_it_is(kind):
    parts = cp.array([1.0, 1, 4, 5]), cp.array([0, 0, 1, 2]), cp.array([0, 2, 3, 4])
    matrix, x = kind(parts, shape=(3, 3)), cp.ones(3)
    for read in (abs, norm, spsolve, kind.sum, kind.max, kind.count_nonzero):
        read(matrix, x) if read is spsolve else read(matrix)
        assert (matrix @ x).tolist() == [2, 4, 5], read
        assert matrix.indptr.tolist() == [0, 2, 3, 4]


def test_norms_are_of_the_elements_as_they_are_stored():
    parts = cp.array([1.0, -2, 3]), cp.array([1, 1, 0]), cp.array([0, 2, 3])
    matrix = sparse.csr_matrix(parts, shape=(2, 2))
    assert norm(matrix) == norm(matrix.tocoo()) == 14**0.5
    np.testing.assert_allclose(norm(matrix, axis=0).get(), [3, 5**0.5])
    np.testing.assert_allclose(norm(matrix, 3, axis=0).get(), [3, 9 ** (1 / 3)])
    assert norm(matrix, 1) == norm(matrix, np.inf) == 3
    assert norm(matrix, np.inf, 0).tolist() == [3, 3] and norm(matrix, 0, 1).tolist() == [1, 1]


def _spoil(kind: str, name: str, at: int, value: int):
    matrix = getattr(sparse, kind)(cp.eye(3))
    getattr(matrix, name)[at] = value
    return matrix


WRONG = [
    (name, at, value, kind)
    for kind in ("csr_matrix", "csc_array")
    for name, at, value in [
        ("indices", 1, 3),
        ("indices", 0, -1),
        ("indptr", 0, 1),
        ("indptr", 1, 50),
        ("indptr", 2, -4),
        ("indptr", 3, 4),
    ]
] + [(name, 1, value, "coo_matrix") for name in ("row", "col") for value in (3, -1)]


@pytest.mark.parametrize("name, at, value, kind", WRONG)
def test_a_matrix_whose_indices_leave_its_shape_is_refused_where_it_is_used(name, at, value, kind):
    matrix = _spoil(kind, name, at, value)
    uses = [
        lambda: matrix @ cp.ones(3),
        lambda: matrix + matrix,
        lambda: matrix.T.toarray(),
        lambda: matrix.sum(0),
        lambda: matrix.eliminate_zeros(),
        lambda: sparse.csr_matrix(matrix),
        lambda: norm(matrix),
    ]

    def stack():
        return sparse.vstack([matrix, matrix])

    for use in [*uses, stack] if kind != "coo_matrix" else uses:
        with pytest.raises(IndexError, match=r"\[\d\] of this .* of shape \(3, 3\) is -?\d+: ind"):
            use()
    if kind == "coo_matrix":  # of which bmat makes a matrix of coordinates first, as in CuPy
        axis = {"row": "row", "col": "column"}[name]
        told = f"negative {axis} index found" if value < 0 else f"{axis} index exceeds matrix"
        with pytest.raises(ValueError, match=told):
            stack()
    assert matrix.nnz == 3 and "3 stored elements" in repr(matrix)


def test_indices_counted_from_1_are_refused():
    parts = cp.ones(3), cp.array([1, 2, 3]), cp.array([0, 1, 2, 3])
    with pytest.raises(IndexError, match=r"indices\[2\] .* is 3: indices count from 0"):
        sparse.csr_matrix(parts, shape=(3, 3)) @ cp.ones(3)


def test_what_the_pointers_do_not_reach_is_left_off():
    parts = cp.array([1.0, 2, 9]), cp.array([0, 1, 77], "i"), cp.array([0, 1, 2], "i")
    matrix = sparse.csr_matrix(parts, shape=(2, 2))
    assert matrix.data.size == matrix.indices.size == matrix.nnz == 2
    assert (matrix @ cp.ones(2)).tolist() == [1, 2]


def test_an_index_may_lie_on_the_host_and_has_one_dimension():
    a = sparse.csr_matrix(cp.arange(12.0).reshape(3, 4))
    assert a[np.array([2, 0])].toarray().tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    a[1, np.array([0, 2])] = np.ones(2)
    assert a[1].toarray().tolist() == [[1, 5, 1, 7]]
    assert sparse.diags([np.ones(2)], [1]).toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    column = cp.array([0, 1])[:, None]
    with pytest.raises(IndexError, match=">2 dimensions"):
        a[0, column]
    for matrix in (a, a.tocsc()):
        with pytest.raises(ValueError, match="mismatched"):
            matrix[column, 0]
    with pytest.raises(TypeError, match="does not multiply"):
        cp.ones((1, 1)) * sparse.coo_array(a.toarray().astype("F"))


def test_what_is_made_in_no_format_or_of_nothing():
    for name, args in {"eye": (2,), "eye_array": (2,), "identity": (2,)}.items():
        with pytest.raises(NotImplementedError):
            getattr(sparse, name)(*args, format="lil")
    assert sparse.eye_array(2, format="dia").format == "csr"
    with pytest.raises(IndexError):
        sparse.vstack([])
    with pytest.raises(NotImplementedError):
        sparse.eye(2).device  # noqa: B018


def test_an_array_of_coordinates_is_read_by_rows():
    a = sparse.coo_array(cp.arange(6.0).reshape(2, 3))
    assert a[1, 2] == 5 and a[::-1].format == "coo"
    assert a[:, cp.array([1, 0])].toarray().tolist() == [[1, 0], [4, 3]]
    with pytest.raises(TypeError, match="not subscriptable"):
        sparse.coo_matrix(a.toarray())[0]


def test_a_sum_of_integers_is_one_of_rows_that_are_cut():
    a = sparse.csr_matrix(cp.array([[0.75, 0.5], [0.25, 0.5]]))
    assert a.sum(dtype=int) == 1 and a.sum() == 2
    assert a.mean(axis=(0, 1)) == 0.5 and a.mean(0).tolist() == [[0.5, 0.5]]
    assert a.mean(dtype=int) == 0


def test_what_cupy_does_not_repeat_or_reshape():
    a = sparse.csr_matrix(cp.arange(6.0).reshape(3, 2))
    with pytest.raises(ZeroDivisionError):
        a.multiply(sparse.csr_matrix((1, 2)))
    with pytest.raises(ValueError, match="reshape"):
        a[[0, 1], -1] = cp.ones((2, 1))
    a[[0, 1], -1] = cp.array([7.0, 8])
    assert a.toarray().tolist() == [[0, 7], [2, 8], [4, 5]]


def test_what_shares_the_memory_of_a_matrix():
    """As in CuPy: diagonals, coordinates of rows, another shape."""
    bands = cp.ones((2, 4))
    a = sparse.spdiags(bands, [0, 1], 4, 4)
    bands *= 2
    assert (a.toarray().sum(1) == cp.array([4, 4, 4, 2])).all()
    rows = a.tocsr()
    sparse.coo_matrix(rows).data[:] = 1
    assert float(rows.sum()) == 7
    rows.reshape(2, 8).data[:] = 3
    assert float(rows.sum()) == 21
    assert a.dot(cp.ones((4, 3))).flags.f_contiguous and (a @ cp.ones((4, 3))).flags.f_contiguous


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_what_is_set_or_sorted_in_place_is_seen_by_all_who_share_it(form):
    a = getattr(sparse, f"{form}_matrix")(cp.array([[1.0, 0], [2, 3]]))
    turned, data = a.T, a.data
    for value in (7, 8):
        a[1, 1] = value
        assert turned[1, 1] == data[-1] == value
    a.sum_duplicates()
    a.prune()
    assert a.data is data
    data, indices = cp.array([1.0, 2]), cp.array([1, 0], "i")
    a = getattr(sparse, f"{form}_matrix")((data, indices, cp.array([0, 2, 2], "i")), shape=(2, 2))
    a.sort_indices()
    assert (data.tolist(), indices.tolist()) == ([2, 1], [0, 1])
    a[0, 0], turned = 0, a.T
    a.eliminate_zeros()
    assert turned.nnz == 2 and a.data is not data


def test_a_matrix_keeps_or_takes_the_arrays_that_cupys_takes():
    a = sparse.csr_matrix(cp.array([[1.0, 0], [2, 3]]))
    assert cp.shares_memory(a.maximum(0).indices, a.indices)
    assert cp.shares_memory((a / cp.ones((2, 2))).col, a.indices)
    turned = a.astype("D").conj(copy=False)
    assert turned.has_canonical_format
    made = sparse.coo_matrix(a, shape=(4, 5), copy=True)  # which copies nothing of rows
    assert made.shape == (4, 5) and made.data is a.data and made.col is a.indices
    with pytest.raises(ValueError, match="exceeds"):
        sparse.coo_matrix(a, shape=(1, 1))
    places = cp.array([[0, 1], [1, 0]], "i")
    data = cp.ones(2)
    assert sparse.coo_matrix((data, places)).data is data
    row = sparse.coo_array(a.toarray()).row
    assert row.strides == (16,) and row.dtype == np.int64
    known = sparse.coo_matrix(a.toarray())
    assert (-known).has_canonical_format and known.conj().has_canonical_format
    assert not a.tocoo().has_canonical_format  # nobody has looked


def test_a_sum_is_cut_after_it_is_added_up():
    a = sparse.csr_matrix(cp.array([[0.5, 0], [0.5, 3]]))
    out = cp.zeros((1, 2))
    assert a.sum(0, "i", out) is out and out.tolist() == [[1, 3]]
    with pytest.raises(TypeError, match="complex"):
        a.astype("D").sum(dtype="i")
    wide = sparse.dia_matrix((cp.arange(6.0), 0), shape=(3, 3))
    assert wide.sum(0).tolist() == [[0, 1, 2]]
    assert sparse.dia_matrix((cp.ones(2), 0), shape=(4, 4)).diagonal().size == 2


def test_an_infinite_part_times_a_real_number_leaves_the_other_part():
    a = sparse.csr_matrix(cp.array([[complex(np.inf, 0), 2j]]))
    b = cp.array([[3.0, -1.0]])
    for made in (a.multiply(b), a.multiply(sparse.csr_matrix(b)), sparse.csr_matrix(b).multiply(a)):
        assert made.data.tolist() == [complex(np.inf, 0), complex(0, -2)]


def test_what_an_array_is_not_asked():
    a = sparse.csr_array(cp.eye(2))
    with pytest.raises(TypeError):
        a * np.ones(2)
    with pytest.raises(AttributeError):
        a.shape = 4, 1
    b = sparse.csr_matrix(cp.eye(2))
    b.shape = 4, 1
    assert b.shape == (4, 1) and b.format == "csr"
    with pytest.raises(ValueError, match="integer"):
        sparse.csr_matrix(cp.eye(2)) ** cp.array(2)
    with pytest.raises(TypeError):
        b[slice(cp.array(0), cp.array(2)), :]


def test_what_is_made_of_blocks_and_diagonals_as_cupy_makes_it():
    a = sparse.csr_matrix(cp.eye(2))
    rows = [[a, None], [None, cp.eye(2)]]
    sparse.bmat(rows)
    assert rows[0][0].format == rows[1][1].format == "coo"
    with pytest.raises(TypeError):
        sparse.bmat(((a, None), (None, a)))
    assert isinstance(sparse.kronsum(a, sparse.csr_array(a)), sparse.sparray)
    assert sparse.eye(3, k=1).data.tolist() == [[1, 1, 1]]
    assert sparse.diags(np.array([1, 2])).toarray().tolist() == [[1, 0], [0, 2]]
    assert sparse.random(2, 2, 1, data_rvs=cp.ones).sum() == 4
    host = scipy.sparse.dia_matrix(np.eye(2))
    assert sparse.dia_matrix(host, dtype="f").dtype == float  # CuPy, too, does not look at it
