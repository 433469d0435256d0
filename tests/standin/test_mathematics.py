"""The functions that CUDA offers to kernels, against NumPy and Python's math."""

import cupy as cp
import numpy as np
import pytest

from functions import BINARY, EXACT, FLOAT_ONLY, UNARY

RNG = np.random.default_rng(23)


def evaluate(expression, x, y=None, ctype="double"):
    dtype = {"double": "f8", "float": "f4"}[ctype]
    x = np.asarray(x, dtype)
    y = np.zeros_like(x) if y is None else np.asarray(y, dtype)
    out = cp.zeros(x.size, dtype)
    source = f"""extern "C" __global__ void k(const {ctype} *xs, const {ctype} *ys, {ctype} *out) {{
    {ctype} x = xs[threadIdx.x], y = ys[threadIdx.x];
    out[threadIdx.x] = {expression};
}}"""
    cp.RawKernel(source, "k")((1,), (x.size,), (cp.asarray(x), cp.asarray(y), out))
    return out.get()


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name):
    oracle, low, high = UNARY[name]
    x = RNG.uniform(low, high, 200)
    np.testing.assert_allclose(evaluate(f"{name}(x)", x), oracle(x), rtol=1e-13, atol=1e-14)
    single = x.astype("f4")
    expected = oracle(single.astype("f8"))
    for text in (f"{name}(x)", f"{name}f(x)"):
        got = evaluate(text, single, ctype="float")
        np.testing.assert_allclose(got, expected, rtol=3e-6, atol=3e-7)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name):
    x, y = RNG.uniform(-5, 5, 200), RNG.uniform(0.5, 3, 200)
    text = f"{name}({'fabs(x)' if name == 'pow' else 'x'}, y)"
    np.testing.assert_allclose(evaluate(text, x, y), BINARY[name](x, y), rtol=1e-13, atol=1e-14)
    single_x, single_y = x.astype("f4"), y.astype("f4")
    got = evaluate(text, single_x, single_y, ctype="float")
    np.testing.assert_allclose(got, BINARY[name](single_x, single_y), rtol=3e-6, atol=3e-7)


@pytest.mark.parametrize("name", FLOAT_ONLY)
def test_fast_functions(name):
    x = RNG.uniform(0.1, 2, 100).astype("f4")
    got = evaluate(f"{name}(x)", x, ctype="float")
    np.testing.assert_allclose(got, FLOAT_ONLY[name](x.astype("f8")), rtol=1e-5)


def test_pairs_of_results():
    x = RNG.uniform(-4, 4, 100)
    text = "([&] { double s, c, w; int e; sincos(x, &s, &c); double f = modf(x, &w), m = frexp(x, &e); return %s; })()"
    np.testing.assert_allclose(
        evaluate(text % "s + 10 * c", x), np.sin(x) + 10 * np.cos(x), rtol=1e-13
    )
    np.testing.assert_allclose(evaluate(text % "f + 10 * w", x), np.modf(x)[0] + 10 * np.trunc(x))
    np.testing.assert_allclose(
        evaluate(text % "m + 10 * e", x), np.frexp(x)[0] + 10 * np.frexp(x)[1]
    )
    text = "([&] { double s, c; sincospi(x, &s, &c); return s + 10 * c; })()"
    expected = np.sin(np.pi * x) + 10 * np.cos(np.pi * x)
    np.testing.assert_allclose(evaluate(text, x), expected, rtol=1e-12, atol=1e-12)


def test_exact_values():
    """All in one kernel, as text and value."""
    stores = "\n".join(f"out[{i}] = (double)({text});" for i, (text, _) in enumerate(EXACT))
    source = f'extern "C" __global__ void k(const double *x, double *out) {{\n{stores}\n}}'
    out = cp.zeros(len(EXACT))
    cp.RawKernel(source, "k")((1,), (1,), (cp.ones(1), out))
    wrong = {t: g for (t, value), g in zip(EXACT, out.get(), strict=True) if abs(g - value) > 1e-15}
    assert not wrong


@pytest.mark.parametrize("text", ["max(1, 2.0)", "sin(1)", "atomicAdd((long long *)nullptr, 1ll)", "M_PI",
                                  "(double)(uint32_t)1", "INFINITY", "__shfl(1.0f, 0)"])  # fmt: skip
def test_what_nvrtc_refuses_is_refused(text):
    from cupy.cuda.compiler import CompileException

    with pytest.raises(CompileException):
        evaluate(text, [1.0])


def test_no_contraction():
    """a * b + c is two roundings, on every machine; fma is one."""
    x, y = np.array([1 + 2.0**-30]), np.array([1 - 2.0**-30])
    assert evaluate("x * y - 1", x, y)[0] == 0
    assert evaluate("fma(x, y, -1.0)", x, y)[0] == -(2.0**-60)


def test_integers_overflow_as_on_a_gpu():
    out = cp.zeros(2, "i4")
    source = 'extern "C" __global__ void k(int *o, int n) { o[0] = n + 1 > n; o[1] = n + 1; }'
    cp.RawKernel(source, "k")((1,), (1,), (out, 2**31 - 1))
    assert out.get().tolist() == [0, -(2**31)]
