"""``cupy.testing``: the decorators that hold CuPy's results to NumPy's."""

import unittest

import cupy as cp
import numpy as np
import pytest
from cupy import testing


def pair(ours, theirs, dtype=None):
    def test(xp):
        return xp.array(ours if xp is cp else theirs, dtype=dtype)

    return test


@pytest.mark.parametrize(
    ("decorator", "right", "wrong"),
    [
        (testing.numpy_cupy_allclose(rtol=0.1), (1.0, 1.05), (1.0, 1.2)),
        (
            testing.numpy_cupy_allclose(atol={np.float64: 0.1, "default": 0}),
            (1.0, 1.05),
            (2.0, 1.0),
        ),
        (testing.numpy_cupy_array_almost_equal(2), (1.0, 1.001), (1.0, 1.1)),
        (testing.numpy_cupy_array_almost_equal_nulp(2), (1.0, 1 + 2**-52), (1.0, 1 + 2**-48)),
        (testing.numpy_cupy_array_max_ulp(2), (1.0, 1 + 2**-51), (1.0, 1 + 2**-48)),
        (testing.numpy_cupy_array_equal(), ([1, 2], [1, 2]), ([1, 2], [2, 1])),
        (testing.numpy_cupy_array_less(), ([1, 2], [2, 3]), ([1, 2], [2, 2])),
    ],
)
def test_comparisons(decorator, right, wrong):
    decorator(pair(*right))()
    with pytest.raises(AssertionError):
        decorator(pair(*wrong))()


def test_what_is_compared_beside_the_values():
    close = testing.numpy_cupy_allclose()

    def check(ours, theirs, decorator=close, match=None):
        with pytest.raises(AssertionError, match=match):
            decorator(lambda xp: ours if xp is cp else theirs)()

    x = np.arange(6.0).reshape(2, 3)
    check(cp.asarray(x, "f"), x, match="different dtypes")
    testing.numpy_cupy_allclose(type_check=False)(pair(x, x.astype("f")))()
    check(cp.asarray(x).T, x.T.copy(), match="c_contiguous")
    testing.numpy_cupy_allclose(contiguous_check=False)(
        lambda xp: cp.asarray(x).T if xp is cp else x.T.copy()
    )()
    check(cp.asarray(x), x[:1], match=r"shapes are \(2, 3\) in cupy, \(1, 3\)")
    check([cp.asarray(x)], [x, x], match="cupy gives 1 results, numpy 2")
    check(x, x, match="different type of return value")
    check(None, None, match="the test returns None")
    check(3, 4)
    equal = testing.numpy_cupy_array_equal(strides_check=True)
    check(cp.asarray(x).T, x.T.copy(), equal, "Strides are not equal")
    testing.numpy_cupy_allclose()(lambda xp: (xp.ones(3), 2, xp.asarray(x).shape[0]))()
    with pytest.raises(AssertionError, match="cupy: 2\nnumpy: 3"):
        testing.numpy_cupy_equal()(lambda xp: 2 if xp is cp else 3)()
    testing.numpy_cupy_equal()(lambda xp: xp.ones((2, 3)).shape)()
    with pytest.warns(DeprecationWarning, match="Use numpy_cupy_array_equal"):
        testing.numpy_cupy_array_list_equal()(lambda xp: [xp.ones(2), xp.zeros(3)])()


def test_tolerances_by_dtype():
    by_type = testing.numpy_cupy_allclose(rtol={np.float16: 0.1, "default": 1e-6})
    by_type(pair(1, 1.05, "e"))()
    with pytest.raises(AssertionError):
        by_type(pair(1, 1.05, "f"))()
    with pytest.raises(TypeError, match="Can not find tolerance for <class 'numpy.float32'>"):
        testing.numpy_cupy_allclose(atol={np.float16: 0.1})(pair(1, 1, "f"))()
    with pytest.raises(TypeError):
        testing.numpy_cupy_allclose(rtol={"float16": 0.1})
    with pytest.raises(TypeError):
        testing.numpy_cupy_allclose(rtol={np.float16: 0.1}, type_check=False)


def raising(ours, theirs):
    def test(xp):
        error = ours if xp is cp else theirs
        if error is not None:
            raise error
        return xp.array(1)

    return test


def test_errors_go_together():
    accept = testing.numpy_cupy_allclose(accept_error=ValueError)
    accept(raising(ValueError("a"), ValueError("b")))()
    for ours, theirs, said in (
        (ValueError("ours"), None, "Only cupy raises error(.|\n)*ours"),
        (None, ValueError("theirs"), "Only numpy raises error(.|\n)*theirs"),
        (ValueError("ours"), TypeError("theirs"), "Different types(.|\n)*ours(.|\n)*theirs"),
        (IndexError("ours"), IndexError("theirs"), "Both cupy and numpy raise(.|\n)*ours"),
    ):
        with pytest.raises(AssertionError, match=said) as info:
            accept(raising(ours, theirs))()
        assert info.traceback[-1].path.samefile(__file__)  # a report ends where it was raised
    testing.numpy_cupy_allclose(accept_error=True)(raising(OSError(), OSError()))()
    with pytest.raises(AssertionError, match="Both"):
        testing.numpy_cupy_allclose()(raising(OSError(), OSError()))()
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        accept(raising(None, None))(nothing=3)  # the call is wrong: no error of the test
    with pytest.warns(DeprecationWarning):
        both = testing.numpy_cupy_raises()
    both(raising(KeyError(), KeyError()))()
    with pytest.raises(AssertionError, match="expected to raise errors, but not"):
        both(raising(None, None))()


def test_what_the_standin_lacks_is_no_accepted_error():
    @testing.numpy_cupy_allclose(accept_error=True)
    def test(xp):
        if xp is np:
            raise ValueError("NumPy refuses it")
        return xp.cuda.cub

    with pytest.raises(AssertionError, match="cupy.cuda.cub is not covered"):
        test()


def test_skips():
    for skip in (unittest.SkipTest, pytest.skip.Exception):
        with pytest.raises(skip, match="both"):
            testing.numpy_cupy_equal()(raising(skip("both"), skip("both")))()
        for ours, theirs in ((skip("a"), skip("b")), (skip("a"), None), (None, skip("a"))):
            with pytest.raises(AssertionError):
                testing.numpy_cupy_equal()(raising(ours, theirs))()


def test_negative_numbers_made_unsigned_are_not_compared():
    """A GPU gives another number than a CPU; the second element is compared all the same."""

    def test(xp, source, target, wrong=0):
        found = xp.array([-2.0, 3], source).astype(target)
        return found + xp.array([xp is cp, wrong * (xp is cp)], target)

    check = testing.numpy_cupy_array_equal()(test)
    check(source=np.float32, target=np.uint16)
    for wrong in (
        {"source": np.float32, "target": np.uint16, "wrong": 1},
        {"source": np.float32, "target": np.int16},
        {"source": "f", "target": np.uint16, "wrong": 1},
    ):
        with pytest.raises(AssertionError):
            check(**wrong)


def test_sparse_matrices_and_scipy():
    @testing.numpy_cupy_allclose(sp_name="sp", scipy_name="scp")
    def test(xp, sp, scp):
        kind = sp.csr_matrix(xp.array([[0, 2.0, 0], [1, 0, 3]]))
        return kind, scp.special.gamma(xp.array([0.5, 4.0]))

    test()
    with pytest.raises(AssertionError):
        testing.numpy_cupy_allclose(sp_name="sp")(
            lambda xp, sp: (sp.csr_matrix if xp is cp else sp.csc_matrix)(xp.eye(3))
        )()
    with pytest.raises(AssertionError, match="different type of return value"):
        testing.numpy_cupy_allclose()(lambda xp: testing.shaped_sparse_random((3, 2)))()
