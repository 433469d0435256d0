"""Sources are preprocessed before they are read: what NVRTC takes is taken, what it refuses is not.

The test run hands every source that the stand-in accepts to NVRTC (conftest.py). Those that it
refuses are shown to NVRTC here, where that is installed.
"""

import cupy as cp
import numpy as np
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException

from gpuless.engine import preprocess
from gpuless.engine.declarations import declarations, is_constant
from gpuless.engine.options import parse

KERNEL = 'extern "C" __global__ void k(float *x) {{ int i = threadIdx.x; {} }}\n'


def run(source, expected, options=(), name="k", dtype=np.float32):
    x = cp.arange(64, dtype=dtype)
    cp.RawKernel(source, name, options)((1,), (64,), (x,))
    np.testing.assert_array_equal(x.get(), expected)


I64 = np.arange(64)


@pytest.mark.parametrize(
    "source",
    [
        '#if 0\nextern "C" __global__ void never(int *x) { nothing }\n#endif\n'
        + KERNEL.format("x[i] *= 2;"),
        '#ifdef NOPE\nextern "C" __global__ void k(double *x) { nothing }\n#else\n'
        + KERNEL.format("x[i] *= 2;")
        + "#endif\n",
        '#define MAKE(T, name, f) extern "C" __global__ void name(T *x) '
        "{ int i = threadIdx.x; x[i] = f(x[i]); }\n#define TWICE(v) ((v) * 2)\n"
        "MAKE(double, other, TWICE)\nMAKE(float, k, TWICE)\n",
        '#define GLOBAL extern "C" __global__ void\n#define HERE threadIdx.x\n'
        "GLOBAL k(float *x) { x[HERE] *= 2; }",
        "#define BUF(T, n) __shared__ T n[64]\n"
        + KERNEL.format("BUF(float, s); s[63 - i] = x[i]; __syncthreads(); x[i] = 2 * s[63 - i];"),
        "#define SHARED __shared__\n"
        + KERNEL.format("SHARED float s[64]; s[63-i] = x[i]; __syncthreads(); x[i] = 2*s[63-i];"),
        "#define DYNAMIC extern __shared__\n#define WAIT() __syncthreads()\n"
        + KERNEL.format("WAIT(); x[i] *= 2;"),
        'namespace n { namespace m { extern "C" __global__ void k(float *x) '
        "{ x[threadIdx.x] *= 2; } } }",
        "#define N_THREADS 64\n"
        'extern "C" __global__ void __launch_bounds__(N_THREADS) k(float *x) '
        "{ x[threadIdx.x] *= 2; }",
        "#define DEVICE __device__\n#define C two\nnamespace n { DEVICE float two = 2; }\n"
        + KERNEL.format("x[i] *= n::C;"),
        "#define TO_INT(v) (int)(v)\n" + KERNEL.format("x[i] = TO_INT(x[i] + 0.5f) * 2;"),
        '#define ASM(y) asm("mov.u32 %0, %%laneid;" : "=r"(y))\n'
        + KERNEL.format("unsigned lane; ASM(lane); x[i] = 2 * (lane + i / 32 * 32.0f);"),
        "#if __CUDACC_VER_MAJOR__ < 9 || !defined(__CUDACC_RTC__) || defined(__GNUC__)\n#error no\n"
        "#endif\n" + KERNEL.format("x[i] *= 2;"),
        "#ifndef __launch_bounds__\n#error no\n#endif\n#ifdef __shared__\n#define TWO 2\n#endif\n"
        "#define __forceinline__ inline\n__device__ __forceinline__ int two() { return TWO; }\n"
        + KERNEL.format("x[i] *= two();"),
    ],
)
def test_macros_and_conditions(source):
    run(source, 2 * I64)


def test_headers_of_the_reader(tmp_path):
    (tmp_path / "inner.h").write_text("#pragma once\n#define BARRIER __syncthreads();\n")
    (tmp_path / "mine.h").write_text(
        '#pragma once\n#include "inner.h"\n#include <cooperative_groups.h>\n'
        "__device__ float factor = 3;\n__shared__ float s[64];\n"
        "__device__ float turn(float v) { int i = threadIdx.x; s[i] = v; BARRIER "
        "cooperative_groups::this_thread_block().sync(); return s[63 - i]; }\n"
        'extern "C" __global__ void k(float *x) { x[threadIdx.x] = factor * turn(x[threadIdx.x]); }'
    )
    source, options = '#include "mine.h"\n#include "mine.h"\n', (f"-I{tmp_path}",)
    run(source, 3 * I64[::-1], options)
    module = cp.RawModule(code=source, options=options)
    at = module.get_global("factor")
    assert cp.ndarray((1,), np.float32, at)[0] == 3


def test_a_barrier_in_an_option():
    source = KERNEL.format("__shared__ float s[64]; s[i] = x[i]; WAIT; x[i] = s[63 - i];")
    run(source, I64[::-1], ("-DWAIT=__syncthreads()",))


def test_a_changed_header_is_seen(tmp_path):
    header, options = tmp_path / "mine.h", (f"-I{tmp_path}",)
    source = '#include "mine.h"\n' + KERNEL.format("x[i] = ANSWER;")
    for answer in (1, 2, 1):
        header.write_text(f"#define ANSWER {answer}\n")
        cp._core.raw._modules.clear()  # as in a new process
        run(source, answer, options)


def test_a_changed_header_of_an_elementwise_kernel(tmp_path):
    for answer in (1, 2):
        (tmp_path / "mine.h").write_text(f"#define PLACE threadIdx.x * 0 + {answer}\n")
        kernel = cp.ElementwiseKernel(
            "T x", "T y", "y = PLACE", "k", preamble='#include "mine.h"', options=(f"-I{tmp_path}",)
        )
        assert kernel(cp.zeros(3)).tolist() == [answer] * 3


def test_messages_name_the_readers_lines(tmp_path):
    (tmp_path / "mine.h").write_text("// a\n\n__device__ float f(float v) { return w; }\n")
    source = "/* a\n b */\n#define LONG(a) \\\n   a\n" + KERNEL.format("x[i] = LONG(\n oops);")
    with pytest.raises(CompileException, match=r"^k\.cu\([56]\): error: .*'oops'"):
        run(source, 0)
    with pytest.raises(CompileException, match=rf"^{tmp_path}/mine\.h\(3\): error: .*'w'"):
        run('\n\n#include "mine.h"', 0, (f"-I{tmp_path}",))
    with pytest.raises(RuntimeError, match=r"line 14: writes x\[64\]"):
        run("\n" * 12 + "#define PUT(i) x[i] = 1;\n" + KERNEL.format("PUT(i + 1)"), 0)
    with pytest.raises(RuntimeError, match=r"line 2: Assertion `x\[i\] < LIMIT` failed"):
        run("#define LIMIT 3\n" + KERNEL.format("assert(x[i] < LIMIT);"), 0)


@pytest.mark.parametrize(
    "source, message",
    [
        ("#if 1\n", r"^k\.cu\(1\): error: unterminated"),
        ("\n#error no such card\n", r"^k\.cu\(2\): error: (#error )?.?no such card"),
        ("#define F(a) a\n" + KERNEL.format("x[i] = F(1, 2);"), r"^k\.cu\(2\): error: .*F"),
        ("#define A(\n", r"^k\.cu\(1\): error"),
        (
            "#include <vector>\n",
            r'^k\.cu\(1\): catastrophic error: could not open source file "vec',
        ),
        ("\n#if 1\n#include <stdio.h>\n#endif\n", r"^k\.cu\(3\): catastrophic error"),
    ],
)
def test_what_the_preprocessor_refuses(source, message):
    if nvrtc.is_installed():
        assert not nvrtc.compile(source).accepted
    with pytest.raises(CompileException, match=message):
        run(source, 0)


GUARDED = "\n#ifndef {0}\n#define {0} 3\n#endif\n"


def test_a_guard_sees_the_macros_of_a_header():
    for name, header in (
        ("FLT_MAX", "cupy/complex.cuh"),
        ("M_PI", "cupy/carray.cuh"),
        ("CUDART_PI_F", "math_constants.h"),
        ("INT_MAX", "cooperative_groups.h"),
        ("__CUDA_FP16_H__", "cuda_fp16.h"),
    ):
        text = f"#include <{header}>\n#ifndef {name}\n#error {name}\n#endif\n"
        cp.RawKernel(text + 'extern "C" __global__ void k() {}', "k").compile()
    kernel = cp.ElementwiseKernel("T x", "T y", "y = M_PI", "k", preamble=GUARDED.format("M_PI"))
    assert kernel(cp.ones(1)) == np.pi
    least = cp.ReductionKernel(
        *("T x", "T y", "x", "max(a, b)", "y = a", "-FLT_MAX", "k"),
        preamble=GUARDED.format("FLT_MAX"),
    )
    assert least(cp.array([-5.0, -4.0], "f")) == -4


BODY = 'extern "C" __global__ void k(complex<float> *z) { *z = conj(*z); }'
TURN = "__device__ complex<float> turn(complex<float> z) { return z; }\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (f"{TURN}#include <cupy/complex.cuh>\n{BODY}", r'k\.cu\(1\).*"complex" is undefined'),
        (f"#include <cupy/carray.cuh>\n{BODY}", r'k\.cu\(2\).*"complex" is undefined'),
        (f'extern "C" {{\n#include <cupy/complex.cuh>\n{BODY}}}', r"k\.cu\(2\).*within braces"),
        (f"#include <complex.h>\n{BODY}", "could not open source file"),
        ("#include <cuda_fp16.h>\n", "does not cover __CUDA_NO_HALF_OPERATORS__"),
    ],
)
def test_a_header_that_is_not_where_it_must_be(source, message):
    options = ("-D__CUDA_NO_HALF_OPERATORS__",) if "fp16" in source else ()
    with pytest.raises(CompileException, match=message):
        cp.RawKernel(source, "k", options).compile()
    cp.RawKernel(f"#include <cupy/complex.cuh>\n{TURN}{BODY}", "k").compile()


def test_a_header_of_ones_own_with_the_name_of_cudas(tmp_path):
    (tmp_path / "math_constants.h").write_text("#define CUDART_PI_F 3.0f\n")
    source = '#include "math_constants.h"\nextern "C" __global__ void k() {}'
    with pytest.raises(NotImplementedError, match="a header of one's own"):
        cp.RawKernel(source, "k", (f"-I{tmp_path}",)).compile()


def test_an_assert_that_an_option_switches_off():
    source = 'extern "C" __global__ void k(int *y) { assert(++y[0]); }'
    for options, text, number in (
        ((), source, 1),
        (("-DNDEBUG",), source, 0),
        (("-DNDEBUG", "-UNDEBUG"), source, 1),
        ((), "#define NDEBUG\n" + source, 1),
    ):
        y = cp.zeros(1, "i")
        cp.RawKernel(text, "k", options)((1,), (1,), (y,))
        assert y == number


@pytest.mark.parametrize("header", ["cupy/complex.cuh", "cupy/carray.cuh", "cuda_fp16.h"])
def test_a_macro_that_breaks_a_header(header):
    name, body = ("x", 'extern "C" __global__ void k(int *Y) { *Y = x; }')
    define, include = f"#define {name} 3\n", f"#include <{header}>\n"
    y = cp.zeros(1, "i")
    cp.RawKernel(include + define + include + body, "k")((1,), (1,), (y,))
    assert y == 3
    for source, options in ((define + include + body, ()), (include + body, ("-DB=1", "-Dx=3"))):
        with pytest.raises(CompileException, match="macro x|-Dx"):
            cp.RawKernel(source, "k", options).compile()


def test_a_macro_that_breaks_the_headers_of_every_generated_kernel():
    for name in ("A", "B", "ndim"):
        with pytest.raises(CompileException, match=f"the macro {name} stands before"):
            cp.ElementwiseKernel("T x", "T y", "y = x", "k", options=(f"-D{name}=3",))(cp.ones(1))
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x * BY", "k", options=("-DBY=3",))
    assert kernel(cp.ones(1)) == 3


@pytest.mark.parametrize("name", ["T", "x", "width", "value", "p", "size(a)"])
def test_a_macro_of_an_option_that_breaks_nvrtc(name):
    options = (f"-D{name}=float",)
    source = 'extern "C" __global__ void k(float *X, int I) { X[I] = 1; }'
    if nvrtc.is_installed():
        assert "builtin_header" in nvrtc.compile(source, options).log
        assert nvrtc.compile(f"#define T int\n{source}").accepted
    with pytest.raises(CompileException, match=rf"-D{name.partition('(')[0]} .*NVRTC"):
        cp.RawKernel(source, "k", options=options).compile()
    cp.RawKernel(f"#define T int\n{source}", "k", options=("-DN=3", "-DT_=float")).compile()


HOST_FUNCTION = "without execution space annotations .* is considered a host function"
HOST_VARIABLE = "without memory space annotations .* is considered a host variable"
REFUSED = {
    "float sq(float v) { return v * v; }": HOST_FUNCTION,
    "float sq(float);": HOST_FUNCTION,
    "static inline float sq(float v) { return v * v; }": HOST_FUNCTION,
    "template <class T> T sq(T v) { return v * v; }": HOST_FUNCTION,
    "constexpr int sq(int v) { return v * v; }": HOST_FUNCTION,
    "auto sq(float v) -> float { return v; }": HOST_FUNCTION,
    'extern "C" float sq(float);': HOST_FUNCTION,
    "namespace n { void f() {} }": HOST_FUNCTION,
    "struct V { float a; float len() const { return a; } };": HOST_FUNCTION,
    "struct V { float a; V(float b) : a{b} {} };": HOST_FUNCTION,
    "struct V { V(); };": HOST_FUNCTION,
    "struct V { ~V() {} };": HOST_FUNCTION,
    "struct V { float a; float operator+(V o) const { return a + o.a; } };": HOST_FUNCTION,
    "struct V { operator float() const { return 1; } };": HOST_FUNCTION,
    "struct V { float operator()(float x) { return x; } };": HOST_FUNCTION,
    "template <class T> struct Q { T f() { return T(); } };": HOST_FUNCTION,
    "__device__ void f() { struct L { int g() { return 1; } }; }": HOST_FUNCTION,
    "__host__ float q(float v) { return v; }": "explicitly marked as a __host__ function",
    "float scale = 3;": HOST_VARIABLE,
    "static float scale;": HOST_VARIABLE,
    "extern float q;": HOST_VARIABLE,
    "int table[3] = {1, 2, 3};": HOST_VARIABLE,
    "float table[2][2]{{1, 2}, {3, 4}};": HOST_VARIABLE,
    "const float *p = nullptr;": HOST_VARIABLE,
    "float (*f)(float) = nullptr;": HOST_VARIABLE,
    "struct S { int a; } one;": HOST_VARIABLE,
    "namespace { volatile int flag; }": HOST_VARIABLE,
    "auto f = [](float v) { return v; };": HOST_VARIABLE,
    "struct V { static float c; };": "static data member with non-const type",
}
ACCEPTED = [
    "__device__ float sq(float);\nfloat sq(float v) { return v * v; }",
    "struct V { __device__ float f(); };\nfloat V::f() { return 1; }",
    "struct V { float a = 3; V() = default; V(const V &) = delete; };",
    "struct V { static constexpr float c = 3; int bits : 3; float (*f)(float); };",
    "class V { public: __device__ V(int b) : a(b), c{b} {} private: int a, c; };",
    "template <class T, int N = (3 > 2)> struct Q { T a[N]; __device__ T f() { return a[0]; } };",
    "template <class T> constexpr T v = T(3);\ntemplate <class T> T w = T(3);",
    "__device__ __noinline__ float4 f(float (&a)[3], float (*g)(float)) { return float4{}; }",
    "__host__ __device__ inline float f(float v) { return v; }",
    "const float a = 3, b[2] = {1, 2};\nstatic constexpr int c[] = {1, 2};\nconst double d = 0.5;",
    "float *const p = nullptr;\nconst int *const q[2] = {nullptr, nullptr};",
    "__constant__ float c[3] = {1, 2, 3}, d;\n__device__ struct S { int a; } one;",
    "enum { A = 3, B = 1 << A };\nenum class E : int { C };\nunion U { float a; int b; };",
    'typedef float T;\nusing F = float (*)(float);\nstatic_assert(sizeof(T) == 4, "(;{");;',
    "__shared__ float s[4];\n__managed__ int m;",
    "namespace n { struct V; }\nnamespace m = n;\nusing namespace n;",
    "template <typename T> __device__ auto f(T a) -> decltype(a + 1) { return a; }\n"
    "template __device__ auto f<int>(int) -> int;",
    "struct alignas(16) V { float a[4]; };\n__device__ alignas(16) float v[4];",
    "__device__ bool less(int a, int b) { return a < b && b > (1, 2); }",
]


@pytest.mark.parametrize("declaration", REFUSED)
def test_what_only_a_host_has(declaration):
    source = "\n" + declaration + "\n" + KERNEL.format("x[i] = 1;")
    if nvrtc.is_installed():
        log = nvrtc.compile(source).log
        assert "host" in log and "kernel.cu(2)" in log
    with pytest.raises(CompileException, match=rf"^k\.cu\(2\): error: .*{REFUSED[declaration]}"):
        run(source, 1)
    if "explicitly" not in REFUSED[declaration] and "flag" not in declaration:
        run(source, 1, ("-default-device",))


@pytest.mark.parametrize("declaration", ACCEPTED)
def test_what_a_device_has(declaration):
    run(declaration + "\n" + KERNEL.format("x[i] = 1;"), 1)


def test_forgotten_in_a_preamble():
    for preamble in ("float sq(float v) { return v * v; }", "float scale = 3;"):
        kernel = cp.ElementwiseKernel("T x", "T y", "y = x", "k", preamble="\n" + preamble)
        with pytest.raises(CompileException, match=r"^k\.cu, preamble\(2\): error: .* host"):
            kernel(cp.arange(3.0))


def test_a_shared_variable_with_a_value():
    for value in (" = {1, 2}", "{1, 2}"):
        source = "\n" + KERNEL.format(f"\n __shared__ float s[2]{value}; x[i] = s[0];")
        if nvrtc.is_installed():
            assert "(3): error: initializer not allowed" in nvrtc.compile(source).log
        with pytest.raises(CompileException, match=r"\(3\): error: initializer not allowed"):
            run(source, 1)


def test_declarations():
    text = preprocess.preprocess(
        'namespace n { extern "C" { __global__ void k(int a[3], const T<int, 2> *b) {} } }\n'
        "__device__ const int a = 3, *b[2], c{4};\nstruct S { static const int e; } f;",
        "k",
        parse(()),
    )
    found = declarations(text.text, text.bare)
    assert [(one.kind, one.scope, one.names or one.name) for one in found] == [
        ("function", "n::", "k"),
        ("variable", "", ("a", "b", "c")),
        ("member", "S::", ("e",)),
        ("variable", "", ("f",)),
    ]
    assert found[0].c_linkage and not found[1].c_linkage
    assert [is_constant(one) for one in found[1:]] == [True, True, False]
    assert text.where(found[1].start) == "k.cu(2)"
