"""Numbers with a fraction that become integers: as a GPU does it, or an error.

PTX's cvt.rzi clamps to the integer's range. A NaN becomes 0 or, where either side has 64 bits, the
highest bit alone (PTX ISA, "cvt"). NVRTC converts to an integer of 8 or 16 bits by way of one of
32, of which it keeps the low bits.
"""

import cupy as cp
import numpy as np
import pytest

from gpuless.engine import casts
from gpuless.engine.source import without_strings

VALUES = [0.7, -0.7, 41.9, -41.9, 300.5, -300.5, 70000.5, 3e9, -3e9, 1e19, -1e19, 1e38, -1e38,
          np.inf, -np.inf, np.nan, 2147483648.0, 4294967296.0]  # fmt: skip
TYPES = {
    "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4",
    "unsigned int": "u4", "long long": "i8", "unsigned long long": "u8", "long": "i8",
    "size_t": "u8",
}  # fmt: skip


def clamped(x, dtype):
    """With exact integers of Python's; the low bits of 32 for the short types."""
    wide = np.dtype(dtype if np.dtype(dtype).itemsize == 8 else np.dtype(dtype).kind + "4")
    info = np.iinfo(wide)
    long = 8 in (wide.itemsize, np.asarray(x).dtype.itemsize)
    nan = (-1 if wide.kind == "i" else 1) * 2 ** (8 * wide.itemsize - 1) if long else 0
    exact = [
        nan if np.isnan(v) else info.max if v == np.inf else info.min if v == -np.inf
        else min(max(int(v), info.min), info.max) for v in map(float, x)
    ]  # fmt: skip
    return np.array(exact, wide).astype(dtype)


@pytest.mark.parametrize("real, dtype", [("float", "f4"), ("double", "f8")])
@pytest.mark.parametrize("form", ["({})x[i]", "static_cast<{}>(x[i])", "({})(x[i] * ({})1)"])
def test_casts_saturate(real, dtype, form):
    x = np.array(VALUES, dtype)
    parameters = ", ".join(f"{kind} *o{n}" for n, kind in enumerate(TYPES))
    form = form.replace("({})1", f"({real})1")
    body = "".join(f"o{n}[i] = {form.format(kind)};\n" for n, kind in enumerate(TYPES))
    source = f"""extern "C" __global__ void k(const {real} *x, {parameters}) {{
    int i = threadIdx.x;
    {body}}}"""
    out = [cp.zeros(x.size, t) for t in TYPES.values()]
    cp.RawKernel(source, "k")((1,), (x.size,), (cp.asarray(x), *out))
    for o, (kind, integer) in zip(out, TYPES.items(), strict=True):
        np.testing.assert_array_equal(o.get(), clamped(x, integer), err_msg=kind)


@pytest.mark.parametrize("real", ["float", "double"])
def test_intrinsics_saturate(real):
    x = np.array(
        [v + s for v in VALUES for s in (0, 0.5, -0.25)], "f4" if real == "float" else "f8"
    )
    ways = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    to = {"int": "i4", "uint": "u4", "ll": "i8", "ull": "u8"}
    names = {"uint": "unsigned", "ll": "long long", "ull": "unsigned long long", "int": "int"}
    cases = [(f"__{real}2{name}_{way}", name, way) for name in to for way in ways]
    parameters = ", ".join(f"{names[name]} *o{n}" for n, (_, name, _) in enumerate(cases))
    body = "".join(f"o{n}[i] = {call}(x[i]);\n" for n, (call, _, _) in enumerate(cases))
    source = f"""extern "C" __global__ void k(const {real} *x, {parameters}) {{
    int i = threadIdx.x;
    {body}}}"""
    out = [cp.zeros(x.size, to[name]) for _, name, _ in cases]
    cp.RawKernel(source, "k")((1,), (x.size,), (cp.asarray(x), *out))
    for o, (call, name, way) in zip(out, cases, strict=True):
        np.testing.assert_array_equal(o.get(), clamped(ways[way](x), to[name]), err_msg=call)


@pytest.mark.parametrize(
    "statement", ["int y = x[0]; o[0] = y;", "o[0] = x[0];", "o[(T)x[0]] = 1;"]
)
def test_what_is_no_cast_is_an_error_out_of_range(statement):
    source = f"""typedef int T;
extern "C" __global__ void k(const float *x, int *o) {{
    {statement}
}}"""
    kernel, out = cp.RawKernel(source, "k"), cp.zeros(3, "i4")
    kernel((1,), (1,), (cp.ones(2, "f4"), out))
    assert out.get().any()
    for value in (3e9, np.nan):
        with pytest.raises(RuntimeError, match=r"line 3: the 'float' .*beyond the range of .*cast"):
            kernel((1,), (1,), (cp.full(2, value, "f4"), out))
    cp.zeros(3).get()  # and the session goes on


def test_casts_in_elementwise_kernels():
    x = cp.array([np.nan, -1e20, 2.7, 1e20])
    kernel = cp.ElementwiseKernel("float64 x", "int32 y", "y = (int)x /* (int)x */", "saturate")
    assert kernel(x).get().tolist() == [-(2**31), -(2**31), 2, 2**31 - 1]


ARRAYS = [np.array(VALUES, real) for real in ("f4", "f8", "c8", "c16")]
ARRAYS.append(np.array([0.7, -41.9, 300.5, 60000, -60000, np.inf, -np.inf, np.nan], "f2"))


@pytest.mark.parametrize("x", ARRAYS, ids=lambda x: x.dtype.name)
@pytest.mark.parametrize("integer", sorted(set(TYPES.values())))
def test_arrays_saturate_as_kernels_do(x, integer):
    expected, on_device = clamped(x.real, integer), cp.asarray(x)
    np.testing.assert_array_equal(on_device.astype(integer).get(), expected)
    np.testing.assert_array_equal(cp.asarray(on_device, integer).get(), expected)
    for one, what in zip(on_device[:3], expected[:3], strict=True):  # without an axis
        assert one.astype(integer) == what
    if x.dtype.kind == "c":
        return
    target = cp.zeros(x.shape, integer)
    target[:] = on_device
    np.testing.assert_array_equal(target.get(), expected)
    target[cp.arange(x.size)[::-1]] = on_device
    np.testing.assert_array_equal(target.get(), expected[::-1])
    cp.copyto(target, on_device, casting="unsafe")
    np.testing.assert_array_equal(target.get(), expected)
    target.flat[1:3] = on_device[:2]
    cp.put(target, cp.array([0]), on_device[3:4])
    np.testing.assert_array_equal(target[:3].get(), expected[[3, 0, 1]])


def test_the_first_difference_of_cupys_own_page():
    """CuPy's reference, "Differences between CuPy and NumPy": cast from float to integer."""
    assert cp.array([-1], dtype=np.float32).astype(np.uint32).tolist() == [0]
    assert cp.array([float("inf")], dtype=np.float32).astype(np.int32).tolist() == [2147483647]


FITS = "standin_fits<int>"
TEXTS = {
    "(int)x * 3": f"(int){FITS}(x) * 3",
    "-(int)-x": f"-(int){FITS}(-x)",
    "(float)(int)a.b[3](2)->c + 1": f"(float)(int){FITS}(a.b[3](2)->c) + 1",
    "(int)(float)x": f"(int){FITS}((float)x)",
    "(int)(T)x": f"(int){FITS}((T)x)",
    "z = (T)(int)x": f"z = (T)(int){FITS}(x)",
    "return (T)(U)(int)(x)": f"return (T)(U)(int){FITS}((x))",
    "(int)(E)(float)x": f"(int){FITS}((E)(float)x)",
    "(int)f<float>(x)": f"(int){FITS}(f<float>(x))",
    "return (int)1.5e-3f;": f"return (int){FITS}(1.5e-3f);",
    "y = int(a < b ? a : b);": f"y = int({FITS}(a < b ? a : b));",
    "(int)a ? (int)b : (int)c": f"(int){FITS}(a) ? (int){FITS}(b) : (int){FITS}(c)",
    '(int)(")"[0])': f'(int){FITS}((")"[0]))',
    "{ *(int *)(x + 2)": "{ *(int *)standin_address((x + 2))",
    "{ return (V<float> const *)&x[i] + 1": "{ return (V<float> const *)standin_address(&x[i]) + 1",
    "{ reinterpret_cast<T *>(p - 1)[0]": "{ reinterpret_cast<T *>(standin_address(p - 1))[0]",
    "{ (T *)(int)(x + 2)": f"{{ (T *)standin_address((int){FITS}((x + 2)))",
}
UNTOUCHED = [
    "void f(int);", "sizeof(int) * x", "int (*p)(int) = g;", "auto l = [](int) { return 1; };",
    "operator int() const", "int (x); int(y) + 1;", '"(int)x"', "std::f<void(int)>(x)",
    "(int *)p", "static_cast<float>(x)", "(int)sizeof x", "g(f)(int)",
    "int f(int (&a)[N], float (*p)[3])", "(a, b *)", "void f(int *), g(float *const);", "(T *)(0)",
    "{ [](int *) { a + 1; }", "{ int (*f)(char *, T **) = g + 1", "{ sizeof(int *) + 1",
    "{ (x) * (y + 1)", "char *p = (char *)(a + 1);", "struct S { void f(int *) const { a + 1; } };",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_what_a_cast_takes(text):
    assert casts.translate(text, without_strings(text)) == TEXTS[text]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_is_no_cast(text):
    assert casts.translate(text, without_strings(text)) == text


def test_arrays_by_reference():
    source = """
template <class T, int N, int M> __device__ T sum(const T (&a)[N][M]) {
    T s = 0; for (auto &row : a) for (T x : row) s += x; return s; }
__device__ int last(int (*p)[3], int (&b)[3]) { return p[1][2] + b[0]; }
__device__ int a[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ char *inside = (char *)&a[0][1];  // to be known when the module is loaded
extern "C" __global__ void k(int *o) { o[0] = sum(a); o[1] = last(a, a[1]); o[2] = *inside; }"""
    out = cp.zeros(3, "i4")
    cp.RawKernel(source, "k")((1,), (1,), (out,))
    assert out.tolist() == [21, 10, 2]


def test_casts_of_what_is_no_number():
    """Pointers, arrays, bit-fields, enumerations, constants that size an array."""
    source = """
struct S { unsigned a : 3, b : 5; };
enum class E { one = 1, two };
extern "C" __global__ void k(long long *o) {
    S s = {5, 17};
    int sized[(int)2.9f] = {7, 8}, *p = sized;
    o[0] = (int)s.b; o[1] = (int)E::two; o[2] = sizeof(sized);
    o[3] = (size_t)p == (size_t)sized; o[4] = (long long)*p++; o[5] = (int)'a';
    o[6] = (int)threadIdx.x + (unsigned)blockDim.x; o[7] = (int)true;
}"""
    out = cp.zeros(8, "i8")
    cp.RawKernel(source, "k")((1,), (1,), (out,))
    assert out.get().tolist() == [17, 2, 8, 1, 7, 97, 1, 1]


@pytest.mark.parametrize(
    ("dtype", "rule"), [("uint8", "low bits of the nearest"), ("int32", "nearest")]
)
def test_the_message_says_what_a_gpu_gives(dtype, rule):
    """NVRTC converts to 32 bits and keeps the low ones, as ``astype`` does."""
    kernel = cp.ElementwiseKernel("T x", f"{dtype} y", "y = x", "unwritten")
    with pytest.raises(RuntimeError, match=f"a GPU gives the {rule} "):
        kernel(cp.array([1e10]))


@pytest.mark.parametrize("ufunc", [cp.add, cp.minimum, cp.hypot, cp.divide])
def test_an_output_of_integers_is_cut_off_by_a_gpus_rule(ufunc):
    x = cp.array([-3.5, 300.0, 1e20], "f")
    found = ufunc(x, np.float32(1), out=cp.zeros(3, "u8"), casting="unsafe")
    assert found.tolist() == ufunc(x, np.float32(1)).astype("u8").tolist()
    assert found[0] in (0, 3)  # and no number near 2**64
    kept = cp.full(3, 7, "u8")
    ufunc(x[1:], np.float32(1), out=kept[1:], casting="unsafe")
    assert kept.tolist() == [7, *found[1:].tolist()]


def test_reductions_into_integers_are_cut_off_by_a_gpus_rule():
    x = cp.array([[-3.5, 2.5], [300.0, 7.75]], "f")
    for reduce, found in (
        (cp.max, [[2, 44], [300 % 256, 7]]),
        (cp.sum, [[0, 307 % 256], [296 % 256, 10]]),
        (cp.nansum, [[0, 307 % 256], [296 % 256, 10]]),
        (cp.prod, [[0, 2325 % 256], [0, 19]]),
        (cp.mean, [[0, 307 % 256 // 2], [148, 5]]),  # along the last axis cuB's sum is an integer
    ):
        for axis, right in zip((1, 0), found, strict=True):
            assert reduce(x, axis=axis, out=cp.zeros(2, "u1")).tolist() == right
    assert cp.trace(-x, out=cp.zeros((), "u8")) == 0
    assert cp.mean(cp.array([-1, -2]), out=cp.zeros((), "u8")) == 0


def test_reductions_into_another_type_are_made_in_their_own():
    x = cp.array([[-1, 100, 101], [7, -128, 3]], "i1")
    assert x.max(1, out=cp.zeros(2, "u8")).tolist() == [101, 7]
    assert x[:, :1].max(1, out=cp.zeros(2, "u1")).tolist() == [255, 7]
    single = cp.array([[0.1, 0.2], [0.3, 0.4]], "f")
    assert single.mean(0, out=cp.zeros(2)).tolist() == single.mean(0).tolist()
    assert cp.median(single, 0, out=cp.zeros(2)).tolist() == cp.median(single, 0).tolist()
    assert cp.median(single, 0, out=(y := cp.zeros(2))) is not y and y.all()
    with pytest.raises(NotImplementedError, match="NaN in an out of median"):
        cp.median(cp.log(single - 0.2), 0, out=y)
    assert cp.nanmean(x, 0, out=cp.zeros(3, "u8")).tolist() == [3, 0, 52]
    halves = cp.array([[1.001, 1.002], [1.003, 1.0]], "e")
    assert halves.mean(0, out=cp.zeros(2)).tolist() == halves.astype("f").mean(0).tolist()
    assert cp.median(halves, 0, out=cp.zeros(2))[0] == 1.001953125
    for call in (
        lambda: cp.nanmax(single + 1j, 0, out=cp.zeros(2)),
        lambda: cp.mean((single + 1j)[:, ::2], 0, out=cp.zeros(1)),
    ):
        with pytest.raises(cp.cuda.compiler.CompileException, match="of complex ones"):
            call()
    for error, call in (
        (ValueError, lambda: cp.median(single, 0, out=cp.zeros(2, "i"))),
        (TypeError, lambda: cp.take(single, 0, 0, out=cp.zeros(2, "e"))),
        (TypeError, lambda: cp.min(x > 0, out=cp.zeros((), "i1"))),
        (TypeError, lambda: cp.nanmean(single, 0, "i1")),
    ):
        with pytest.raises(error):
            call()
