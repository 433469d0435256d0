"""The functions that CUDA offers to kernels, against NumPy and Python's math."""

import cupy as cp
import numpy as np
import pytest
from cupy.cuda.compiler import CompileException
from functions import BINARY, EXACT, FLOAT_ONLY, UNARY

RNG = np.random.default_rng(23)
COUNT = 200
DTYPES = {"double": "f8", "float": "f4"}


def evaluate(texts, x, y=None, ctype="double"):
    """Each expression in ``x`` and ``y``, a row of each of the arrays of shape (expressions, n)."""
    x = np.asarray(x, DTYPES[ctype])
    y = np.zeros_like(x) if y is None else np.asarray(y, DTYPES[ctype])
    rows, count = x.shape
    stores = "".join(
        f"{{ {ctype} x = xs[{i} * n + t], y = ys[{i} * n + t]; out[{i} * n + t] = {text}; }}\n"
        for i, text in enumerate(texts)
    )
    source = f"""extern "C" __global__ void k(const {ctype} *xs, const {ctype} *ys, {ctype} *out) {{
const int t = threadIdx.x, n = blockDim.x;
{stores}}}"""
    out = cp.zeros((rows, count), x.dtype)
    cp.RawKernel(source, "k")((1,), (count,), (cp.asarray(x), cp.asarray(y), out))
    return out.get()


@pytest.fixture(scope="module")
def unary():
    """{ctype: {name: (x, result of name(x), result of namef(x))}}"""
    x = np.stack([RNG.uniform(low, high, COUNT) for _, low, high in UNARY.values()])
    results = {}
    for ctype in DTYPES:
        suffix = "f" if ctype == "float" else ""
        rows = x.astype(DTYPES[ctype])
        plain = evaluate([f"{name}(x)" for name in UNARY], rows, ctype=ctype)
        other = evaluate([f"{name}{suffix}(x)" for name in UNARY], rows, ctype=ctype)
        results[ctype] = dict(zip(UNARY, zip(rows, plain, other, strict=True), strict=True))
    return results


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name, unary):
    oracle = UNARY[name][0]
    x, got, _ = unary["double"][name]
    np.testing.assert_allclose(got, oracle(x), rtol=1e-13, atol=1e-14)
    x, got, with_suffix = unary["float"][name]
    np.testing.assert_allclose(got, oracle(x.astype("f8")), rtol=3e-6, atol=3e-7)
    np.testing.assert_array_equal(got, with_suffix)


@pytest.fixture(scope="module")
def binary():
    shape = (len(BINARY), COUNT)
    x, y = RNG.uniform(-5, 5, shape), RNG.uniform(0.5, 3, shape)
    texts = [f"{name}({'fabs(x)' if name == 'pow' else 'x'}, y)" for name in BINARY]
    results = {}
    for ctype, dtype in DTYPES.items():
        rows = x.astype(dtype), y.astype(dtype)
        got = evaluate(texts, *rows, ctype=ctype)
        results[ctype] = dict(zip(BINARY, zip(*rows, got, strict=True), strict=True))
    return results


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("ctype, rtol", [("double", 1e-13), ("float", 3e-6)])
def test_functions_of_two_numbers(name, ctype, rtol, binary):
    x, y, got = binary[ctype][name]
    np.testing.assert_allclose(got, BINARY[name](x, y), rtol=rtol, atol=rtol / 10)


def test_fast_functions():
    x = RNG.uniform(0.1, 2, (len(FLOAT_ONLY), COUNT)).astype("f4")
    got = evaluate([f"{name}(x)" for name in FLOAT_ONLY], x, ctype="float")
    for (name, oracle), row, result in zip(FLOAT_ONLY.items(), x, got, strict=True):
        np.testing.assert_allclose(result, oracle(row.astype("f8")), rtol=1e-5, err_msg=name)


def test_pairs_of_results():
    x = RNG.uniform(-4, 4, (4, COUNT))
    pairs = """([&] {{
        double s, c, ps, pc, whole;
        int e;
        sincos(x, &s, &c);
        sincospi(x, &ps, &pc);
        double part = modf(x, &whole), mantissa = frexp(x, &e);
        return {};
    }})()"""
    texts = ["s + 10 * c", "part + 10 * whole", "mantissa + 10 * e", "ps + 10 * pc"]
    got = evaluate([pairs.format(text) for text in texts], x)
    np.testing.assert_allclose(got[0], np.sin(x[0]) + 10 * np.cos(x[0]), rtol=1e-12)
    np.testing.assert_allclose(got[1], np.modf(x[1])[0] + 10 * np.trunc(x[1]))
    np.testing.assert_allclose(got[2], np.frexp(x[2])[0] + 10 * np.frexp(x[2])[1])
    turns = np.pi * x[3]
    np.testing.assert_allclose(got[3], np.sin(turns) + 10 * np.cos(turns), rtol=1e-12, atol=1e-12)


def test_exact_values():
    """All in one kernel, as text and value."""
    stores = "\n".join(f"out[{i}] = (double)({text});" for i, (text, _) in enumerate(EXACT))
    source = f'extern "C" __global__ void k(const double *x, double *out) {{\n{stores}\n}}'
    out = cp.zeros(len(EXACT))
    cp.RawKernel(source, "k")((1,), (1,), (cp.ones(1), out))
    wrong = {t: g for (t, value), g in zip(EXACT, out.get(), strict=True) if abs(g - value) > 1e-15}
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        "max(1, 2.0)",
        "sin(1)",
        "atomicAdd((long long *)nullptr, 1ll)",
        "atomicCAS_block((unsigned short *)nullptr, (unsigned short)1, (unsigned short)2)",
        "M_PI",
        "(double)(uint32_t)1",
        "INFINITY",
        "__shfl(1.0f, 0)",
    ],
)
def test_what_nvrtc_refuses_is_refused(text, only_the_standin):
    with pytest.raises(CompileException):
        evaluate([text], [[1.0]])


def test_no_contraction():
    """a * b + c is two roundings, on every machine; fma is one."""
    x, y = np.full((2, 1), 1 + 2.0**-30), np.full((2, 1), 1 - 2.0**-30)
    got = evaluate(["x * y - 1", "fma(x, y, -1.0)"], x, y)
    assert got.ravel().tolist() == [0, -(2.0**-60)]


def test_integers_overflow_as_on_a_gpu():
    out = cp.zeros(2, "i4")
    source = 'extern "C" __global__ void k(int *o, int n) { o[0] = n + 1 > n; o[1] = n + 1; }'
    cp.RawKernel(source, "k")((1,), (1,), (out, 2**31 - 1))
    assert out.get().tolist() == [0, -(2**31)]
