"""What a given dtype, a given output or an end of the range does to a value, as in CuPy."""

import cupy as cp
import cupyx
import cupyx.scipy.special as special
import numpy as np
import pytest

INF, NAN = np.inf, np.nan
X = cp.array([-2.5, 0.5, 3.0])
Z = cp.array([-2.5 + 1j, 0.5, 3.0])
I = cp.array([-3, 0, 7], "i4")  # noqa: E741


@pytest.mark.parametrize(
    "call, wanted",
    [
        # The dtype of a universal function is that of its loop: the operands are cast to it.
        (lambda: cp.add(X, X, dtype="B"), [0, 0, 6]),
        (lambda: cp.add(X, I, dtype="B"), [253, 0, 10]),
        (lambda: cp.multiply(Z, I, dtype="B"), [0, 0, 21]),
        (lambda: cp.less(I, cp.array([2, 2, 0.0]), dtype="?"), [False, True, False]),
        (lambda: cp.less(X, Z + 1, dtype="?"), [False, False, False]),
        (lambda: cp.absolute(Z, dtype="d"), [2.5, 0.5, 3.0]),
        (lambda: cp.isnan(cp.array([NAN, 1]), dtype="?"), [True, False]),
        # Integers are made of the numbers, not of their sum; a mean is one of double ones.
        (lambda: cp.sum(X, dtype="B"), 3),
        (lambda: cp.nansum(X, dtype="i"), 1),
        (lambda: cp.cumsum(X, dtype="B"), [0, 0, 3]),
        (lambda: cp.nancumprod(cp.array([NAN, -2, 3]), dtype="B"), [1, 0, 0]),
        (lambda: cp.mean(I - 10, dtype="B"), 0),
        (lambda: cp.mean(X, dtype="B"), 0),
        (lambda: cp.cumulative_sum(X, out=cp.zeros(3, "i")), [-2, -2, 1]),
        # Of a given type the mean has that of the array.
        (lambda: cp.var(cp.array([0, 1], "b"), dtype="d"), 0.5),
        (lambda: cp.array([True, True, False]).std(dtype="d"), np.sqrt(1 / 3)),
        (lambda: cp.var(cp.array([1 + 5j, 3 + 5j]), dtype="d"), 1.0),
        # Nothing is left to divide by.
        (lambda: cp.var(cp.arange(4), ddof=4), NAN),
        (lambda: cp.std(cp.arange(4.0), ddof=5), NAN),
        (lambda: cp.nanvar(cp.arange(4.0), ddof=4), INF),
        (lambda: cp.nanvar(cp.arange(3.0), ddof=4), NAN),
        (lambda: cp.nanvar(cp.arange(4.0), ddof=1.5), 5 / 3),
        # Rounded among integers.
        (lambda: cp.around(cp.array([2**64 - 1, 2**63 + 5, 15, 25], "u8"), -1),
         [4, 2**63 + 2, 20, 20]),
        (lambda: cp.around(cp.array([-(2**31), -1750], "i4"), -3), [2147483296, -2000]),
        # Steps are multiplied and added with one rounding.
        (lambda: cp.linspace(-50, 50, 13)[6], 2**-48),
        (lambda: cp.linspace(-1, 1, 11)[5], 2**-54),
        (lambda: cp.linspace(3, 3, 3), [3, 3, 3]),
        (lambda: cp.arange(1, 1.25, 0.1), [1, 1.1, 1 + 0.2]),
        (lambda: cp.remainder(cp.array(2.0**40), 300.1), 2.0**40 % 300.1),
        (lambda: cp.remainder(1e300, 7), float(int(1e300) - int(1e300 / 7) * 7)),
        (lambda: cp.isclose(cp.ones(2, "f"), 1e300), [False, False]),
        (lambda: cp.isclose(cp.full(1, 0.1, "f"), 0.1, rtol=0, atol=1e-10), [False]),
        (lambda: cp.signbit(cp.clip(cp.array([-0.0]), 0, None)), [True]),
    ],
)  # fmt: skip
def test_values(call, wanted):
    np.testing.assert_allclose(cp.asnumpy(call()), wanted, rtol=1e-15)


def test_sums_into_wider_numbers():
    """``out`` does not say in which type it is added."""
    x, out = cp.array([1, 3e-8, 3e-8], "f"), cp.zeros(())
    assert cp.sum(x, out=out) is out and float(out) == 1
    with pytest.raises(TypeError):
        cp.sum(Z, dtype="i")
    with pytest.raises(TypeError):
        cp.nanstd(I, dtype="i")
    with pytest.raises(ValueError):
        cp.var(X, out=cp.zeros(2))


@pytest.mark.parametrize(
    "name, x, wanted",
    [
        ("j0", [INF, -INF], [0, 0]),
        ("y1", [INF], [0]),
        ("i0", [-INF], [INF]),
        ("i1", [-INF], [-INF]),
        ("i0e", [800.0, -2], [NAN, 0.30850832255367104]),
        ("k1e", [800.0, 1], [NAN, 1.636153486263258]),
        ("expi", [INF, 1], [NAN, 1.8951178163559368]),
        ("exprel", [NAN, 1], [1, np.e - 1]),
        ("gammasgn", [-INF, -0.5], [1, -1]),
        ("cosdg", [INF, 90], [NAN, np.cos(np.pi / 2)]),
        ("sindg", [180.0], [np.sin(np.pi)]),
    ],
)
def test_special_functions_at_their_ends(name, x, wanted):
    got = getattr(special, name)(cp.array(x, "d")).get()
    np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_special_functions_of_small_types():
    assert special.erf(cp.ones(1, "e")).dtype == float
    assert float(special.erf(cp.ones(1, "e"))[0]) == np.float32(special.erf(1.0).get())
    assert not cp.signbit(special.erfcinv(cp.ones(1)))[0]
    order, x = cp.array([9], "b"), cp.array([0.3], "f")
    assert float(special.polygamma(order, x)[0]) == pytest.approx(6.1456e10, rel=1e-3)
    assert special.polygamma(order, x).get() != np.float32(special.polygamma(order, x).get())


@pytest.mark.parametrize(
    "index, rounded",
    [(np.s_[0], False), (np.s_[::-1], False), (True, False), ([0, 2], True), (0, False)],
)
def test_greatest_of_doubles(index, rounded):
    """The atomic function rounds them to single precision; without one they are what they are."""
    a = cp.array([0.1, 0.2, 0.3])
    cupyx.scatter_max(a, index, 0.01)
    assert (float(a[0]) != 0.1) == rounded
    half = cp.zeros(2, "e")
    cupyx.scatter_add(half, np.s_[:1], 2)
    assert half.tolist() == [2, 0]
    b = cp.array([1.0, NAN])
    cupyx.scatter_max(b, slice(None), cp.array([NAN, 2]))
    assert cp.isnan(b).all()  # as of maximum
    cupyx.scatter_max(b, cp.array([True, True]), 2)
    assert b.tolist() == [2, 2]


def test_windows_have_angles_of_single_precision():
    angle = np.cos(np.float32(np.pi / 2)).astype(float)
    assert float(cp.hamming(5)[1]) == 0.54 - 0.46 * angle != 0.54
    assert float(cp.hanning(5)[1]) == 0.5 - 0.5 * angle
    assert float(cp.bartlett(4)[1]) == np.float32(2 / 3)
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        made = getattr(cp, name)
        np.testing.assert_allclose(made(33).get(), getattr(np, name)(33), atol=1e-6)
        assert made(1).tolist() == [1] and made(0).shape == (0,)
    np.testing.assert_allclose(cp.kaiser(33, 8.6).get(), np.kaiser(33, 8.6), atol=1e-6)


def test_types_and_layouts():
    assert cp.unravel_index(I[1:] % 4, (2, 2))[0].dtype == np.int32
    counts, _ = cp.histogramdd(cp.zeros((9, 2)), 3)
    assert counts.strides == (40, 8) and int(counts.sum()) == 9
    counts, *_ = cp.histogram2d(X, X, 3, density=True)
    assert counts.strides == (24, 8)
    assert cp.ix_(cp.zeros(0, "f"))[0].dtype == np.intp
    number, array = cp.broadcast_arrays(2.5, X)
    assert type(number) is float and array.shape == (3,)
    assert cp.true_divide.__name__ == "cupy_true_divide"


def test_ranges_between_numbers_on_the_device():
    """A number of Python's takes the type of the array beside it; ``arange`` asks Python's alone
    whether there are fractions."""
    x, n = cp.arange(5, dtype="f"), cp.arange(5)
    for ends in ((x.min(), x.max()), (0, x.max()), (x.min(), 4.0)):
        made = cp.linspace(*ends, 3)
        assert made.dtype == np.float32 and made.tolist() == [0, 2, 4]
        assert cp.logspace(*ends, 3).dtype == np.float32
    assert cp.linspace(n.min(), n.max(), 3).dtype == np.float64
    assert cp.linspace(cp.array(1, "e"), 2, 3).dtype == np.float16
    assert cp.linspace(np.float64(0), x.max(), 3).dtype == np.float64
    assert cp.linspace([0, 1], x.max(), 3).shape == (3, 2)
    for made in (cp.arange(x.max()), cp.arange(0, x.max()), cp.arange(n.max())):
        assert made.dtype == np.int64 and made.tolist() == [0, 1, 2, 3]
    assert cp.arange(0.0, x.max()).dtype == cp.arange(n.min(), 2.0, dtype=float).dtype == np.float64
    assert cp.arange(n.max(), dtype="f").dtype == np.float32
    for wrong in (lambda: cp.arange(n.min(), n.max()), lambda: cp.arange(0, 4, n[1], dtype="f")):
        with pytest.raises(TypeError):
            wrong()
