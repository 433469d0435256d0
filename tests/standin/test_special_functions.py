"""Functions of CUDA that the C library lacks."""

import math
from statistics import NormalDist

import cupy as cp
import numpy as np
import pytest

RNG = np.random.default_rng(45)
UNIT = np.concatenate([RNG.random(60), [1e-300, 1e-12, 0.25, 0.5, 0.75, 1 - 1e-12]])


def evaluate(text, x, ctype="double", result=None):
    x = np.asarray(x, "f8" if ctype == "double" else "f4")
    out = cp.zeros(x.size, result or x.dtype)
    name = {"i4": "int", "u4": "unsigned"}.get(result, ctype)
    source = f"""extern "C" __global__ void k(const {ctype} *in, {name} *out) {{
    {ctype} x = in[threadIdx.x];
    out[threadIdx.x] = {text};
}}"""
    cp.RawKernel(source, "k")((1,), (x.size,), (cp.asarray(x), out))
    return out.get()


def inverse(p):
    """Of the normal distribution, for every p that a float64 can be."""
    if p in (0, 1):
        return math.copysign(math.inf, p - 0.5)
    return NormalDist().inv_cdf(p)


def test_inverse_normal_distribution():
    want = np.array([inverse(p) for p in UNIT])
    np.testing.assert_allclose(evaluate("normcdfinv(x)", UNIT), want, rtol=1e-13, atol=1e-15)
    single = UNIT.astype("f4")
    want = np.array([inverse(float(p)) for p in single])
    np.testing.assert_allclose(evaluate("normcdfinvf(x)", single, "float"), want, rtol=1e-6)
    np.testing.assert_allclose(evaluate("normcdfinv(x)", single, "float"), want, rtol=1e-6)


def test_inverse_error_functions():
    """There and back by Python's erf and erfc, which are the C library's."""
    x = np.concatenate([2 * UNIT - 1, [0.0, 1e-200, -1e-10]])
    back = np.array([math.erf(v) for v in evaluate("erfinv(x)", x)])
    np.testing.assert_allclose(back, x, rtol=4e-15, atol=1e-300)
    y = np.concatenate([UNIT, 2 - UNIT])
    got = evaluate("erfcinv(x)", y)
    back = np.array([math.erfc(v) for v in got])
    np.testing.assert_allclose(back, y, rtol=1e-12)
    want = evaluate("erfcinv(x)", y.astype("f4").astype("f8"))
    np.testing.assert_allclose(evaluate("erfcinvf(x)", y, "float"), want, rtol=1e-6)


@pytest.mark.parametrize(
    "text, x, want",
    [
        ("erfinv(x)", [1, -1, 0, 1.5, np.nan], [np.inf, -np.inf, 0, np.nan, np.nan]),
        ("erfcinv(x)", [0, 2, 1, -0.5, 3], [np.inf, -np.inf, 0, np.nan, np.nan]),
        ("normcdfinv(x)", [0, 1, 0.5, 2], [-np.inf, np.inf, 0, np.nan]),
        ("sinpi(x)", [np.inf, np.nan, 1e300], [np.nan, np.nan, 0]),
        ("erfcx(x)", [-np.inf, np.inf, np.nan], [np.inf, 0, np.nan]),
        ("normcdf(x)", [-np.inf, np.inf, np.nan], [0, 1, np.nan]),
        ("rhypot(x, x)", [np.inf, 0, 2**1023.0 * 1.5], [0, np.inf, 2**-1023 * 0.47140452079103168]),
        ("rnorm3d(x, x, 0.0)", [2**1023.0 * 1.5], [2**-1023 * 0.47140452079103168]),
    ],
)
def test_ends(text, x, want):
    """The special values of the CUDA Math API's reference."""
    np.testing.assert_array_equal(evaluate(text, x), want)


def test_tails_to_the_last_bits():
    """Against sums of their series with 600 digits."""
    want = [0.022108108052519827, 0.0458727571159145, 1.5041174838782833e30]
    got = evaluate("erfcx(x)", [25.5, 12.258490821700205, -8.29413117487414])
    np.testing.assert_allclose(got, want, rtol=1e-15)
    got = evaluate("normcdf(x)", [-7.25, -20.16893970846631, 0.3])
    want = [2.0838581586720695e-13, 9.176568181075942e-91, 0.6179114221889527]
    np.testing.assert_allclose(got, want, rtol=1e-15)
    got = evaluate("erfcinv(x)", [0.9715802602725132, 1 - 2**-50])
    want = [0.02519166659213822, 2**-50 * 0.88622692545275801]
    np.testing.assert_allclose(got, want, rtol=1e-15)


@pytest.mark.parametrize("order", [0, 1])
def test_modified_bessel_functions(order):
    """By their integral over an angle: (1/pi) int exp(x cos t) cos(order t) dt."""
    x = RNG.uniform(-20, 20, 40)
    t = (np.arange(2000) + 0.5) / 2000 * np.pi
    want = (np.exp(x[:, None] * np.cos(t)) * np.cos(order * t)).mean(axis=1)
    np.testing.assert_allclose(evaluate(f"cyl_bessel_i{order}(x)", x), want, rtol=1e-11)
    got = evaluate(f"cyl_bessel_i{order}f(x)", x, "float")
    np.testing.assert_allclose(got, want, rtol=3e-5)


def test_lengths():
    x = RNG.uniform(-3, 3, 30)
    three, four = np.sqrt(x**2 + 8), np.sqrt(x**2 + 24)
    pair = "([&] {{ double a[] = {{x, 2, -2}}; return {}(3, a); }})()"
    np.testing.assert_allclose(evaluate("norm4d(x, 2.0, -2.0, 4.0)", x), four, rtol=1e-14)
    np.testing.assert_allclose(evaluate("rnorm4d(x, 2.0, -2.0, 4.0)", x), 1 / four, rtol=1e-14)
    np.testing.assert_allclose(evaluate("rnorm3d(x, 2.0, -2.0)", x), 1 / three, rtol=1e-14)
    np.testing.assert_allclose(evaluate(pair.format("norm"), x), three, rtol=1e-14)
    np.testing.assert_allclose(evaluate(pair.format("rnorm"), x), 1 / three, rtol=1e-14)
    np.testing.assert_allclose(evaluate("norm4df(x, 2, -2, 4)", x, "float"), four, rtol=1e-6)


INTEGERS = [
    ("__hadd(-3, 2147483647)", (2**31 - 4) // 2), ("__rhadd(-4, 1)", -1), ("__hadd(-4, 1)", -2),
    ("(int)__uhadd(4294967295u, 3u)", 2**31 + 1 - 2**32), ("(int)__urhadd(4u, 5u)", 5),
    ("(int)__usad(3u, 5u, 7u)", 9), ("(int)__funnelshift_lc(7u, 9u, 40u)", 7),
    ("(int)__funnelshift_rc(7u, 9u, 32u)", 9), ("(int)__funnelshift_lc(1u << 31, 1u, 1u)", 3),
    ("__dp4a(0x7f80ff02, 0x02ff0305, 100)", 100 + 127 * 2 + 128 - 3 + 10),
    ("(int)__dp4a(0x7f80ff02u, 0x02ff0305u, 100u)", 100 + 127 * 2 + 128 * 255 + 255 * 3 + 10),
    ("(int)__fns(0x00f0u, 0, 3)", 6), ("(int)__fns(0x00f0u, 31, -2)", 6),
    ("(int)__fns(0x00f0u, 8, 1)", -1), ("(int)__fns(0x00f0u, 5, 0)", 5),
    ("isnan(nan(\"\")) && isnan(nanf(\"1\"))", 1),
]  # fmt: skip


def test_integers():
    stores = "\n".join(f"out[{i}] = {text};" for i, (text, _) in enumerate(INTEGERS))
    out = cp.zeros(len(INTEGERS), "i4")
    cp.RawKernel(f'extern "C" __global__ void k(int *out) {{\n{stores}\n}}', "k")(
        (1,), (1,), (out,)
    )
    got = out.get().tolist()
    wrong = {t: g for (t, want), g in zip(INTEGERS, got, strict=True) if g != want}
    assert not wrong


def test_whole_powers_are_products():
    """As NVRTC has them: on the way to what is small there is what is too large."""
    x = np.array([1.1, -3.0, 2.0, 0.0, 1e-3])
    for n in (0, 1, 2, 3, 7, 10, -1, -5):
        exact, power = np.ones(5), x.copy()
        for bit in bin(abs(n))[:1:-1]:
            exact, power = (exact * power if bit == "1" else exact), power * power
        with np.errstate(divide="ignore"):
            wanted = exact if n >= 0 else 1 / exact
        np.testing.assert_array_equal(evaluate(f"pow(x, {n})", x), wanted)
    for text, value in {
        "pow(2.0f, -149)": 0, "pow(-1.0f, 16777217)": -1, "pow(-1.0f, -2147483647)": -1,
        "pow(-1.0f, (-2147483647 - 1))": 1, "pow(2.0, -1074)": 0, "powf(2.0f, -149.0f)": 2.0**-149,
    }.items():  # fmt: skip
        assert evaluate(text, np.ones(1))[0] == value, text


def test_small_angles_and_orders():
    x = np.array([1e-10, -1e-10, -1e-200])
    np.testing.assert_allclose(evaluate("sinpi(x)", x), np.pi * x, rtol=1e-15)
    assert np.isnan(evaluate("jn(-1, x)", x)).all() and np.isnan(evaluate("ynf(-2, x)", x)).all()
    assert evaluate("([&] { int q; remquo(x, 1.0, &q); return q; })()", [7.9])[0] == 0


ANGLES = [
    1e-10, 1e-10j, -1e-300, 800, -800, 800j, 1000 + 0j, 20 + 3j, 1e300j, 0.5 + 30j, 30 - 0.5j,
    3 - 4j,
]  # fmt: skip


@pytest.mark.parametrize("name", "exp sin cos tan sinh cosh tanh".split())
def test_complex_numbers_large_and_small(name):
    z = np.array(ANGLES, complex)
    got = cp.ElementwiseKernel("complex128 z", "complex128 y", f"y = {name}(z)", "k")(cp.array(z))
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(z)
    np.testing.assert_allclose(got.get(), wanted, rtol=1e-12)


def test_remainder_with_quotient():
    x = RNG.uniform(-20, 20, 30)
    text = "([&] { int q; double r = remquo(x, 3.0, &q); return r + 100 * (q & 7); })()"
    quotient = np.rint(x / 3)
    low = np.where(quotient < 0, -(np.abs(quotient) % 8), quotient % 8).astype(int) & 7
    np.testing.assert_allclose(evaluate(text, x), x - 3 * quotient + 100 * low, rtol=1e-12)
