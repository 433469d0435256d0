"""``cupy.testing``: its arrays, its decorators one by one, and a small project's tests."""

import inspect
import random
import subprocess
import sys
import unittest
import warnings

import cupy as cp
import numpy as np
import pytest
import scipy.sparse
from cupy import testing

import gpuless

pytest_plugins = ["pytester"]


def test_every_public_name_is_there_and_pytest_is_not_imported_for_it():
    assert {*testing.__all__} == gpuless.public("cupy.testing")
    code = "import gpuless, sys; gpuless.install(); import cupy; "
    code += "print('numpy.testing' in sys.modules, 'unittest' in sys.modules); "
    code += "from cupy.testing import *; t = for_dtypes('fd')(lambda dtype: None); t(); "
    code += "print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\nFalse\n"


@pytest.mark.parametrize("name", ["array_equal", "allclose", "array_almost_equal", "array_less"])
def test_assertions_take_their_arrays_by_name_and_from_either_side(name):
    check = getattr(testing, f"assert_{name}")
    names = list(inspect.signature(getattr(np.testing, f"assert_{name}")).parameters)[:2]
    low, high = np.array([[1.0, 2, 3]]), np.array([[1.0, 2, 3]]) + (name == "array_less")
    check(cp.asarray(low), high)
    check(**dict(zip(names, (low, cp.asarray(high)), strict=True)))
    with pytest.raises(AssertionError):
        check(cp.asarray(low), high - 7)


def test_assertions_of_strides_units_and_lists():
    x = np.arange(6.0).reshape(2, 3)
    testing.assert_array_equal(cp.asarray(x), x, strides_check=True)
    with pytest.raises(AssertionError, match=r"Strides are not equal: here\n x: \(24, 8\)"):
        testing.assert_array_equal(cp.asarray(x), np.asfortranarray(x), "here", strides_check=True)
    one, next_but_one = np.float32(1), np.nextafter(np.nextafter(np.float32(1), 2), 2)
    for check in (testing.assert_array_almost_equal_nulp, testing.assert_array_max_ulp):
        check(cp.array(one), next_but_one, 2)
        with pytest.raises(AssertionError):
            check(cp.array(one), next_but_one, 1)
    testing.assert_array_list_equal([cp.asarray(x), x[0]], [x, cp.asarray(x[0])])
    for ours, theirs in (([x], (x,)), ([x], [x, x]), (x, x), ([x], [x + 1])):
        with pytest.raises(AssertionError):
            testing.assert_array_list_equal(ours, theirs)


# Arrays


def test_counted_arrays():
    for xp in (np, cp):
        found = testing.shaped_arange((2, 3), xp, "h", order="F")
        assert isinstance(found, xp.ndarray) and found.flags.f_contiguous
        np.testing.assert_array_equal(cp.asnumpy(found), np.array([[1, 2, 3], [4, 5, 6]], "h"))
        back = testing.shaped_reverse_arange((2, 3), xp, np.complex64)
        assert back.dtype == np.complex64
        assert cp.asnumpy(back).tolist() == [[6 + 6j, 5 + 5j, 4 + 4j], [3 + 3j, 2 + 2j, 1 + 1j]]
    assert testing.shaped_arange((5,), dtype=bool).tolist() == [False, True, False, True, False]
    assert testing.shaped_arange((), np).shape == ()
    assert testing.shaped_arange((3, 0)).dtype == np.float32


def test_arrays_at_equal_distances():
    same = testing.shaped_linspace(-3, 4, (2, 4), cp, "d")
    np.testing.assert_allclose(same.get(), [[-3, -2, -1, 0], [1, 2, 3, 4]])
    assert testing.shaped_linspace(-3, 4, (5,), np, "B").tolist() == [0, 1, 2, 3, 4]
    assert testing.shaped_linspace(-3, 4, (3,), np, "?").tolist() == [False, True, True]


def test_random_arrays_are_cupys_own():
    """Written down from NumPy's RandomState(seed), which CuPy draws from as well."""
    draw = np.random.RandomState(5)
    np.testing.assert_allclose(
        testing.shaped_random((3, 2), cp, "d", scale=4, seed=5).get(), draw.rand(3, 2) * 4
    )
    kind = testing.shaped_random((3, 2), cp, "F", seed=5, order="F")
    assert kind.flags.f_contiguous and kind.dtype == np.complex64
    draw = np.random.RandomState(5)
    wanted = draw.rand(3, 2) * 10 + 10j * draw.rand(3, 2)
    np.testing.assert_allclose(kind.get(), wanted, rtol=1e-6)
    coins = testing.shaped_random(10_001, np, bool)
    assert coins.dtype == bool and 4700 < coins.sum() < 5300
    assert (testing.shaped_random((7, 5)).get() == testing.shaped_random((7, 5), np)).all()


def test_random_sparse_matrices():
    import cupyx.scipy.sparse

    ours = testing.shaped_sparse_random((7, 5), density=0.3, format="csr", dtype="d")
    theirs = testing.shaped_sparse_random((7, 5), scipy.sparse, "d", 0.3)
    assert isinstance(ours, cupyx.scipy.sparse.csr_matrix) and theirs.format == "coo"
    np.testing.assert_array_equal(ours.toarray().get(), theirs.toarray())
    assert ours.nnz == round(0.3 * 35)
    with pytest.raises(ValueError, match="does not have the expected sparse APIs"):
        testing.shaped_sparse_random((7, 5), np)


@pytest.mark.parametrize("xp", [np, cp])
def test_matrices_with_given_singular_values(xp):
    values = np.array([[3.0, 0.5], [2.0, 1.0], [5.0, 0.0]])
    found = testing.generate_matrix((3, 2, 4), xp, "D", singular_values=values)
    assert isinstance(found, xp.ndarray) and found.dtype == np.complex128
    np.testing.assert_allclose(
        np.linalg.svd(cp.asnumpy(found), compute_uv=False), values, atol=1e-14
    )
    for error, shape, keywords in (
        (ValueError, (4,), {"singular_values": 1}),
        (TypeError, (2, 2), {}),
        (TypeError, (2, 2), {"singular_values": 1, "dtype": "i"}),
        (TypeError, (2, 2), {"singular_values": 1j}),
        (ValueError, (2, 2), {"singular_values": [1, -1]}),
        (ValueError, (2, 2), {"singular_values": np.ones(3)}),
    ):
        with pytest.raises(error):
            testing.generate_matrix(shape, xp, **keywords)


# Loops


def calls(decorator, *args, **kwargs):
    """What a decorated function with the parameters a and b was called with."""
    seen = []

    @decorator
    def test(x, a="a", b="b"):
        seen.append((x, a, b))

    test(1, *args, **kwargs)
    return [(a, b) for _, a, b in seen]


def test_loops_over_dtypes():
    assert calls(testing.for_dtypes("fl?", name="b")) == [
        ("a", np.float32), ("a", np.int64), ("a", np.bool_),
    ]  # fmt: skip
    sizes = {
        testing.for_all_dtypes: (16, {"no_float16": 15, "no_bool": 15, "no_complex": 14}),
        testing.for_float_dtypes: (3, {"no_float16": 2}),
        testing.for_signed_dtypes: (5, {}),
        testing.for_unsigned_dtypes: (5, {}),
        testing.for_int_dtypes: (11, {"no_bool": 10}),
        testing.for_complex_dtypes: (2, {}),
    }
    for loop, (size, less) in sizes.items():
        kinds = [a for a, _ in calls(loop(name="a"))]
        assert len(kinds) == len({*kinds}) == size
        for option, fewer in less.items():
            assert len(calls(loop("a", **{option: True}))) == fewer
    kinds = {np.dtype(a).kind for a, _ in calls(testing.for_unsigned_dtypes("a"))}
    assert kinds == {"u"}


def test_combinations_of_dtypes(monkeypatch):
    types = [np.int8, np.float32, np.float64]
    every = {(a, b) for a in types for b in types}
    whole = calls(testing.for_dtypes_combination(types, names=["a", "b"], full=True))
    assert len(whole) == 9 and {*whole} == every
    some = calls(testing.for_dtypes_combination(types, names=["a", "b"]))
    assert {(kind, kind) for kind in types} <= {*some} < every
    assert len(some) == len({*some}) <= 6
    for place in (0, 1):
        assert {pair[place] for pair in some} == {*types}
    monkeypatch.setenv("CUPY_TEST_FULL_COMBINATION", "1")
    assert {*calls(testing.for_dtypes_combination(types, names=["a", "b"]))} == every
    assert len(calls(testing.for_signed_dtypes_combination(["a", "b"]))) == 25
    assert len(calls(testing.for_unsigned_dtypes_combination(["a", "b"]))) == 25
    assert len(calls(testing.for_int_dtypes_combination(["a", "b"], no_bool=True))) == 100
    assert len(calls(testing.for_all_dtypes_combination(["a", "b"], no_complex=True))) == 196
    assert calls(testing.for_dtypes_combination("f", ["a"])) == [(np.float32, "b")]


def test_loops_over_orders_and_axes():
    assert [b for _, b in calls(testing.for_orders("KA", "b"))] == ["K", "A"]
    assert [a for a, _ in calls(testing.for_CF_orders("a"))] == [None, "C", "F", "c", "f"]

    def axes(order):
        seen = []

        @testing.for_contiguous_axes("axes")
        def test(shape, order, axes):
            seen.append(axes)

        test(shape=(2, 3, 5), order=order)
        return seen

    assert axes("C") == axes("c") == [(0, 1, 2), (1, 2), (2,)]
    assert axes("F") == [(0,), (0, 1), (0, 1, 2)]
    with pytest.raises(ValueError, match="Please specify the array order"):
        axes("K")


def test_a_failure_says_with_what_and_a_skip_skips_one(capsys):
    @testing.for_orders("CF")
    @testing.for_dtypes("bhf")
    def test(dtype, order):
        if dtype is np.int16:
            raise unittest.SkipTest("not of this size")
        assert np.dtype(dtype).kind == "i" or order == "C"

    with pytest.raises(AssertionError) as info:
        test()
    assert info.value.__notes__ == ["with dtype = <class 'numpy.float32'>", "with order = F"]
    said = capsys.readouterr().out.splitlines()
    assert said == ["skipped: dtype = <class 'numpy.int16'> (not of this size)"] * 2
    with pytest.raises(ValueError):
        testing.for_dtypes("f", name="type")(lambda dtype: None)


# The rest


def test_products():
    assert testing.product({"b": [3, 4], "a": "xy"}) == [
        {"a": a, "b": b} for a in "xy" for b in (3, 4)
    ]
    assert testing.product({"a": [1], "b": []}) == []
    merged = testing.product_dict([{"a": 1}, {"a": 2}], [{"b": 3, "a": 5}, {"c": 4}])
    assert merged == [{"a": 5, "b": 3}, {"a": 1, "c": 4}, {"a": 5, "b": 3}, {"a": 2, "c": 4}]


def test_requirements():
    assert testing.installed("numpy>=1.20", "cupy>=13,<100", "pytest")
    assert not testing.installed("numpy>=1.20", "numpy<1.20")
    assert not testing.installed("a-package-that-nobody-wrote")
    assert testing.installed("yaml")  # which is installed as PyYAML
    assert testing.numpy_satisfies(">=2") and not testing.numpy_satisfies("<2")


def test_assertions_of_warnings_and_calls():
    with testing.assert_warns(DeprecationWarning):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    with pytest.raises(AssertionError, match="UserWarning not triggerred"):
        with testing.assert_warns(UserWarning):
            pass
    with testing.AssertFunctionIsCalled("cupy.zeros", times_called=2, wraps=cp.zeros):
        assert cp.zeros(3).shape == cp.zeros((3,)).shape
    with pytest.raises(AssertionError):
        with testing.AssertFunctionIsCalled("cupy.zeros"):
            pass


def test_random_numbers_are_fixed_and_put_back():
    draws = []

    class Test(unittest.TestCase):
        def test_numbers(self):
            draws.append((random.random(), np.random.rand(), float(cp.random.rand())))  # noqa: NPY002
            draws.append(testing.generate_seed())

    fixed = testing.fix_random()(Test)
    states = random.getstate(), cp.random.get_random_state()
    for _ in range(2):
        assert fixed("test_numbers").run().wasSuccessful()
    assert draws[:2] == draws[2:]
    assert draws[0][0] == random.Random(99).random()
    assert draws[0][1] == np.random.RandomState(100).rand()
    assert states == (random.getstate(), cp.random.get_random_state())

    @testing.fix_random()
    def test_alone(self):
        return random.random()

    assert test_alone(None) == draws[0][0]
    with pytest.raises(AssertionError, match="random is not set up"):
        testing.generate_seed()
    with pytest.raises(ValueError, match="Can't apply fix_random to"):
        testing.fix_random()(lambda: None)


PROJECT = """
import unittest
import cupy, numpy, pytest
from cupy import testing

@testing.parameterize(*testing.product({"shape": [(3,), (2, 5)], "make": [lambda n: n + 1]}))
class TestMean:
    @pytest.fixture
    def one(self):
        return 1

    @pytest.mark.parametrize("two", [2])
    @testing.for_all_dtypes(no_bool=True)
    @testing.numpy_cupy_allclose(rtol=1e-3)
    def test_mean(self, xp, dtype, one, two):
        x = testing.shaped_arange(self.shape, xp, dtype)
        return (x * one).mean() * self.make(two)

    @testing.numpy_cupy_array_equal()
    def test_wrong(self, xp):
        return xp.zeros(self.shape) + (len(self.shape) == 2 and xp is cupy)

@testing.parameterize({"a": 1, "f": len}, {"a": 2, "f": numpy.float32}, {"b": 3, "f": lambda x: x})
class TestCase(unittest.TestCase):
    def test_attributes(self):
        assert getattr(self, "a", 0) + getattr(self, "b", 0) in (1, 2, 3)
        assert self.f([4.0]) in ([4.0], 1)

@testing.with_requires("numpy>=99")
def test_of_tomorrow():
    raise AssertionError

@testing.multi_gpu(3)
def test_of_three_devices():
    pass

@testing.slow
def test_slow():
    pass
"""


def test_a_project(pytester, monkeypatch):
    monkeypatch.setenv("CUPY_TEST_GPU_LIMIT", "2")
    pytester.makeini("[pytest]\nmarkers =\n    slow: slow\n    multi_gpu: of several GPUs\n")
    pytester.makepyfile(test_project=PROJECT)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-v", "-rs", "-m", "not slow")
    done.assert_outcomes(passed=6, failed=1, skipped=2, deselected=1)
    done.stdout.fnmatch_lines_random(
        [
            "*::TestMean::test_mean?2-_param_0_{make=<lambda>, shape=(3,)}? PASSED*",
            "*::TestMean::test_wrong?_param_1_{make=<lambda>, shape=(2, 5)}? FAILED*",
            "*::TestCase_param_0_{a=1, f=len}::test_attributes PASSED*",
            "*::TestCase_param_1_{a=2, f=float32}::test_attributes PASSED*",
            "*requires: numpy>=99",
            "*3 GPUs required",
        ]
    )


def test_parameters_that_are_shared_or_given_twice():
    with pytest.raises(RuntimeError, match="twice"):
        testing.parameterize({"a": 1})(testing.parameterize({"b": 1})(type("TestA", (), {})))
    with pytest.raises(AssertionError):
        testing.product([1])
    with pytest.raises(AssertionError):
        testing.multi_gpu(1)


def test_without_pytest_its_marks_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytest", None)
    for make in (lambda: testing.slow(len), lambda: testing.multi_gpu(2)):
        with pytest.raises(RuntimeError, match="is not available(.|\n)*Reason: "):
            make()
    with pytest.raises(RuntimeError, match="parameterize is not available"):
        testing.parameterize({"a": 1})(type("TestA", (), {}))
    skipped = testing.with_requires("numpy>=99")(lambda: None)
    with pytest.raises(unittest.SkipTest, match="requires: numpy>=99"):
        skipped()
