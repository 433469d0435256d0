"""Which elements of a sparse matrix are stored, and where the largest is: by CuPy's kernels."""

import warnings

import cupy as cp
import numpy as np
import pytest
from cupyx.scipy import sparse

import helpers

pytestmark = [
    pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own faces"),
    pytest.mark.filterwarnings("error"),
]
NAN = float("nan")


def rows(data, indices, indptr, n=3, kind=sparse.csr_matrix, dtype=float):
    parts = cp.array(data, dtype), cp.array(indices, "i"), cp.array(indptr, "i")
    shape = (len(indptr) - 1, n) if "csr" in kind.__name__ else (n, len(indptr) - 1)
    return kind(parts, shape=shape)


def stored(a):
    parts = (a.data, a.row, a.col) if a.format == "coo" else (a.data, a.indices, a.indptr)
    return [part.tolist() for part in parts]


DUPLICATES = [1.0, 2, 4, 5], [1, 1, 2, 0], [0, 2, 4]


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_matrix"])
def test_elements_that_a_number_makes_0_stay(kind):
    a = getattr(sparse, kind)(cp.array([[1.0, 0, -2], [0, -3, 4]]))
    for made, data in (
        (a.maximum(0), [1, 0, 0, 4]),
        (a.minimum(0.0), [0, -2, -3, 0]),
        (a.maximum(cp.array(-1.0)), [1, -1, -1, 4]),
    ):
        assert made.format == "csr"
        assert stored(made) == [data, [0, 2, 1, 2], [0, 2, 4]]
    assert stored(a.maximum(1))[0] == [1, 1, 1, 1, 1, 4]
    assert (a * 0).nnz == (a - a).nnz == 4 and a.maximum(NAN).nnz == 4
    assert a.maximum(a * 0).nnz == 2  # of two matrices what comes out as 0 is dropped


def test_of_two_matrices_the_one_that_is_a_number_counts():
    a, b = rows([NAN, 1, 0], [0, 1, 2], [0, 3]), rows([2.0, 5], [0, 2], [0, 2])
    assert stored(a.maximum(b)) == [[2, 1, 5], [0, 1, 2], [0, 3]]
    assert stored(a.multiply(b))[1:] == [[0, 2], [0, 2]]  # no NaN where b has none
    assert stored(a.multiply(rows([3.0], [0], [0, 1], 1)))[1] == [0, 1, 2]
    assert stored(a != b)[1] == [0, 1, 2]


def test_a_sum_has_all_places_of_both():
    a, b = rows([1.0, 0], [0, 2], [0, 2]), rows([-1.0, NAN], [0, 1], [0, 2])
    assert stored(a + b)[1:] == [[0, 1, 2], [0, 3]] and (a + b).data[0] == 0
    flags = a.astype(bool)
    with pytest.raises(TypeError, match="bool"):
        flags + flags
    with pytest.raises(ValueError, match="inconsistent"):
        a + rows([1.0], [0], [0, 1, 1])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_where_the_largest_is(axis):
    lines = [
        ([0.0, 0.0], [0, 1], 2),  # stored zeros: the first place that stores none
        ([-1.0, 0.0], [0, 2], 1),
        ([0.0, 3.0], [0, 2], 2),
        ([1.0, NAN], [1, 2], 0),
        ([], [], 0),
        ([-1.0, -1.0, -2.0], [0, 1, 2], 0),
        ([2.0, 5.0, 5.0], [0, 1, 2], 1),
    ]
    data, indices = ([x for line in lines for x in line[k]] for k in (0, 1))
    indptr = np.cumsum([0] + [len(line[0]) for line in lines])
    kind = sparse.csc_matrix if axis == 0 else sparse.csr_matrix
    found = rows(data, indices, indptr, 3, kind).argmax(axis)
    assert found.shape == ((1, 7) if axis == 0 else (7, 1))
    assert found.ravel().tolist() == [line[2] for line in lines]
    least = rows(-np.array(data), indices, indptr, 3, kind).argmin(axis)
    assert (least == found).all()
    assert sparse.csr_array(cp.array([[0.0, 1]])).argmax(1).tolist() == [1]


def test_where_the_largest_of_all_is():
    assert rows([-1.0, 0], [0, 2], [0, 2]).argmax() == 1
    assert rows([-1.0, 0], [1, 2], [0, 2]).argmax() == 0
    assert rows([0.0, -1], [0, 1], [0, 2]).argmax() == 0
    assert rows([NAN, 7], [0, 1], [0, 2]).argmax() == 2
    assert rows([7.0, 7], [1, 2], [0, 2]).argmax() == 1


def test_of_explicit_elements_alone_with_a_warning():
    a = rows([-1.0, -2], [0, 1], [0, 2])
    with pytest.warns(FutureWarning, match="explicit of cupyx.scipy.sparse.csr_matrix.max"):
        assert a.max(explicit=True) == -1
    assert a.max() == 0
    with pytest.raises(TypeError, match="explicit"):
        a.argmax(explicit=True)


def test_by_a_number_a_product_of_matrices_is_without_duplicates():
    a = rows(*DUPLICATES)
    for made in (a * 2, 2 * a, a.dot(2)):
        assert stored(made) == [[6, 10, 8], [1, 0, 2], [0, 1, 3]]
    for made in (a.multiply(2), a / 0.5, sparse.csr_array(a) * 2):
        assert stored(made)[0] == [2, 4, 8, 10]
    assert stored(a.astype("f"))[0] == [1, 2, 4, 5] and a.nnz == 4
    assert (a / 0).data.tolist() == [np.inf] * 4


def test_elements_are_set_where_the_positions_of_duplicates_add_up():
    a = rows([1.0, 2, 4, 5], [1, 1, 2, 0], [0, 2, 4])
    a[0, 1] = 9  # the elements 0 and 1 are there: that is 1
    assert a.data.tolist() == [1, 9, 4, 5]
    with pytest.warns(sparse.SparseEfficiencyWarning):
        a[1, 1] = 7  # before the first index that is more
    assert stored(a) == [[1, 9, 7, 4, 5], [1, 1, 1, 2, 0], [0, 2, 5]]
    a[0] = sparse.csr_matrix((1, 3))
    assert a.nnz == 5 and a.data[0] == 1  # CuPy sets nothing to a matrix of no elements
    with pytest.raises(IndexError):
        a[None] = 1
    with pytest.raises(ValueError, match="mismatch"):
        a[:1] = a[2:]


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_matrix"])
def test_a_diagonal_is_set_in_order(kind):
    a = getattr(sparse, kind)(rows(*DUPLICATES)).tocoo()
    a = a.asformat(kind[:3])
    a.setdiag(cp.array([3.0]), 1)
    a.setdiag([0])
    assert a.toarray().tolist() == [[0, 3, 0], [5, 0, 4]] and a.nnz == 4
    if kind == "csr_matrix":
        with pytest.raises(TypeError):
            a.astype(bool).setdiag(True)
        spoilt = rows([NAN], [0], [0, 1])
        spoilt.setdiag(1)  # which adds what is missing
        assert np.isnan(spoilt.data[0])


def test_a_comparison_with_a_number_that_holds_for_0_needs_an_order():
    a = rows(*DUPLICATES)
    with pytest.warns(RuntimeWarning, match="sum_duplicates"):
        with pytest.warns(sparse.SparseEfficiencyWarning):
            a < 6  # noqa: B015
    assert (a > 2).nnz == 3
    a.sum_duplicates()
    with pytest.warns(sparse.SparseEfficiencyWarning):
        assert (a < 4).nnz == 4


def test_what_is_joined_is_one_block_after_the_other():
    a = sparse.csr_matrix(cp.array([[1.0, 2], [0, 3]]))
    assert stored(sparse.hstack([a, a])) == [[1, 2, 3] * 2, [0, 0, 1] * 2, [0, 1, 1, 2, 3, 3]]
    flags = a.astype(bool)
    assert sparse.hstack([flags, flags]).dtype == np.float32
    assert sparse.vstack([flags, flags]).dtype == bool
    assert sparse.block_array([[a, None], [None, a]]).shape == (4, 4)
    with pytest.raises(ValueError):
        sparse.bmat([[a, a[:1]]])


def test_the_shape_is_that_of_what_the_pointers_reach():
    parts = cp.array([1.0, 2, 9]), cp.array([0, 1, 77], "i"), cp.array([0, 1, 2], "i")
    assert sparse.csr_matrix(parts).shape == (2, 2)
    assert sparse.coo_array(cp.eye(2)).row.dtype == np.int64


def test_booleans_in_columns_keep_the_order_of_rows():
    """CuPy sorts the places of coordinates by columns, and not what is there."""
    flags = sparse.csr_matrix(cp.array([[True, True], [True, False]]))
    flags.data[1] = False
    columns = flags.tocoo().tocsc()
    assert stored(columns) == [[True, False, True], [0, 1, 0], [0, 2, 3]]
    assert stored(flags.tocsc())[0] == [True, True, False]
    unsorted = rows([True, False], [1, 0], [0, 2], dtype=bool)
    with pytest.raises(TypeError, match="bool"):
        unsorted.sort_indices()
    twice = rows([True, True], [1, 1], [0, 2], dtype=bool)
    assert twice.sum() == 1 and twice.nnz == 2


def test_no_warning_of_what_a_gpu_divides():
    a = rows([1.0, 0], [0, 1], [0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan((a / cp.zeros((1, 3))).data[1])
        a.power(-1)
    assert (rows([1.0], [0], [0, 1], 1) ** 0).format == "csr"


def test_real_parts_lie_between_others():
    a = rows([1 + 2j, 3 - 1j], [0, 1], [0, 2], dtype=complex)
    part = a.real
    assert not part.data.flags.c_contiguous and part.toarray().tolist() == [[1, 3, 0]]
    assert (part * 2).data.tolist() == [2, 6] and a.imag.copy().sum() == 1
    for use in (lambda: part @ cp.ones(3), lambda: part.maximum(part), lambda: part.tocsc()):
        with pytest.warns(RuntimeWarning, match="one piece"):
            use()
    edges = cp.array([[0, 1], [1, 2]], "i")
    pairs = sparse.coo_matrix((cp.ones(2), (edges[:, 0], edges[:, 1])), shape=(3, 3))
    assert (pairs @ cp.ones(3)).tolist() == [1, 1, 0]
    part.data[0] = 7
    assert a.data[0] == 7 + 2j


def test_a_column_is_no_row_to_be_set_from_a_vector():
    warnings.simplefilter("ignore")  # of a changed structure
    dense = cp.array([[1, 0, 2.0], [0, 0, 3], [4, 5, 0]])
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        made = kind(dense)
        with pytest.raises(ValueError, match="cannot reshape"):
            made[:, 0] = cp.arange(3.0)
        made[:, 0] = cp.arange(3.0)[:, None]
        made[0, :] = cp.array([7.0, 8, 9])
        made[1:, 1:] = cp.array([5.0, 6])
        assert made.toarray().tolist() == [[7, 8, 9], [1, 5, 6], [2, 5, 6]]


def test_a_product_of_booleans_and_integers_has_no_kernel():
    made = sparse.csr_matrix(cp.eye(3, dtype="?"))
    assert (made @ cp.ones(3, "f")).tolist() == [1, 1, 1]
    with pytest.raises(TypeError, match="dtype is not supported: int32"):
        made @ cp.ones((3, 3), "i4")
    with pytest.raises(TypeError):
        made.sum(axis=True)
    with pytest.raises(TypeError):
        made.diagonal(cp.array(1))
