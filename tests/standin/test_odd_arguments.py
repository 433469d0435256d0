"""Arguments of an odd kind: what CuPy refuses is refused, what it reads otherwise is read so."""

import enum
from fractions import Fraction

import cupy as cp
import cupyx
import numpy as np
import pytest

X, Y = cp.array([1.5, -2, 0.25, 3], "f"), cp.array([2, 1, -1, 0.5], "f")
PLANE, N = cp.arange(12, dtype="f").reshape(3, 4), cp.arange(4, dtype="i")
MASK, ONE = cp.array([True, False, True, True]), cp.array(1)
EVEN = enum.IntEnum("E", "A B").B

REFUSED = {
    "a keyword for a leading argument is looked at": [
        (TypeError, lambda: cp.roll(a=[1, 2], shift=1)),
        (TypeError, lambda: cp.unique(ar=[1, 2])),
        (TypeError, lambda: cp.polymul(a1=X, a2=Y)),
        (TypeError, lambda: PLANE.__getitem__(index=0)),
        (TypeError, lambda: cp.roll(X, 1, out=None)),
    ],
    "a device array is no axis and no whole number": [
        (TypeError, lambda: cp.sum(PLANE, axis=ONE)),
        (TypeError, lambda: cp.roll(PLANE, 1, axis=(ONE,))),
        (TypeError, lambda: cp.diff(X, n=ONE)),
        (TypeError, lambda: cp.trace(PLANE, offset=ONE)),
        (TypeError, lambda: cp.array_split(X, np.array(1))),
        (TypeError, lambda: X.var(ddof=ONE)),
        (TypeError, lambda: cp.pad(X, ONE)),
    ],
    "a fraction, a member of an IntEnum and 128 bits are no numbers": [
        (TypeError, lambda: cp.isclose(X, Y, rtol=Fraction(1, 2))),
        (TypeError, lambda: cp.linspace(0, EVEN)),
        (TypeError, lambda: cp.unwrap(X, np.longdouble(1))),
        (TypeError, lambda: cp.tril(PLANE, Fraction(1, 2))),
        (TypeError, lambda: cp.piecewise(X, [MASK], ["a"])),
        (TypeError, lambda: cp.isin(N, N, invert=[1])),
        (OverflowError, lambda: cp.where(MASK, 2**70, X)),
    ],
    "a type is asked for by what names one": [
        (TypeError, lambda: cp.add(X, Y, dtype=X)),
        (TypeError, lambda: cp.asarray(X, dtype=[])),
        (ValueError, lambda: cp.cumsum(X, dtype=">f4")),
        (TypeError, lambda: cp.isclose(X, Y, equal_nan=2.5)),
        (TypeError, lambda: cp.gcd(N, 2.0)),
        (ValueError, lambda: X.view("i", type=7)),
    ],
    "True is no length, and an order is text": [
        (TypeError, lambda: cp.zeros((True, 3))),
        (TypeError, lambda: cp.tri(True)),
        (TypeError, lambda: cp.linspace(0, 1, True)),
        (TypeError, lambda: cp.empty(3, order=0)),
        (ValueError, lambda: cp.array([1.0], order="x")),
        (ValueError, lambda: cp.require([1.0], requirements=["C"])),
    ],
    "an array is no flag": [
        (ValueError, lambda: cp.asarray([1.0], blocking=X)),
        (ValueError, lambda: PLANE.reshape(4, 3, copy=X)),
        (ValueError, lambda: cp.ElementwiseKernel("T x", "T y", "y = x", "k", no_return=X)),
        (NotImplementedError, lambda: cp.lib.stride_tricks.sliding_window_view(X, 2, subok=1)),
    ],
    "a word is one of those there are": [
        (ValueError, lambda: cp.put(X.copy(), [0], [1], mode=None)),
        (TypeError, lambda: cp.einsum("i,i", X, Y, optimize="a")),
        (TypeError, lambda: cp.poly1d(X, variable=2)),
        (NotImplementedError, lambda: cupyx.seterr(over=0)),
        (NotImplementedError, lambda: cp.shares_memory(X, Y, max_work=1)),
        (AttributeError, lambda: cp.ElementwiseKernel("T x", "T y", "y = x", "k")(X, stream=1)),
    ],
    "a list is no device array": [
        (AttributeError, lambda: cp.take_along_axis(X, [0], 0)),
        (TypeError, lambda: cp.histogramdd([1, 2])),
        (TypeError, lambda: cp.putmask(X.copy(), MASK, [1, 2])),
        (TypeError, lambda: cp.byte_bounds(np.ones(3))),
        (AttributeError, lambda: cp.copyto(X.copy(), [1, 2, 3, 4])),
        (TypeError, lambda: cp.copyto(X.copy(), Y, where=[True])),
        (TypeError, lambda: cp.copyto(X.copy(), 3, casting="equiv")),
        (ValueError, lambda: cp.copyto(X.copy(), PLANE)),
        (ValueError, lambda: PLANE.copy().flat.__setitem__(3, [1])),
    ],
    "an out fits": [
        (TypeError, lambda: cp.choose(N % 2, PLANE, cp.empty(4), "wrap")),
        (ValueError, lambda: cp.cumsum(X, out=cp.empty(()))),
        (ValueError, lambda: cp.cumulative_sum(X, out=cp.empty(3, "f"))),
        (TypeError, lambda: cupyx.zeros_pinned(3, object)),
    ],
}


@pytest.mark.parametrize("promise", REFUSED)
def test_refused(promise):
    for error, call in REFUSED[promise]:
        with pytest.raises(error):
            call()


def test_a_ufunc_has_the_rows_of_cupys():
    assert cp.equal.types[:2] == ["??->?", "qq->?"] and cp.true_divide.types[0] == "qq->d"
    assert (N == 2**40).tolist() == [False] * 4
    assert cp.fmax(X, np.float64(2.5), dtype="i").tolist() == [2, 2, 2, 3]
    for ours in (cp.fix, cp.i0, cp.sinc, cupyx.rsqrt):
        assert isinstance(ours, cp.ufunc) and ours(X, dtype="d").dtype == "d"


def test_a_number_is_packed_into_the_type_of_its_kernel():
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        assert cp.isinf(X * 1e300).all()
    with pytest.raises(ValueError, match="NaN"):
        cp.add(N, float("nan"), dtype="i")
    assert cp.clip(cp.arange(3, dtype="H"), 1e40, None).dtype == float


def test_a_scan_goes_on_in_its_out_as_that_lies_in_memory():
    out = cp.empty((2, 2), "i", order="F")
    assert cp.cumsum(cp.array([[1.5, 2], [3, 4]]), out=out) is out
    assert out.tolist() == [[1, 6], [4, 10]]
    assert cp.cumulative_prod(N + 1, include_initial=True).tolist() == [1, 1, 2, 6, 24]


def test_sums_between_places_are_differences_of_running_ones():
    nan = cp.array([1, np.nan, 2, 3], "f")
    assert np.isnan(cp.add.reduceat(nan, [0, 2]).get()).all()
    assert cp.add.reduceat(X, [2, 0, 3]).tolist() == [0.25, -0.25, 3.0]


def test_interpolation_steps_in_the_type_of_the_values():
    down = cp.array([3, 1], "Q")
    assert cp.interp(cp.array([0.5]), cp.array([0.0, 1.0]), down).item() > 1e18
    assert cp.interp(cp.array([2.5]), cp.array([0.0, 1]), down.astype(int), period=2).item() == 2


def test_a_variance_without_nan_has_the_type_of_the_array():
    assert cp.nanvar(X, dtype="d").dtype == "f" and cp.nanstd(X, dtype="d").dtype == "d"


def test_a_median_without_nan_may_write_over_them():
    x = cp.array([1, np.nan, 3], "f")
    assert cp.nanmedian(x, overwrite_input=True) == 2 and x[1] == np.finfo("f").max


def test_a_median_of_a_number_keeps_an_axis():
    assert cp.median(cp.array(2), keepdims=True).shape == (1,) and cp.median(cp.array(2)).ndim == 0
    assert cp.nanmedian(cp.array(2.0), keepdims=True).ndim == 0


def test_a_kronecker_product_of_numbers_is_a_number():
    assert type(cp.kron(3, 2)) is int and type(cp.kron(3, cp.array(2))) is cp.ndarray


def test_a_condition_of_the_hosts_is_one_of_whole_numbers():
    assert cp.compress([0.5, 1, 0, 2], X).tolist() == [-2, 3]


def test_a_fit_leaves_out_what_is_small_in_double_precision():
    assert cp.polyfit(X, Y, 1, full=True)[-1] == 4 * np.finfo(float).eps


def test_numbers_of_numpy_come_back_as_they_are():
    assert type(cp.broadcast_arrays(np.int8(1), X)[0]) is np.int8
    assert type(cp.real_if_close(np.float32(1))) is np.float32


def test_pairs_of_booleans_are_added_as_such():
    assert cp.trapezoid(cp.array([True, True, False]), dx=np.float16(0.5)) == 0.5


DEPRECATED = {
    "msort": lambda: cp.msort(X),
    "round_": lambda: cp.round_(X),
    "product": lambda: cp.product(X),
    "cumproduct": lambda: cp.cumproduct(X),
    "row_stack": lambda: cp.row_stack([X, Y]),
    "scatter_add": lambda: cp.zeros(4).scatter_add(0, 1),
    "cross": lambda: cp.cross(X[:2], Y[:2]),
    "corrcoef": lambda: cp.corrcoef(X, Y, ddof=1),
    "percentile": lambda: cp.percentile(X, 50, interpolation="lower"),
    "cupyx.scatter_max": lambda: cupyx.scatter_max(cp.zeros(4), 0, 1),
}


@pytest.mark.parametrize("name", DEPRECATED)
def test_what_cupy_gives_up_warns(name):
    with pytest.warns(DeprecationWarning):
        DEPRECATED[name]()


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda: cp.random.randint(3, 3, (0,))),
        (ValueError, lambda: cp.random.default_rng(1).integers(3, -1, (0,))),
        (TypeError, lambda: cp.arange(5.0).partition(2, None)),
        (OverflowError, lambda: cp.arange(2**63)),
        (AttributeError, lambda: cupyx.zeros_like_pinned(None)),
    ],
)
def test_what_is_asked_where_there_is_nothing_to_do(error, call):
    with pytest.raises(error):
        call()


def test_the_sign_of_booleans_is_an_integer_of_8_bits():
    assert cp.sign(cp.array([True, False])).dtype == "b"
