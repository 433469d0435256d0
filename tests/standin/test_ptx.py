"""Inline PTX: products by tensor cores and asynchronous copies, and what is refused.

The layouts of fragments are those of the PTX ISA ("Matrix Fragments for mma.m16n8k4" and so on).
How tensor cores add was found by experiment (M. Fasi and others, "Numerical behavior of NVIDIA
tensor cores", PeerJ Computer Science 7:e330; F. Khattak and M. Mikaitis, arXiv:2512.07004):
products exact, all addends cut to a common last place, the sum cut. For
compute capability 9.0 that place is two bits below the float's, and all of K is one sum; measured
errors of whole products agree.
"""

import math
from fractions import Fraction

import cupy as cp
import numpy as np
import pytest

from gpuless.engine.translate import translate

RNG = np.random.default_rng(42)
SHAPES = [("f64", 8, 4), ("f64", 16, 4), ("f64", 16, 8), ("f64", 16, 16), ("tf32", 16, 4),
          ("tf32", 16, 8), ("f16", 16, 8), ("f16", 16, 16)]  # fmt: skip
NAMES = {"f64": "f64.f64.f64.f64", "tf32": "f32.tf32.tf32.f32", "f16": "f32.f16.f16.f32"}


def multiply_source(kind, m, k):
    """One warp: D = A B + C with A (m x k), B (k x 8), C and D (m x 8), all by rows.

    Elements are put into registers one by one, as the PTX ISA's tables say: a pair of f16 in each.
    """
    pack = 2 if kind == "f16" else 1
    counts = {"a": m * k // 32 // pack, "b": k // 4 // pack, "c": m // 4}
    number = "double" if kind == "f64" else "float"
    register, letter = ("double", "d") if kind == "f64" else ("unsigned", "r")
    out = "d" if kind == "f64" else "f"
    index = iter(range(99))
    d, a, b, c = (
        "{" + ",".join(f"%{next(index)}" for _ in range(counts[part])) + "}"
        for part in ("c", "a", "b", "c")
    )
    outputs = ", ".join(f'"={out}"(d[{i}])' for i in range(counts["c"]))
    inputs = ", ".join(
        f'"{out if part == "c" else letter}"({part}[{i}])'
        for part in "abc"
        for i in range(counts[part])
    )
    element = {"f64": "double", "tf32": "unsigned", "f16": "unsigned short"}[kind]
    return f"""
extern "C" __global__ void k(const {element} *A, const {element} *B, const {number} *C,
                             {number} *D) {{
    int lane = threadIdx.x, g = lane / 4, q = lane % 4;
    {register} a[{counts["a"]}] = {{}}, b[{counts["b"]}] = {{}};
    {number} c[{counts["c"]}], d[{counts["c"]}];
    for (int i = 0; i < {m * k // 32}; ++i) {{
        int r = i / {pack};
        int row = {"g" if m == 8 else "g + r % 2 * 8"};
        int col = q * {pack} + i % {pack} + {"r" if m == 8 else "r / 2"} * {4 * pack};
        {"a[r] = A" if pack == 1 else "a[r] |= (unsigned)A"}[row * {k} + col]
            {"<< (i % 2 * 16)" if pack == 2 else ""};
    }}
    for (int i = 0; i < {k // 4}; ++i) {{
        int r = i / {pack}, row = q * {pack} + i % {pack} + r * {4 * pack};
        {"b[r] = B" if pack == 1 else "b[r] |= (unsigned)B"}[row * 8 + g]
            {"<< (i % 2 * 16)" if pack == 2 else ""};
    }}
    for (int i = 0; i < {counts["c"]}; ++i) c[i] = C[(g + i / 2 * 8) * 8 + 2 * q + i % 2];
    asm volatile("mma.sync.aligned.m{m}n8k{k}.row.col.{NAMES[kind]} "
                 "{d}, {a}, {b}, {c};"
                 : {outputs}
                 : {inputs});
    for (int i = 0; i < {counts["c"]}; ++i) D[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
}}"""


def multiply(kind, a, b, c):
    """By tensor cores; the factors are float64, float32 (tf32) or float16."""
    bits = {"f64": "f8", "tf32": "u4", "f16": "u2"}[kind]
    source = multiply_source(kind, *a.shape)
    d = cp.full(c.shape, np.nan, c.dtype)
    arrays = cp.asarray(a.view(bits)), cp.asarray(b.view(bits)), cp.asarray(c)
    cp.RawKernel(source, "k")((1,), (32,), (*arrays, d))
    return d.get()


def cut(x, exponent):
    """A fraction to a multiple of 2**exponent, towards zero."""
    unit = Fraction(2) ** exponent
    return math.trunc(x / unit) * unit


def exponent_of(x, smallest=-126):
    return max(math.frexp(float(x))[1] - 1, smallest)


def tensor_sum(a, b, c, smallest):
    """What a tensor core gives for sum(a * b) + c, in exact fractions."""
    pairs = [(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True) if x and y]
    places = [exponent_of(x, smallest) + exponent_of(y, smallest) for x, y in pairs]
    if c:
        places.append(exponent_of(c))
    if not places:
        return 0.0
    last = max(places) - 25
    total = cut(Fraction(float(c)), last)
    total += sum(cut(Fraction(x) * Fraction(y), last) for x, y in pairs)
    if not total:
        return 0.0
    return float(cut(total, exponent_of(float(total)) - 23))


def factors(kind, shape, spread):
    """Numbers of sizes up to 2**spread apart; the lowest 13 bits of tf32's are to be ignored."""
    x = RNG.standard_normal(shape) * 2.0 ** RNG.integers(-spread, spread + 1, shape)
    x[RNG.random(shape) < 0.1] = 0
    return x.astype({"f64": "f8", "tf32": "f4", "f16": "f2"}[kind])


@pytest.mark.parametrize("kind, m, k", SHAPES)
def test_products(kind, m, k):
    for spread in (0, 5):
        a, b = factors(kind, (m, k), spread), factors(kind, (k, 8), spread)
        c = factors("f64" if kind == "f64" else "tf32", (m, 8), spread)
        got = multiply(kind, a, b, c)
        if kind == "f64":
            exact = [[sum(map(lambda x, y: Fraction(x) * Fraction(y), r.tolist(), s.tolist()))
                      for s in b.T] for r in a]  # fmt: skip
            want = np.array([[float(exact[i][j] + Fraction(c[i, j])) for j in range(8)]
                             for i in range(m)])  # fmt: skip
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15 * 2**spread)
            continue
        if kind == "tf32":
            a, b = ((x.view("u4") & 0xFFFFE000).view("f4") for x in (a, b))
        smallest = -14 if kind == "f16" else -126
        want = [[tensor_sum(a[i], b[:, j], c[i, j], smallest) for j in range(8)] for i in range(m)]
        np.testing.assert_array_equal(got, np.array(want, "f4"))


def test_doubles_are_added_in_order_with_one_rounding_each():
    """A chain of fma: after 1e16 the ones that follow are lost, before it they count."""
    a, b = np.ones((16, 4)), np.zeros((4, 8))
    b[:, 0], b[:, 1] = [1e16, 1, 1, 1], [1, 1, 1, 1e16]
    got = multiply("f64", a, b, np.zeros((16, 8)))
    assert (got[:, 0] == 1e16).all() and (got[:, 1] == 1e16 + 4).all()
    b[:, 2] = [1 + 2.0**-30, 0, 0, 0]
    a[:, 0] = 1 - 2.0**-30
    c = np.zeros((16, 8))
    c[:, 2] = -1
    assert (multiply("f64", a, b, c)[:, 2] == -(2.0**-60)).all()


@pytest.mark.parametrize("kind", ["tf32", "f16"])
def test_sums_are_cut_and_not_rounded(kind):
    """Four times a quarter of the last place is kept (two bits more); an eighth is lost."""
    depth = 8 if kind == "tf32" else 16
    a, b = np.zeros((16, depth), "f4"), np.ones((depth, 8), "f4")
    c = np.ones((16, 8), "f4")
    unit = 2.0**-23  # of 1.0f
    a[0, :4] = unit / 4
    a[1, 0] = unit * 7 / 8
    a[2, :8] = unit / 8 * 0.998046875
    a[3, :3] = [unit, unit / 2, unit / 2]
    a[4, 0], c[4] = (
        -unit / 4,
        1,
    )  # a number a little below 1 has a finer last place, but is cut first
    if kind == "f16":  # these are below f16's smallest number: by way of B
        a, b = (a * 2.0**24).astype("f2"), np.full_like(b, 2.0**-24).astype("f2")
    got = multiply(kind, a, b, c)[:, 0]
    lower = 1 - unit / 2
    assert got[:5].tolist() == [1 + unit, 1, 1, 1 + 2 * unit, lower]
    assert (multiply(kind, -a, b, -c)[:5, 0] == -got[:5]).all()


def test_long_sums_drift_towards_zero():
    """One accumulator for 4,096 terms in [0, 1): the error is a bias, far above float32's.

    With three products of this size in each accumulator an H200 was measured to be 8.1e-5 off.
    """
    a, b = RNG.random((16, 4096)).astype("f4"), RNG.random((4096, 8)).astype("f4")
    a, b = ((x.view("u4") & 0xFFFFE000).view("f4") for x in (a, b))
    source = """
extern "C" __global__ void k(const float *A, const float *B, float *D) {
    int g = threadIdx.x / 4, q = threadIdx.x % 4;
    float d[4] = {};
    for (int k = 0; k < 4096; k += 8) {
        float a[4], b[2];
        for (int i = 0; i < 4; ++i) a[i] = A[(g + i % 2 * 8) * 4096 + k + q + i / 2 * 4];
        for (int i = 0; i < 2; ++i) b[i] = B[(k + q + i * 4) * 8 + g];
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
              "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
    }
    for (int i = 0; i < 4; ++i) D[(g + i / 2 * 8) * 8 + 2 * q + i % 2] = d[i];
}"""
    d = cp.zeros((16, 8), "f4")
    cp.RawKernel(source, "k")((1,), (32,), (cp.asarray(a), cp.asarray(b), d))
    exact = a.astype("f8") @ b.astype("f8")
    error = (d.get() - exact) / exact
    assert (error < 0).all()
    assert abs(-3 * error.mean() - 8.1e-5) < 0.3e-5


@pytest.mark.parametrize("kind", ["tf32", "f16"])
def test_infinities_and_nans(kind):
    a, b = np.zeros((16, 8), "f4"), np.ones((8, 8), "f4")
    c = np.zeros((16, 8), "f4")
    a[0, 3], a[1, 2], a[2, :2], a[3, 0] = np.inf, -np.inf, [np.inf, -np.inf], np.nan
    b[3, 1] = 0
    c[4], c[5] = np.inf, np.nan
    kind_of = "f2" if kind == "f16" else "f4"
    got = multiply(kind, a.astype(kind_of), b.astype(kind_of), c)
    want = np.zeros((16, 8))
    want[0], want[1], want[2], want[3], want[4], want[5] = (
        np.inf, -np.inf, np.nan, np.nan, np.inf, np.nan)  # fmt: skip
    want[0, 1] = np.nan
    np.testing.assert_array_equal(got, want)


def test_round_to_tf32():
    """cvt.rna: to nearest, ties away from zero, as the PTX ISA says."""
    x = np.array([1, 1 + 2**-11, 1 + 3 * 2**-11, -1 - 2**-11, 1 + 2**-12, 3.3, -1e-3, np.inf], "f4")
    out = cp.zeros(x.size, "f4")
    source = """
extern "C" __global__ void k(const float *x, float *out) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x[threadIdx.x]));
    out[threadIdx.x] = __uint_as_float(bits);
}"""
    cp.RawKernel(source, "k")((1,), (x.size,), (cp.asarray(x), out))
    scale = 2.0 ** (10 - np.floor(np.log2(np.abs(x[:-1].astype("f8")))))
    want = np.sign(x[:-1]) * np.floor(np.abs(x[:-1]) * scale + 0.5) / scale
    np.testing.assert_array_equal(out.get(), np.append(want, np.inf))


def test_lanes_that_miss_a_product():
    body = multiply_source("f64", 8, 4).replace("asm volatile", "if (lane != 7) asm volatile")
    arrays = [cp.zeros(n) for n in (32, 32, 64, 64)]
    message = r"line \d+: a product by tensor cores needs all 32 lanes"
    with pytest.raises(RuntimeError, match=message):
        cp.RawKernel(body, "k")((1,), (32,), arrays)
    with pytest.raises(RuntimeError, match=message):
        cp.RawKernel(multiply_source("f64", 8, 4), "k")((1,), (24,), arrays)


@pytest.mark.parametrize(
    "statement, quoted",
    [
        ('asm("nop;");', "nop;"),
        ('asm volatile("bar.sync 1;");', "bar.sync 1;"),
        ('asm("mov.u32 %0, %%pm0;" : "=r"(n));', "mov.u32 %0, %%pm0;"),
        ('asm("mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%0}, {%0}, {%0}, {%0};" '
         ': "+f"(x));', "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32"),
        ('asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0}, {%0}, {%0}, {%0};" '
         ': "+d"(x));', "mma.sync.aligned.m8n8k4"),
        ('asm("cvt.rna.tf32.f32 %0, %1; wgmma.fence.sync.aligned;" : "=r"(n) : "f"(x));',
         "wgmma.fence.sync.aligned;"),
        ("asm(TEXT);", "string literals"),
        ('asm("cvt.rna.tf32.f32 %0, %1;" : "=q"(n) : "f"(x));', "constraint"),
    ],
)  # fmt: skip
def test_other_ptx_is_refused(statement, quoted):
    with pytest.raises(NotImplementedError) as caught:
        translate(f"__device__ void f(unsigned n, float x) {{\n\n{statement}\n}}", name="k")
    message = str(caught.value)
    assert message.startswith("k.cu(3): ") and quoted in message
    assert "cp.async.{ca, cg}.shared.global" in message and "m16n8k8" in message


def test_lines_stay_and_an_empty_barrier_is_nothing():
    source = """#define FENCE asm volatile("" \\
    ::: "memory")
__device__ void f(float x) { unsigned n;
asm volatile(
  "cvt.rna.tf32.f32"
  " %0, %1;"
  : "=r"(n)
  : "f"(x));
FENCE; }
"""
    text = translate(source, name="k").text
    body = text.split('# 1 "k.cu"\n')[1].split('\n#line 1 "entries"')[0]
    assert body.count("\n") == source.count("\n")
    assert body.splitlines()[8] == "((void)0); }"
    assert "asm volatile" not in body
