"""Values in which CuPy and a GPU differ from NumPy and the C library."""

import contextlib
import math

import cupy as cp
import cupyx
import cupyx.scipy.linalg
import numpy as np
import pytest

import helpers

INF, NAN = np.inf, np.nan


def test_floor_of_the_rounded_quotient():
    """CuPy's kernels: floor(x / y) and x - floor(x / y) * y, where NumPy starts from fmod."""
    x = cp.array([1.0, 7, -7, INF, -1, 5, 1, -0.75])
    y = cp.array([0.1, 2, 2, 1, INF, INF, 0, 0.5])
    quotient = [10, 3, -4, INF, -0.0, 0, INF, -2]
    rest = [0, 1, 1, NAN, NAN, NAN, NAN, 0.25]
    np.testing.assert_array_equal((x // y).get(), quotient)
    np.testing.assert_allclose((x % y).get(), rest, atol=1e-15)
    for mine, theirs in zip(cp.divmod(x, y), (quotient, rest), strict=True):
        np.testing.assert_allclose(mine.get(), theirs, atol=1e-15)
    assert bool(cp.signbit(x // y)[4])
    # 3333333248 is the nearest float of 1e10 / 3; the rest is rounded once.
    assert float((cp.float32(1e10) % cp.full(1, 3, "f"))[0]) == 1e10 - 3 * 3333333248
    assert (cp.full(1, 5, "e") // cp.full(1, 0.1, "e")).dtype == np.float16
    assert (cp.array([-7]) // 2, cp.array([-7]) % 2) == (cp.array([-4]), cp.array([1]))
    out = cp.full(2, 9.0)
    assert cp.floor_divide(cp.array([1.0, 1]), 0.1, out=out) is out and out.tolist() == [10, 10]


def test_integers():
    largest = cp.array([2**63 - 1, -(2**63), 7])  # through double precision
    assert cp.fmod(largest, cp.array([10, 2**63 - 1, 0])).tolist() == [8, 0, 0]
    assert cp.fmod(cp.array([-7, 7], "i4"), 3).tolist() == [-1, 1]
    assert cp.reciprocal(cp.array([0, 1, 2, -1])).tolist() == [0, 1, 0, -1]
    assert cp.power(cp.array([0, 2, -1, -1, 1]), -3).tolist() == [0, 0, -1, -1, 1]


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F"])
def test_rounding_in_double_precision(dtype):
    x = np.arange(-400, 400, 5).astype("f4") / 1000
    x = x.astype(dtype)
    wide = x.astype("D" if dtype == "F" else "d")
    parts = [np.rint(part * 100) / 100 for part in (wide.real, wide.imag)]
    wanted = (parts[0] + 1j * parts[1] if dtype == "F" else parts[0]).astype(dtype)
    for got in (cp.round(cp.asarray(x), 2), cp.asarray(x).round(2)):
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(got.get(), wanted)
    assert cp.around(cp.array([0.245], "f"), 2).tolist() == [np.float32(0.25)]
    out = cp.zeros(1, "f")
    assert cp.around(cp.array([17], "f"), -1, out) is out and out.tolist() == [20]


def test_bounds_that_are_no_number():
    x = cp.array([1.0, 2, 9])
    assert x.clip(NAN, 3).tolist() == [1, 2, 3]
    assert cp.clip(x, cp.array([NAN, 4, 4]), NAN).tolist() == [1, 4, 9]
    assert cp.clip(x, 5, 2).tolist() == [2, 2, 2]
    out = cp.zeros(3)
    assert cp.clip(x, 2, NAN, out) is out and out.tolist() == [2, 2, 9]


def test_angle_of_real_numbers():
    np.testing.assert_array_equal(
        cp.angle(cp.array([2, -1, 0.0, -0.0, NAN])).get(), [0, math.pi, 0, 0, math.pi]
    )
    assert cp.angle(cp.array([-3, 3]), deg=True).tolist() == [180, 0]
    np.testing.assert_allclose(cp.angle(cp.array([1j, -1])).get(), [math.pi / 2, math.pi])


def test_places_among_nan():
    x = cp.array([[NAN, 1, 3, 3], [NAN, NAN, NAN, NAN], [NAN, -INF, NAN, -INF]])
    assert cp.nanargmax(x, axis=1).tolist() == [2, -1, 1]
    assert cp.nanargmin(x, axis=1).tolist() == [1, -1, 1]
    assert int(cp.nanargmax(x)) == 2 and int(cp.nanargmin(x)) == 9
    assert int(cp.nanargmax(cp.array([1, 5, 5]))) == 1


def results(*texts, x=0.0, ctype="double"):
    """Each expression in ``x``, as doubles."""
    stores = "".join(f"y[{i}] = (double)({text});" for i, text in enumerate(texts))
    code = f'extern "C" __global__ void k(double *y, {ctype} x) {{ {stores} }}'
    y = cp.zeros(len(texts))
    cp.RawKernel(code, "k")((1,), (1,), (y, np.float32(x) if ctype == "float" else float(x)))
    return y.get().tolist()


@pytest.mark.parametrize("ctype", ["float", "double"])
def test_integers_nearest_to_what_is_too_large(ctype):
    most = float(2**63)
    names = ["lrint(x)", "lround(x)", "llrint(x)", "llround(x)"]
    assert results(*names, x=INF, ctype=ctype) == [most] * 4
    assert results(*names, x=-3e30, ctype=ctype) == [-most] * 4
    assert results(*names, x=NAN, ctype=ctype) == [-most] * 4
    assert results(*names, x=-2.5, ctype=ctype) == [-2, -3, -2, -3]


@pytest.mark.skipif(helpers.on_gpu, reason="the stand-in's own error")
@pytest.mark.parametrize("name", ["floor", "ceil", "round", "rint", "trunc", ""])
def test_an_integer_that_is_not_cast_to(name):
    for ctype in ("float", "double"):
        code = f"""extern "C" __global__ void k(long long *y, {ctype} x) {{ y[0] = {name}(x); }}"""
        x = np.float32(1e30) if ctype == "float" else 1e30
        with pytest.raises(RuntimeError, match="beyond the range of 'long long"):
            cp.RawKernel(code, "k")((1,), (1,), (cp.zeros(1, "i8"), x))


def test_minus_zero_is_less_than_zero():
    texts = ["1 / fmaxf(x, 0.f)", "1 / fmaxf(0.f, x)", "1 / fminf(x, 0.f)", "1 / fminf(0.f, x)"]
    texts += ["1 / fmax(x, 0.0)", "1 / fmin(0.0, x)", "1 / max(x, 0.0)", "1 / min(0.0, x)"]
    assert results(*texts, x=-0.0) == [INF, INF, -INF, -INF, INF, -INF, INF, -INF]
    texts = ["fmaxf(x, 2.f)", "fminf(2.f, x)", "fmax(x, 2.0)", "fmin(2.0, x)", "fmax(3., 2.)"]
    assert results(*texts, x=NAN) == [2, 2, 2, 2, 3]


def test_holes_of_the_fast_functions():
    got = results("__powf(x, 2)", "__powf(-x, 2)", "__powf(0.f, 2)", "__powf(0.f, 0)", x=3)
    np.testing.assert_allclose(got, [9, NAN, 0, NAN], rtol=1e-5)
    texts = [f"__fdividef({x}, {y})" for x, y in (("x", "2e38f"), ("x", "5e37f"), ("x", "-2e38f"))]
    texts.append("__fdividef(x, 1 / 0.f)")
    np.testing.assert_allclose(results(*texts, x=1e37), [0, 0.2, 0, 0], rtol=1e-6)
    np.testing.assert_equal(results(texts[0], texts[3], x=INF), [NAN, NAN])


def test_large_arguments():
    got = results("erfcx(x)", "erfcx(x + 4.9)", "norm3d(1e200, x, 2e200)", x=20.2)
    exact = [math.exp(20.2**2) * math.erfc(20.2), 0.02245987581758139, math.hypot(1e200, 2e200)]
    np.testing.assert_allclose(got, exact, rtol=1e-10)


def test_printf_returns_how_many_it_took(capfd):
    code = r"""extern "C" __global__ void k(int *y) {
    y[0] = printf("%d of %5.1f\n", 3, 2.5), y[1] = printf("none\n"), y[2] = printf("100%%%s", "!");
    y[3] = printf("%*d%-8lld|", 4, 5, 6ll);
}"""
    y = cp.zeros(4, "i")
    cp.RawKernel(code, "k")((1,), (1,), (y,))
    cp.cuda.Device().synchronize()
    assert y.tolist() == [2, 0, 1, 3]


PRINTS = {
    f'"{"%d" * 32}%%n"{", 1" * 32}': None,
    f'"{"%d" * 33}"{", 1" * 33}': "line 2: printf of 33 values: CUDA's takes 32",
    '"5%n", y': "line 2: printf with %n",
}


@pytest.mark.parametrize("arguments", PRINTS)
def test_printf_takes_no_more_than_cudas(arguments, capfd):
    kernel = cp.RawKernel(f'extern "C" __global__ void k(int *y) {{\nprintf({arguments});\n}}', "k")
    may_fail = pytest.raises(RuntimeError, match=PRINTS[arguments])
    with may_fail if PRINTS[arguments] else contextlib.nullcontext():
        kernel((1,), (1,), (cp.zeros(1, "i"),))


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor", "logical_not"])
def test_complex_numbers_are_neither_true_nor_false(name):
    function, count = getattr(cp, name), 1 if name == "logical_not" else 2
    with pytest.raises(TypeError, match="Wrong type"):
        function(*[cp.array([1j])] * count)
    if count == 2:
        for mixed in ((cp.array([1.5]), 1j), (True, cp.array([1j], "F"))):
            with pytest.raises(TypeError, match="Wrong type"):
                function(*mixed)
    wanted = getattr(np, name)(*[np.array([0, 2])] * count)
    assert function(*[cp.array([0, 2])] * count).tolist() == wanted.tolist()


def test_complex_numbers_by_zero():
    quotient = cp.array([1 + 1j, INF, 0]) / cp.array([0j, -0.0, 0])
    assert cp.isnan(quotient.real).all() and cp.isnan(quotient.imag).all()
    assert ((1 + 1j) / cp.array([2 + 0j])).tolist() == [0.5 + 0.5j]


def test_sinc_and_i0():
    assert cp.sinc(cp.array([NAN, 0, 1, -2, 0.5])).tolist() == [1, 1, 0, 0, 2 / np.pi]
    assert cp.sinc(cp.array([3, 7], "f")).tolist() == [0, 0]
    assert cp.i0(cp.array([INF, -INF, 0])).tolist() == [INF, INF, 1]
    assert float(cp.i0(cp.array([11.25], "e"))[0]) == 9248  # NumPy overflows on the way
    for function in (cp.sinc, cp.i0):
        assert [function(cp.ones(1, c)).dtype.char for c in "?bBhefd"] == list("eeefefd")


def test_neighbours_of_half_precision():
    x, y = cp.array([0, -0.0, 1, INF, 1, -1], "e"), cp.array([-0.0, -1, 2, 0, NAN, -2], "e")
    tiny, step = 2.0**-24, 2.0**-10
    kernel = cp.ElementwiseKernel("float16 x, float16 y", "float16 z", "z = nextafter(x, y)", "k")
    for found in (cp.nextafter(x, y), kernel(x, y)):
        wanted = [0, -tiny, 1 + step, NAN, NAN, -1 - step]
        np.testing.assert_array_equal(found.get(), wanted)
        assert not cp.signbit(found[0])


def test_quantiles_with_nan():
    """It is the largest number, and the others are counted from below."""
    x = cp.array([NAN, 3, 1, 2])
    assert cp.percentile(x, 0).get() == 1 and cp.percentile(x, 50).get() == 2.5
    assert np.isnan(cp.quantile(x, 1).get()) and np.isnan(cp.median(x).get())
    rows = cp.array([[1, 2, NAN], [4, 6, 5]], "f")
    found = cp.percentile(rows, [0, 25], axis=1, method="lower")
    assert found.tolist() == [[1, 4], [1, 4]] and found.flags.c_contiguous
    assert cp.quantile(rows, 0.25, axis=1, keepdims=True).tolist() == [[1.5], [4.5]]
    assert cp.quantile(rows, 0.25, axis=1).dtype == np.float32
    assert cp.percentile(cp.array([True, False]), 75).get() == 0.75
    out = cp.zeros((1, 2))
    assert cp.quantile(rows, [0.5], axis=1, out=out).base is out
    np.testing.assert_array_equal(out.get(), [[NAN, 5]])  # 2 + 0 * (NaN - 2), and 5
    with pytest.raises(IndexError, match="beside the numbers"):
        cp.percentile(x, [50, -10])
    assert cp.linspace(1.5, NAN, 1).tolist() == [1.5]
    with pytest.raises(ValueError, match="squeeze"):
        cp.quantile(rows, 0.5, axis=1, out=cp.zeros(2))
    assert cp.percentile(x, 0, overwrite_input=True).get() == x[0].get() == 1
    for call in (cp.percentile, cp.quantile):
        with pytest.raises(ValueError, match="not yet supported"):
            call(x, 0.5, method="hazen")
        with pytest.raises(ValueError, match="must be in the range"):
            call(x, 101)


def test_histograms():
    x, edges = cp.array([0.5, NAN, 3, 9]), cp.array([0.0, 1, 3])
    assert cp.histogram(x, edges)[0].tolist() == [1, 1]
    weights = cp.array([1, 2, 4, 8])
    found = cp.histogram(x, edges, weights=weights)[0]  # a weight of NaN is in the first bin
    assert found.tolist() == [3, 4]
    types = [cp.histogram(x, edges, weights=weights.astype(c))[0].dtype.char for c in "?bIefdFD"]
    assert types == list("lllddd") + ["D", "D"]
    flat = cp.histogram(x, edges, density=True, weights=weights)[0]
    np.testing.assert_allclose(flat.get(), [3 / 7, 2 / 7])
    y = cp.arange(4.0)
    pairs = cp.histogram2d(y, y, 2, None, weights)[0]
    assert pairs.tolist() == [[3, 0], [0, 12]]
    assert cp.histogramdd((y, y), 2, None, weights)[0].tolist() == [[3, 0], [0, 12]]
    with pytest.raises(NotImplementedError):
        cp.histogram(y, "auto")


def test_unique_values_are_sorted():
    assert cp.unique_values(cp.array([5, 16, -10, 13, -20, 4])).tolist() == [-20, -10, 4, 5, 13, 16]
    assert cp.unique_values(cp.array([NAN, 1, NAN])).size == 3


def test_ranges_of_integers():
    assert cp.linspace(-2.5, 300, 2, dtype="u1").tolist() == [0, 44]
    assert cp.linspace(-2.5, 2.5, 3, dtype=int).tolist() == [-3, 0, 2]
    assert cp.logspace(0, 300, 2, dtype=int).tolist() == [1, 2**63 - 1]
    assert cp.arange(-1, 1, 0.5, dtype=int).tolist() == [-1] * 4
    with pytest.raises(OverflowError):
        cp.arange(5, 0, -2, dtype="u1")
    assert cp.arange(5, 0, -2, "i1").tolist() == [5, 3, 1]
    step = cp.linspace(0, 1, 5, retstep=True)[1]
    assert type(step) is float and step == 0.25
    with pytest.raises(TypeError, match="complex"):
        cp.linspace(0, 1j, 3)


def test_integers_that_do_not_fit_the_type():
    x = cp.array([1, 2], "i1")
    for call in (
        lambda: cp.where(x > 1, x, 300),
        lambda: cp.where(x > 1, -1, x.astype("u1")),
        lambda: x.clip(-500, 3),
        lambda: cp.clip(x, None, 300),
        lambda: cp.select([x > 1], [x], 300),
    ):
        with pytest.raises(OverflowError):
            call()
    assert cp.where(x > 1, x, 127).dtype == np.int8 and x.clip(0, 1.5).tolist() == [1, 1.5]
    assert cp.where(x > 1, x, 2.5).tolist() == [2.5, 2]
    assert cp.select([x > 1], [x], 7).tolist() == [7, 2]
    with pytest.raises(TypeError, match="Cannot cast"):
        cp.select([x > 1], [x], 0.5)


def test_what_cupy_does_not_know_is_refused():
    with pytest.raises(ValueError, match="not supported"):
        cp.pad(cp.arange(3), 1, "median")
    x, bits = cp.arange(6.0), cp.ones((2, 8), "u1")
    for call in (
        lambda: cp.interp(x[::2], x, x),
        lambda: cp.packbits(bits, axis=1),
        lambda: cp.unpackbits(bits, axis=1),
        lambda: cp.trim_zeros(bits),
    ):
        with pytest.raises(NotImplementedError, match="supported"):
            call()
    assert cp.packbits(bits, bitorder="little").tolist() == [255, 255]
    assert cp.trim_zeros(cp.array([0, 1, 0])).tolist() == [1]


def test_beyond_the_ends_of_integers_are_integers():
    x = cp.arange(3)
    assert cp.interp(cp.array([-1.0, 0.5, 5]), x, x, left=-0.5, right=7.9).tolist() == [0, 0.5, 7]


COMPLEX = {
    "exp": [INF, complex(-INF, INF), 710 + 1.57j],
    "tanh": [400 + 1j, -400 + 1j, complex(INF, 1)],
    "sin": [1 + 710j, complex(0, INF)],
    "sqrt": [-4, complex(INF, 1), complex(1, INF)],
    "log": [0, complex(-INF, 0)],
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions_of_large_numbers_in_a_kernel(name):
    x = np.array(COMPLEX[name], complex)
    kernel = cp.ElementwiseKernel("complex128 x", "complex128 y", f"y = {name}(x)", f"{name}_of")
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x)
    found = kernel(cp.asarray(x)).get()
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(found, part), getattr(wanted, part), rtol=1e-13)


def test_complex_powers_of_zero_in_a_kernel():
    kernel = cp.ElementwiseKernel(
        "complex128 x, complex128 y", "complex128 z", "z = pow(x, y)", "p"
    )
    found = kernel(cp.zeros(3, complex), cp.array([0, 2, 1j])).get()
    assert np.isnan(found[0].real) and found[1] == 0


def test_zeros_of_sinpi_and_cospi():
    """sinpi has the sign of its argument where it is 0, and cospi none."""
    x = np.array([0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, -1.5, 2.5])
    code = """extern "C" __global__ void k(const double *x, double *y, float *z, int n) {
        int i = threadIdx.x;
        sincospi(x[i], y + i, y + n + i);
        z[i] = sinpif((float)x[i]), z[n + i] = cospif((float)x[i]);
    }"""
    y, z = cp.zeros((2, len(x))), cp.zeros((2, len(x)), "f4")
    cp.RawKernel(code, "k")((1,), (len(x),), (cp.asarray(x), y, z, len(x)))
    for sine, cosine in (y.get(), z.get()):
        whole = x == np.trunc(x)
        assert (sine[whole] == 0).all() and (np.signbit(sine) == np.signbit(x))[whole].all()
        assert (cosine[~whole] == 0).all() and not np.signbit(cosine[~whole]).any()


def test_of_the_least_numbers_there_are():
    """erfcinv and normcdfinv are right down to the least double; jn is NaN near 0 where n > 1."""
    special = pytest.importorskip("scipy.special")
    y = np.array([1e-299, 1e-301, 1e-310, 5e-324, 0.5])
    code = """extern "C" __global__ void k(const double *y, double *x, float *z) {
        int i = threadIdx.x;
        x[i] = erfcinv(y[i]), x[5 + i] = normcdfinv(y[i]), x[10 + i] = jn(2, i * 1e-39);
        z[i] = jnf(3, i * 1e-17f) + jn(1, 0.f);
    }"""
    x, z = cp.zeros((3, 5)), cp.zeros(5, "f4")
    cp.RawKernel(code, "k")((1,), (5,), (cp.asarray(y), x, z))
    np.testing.assert_allclose(special.log_ndtr(x[1].get()), np.log(y), rtol=1e-12)
    halves = special.log_ndtr(-(2**0.5) * x[0].get())
    np.testing.assert_allclose(halves, np.log(y) - np.log(2), rtol=1e-12)
    assert not np.signbit(x[1, 4])
    assert cp.isnan(x[2]).tolist() == [True] * 4 + [False]
    assert cp.isnan(z).tolist() == [True] * 4 + [False]


def test_two_zeros():
    x, y = [cp.array(z) for z in np.meshgrid([0.0, -0.0], [0.0, -0.0])]
    for dtype in "efd":
        for most in (cp.maximum, cp.fmax):
            assert cp.signbit(most(x.astype(dtype), y.astype(dtype))).tolist() == [[0, 0], [0, 1]]
        for least in (cp.minimum, cp.fmin):
            assert cp.signbit(least(x.astype(dtype), y.astype(dtype))).tolist() == [[0, 1], [1, 1]]
    assert cp.maximum(cp.array([-1.0, NAN, 3]), 0).tolist()[::2] == [0, 3]


def test_memory_is_cleared_where_zeros_are_set():
    """So that of -0.0 it holds 0.0, in a part that lies together."""
    x, y = cp.ones((2, 3)), cp.ones((2, 3))
    x[0], x[1, 1] = -0.0, -0.0
    y.fill(-0.0)
    assert not cp.signbit(x).any() and not cp.signbit(y).any()
    x[:, 0], x[1, [1, 2]] = -0.0, -0.0
    assert cp.signbit(x).tolist() == [[True, False, False], [True, True, True]]
    z = cp.ones(2, complex)
    z[...] = complex(-0.0, 1)
    assert z.tolist() == [1j] * 2 and cp.signbit(z.real).all()


def test_complex_numbers_with_parts_that_are_none():
    x, y = cp.array([1 + 2j, complex(NAN, 1), complex(1, NAN)]), 1 + 1j
    np.testing.assert_equal(cp.maximum(x, y).get(), [1 + 2j, complex(NAN, 0), complex(NAN, 0)])
    assert cp.fmin(x, y).tolist() == [y] * 3 and cp.fmax(x, y).tolist() == [1 + 2j, y, y]
    z = cp.array([complex(0, NAN), 1 + 1j])
    assert (z < 1).tolist() == [True, False] and (z >= 1 + 1j).tolist() == [False, True]
    assert np.isnan(cp.sign(cp.array([complex(INF, 1)])).get()).all()
    assert cp.sign(cp.array([3 + 4j, 0])).tolist() == [0.6 + 0.8j, 0]
    for of_zero in (cp.reciprocal(cp.zeros(1, complex)), cp.array([0j]) ** -2.5):
        assert np.isnan(of_zero.get().imag).all()
    assert (cp.zeros(2, complex) ** cp.array([0j, 2])).tolist() == [1, 0]
    assert np.isnan(cp.log2(cp.zeros(1, complex)).get().imag).all()
    np.testing.assert_allclose(cp.log2(cp.array([8j])).get(), np.log2([8j]))
    np.testing.assert_allclose(cp.exp2(cp.array([1 + 2j])).get(), np.exp2([1 + 2j]))


def test_complex_expm1_and_log1p_lose_digits_near_zero():
    x = cp.array([6.3008976e-08 - 2.961129e-13j], "F")
    assert cp.expm1(x).real[0] == np.float32(2**-23) and cp.expm1(x).imag[0] != 0
    assert cp.log1p(cp.array([1e-20j + 1e-17])).real[0] < 1e-30
    assert cp.expm1(cp.array([1e-17])).tolist() == [1e-17]


def test_what_reaches_an_instruction_of_32_bits():
    far = cp.array([2**32 + 1, -1, 64, 3])
    assert cp.left_shift(1, far).tolist() == [2, 0, 0, 8]
    assert cp.right_shift(-9, far).tolist() == [-5, -1, -1, -2]
    assert cp.ldexp(cp.ones(3), cp.array([2**32 + 1, 3, -1])).tolist() == [2, 8, 0.5]


def test_the_least_multiple_is_not_negative():
    x = cp.array([127, -128, 100], "b")
    assert cp.lcm(x, cp.array([126, 1, 77], "b")).tolist() == [126, -128, 20]


def test_the_power_of_a_number_of_python():
    """CuPy has the kernels of sqrt, square and reciprocal for three of them."""
    x = cp.array([-0.0, -INF, 4])
    np.testing.assert_equal((x**0.5).get(), [-0.0, NAN, 2])
    np.testing.assert_equal(cp.power(x, 0.5).get(), [0, INF, 2])
    assert (cp.array([2, 3]) ** 2.0).dtype == np.float64 and (cp.array([2]) ** -1.0)[0] == 0.5
    assert (cp.array([3], "u1") ** 2).dtype == np.uint8 and (cp.array([True]) ** 2).dtype == int


def test_numbers_of_python_beyond_64_bits():
    assert cp.negative(2**63).dtype == np.uint64 and int(cp.negative(2**63)) == 2**63
    assert cp.add(2**63, 1).dtype == np.float64
    for call in (lambda: cp.ones(1) + 2**64, lambda: cp.sin(2**64), lambda: cp.ones(0) < -(2**64)):
        with pytest.raises(OverflowError):
            call()


def test_unique_rows_with_numbers_that_have_no_order():
    rows = cp.array([[1, NAN], [1, NAN], [0, 1]])
    found = cp.unique(rows, axis=0)
    np.testing.assert_equal(found.get(), [[0, 1], [1, NAN], [1, NAN]])
    small = cp.array([[100, 2], [-100, 2], [0, 1], [0, 1]], "b")  # -100 - 100 is 56 there
    found = cp.unique(small, True, True, True, axis=0)
    wanted = [[[0, 1], [100, 2], [-100, 2]], [2, 0, 1], [1, 2, 0, 0], [2, 1, 1]]
    assert [part.tolist() for part in found] == wanted
    with pytest.raises(TypeError, match="boolean"):
        cp.unique(small > 0, axis=0)


def test_few_elements_are_sorted_where_they_are_to_be_partitioned():
    x = cp.arange(20.0)[::-1].copy()
    assert cp.partition(x, 3).tolist() == sorted(x.tolist())
    assert cp.argpartition(x, 3).tolist() == list(range(20))[::-1]
    x.partition(3)
    assert x.tolist() == list(range(20))


def test_a_histogram_of_small_integers():
    """cuB takes their bytes for numbers without a sign."""
    assert cp.histogram(cp.array([-5, 5, 100], "b"), 4)[0].tolist() == [1, 0, 0, 1]
    assert cp.histogram(cp.array([-5, 5, 100], "h"), 4)[0].tolist() == [2, 0, 0, 1]
    with pytest.raises(NotImplementedError):
        cp.histogram(cp.array([1j]), 4)


def test_nothing_at_all():
    none = cp.zeros(0)
    assert float(cp.nanvar(none)) == float(cp.nanstd(none)) == 0
    for call in (cp.median, cp.nanmean, lambda x: cp.nanmedian(x.astype(int))):
        with pytest.raises(ValueError):
            call(none)


def test_greatest_of_doubles_by_an_atomic_function():
    """CuPy's calls fmaxf: NaN counts for nothing, and what is touched has single precision."""
    x = cp.array([0.1, 0.1, 5])
    cupyx.scatter_max(x, cp.array([0, 2]), cp.array([0, NAN]))
    assert x.tolist() == [float(np.float32(0.1)), 0.1, 5]


def test_bounds_the_wrong_way_round():
    assert cp.clip(cp.array([NAN, 1, 9]), 2, 1).tolist() == [1, 1, 1]
    for dtype in (complex, bool):
        with pytest.raises(TypeError, match="Unsupported type"):
            cp.ones(2, dtype).clip(None, 1)


def test_what_cupy_refuses_to_take():
    x, cube = cp.arange(3), cp.zeros((2, 2, 2))
    for call, error in (
        (lambda: cp.column_stack([cube, cube]), ValueError),
        (lambda: cp.lexsort(cube), NotImplementedError),
        (lambda: x.choose([x, x, x]), AttributeError),
        (lambda: cupyx.rsqrt(cp.ones(1, complex)), TypeError),
        (lambda: cp.array([x, [1, 2, 3]]), TypeError),
        (lambda: cp.arange(1j), TypeError),
        (lambda: cp.searchsorted(x, [1, 2]), TypeError),
        (lambda: 1 in cube, ValueError),
        (lambda: cp.fuse(lambda x: x + 1)(x), cp.cuda.compiler.CompileException),
    ):
        with pytest.raises(error):
            call()
    a = b = cp.eye(2)
    a @= cp.ones((2, 2))
    assert a is not b and b.tolist() == [[1, 0], [0, 1]]


def test_sums_of_half_precision():
    """In single precision, along an axis too, where NumPy adds in half precision."""
    x = cp.full((4096, 2), 1, "e")
    for made in (x.sum(0), cp.nansum(x, 0), cp.nanmean(x, 0) * 4096, cp.sum(x, 0, "e")):
        assert made.dtype == np.float16 and made.tolist() == [4096, 4096]
    assert cp.sum(x.astype("f"), 0, dtype="e").tolist() == [4096, 4096]
    out = cp.zeros(2)
    assert cp.sum(x, axis=0, dtype="e", out=out) is out and out.tolist() == [4096, 4096]
    assert float(cp.trace(cp.eye(4096, dtype="e"))) == 4096
    assert cp.prod(cp.array([[300], [300], [1e-4]], "e"), axis=0).tolist() == [9]


def test_means_of_half_precision():
    """Of what cuB adds in half precision when that is asked for, as a variance does; ``nanmean``
    counts in it, too."""
    a = cp.full((2, 4096), 100, "e")
    assert a.mean() == a.mean(dtype="f") == cp.nanmean(a[0, :600]) == 100
    assert cp.isinf(a.mean(dtype="e")) and cp.isinf(cp.nanmean(a)) and cp.isinf(a.var())
    assert cp.isinf(a.var(axis=1)).all() and a.var(axis=0).tolist() == [0] * 4096
    assert a[:, ::2].var() == 0  # not in one piece
    assert cp.nanmean(cp.ones(70000, "e")[:2047]) == 1
    assert cp.nanmean(cp.array([np.nan, 1, 2], "e")) == 1.5
    with pytest.raises(cp.cuda.compiler.CompileException, match="of halves in another type"):
        cp.nanmean(a, dtype="f")
    assert cp.nanmean(a[:, ::2], dtype="f") == 100
    assert cp.nanmedian(cp.array([6e4, 6e4], "e")) == 60000  # added in single precision
    assert cp.array([1e-5, 3e-5], "e").var(dtype="d") > 0  # of single ones, too


def test_products_of_halves():
    """One sum of products is made of halves; a norm along an axis adds in single precision."""
    large, small = cp.full((1, 100), 300, "e"), cp.full(100, 5e-5, "e")
    for product in (cp.dot, cp.inner, cp.vdot, cp.matmul):
        assert product(small, small) == 0 and product(large[0], small) > 0
    assert (large @ small[:, None]).shape == (1, 1) and (small[None] @ small[:, None]).item() == 0
    assert cp.isinf(cp.linalg.norm(large[0])) and cp.isinf(cp.linalg.norm(large, axis=1)).all()
    assert cp.linalg.norm(small) == 0 and cp.linalg.norm(small, axis=0) > 4e-4
    assert cp.linalg.norm(cp.arange(4, dtype="e"), keepdims=True).shape == (1,)


@pytest.mark.parametrize("scan", [cp.cumsum, cp.nancumsum])
def test_running_sums_of_half_precision(scan):
    """One by one ones would add up to no more than 2048."""
    assert scan(cp.ones(4000, "e"))[-1] == scan(cp.ones((2, 2000), "e"))[-1] == 4000
    x = cp.ones((4000, 2), "e")
    made, out = scan(x, axis=0), cp.empty((4000, 2), "e")
    assert made.dtype == np.float16 and made[-1].tolist() == [4000, 4000]
    assert scan(x, axis=0, out=out).base is out and bool((out == made).all())
    assert made.strides == scan(x.astype("h"), axis=0, dtype="h").strides
    few = cp.array([1, 2, np.nan], "e")
    assert scan(few).tolist()[:2] == [1, 3] and scan(x[:, 0], dtype="f")[-1] == 4000


def test_products_in_the_operands_own_type():
    a, b = cp.full((1, 2), 100, "b"), cp.full((2, 1), 1, "b")
    made = cp.matmul(a, b, dtype="d")
    assert made.dtype == np.float64 and made.tolist() == [[-56]]  # it wraps around first
    out = cp.zeros((1, 1))
    assert cp.matmul(a, b, out=out, dtype="d") is out and out.tolist() == [[-56]]
    third = cp.full((1, 1), 1 / 3)
    assert cp.matmul(third, cp.ones((1, 1)), dtype="e", out=out).item() == 1 / 3
    with pytest.raises(TypeError):
        cp.matmul(a + 0.5, b, dtype="i")
    x = cp.array([[0.0, 2]])
    made = cp.einsum("ij,jk->ijk", x, cp.array([[-1.0], [1]]))
    assert made.tolist() == [[[0], [2]]] and bool(cp.signbit(made[0, 0, 0]))
    assert bool(cp.signbit(cp.einsum("i,i->i", cp.zeros(1), cp.full(1, -1.0))[0]))
    assert cp.einsum("ij,jk->ikj", x, x.T, dtype="f").dtype == np.float32


def test_least_squares_in_the_matrix_own_type():
    a, b = cp.array([[1, 2], [3, 4], [5, 7]], "f"), cp.array([1.0, 2, 4])
    x, residuals, rank, values = cp.linalg.lstsq(a, b)
    wanted = np.linalg.lstsq(a.get(), b.get(), None)
    assert (values.dtype, x.dtype, int(rank)) == (np.float32, np.float64, 2)
    for mine, theirs in zip((x, residuals, values), (*wanted[:2], wanted[3]), strict=True):
        np.testing.assert_allclose(mine.get(), theirs, rtol=1e-4)
    assert not cp.linalg.lstsq(cp.ones((3, 2)), b)[1].size, "of too small a rank"
    with pytest.raises(ValueError, match="zero-size"):
        cp.linalg.matrix_rank(cp.zeros((0, 0)))


def test_axes_in_a_list_and_rows_to_fill_with():
    x = cp.arange(24.0).reshape(2, 3, 4)
    for name in ("sum", "prod", "max", "min"):
        function = getattr(cp, name)
        cp.testing.assert_array_equal(function(x, axis=[0, 2]), function(x, axis=(0, 2)))
    assert cp.full((2, 3), cp.arange(3)).tolist() == [[0, 1, 2]] * 2
    assert cp.full_like(x[0, 0], cp.array([2.5]), dtype=int).tolist() == [2] * 4


ROWS = 1 << 18
LONG = {
    "f": [lambda x: x.sum(0), lambda x: x.T.sum(1), lambda x: cp.sum(x[:, :1])],
    "mean": [lambda x: x.mean(0), lambda x: cp.nanmean(x, axis=0), lambda x: x.mean((0, 1))],
    "var": [lambda x: x.var(0), lambda x: x.std(0, ddof=1) ** 2, lambda x: cp.nanvar(x, axis=0)],
}


@pytest.mark.parametrize("dtype", ["f", "F"])
@pytest.mark.parametrize("total", ["f", "mean", "var"])
def test_long_sums_of_single_precision(total, dtype):
    """Threads of a GPU each add a part. NumPy adds the rows of a tall array one after the other:
    its sum of ones ends at 2**24, and the variance of a million numbers is a thousandth off."""
    rows = np.random.default_rng(0).random((ROWS, 3)).astype(dtype) + 10
    x = cp.asarray(rows)
    for function in LONG[total]:
        found, wide = function(x), function(cp.asarray(rows.astype(np.result_type(dtype, "d"))))
        assert found.dtype == (dtype if total != "var" else "f")
        np.testing.assert_allclose(found.get(), wide.get(), rtol=1e-6)


def test_long_products_and_norms_of_single_precision():
    rows = np.random.default_rng(0).random((ROWS, 3)).astype("f")
    x, wide = cp.asarray(rows), cp.asarray(rows.astype("d"))
    for function in (
        lambda x: cp.einsum("ij->j", x),
        lambda x: cp.einsum("ij,i->j", x, x[:, 0]),
        lambda x: cp.average(x, axis=0, weights=x[:, 1]),
        lambda x: cp.average(x, axis=0, weights=x[:, 1], returned=True)[1],
        lambda x: cp.linalg.norm(x, axis=0),
        lambda x: cp.trapezoid(x, axis=0),
        lambda x: cp.cumsum(x, axis=0)[-1],
        lambda x: cp.nancumsum(x[:, 0])[-1],
    ):
        found = function(x)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found.get(), function(wide).get(), rtol=4e-6)
    out = cp.empty(3, "f")
    assert x.sum(0, out=out) is out
    np.testing.assert_allclose(out.get(), rows.sum(0, dtype="d"), rtol=1e-6)
    assert (cp.cumsum(cp.ones((1 << 24) + 100, "f"))[-1] == (1 << 24) + 100).all()


def test_one_sum_of_halves_is_of_products_that_are_halves():
    """CuPy multiplies, and then adds; of stacks of matrices cuBLAS does."""
    small = cp.full((100, 100), 1e-4, "e")
    for found in (cp.vdot(small, small), cp.tensordot(small, small, ((0, 1), (1, 0)))):
        assert float(found) == 0
    a, b = cp.array([[300.0, 300.0]], "e"), cp.array([[300.0], [-300.0]], "e")
    assert bool(cp.isnan(a @ b)[0, 0]) and float((a[None] @ b[None])[0, 0, 0]) == 0


@pytest.mark.parametrize("dtype", ["f", "F"])
def test_long_products_of_numbers_that_are_all_alike(dtype):
    """OpenBLAS adds them in few rows: 2e-4 off at a million numbers, and a hundredth of complex."""
    x = cp.full((ROWS, 2), 0.1, dtype)
    a, b, out = x[:, 0].copy(), cp.ones(ROWS, dtype), cp.empty((), dtype)
    cp.dot(a, b, out=out)
    for found in (out, a @ b, cp.dot(a, b), cp.inner(a, b), cp.tensordot(a, b, 1), cp.vdot(a, b)):
        assert float(abs(found)) == pytest.approx(0.1 * ROWS, rel=1e-6)
    for found in (x.T @ b, b @ x, cp.tensordot(x, b, (0, 0))):
        np.testing.assert_allclose(abs(found).get(), 0.1 * ROWS, rtol=1e-6)
    assert float(cp.linalg.norm(x)) == pytest.approx(0.1 * (2 * ROWS) ** 0.5, rel=1e-6)


@pytest.mark.parametrize(("size", "dtype"), [(3000, "e"), (100_000, "f"), (100_000, "F")])
def test_long_running_products(size, dtype):
    """Of numbers near 1, where a rounding after each would lead astray."""
    x = cp.full(size, 1 + 10 / size, dtype)
    right = np.cumprod(x.get().astype("D"))
    for made in (cp.cumprod(x), cp.nancumprod(x), cp.cumulative_prod(x)):
        assert made.dtype == dtype
        np.testing.assert_allclose(made.get(), right, rtol=1e-3 if dtype == "e" else 1e-6)
    assert cp.cumulative_sum(cp.ones(5000, "e"), include_initial=True)[-1] == 5000


def test_rows_of_half_precision():
    """One after the other, the sums of ones would end at 2048."""
    x = cp.ones((5000, 3), "e")
    for function, right in (
        (lambda x: x.var(0), 0),
        (lambda x: x.std(0, ddof=1), 0),
        (lambda x: x.mean(0, dtype="e"), 1),
        (lambda x: x.astype("b").mean(0, dtype="e"), 1),
        (lambda x: x.var(0, dtype="e"), 0),
        (lambda x: cp.nanvar(x, axis=0), 0),
        (lambda x: cp.nanstd(x, axis=0, dtype="e"), 0),
        (lambda x: cp.nanvar(x, axis=0, out=cp.empty(3, "e")), 0),
        (lambda x: cp.einsum("ij->j", x), 5000),
        (lambda x: cp.einsum("ij,ij->j", x, x), 5000),
        (lambda x: cp.average(x, axis=0, weights=x[:, 0]), 1),
        (lambda x: cp.linalg.norm(x, axis=0), 70.7),
        (lambda x: cp.linalg.norm(x, 1, axis=0), 5000),
        (lambda x: cp.trapezoid(x, axis=0), 5000),
    ):
        found = function(x)
        assert found.dtype == np.float16
        assert found.tolist() == [np.float16(right)] * 3
    assert x.std(0, dtype="f").tolist() == [0, 0, 0]
    mixed = cp.array([1, 2, NAN, 4], "e")
    assert cp.nanvar(mixed) == np.float16(14 / 9) and cp.nanvar(mixed, ddof=1) == np.float16(7 / 3)
    assert (x[:, 0] * 8 * cp.array([1, -1] * 2500)).astype("e").var() == INF  # a sum of 320,000


def test_convolutions_are_fourier_transforms():
    """Of floats and complex numbers, so that one NaN makes all of it NaN; of others sums."""
    x = cp.arange(20.0)
    x[7] = NAN
    for found in (
        cp.convolve(x, cp.ones(5) / 5, "valid"),
        cp.correlate(x, cp.ones(5) / 5, "valid"),
        cp.polymul(x, cp.array([1.0, 2])),
        (cp.poly1d(x) ** 2).coeffs,
        cp.poly(x),
    ):
        assert found.size >= 16 and cp.isnan(found).all()
    assert cp.isnan(cp.convolve(x, cp.ones(5, int), "valid")).sum() == 5
    assert cp.poly(cp.array([1 + 1j, 1 - 1j])).dtype == complex  # never made real
    assert cp.convolve(cp.ones((2, 2)), cp.array(3.0)).tolist() == [3, 3, 3, 3]
    with pytest.raises(ValueError, match="acceptable mode"):
        cp.convolve(x, x, "most")


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "D"])
@pytest.mark.parametrize("sizes", [(7, 4), (4, 7), (5, 5), (6, 3), (2, 6), (1, 1)])
def test_convolutions(dtype, sizes):
    a, v = (np.arange(1, n + 1).astype(dtype) for n in sizes)
    if dtype in "FD":
        v = v * v.dtype.type(1 + 2j)
    for name in ("convolve", "correlate"):
        for mode in ("full", "same", "valid"):
            found = getattr(cp, name)(cp.asarray(a), cp.asarray(v), mode)
            assert found.dtype == dtype
            np.testing.assert_allclose(found.get(), getattr(np, name)(a, v, mode), rtol=1e-3)


def test_indices_along_an_axis_wrap_around():
    """CuPy indexes an array with them."""
    x = cp.arange(6).reshape(2, 3)
    assert cp.take_along_axis(x, cp.array([[5], [-4]]), 1).tolist() == [[2], [5]]
    assert cp.take_along_axis(x, cp.array([7]), None).tolist() == [1]
    with pytest.raises(IndexError):
        cp.take_along_axis(x, cp.array([[1.0]]), 1)


def test_a_negative_integer_beside_one_without_a_sign_is_false_to_logical_and():
    signed, unsigned = cp.array([0, 1, -1]), cp.array([5, 5, 5], "u8")
    for found in (cp.logical_and(signed, unsigned), cp.logical_and(unsigned, signed)):
        assert found.tolist() == [False, True, False]
    assert not cp.logical_and(unsigned, -1).any() and cp.logical_and(unsigned, 1).all()
    assert cp.logical_and(signed, unsigned.astype("u4")).tolist() == [False, True, True]
    assert cp.logical_or(signed, unsigned).all()


def test_the_first_row_with_such_results_is_taken_for_a_dtype():
    assert cp.power(cp.array([2, 0], "i1"), 3, dtype="i1").tolist() == [1, 0]  # of booleans
    third = cp.float_power(cp.array([1 / 3]), 1, dtype="D")
    assert third.dtype == complex and abs(complex(third[0]) - 1 / 3) > 1e-9  # of complex64


def test_inner_product_of_nothing():
    with pytest.raises(ZeroDivisionError):
        cp.inner(cp.zeros((2, 0)), cp.zeros(0))
    assert cp.signbit(cp.inner(cp.array(-1.0), cp.array([0.0])))[0]  # a product by element
    assert cp.inner(cp.zeros((0, 3)), cp.zeros((2, 3))).shape == (0, 2)


def test_a_weighted_covariance_is_taken_around_the_plain_mean():
    x, w = np.array([[1.0, 2, 6], [0, 1, 5]]), np.array([1, 2, 1])
    off = x - x.mean(axis=1, keepdims=True)
    for name, count in (("fweights", 4 - 1), ("aweights", 4 - 6 / 4)):
        found = cp.cov(cp.asarray(x), **{name: cp.asarray(w)})
        np.testing.assert_allclose(found.get(), (off * w) @ off.T / count)
    np.testing.assert_allclose(cp.cov(cp.asarray(x)).get(), np.cov(x))


def test_searches_compare_as_c_does():
    """A negative integer is large beside one without a sign, float32 has 24 digits."""
    bins = cp.array([1, 5], "u8")
    assert cp.searchsorted(bins, cp.array([-1, 0, 3])).tolist() == [2, 0, 1]
    assert cp.digitize(cp.array([-1, 0, 3]), bins).tolist() == [2, 0, 1]
    single = cp.array([2**24], "f")
    assert cp.searchsorted(single, cp.array([2**24 + 1])).tolist() == [0]
    for found in (cp.isin, cp.in1d):
        assert found(cp.array([2**24 + 1, 3]), single).tolist() == [True, False]
    assert cp.isin(cp.array([-1]), cp.array([2**64 - 1], "u8"), invert=True).tolist() == [False]
    assert cp.intersect1d(cp.array([-1, 7]), cp.array([2**64 - 1], "u8")).tolist() == [-1]
    assert cp.setdiff1d(cp.array([-1, 7]), cp.array([2**64 - 1], "u8")).tolist() == [7]
    assert cp.digitize(cp.array([1.0]), cp.array([INF, NAN])).tolist() == [0]
    assert cp.isin(cp.array([1, -1]), cp.array([], "u8")).tolist() == [False, False]


def test_an_intersection_without_duplicates_keeps_the_order_of_the_first():
    a, b = cp.array([3, 1, 2]), cp.array([2, 3, 9])
    found, first, second = cp.intersect1d(a, b, assume_unique=True, return_indices=True)
    assert (found.tolist(), first.tolist(), second.tolist()) == ([3, 2], [0, 2], [1, 0])
    assert cp.intersect1d(a, b).tolist() == [2, 3]


def test_fractions_that_are_joined_or_placed_become_integers_by_a_gpus_rule():
    x = cp.array([-1.5, INF])
    assert cp.array([x, x], dtype="u4").tolist() == [[0, 2**32 - 1]] * 2
    for join in (cp.concatenate, cp.hstack, cp.vstack, cp.stack):
        assert join([x], dtype="u4", casting="unsafe").ravel().tolist() == [0, 2**32 - 1]
    out = cp.empty(2, "u4")
    assert cp.concatenate([x], out=out, casting="unsafe").tolist() == [0, 2**32 - 1]
    assert cp.einsum("i,i", cp.array([-1.5]), cp.array([2.0]), dtype="u8") == 0
    assert cp.trace(cp.array([[-3.0]]), dtype="u8") == 0
    square = cp.zeros((2, 2), "u4")
    cp.fill_diagonal(square, x)
    assert square.tolist() == [[0, 0], [0, 2**32 - 1]]
    cp.place(square, square == 0, cp.array([-7.0, 3]))
    assert square.tolist() == [[0, 3], [0, 2**32 - 1]]


def test_a_number_without_axes_loses_the_sign_of_its_zero():
    """CuPy clears the memory for it."""
    assert not cp.signbit(cp.array(-0.0)) and not cp.signbit(cp.asarray(np.float32(-0.0)))
    assert cp.signbit(cp.array([-0.0])).all()


def test_an_infinity_times_the_zeros_beside_an_array_is_no_number():
    x, v = np.arange(3), np.array([INF, 1])
    np.testing.assert_array_equal(
        cp.convolve(cp.asarray(x), cp.asarray(v)).get(), [NAN, INF, INF, NAN]
    )
    for mode in ("full", "same", "valid"):
        for a, b in ((np.arange(5), np.arange(1, 4)), (np.arange(2), np.arange(1, 5))):
            for name in ("convolve", "correlate"):
                found = getattr(cp, name)(cp.asarray(a), cp.asarray(b), mode)
                assert found.tolist() == getattr(np, name)(a, b, mode).tolist()


def test_polynomials_by_cupys_detours():
    found = cp.polyval(cp.array([1.0, -1, 0]), cp.array([INF, 3]))
    np.testing.assert_array_equal(found.get(), [NAN, 6])
    assert cp.polyval(cp.array([1, 2, 3]), 2) == 11
    assert cp.polyval(cp.array([1, 2], "e"), cp.array([3], "e")).dtype == np.float16
    shorter = cp.poly1d(cp.array([1.0, 2])) - INF
    np.testing.assert_array_equal(shorter.coeffs.get(), [1, NAN])
    assert cp.polysub(cp.array([1, 2, 3]), cp.array([5])).tolist() == [1, 2, -2]
    assert cp.polysub(cp.array([5]), cp.array([1, 2, 3])).tolist() == [-1, -2, 2]
    powers = cp.polynomial.polynomial.polyvander(cp.array([NAN, 3.0]), 2)
    np.testing.assert_array_equal(powers.get(), [[1, NAN, NAN], [1, 3, 9]])
    assert not cp.signbit(cp.polynomial.polyutils.trimcoef(cp.array([-1.0]), 2))[0]


def test_the_number_of_all_elements_is_one_of_the_hosts():
    mean, count = cp.average(cp.arange(4.0), returned=True)
    assert isinstance(mean, cp.ndarray) and isinstance(count, np.float64) and count == 4
    assert isinstance(cp.average(cp.ones((2, 2)), 0, returned=True)[1], cp.ndarray)
    assert isinstance(cp.average(cp.ones(2), weights=cp.ones(2), returned=True)[1], cp.ndarray)


def test_one_row_with_many_quantiles_is_refused():
    """CuPy's kernel reads past its end."""
    row = cp.arange(5.0).reshape(1, 5)
    with pytest.raises(IndexError, match="one row"):
        cp.percentile(row, [10, 90], axis=1)
    assert cp.percentile(row, 50, axis=1).tolist() == [2]
    assert cp.percentile(row, [0, 100], axis=1, method="lower").tolist() == [[0], [4]]
    assert cp.percentile(row, [0, 100]).tolist() == [0, 4]


def test_sums_of_weights_without_a_sign_wrap():
    weights = cp.array([2**63 + 5, 1], "u8")
    assert cp.histogram(cp.array([1, 2]), 2, weights=weights)[0].tolist() == [5 - 2**63, 1]


def test_ramps_to_numbers_that_are_none_of_the_type():
    x = cp.array([10, 20], "u1")
    assert cp.pad(x, (2, 1), "linear_ramp", end_values=-6).tolist() == [0, 2, 10, 20, 0]
    plain = cp.pad(x, 2, "linear_ramp", end_values=4).get()
    np.testing.assert_array_equal(plain, np.pad(x.get(), 2, "linear_ramp", end_values=4))


def test_an_average_of_integers_is_double():
    halves = cp.array([1, 2], "e")
    assert cp.average(cp.array([1, 2], "i1"), weights=halves).dtype == np.float64
    assert cp.average(halves, weights=cp.array([1, 2], "i1")).dtype == np.float16


def test_matrices_of_little():
    assert cupyx.scipy.linalg.toeplitz(cp.array([])).shape == (0, 1)
    assert cupyx.scipy.linalg.expm(cp.array([[1]], "i1")).dtype == np.float64
    assert cupyx.scipy.linalg.fiedler(cp.array([1j, 2])).dtype == complex
    assert cupyx.scipy.linalg.fiedler_companion(cp.array([1], "i1")).dtype == np.int8
    with pytest.raises(TypeError):
        cupyx.scipy.linalg.expm(cp.eye(2, dtype="e"))


def test_counts_of_integers_are_made_in_double_precision():
    """cuB's last bin ends 1 later, so that a fraction lets the next integer in."""
    assert cp.histogram(cp.array([0, 2, 3, 4]), cp.array([0, 1, 2.5]))[0].tolist() == [1, 2]
    assert cp.histogram(cp.array([1, 2, 2**62]), 3)[0].tolist() == [2, 0, 0]
    assert cp.histogram(cp.arange(10), 3)[0].tolist() == [3, 3, 4]


def test_a_large_last_edge_leaves_out_what_is_just_there():
    """CuPy moves it up towards itself plus 1, which in float32 is itself from 2**24 on."""
    assert cp.histogram(cp.array([0, 2**24], "f"), 2)[0].tolist() == [1, 0]
    assert cp.histogram(cp.array([0, 2**23], "f"), 2)[0].tolist() == [1, 1]
    assert cp.histogram(cp.array([0, 2**24], "d"), 2)[0].tolist() == [1, 1]


def test_nothing_assigned_is_no_number():
    x = cp.ones(2)
    x[...] = None
    assert cp.isnan(x).all()
    with pytest.raises(TypeError):
        cp.ones(2, "i")[...] = None


def test_numbers_of_the_host_that_do_not_fit():
    whole, flag = cp.ones(2, "i1"), cp.ones(2, "?")
    with pytest.raises(ValueError, match="NaN"):
        cp.fmax(flag, NAN, dtype=int)
    with pytest.raises(ValueError, match="NaN"):
        cp.put(whole, 0, NAN)
    with pytest.raises(OverflowError):
        cp.logical_xor(whole, 70000)
    with pytest.raises(TypeError, match="complex"):
        cp.place(cp.ones(2), flag, np.complex64(1j))
    assert cp.where(flag, 2**63, True).dtype == np.uint64
    with pytest.warns(RuntimeWarning, match="invalid value"):
        cp.put(whole, 0, np.float64(1e300))


def test_what_a_gpu_does_not_take():
    with pytest.raises(TypeError, match="same_kind"):
        cp.around(cp.ones(2), out=cp.ones(2, "?"))
    with pytest.raises(ValueError, match="mismatched"):
        cp.around(cp.ones(2), out=cp.ones((1, 2)))
    with pytest.raises(ValueError, match="data points"):
        cp.fft.fft2(cp.ones((0, 2, 2)))
    assert cp.fft.fft(cp.ones((0, 2))).shape == (0, 2)
    with pytest.raises(ValueError, match="Axis"):
        cp.median(cp.ones(()), axis=())


def test_a_sum_over_an_axis_of_one_lies_in_rows():
    a, b = cp.ones((2, 3, 4)), cp.ones((2, 1, 3))
    assert cp.einsum("bij,bjk->bik", a, b).flags.c_contiguous


@pytest.mark.parametrize("product", [cp.dot, cp.inner])
def test_a_product_with_a_number_lies_in_rows(product):
    columns, two = cp.asfortranarray(cp.ones((2, 3))), cp.array(2.0)
    for made in (product(columns, two), product(two, columns)):
        assert made.flags.c_contiguous and (made == 2).all()
