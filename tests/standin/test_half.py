"""cuda_fp16.h against NumPy's float16, whose operations round once too."""

import cupy as cp
import numpy as np
import pytest

RNG = np.random.default_rng(41)
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 6e-8, -6e-8, 6.1e-5, 65504, -65504, np.inf, -np.inf, np.nan], "f2"
)
# Bits at random: of all sizes, with subnormal numbers; and every special value with every other.
BITS = RNG.integers(0, 2**16, (3, 400)).astype("u2").view("f2")
PAIRS = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
X = np.concatenate([BITS[0], PAIRS[0]])
Y = np.concatenate([BITS[1], PAIRS[1]])
Z = np.concatenate([BITS[2], np.roll(PAIRS[0], 5)])


def evaluate(texts, kinds, *arrays):
    """Each expression in half x, y, z, i-th elements of the arrays; `kinds` are of the results."""
    outputs = [cp.zeros(arrays[0].size, kind[1]) for kind in kinds]
    parameters = ", ".join(f"{kind[0]} *o{n}" for n, kind in enumerate(kinds))
    inputs = ", ".join(f"const __half *in{n}" for n in range(len(arrays)))
    declared = "".join(f"__half {name} = in{n}[i];" for n, name in enumerate("xyz"[: len(arrays)]))
    stores = "".join(f"o{n}[i] = {text};\n" for n, text in enumerate(texts))
    source = f"""#include <cuda_fp16.h>
extern "C" __global__ void k({inputs}, {parameters}) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {declared}
    {stores}}}"""
    cp.RawKernel(source, "k")((1,), (arrays[0].size,), (*map(cp.asarray, arrays), *outputs))
    return [o.get() for o in outputs]


def wide(function, *arrays):
    """``function`` in float64, rounded once to float16."""
    with np.errstate(all="ignore"):
        return function(*(a.astype("f8") for a in arrays)).astype("f2")


HALF, FLAG = ("__half", "f2"), ("bool", "?")
ARITHMETIC = {
    "__hadd(x, y)": lambda x, y, z: x + y,
    "__hsub(x, y)": lambda x, y, z: x - y,
    "__hmul(x, y)": lambda x, y, z: x * y,
    "__hdiv(x, y)": lambda x, y, z: x / y,
    "__hadd_rn(x, y)": lambda x, y, z: x + y,
    "__hfma(x, y, z)": lambda x, y, z: x * y + z,
    "x + y": lambda x, y, z: x + y,
    "x - y * z": lambda x, y, z: x - (y * z).astype("f2").astype("f8"),
    "-x / y": lambda x, y, z: -x / y,
    "__habs(x)": lambda x, y, z: abs(x),
    "__hadd_sat(x, y)": lambda x, y, z: np.nan_to_num(np.clip((x + y).astype("f2"), 0, 1), nan=0),
    "__hfma_relu(x, y, z)": lambda x, y, z: np.maximum((x * y + z).astype("f2"), 0),
    "__hmax(x, y)": lambda x, y, z: np.fmax(x, y),
    "__hmin(x, y)": lambda x, y, z: np.fmin(x, y),
    "__hmax_nan(x, y)": lambda x, y, z: np.maximum(x, y),
    "hsqrt(x)": lambda x, y, z: np.sqrt(x),
    "hfloor(x)": lambda x, y, z: np.floor(x),
    "hrint(x)": lambda x, y, z: np.rint(x),
}


def test_arithmetic():
    got = evaluate(list(ARITHMETIC), [HALF] * len(ARITHMETIC), X, Y, Z)
    for (text, oracle), result in zip(ARITHMETIC.items(), got, strict=True):
        np.testing.assert_array_equal(result, wide(oracle, X, Y, Z), err_msg=text)


def test_steps():
    """`x++` gives what was there, `++x` what is; a lambda, as each text is one expression."""
    texts = [
        f"[&]{{ __half a = x, b = {step}; return b; }}()" for step in ("a++", "a--", "++a", "--a")
    ]
    texts += ["[&]{ __half a = x; a++; return a; }()"]
    results = evaluate(texts, [HALF] * 5, X)
    up, down = (wide(lambda x, by=by: x + by, X) for by in (1, -1))
    for result, wanted in zip(results, [X, X, up, down, up], strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(name):
    """False with a NaN, and true with the suffix u."""
    sign = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[name]
    texts = [f"__h{name}(x, y)", f"__h{name}u(x, y)", f"x {sign} y"]
    ordered, unordered, operator = evaluate(texts, [FLAG] * 3, X, Y)
    compare = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal,
    }[name]  # fmt: skip
    nan = np.isnan(X) | np.isnan(Y)
    np.testing.assert_array_equal(ordered, compare(X, Y) & ~nan)
    np.testing.assert_array_equal(unordered, compare(X, Y) | nan)
    np.testing.assert_array_equal(operator, compare(X, Y))


def test_conversions():
    """Exactly between bits; by float and double; to integers with each way of rounding."""
    integers = [("int", "i4"), ("unsigned int", "u4"), ("short", "i2"), ("long long", "i8")]
    names = dict(zip(["int", "uint", "short", "ll"], integers, strict=True))
    ways = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    calls = [(f"__half2{name}_{way}(x)", name, way) for name in names for way in ways]
    texts = ["__half2float(x)", "__half_as_ushort(x)", "__ushort_as_half(__half_as_ushort(x))"]
    kinds = [("float", "f4"), ("unsigned short", "u2"), HALF, *(names[c[1]] for c in calls)]
    single, bits, back, *whole = evaluate([*texts, *(c[0] for c in calls)], kinds, X)
    np.testing.assert_array_equal(single, X.astype("f4"))
    np.testing.assert_array_equal(bits, X.view("u2"))
    np.testing.assert_array_equal(back.view("u2"), X.view("u2"))
    for result, (text, name, way) in zip(whole, calls, strict=True):
        with np.errstate(invalid="ignore"):
            rounded = ways[way](X.astype("f8")).tolist()
        info = np.iinfo(names[name][1])
        nan = info.min if info.bits == 64 else 0
        exact = [
            nan
            if np.isnan(v)
            else info.max
            if v > info.max
            else info.min
            if v < info.min
            else int(v)
            for v in rounded
        ]
        assert result.tolist() == exact, text


@pytest.mark.parametrize("way", ["rn", "rz", "rd", "ru"])
def test_rounding_to_half(way):
    """Floats on, and a little beside, each number, and half way between two of them."""
    half = np.sort(RNG.integers(0, 0x7C00, 300).astype("u2")).view("f2").astype("f4")
    step = np.nextafter(half.astype("f2"), np.float16(np.inf)).astype("f4") - half
    x = np.concatenate([half, half + step / 2, half + step / 4, half + 0.75 * step, [65520, 1e9]])
    x = np.concatenate([x, -x]).astype("f4")
    x = x[np.isfinite(x)]
    out = cp.zeros(x.size, "f2")
    source = f"""#include <cuda_fp16.h>
extern "C" __global__ void k(const float *x, __half *o, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = __float2half_{way}(x[i]);
}}"""
    cp.RawKernel(source, "k")((x.size // 64 + 1,), (64,), (cp.asarray(x), out, np.int32(x.size)))
    with np.errstate(over="ignore"):
        nearest = x.astype("f2")
    wider = nearest.astype("f8")
    up = {"rn": wider < -np.inf, "rz": (wider < x) & (x < 0), "rd": wider < -np.inf,
          "ru": wider < x}[way]  # fmt: skip
    down = {"rn": up, "rz": (wider > x) & (x > 0), "rd": wider > x, "ru": wider > np.inf}[way]
    nearest[up] = np.nextafter(nearest[up], np.float16(np.inf))
    nearest[down] = np.nextafter(nearest[down], np.float16(-np.inf))
    np.testing.assert_array_equal(out.get(), nearest)


def test_pairs():
    texts = {
        "__hadd2({x, y}, {z, x})": (lambda x, y, z: (x + z, y + x)),
        "__hfma2({x, y}, {y, z}, {z, x})": (lambda x, y, z: (x * y + z, y * z + x)),
        "__halves2half2(x, y) * __half2half2(z)": (lambda x, y, z: (x * z, y * z)),
        "__hneg2(__lowhigh2highlow({x, y}))": (lambda x, y, z: (-y, -x)),
        "__highs2half2({x, y}, {y, z})": (lambda x, y, z: (y, z)),
        "__floats2half2_rn((float)x * 3, __half2float(y))": (lambda x, y, z: (x * 3, y)),
        "h2sqrt({x, y})": (lambda x, y, z: (np.sqrt(x), np.sqrt(y))),
        "__hgt2({x, y}, {y, z})": (lambda x, y, z: (1.0 * (x > y), 1.0 * (y > z))),
    }
    spelled = [re_pair(text) for text in texts]
    kinds = [("__half2", "u4")] * len(texts)
    got = evaluate(spelled, kinds, X, Y, Z)
    for (text, oracle), result in zip(texts.items(), got, strict=True):
        low, high = result.view("f2").reshape(-1, 2).T
        want = [wide(lambda *a, f=oracle, i=i: f(*a)[i], X, Y, Z) for i in (0, 1)]
        np.testing.assert_array_equal(low, want[0], err_msg=text)
        np.testing.assert_array_equal(high, want[1], err_msg=text)


def re_pair(text):
    return text.replace("{", "__half2(").replace("}", ")")


def test_sums_between_threads():
    """Shuffles, an atomic addition, shared memory."""
    x = RNG.integers(-20, 20, 64).astype("f2")
    total, out = cp.zeros(1, "f2"), cp.zeros(64, "f2")
    source = """#include <cuda_fp16.h>
extern "C" __global__ void k(const half *x, half *total, half *out) {
    __shared__ half s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    half sum = s[63 - t];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (t % 32 == 0) atomicAdd(total, sum);
    out[t] = __shfl_sync(0xffffffff, s[t], 3);
}"""
    cp.RawKernel(source, "k")((1,), (64,), (cp.asarray(x), total, out))
    assert total.get()[0] == x.sum(dtype="f8")
    np.testing.assert_array_equal(out.get(), np.repeat(x[[3, 35]], 32))
