"""What GCC takes and CUDA has not, and what CUDA takes and GCC does not: NVRTC decides, beside
which every text here is compiled."""

import cupy as cp
import numpy as np
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException

from gpuless.engine import CompileError, Module
from gpuless.engine.compiler import find_compiler

REFUSED = {
    "int a = n ?: 3; y[0] = a;": "expected an expression",
    "y[0] = __builtin_popcount(n);": 'identifier "__builtin_popcount" is undefined',
    "y[0] = __builtin_clz(n);": 'identifier "__builtin_clz" is undefined',
    "y[0] = __builtin_sqrtf(y[1]);": 'identifier "__builtin_sqrtf" is undefined',
    "int a = ({ int q = n; q + 1; }); y[0] = a;": "expected an expression",
    "float2 v = (float2){1.f, 2.f}; y[0] = v.x;": "expected an expression",
    "const int *p = (const int[]){1, 2}; y[0] = p[n];": "expected an expression",
    "register int a = n; y[0] = a;": 'use of the "register" storage class specifier',
    "__int128 a = n; y[0] = (float)a;": "128-bit integer type is only supported",
    "__float128 q = 1; y[0] = q;": "128-bit floating point type is only supported",
    "y[0] = __COUNTER__;": 'identifier "__COUNTER__" is undefined',
    "y[0] = __INT_MAX__;": 'identifier "__INT_MAX__" is undefined',
    "y[0] = __x86_64__;": 'identifier "__x86_64__" is undefined',
    "#pragma unroll n\nfor (int i = 0; i < n; ++i) y[i] = i;": None,
    "#pragma unroll blockDim.x // as many\nfor (int i = 0; i < n; ++i) y[i] = i;": None,
    "float α = 0.5f; y[0] = α;": "unrecognized token",
    "__syncthreads(1);": "too many arguments in function call",
    "y[0] = __syncthreads_or(1, 2);": "too many arguments in function call",
    "__syncwarp(1, 2);": "too many arguments in function call",
    "y[0] = __shfl_sync(~0u, n, 0, 32, 7);": None,
    "y[0] = __ballot_sync(~0u, n, (3, 4));": "too many arguments in function call",
    "auto f = [=] __device__ (int a) { return a + n; }; y[0] = f(1);": "annotation on lambda",
    "int a[0]; y[0] = 1; (void)a;": "the size of an array must be greater than zero",
    "switch (n) { case 1 ... 5: y[0] = 1; }": 'expected a ":"',
    "__typeof__(n) a = 1; y[0] = a;": 'identifier "__typeof__" is undefined',
    "float4 v = {.x = 1, .y = 2}; y[0] = v.y;": "expected an expression",
    "y[0] = sizeof(max_align_t);": 'identifier "max_align_t" is undefined',
    "#define F(a, ...) a __VA_OPT__(+) __VA_ARGS__\n#line 2\ny[0] = F(1, 2);": None,
    "_Float16 h = 1; y[0] = h;": 'identifier "_Float16" is undefined',
    "thread_local int q; y[0] = 1;": "cannot use thread_local specifier",
    "static int q = n; y[0] = q;": "dynamic initialization is not supported for a function-scope",
    "__device__ int q; y[0] = 1;": 'an automatic "__device__" variable declaration is not allowed',
    "const __constant__ int q = 3; y[0] = q;": 'an automatic "__constant__" variable declaration',
    "y[0] = sizeof(void);": None,
    "void *p = y; p++;": None,
    "const uint3 *p = &threadIdx; y[0] = p->x;": "cannot take address of builtin variable",
    "const unsigned *p = &(blockDim.y); y[0] = *p;": "cannot take address of builtin variable",
    "struct S { float a; } *p = (S *)y; y[0] = __ldg(p).a;": None,
    "y[0] = __ldg((const float3 *)y).x;": None,
    "__stcg((float3 *)y, make_float3(1, 2, 3));": None,
    "{ extern __shared__ float s[]; *y = s[0]; } { extern __shared__ int s[]; *y = s[0]; }": None,
    "float a[warpSize]; y[0] = a[0];": None,
    "constexpr int w = warpSize; y[0] = w;": None,
    "void *p = &&l; l: y[0] = 1;": "expected an expression",
    "auto f = []<class T>(T a) { return a; }; y[0] = f(1);": "explicit lambda template parameters",
    "for (int a[] = {1, 2}; int x : a) y[0] += x;": "C++20-style initializer",
    "y[0] = copysign(1, y[0]);": None,
    "y[0] = j0(3);": None,
    "struct S { int a, b; }; y[0] = offsetof(S, b);": None,
    "struct S { int n; float a[]; } s; y[0] = s.n;": 'incomplete type "float a []"',
    "struct S { int n; public: float a[][4]; } s; y[0] = s.n;": "is not allowed",
    "float f = 1e400; y[0] = f;": "floating constant is out of range",
    "y[0] *= 1e-60f;": "floating constant is out of range",
    "y[0] = __sync_fetch_and_add((int *)y, 1);": 'identifier "__sync_fetch_and_add" is undefined',
}
OLDER = {
    "if constexpr (sizeof(int) == 4) y[0] = 1;": 14,
    "float2 v = make_float2(1, 2); auto [a, b] = v; y[0] = a + b;": 14,
    "if (int a = n; a > 2) y[0] = a;": 14,
    "static_assert(sizeof(int) == 4);": 14,
    "auto f = [](auto a) { return a; }; y[0] = f(n);": 11,
    "y[0] = 0b101;": 11,
}
TAKEN = [
    'const char *s = "α"; y[0] = s[0]; /* α */ y[1] = s[1]; // α',
    "const int c = 4;\n#pragma unroll c / 2 // a constant\nfor (int i = 0; i < n; ++i) y[i] = i;",
    "#pragma unroll (sizeof(n))\nfor (;;)\n#pragma unroll 2\nfor (;;) break;",
    "for (int i = 0; i < n ? 1 : 0; ++i) y[i] = n && i ? 1 : 2; auto &&r = n; y[0] = warpSize + r;",
    "int (*f)(int) = [](int a) { return a; }; y[0] = f(n);",
    "float2 v = float2{1.f, 2.f}; y[0] = v.x;",
    "y[0] = n > 2 ? 1 : n ? 2 : 3;",
    "struct S { int a; __device__ S() : a(3) {} }; y[0] = S().a;",
    "struct S { int a; __device__ S &operator=(int b) { a = b; return *this; } }; S s; s = 3;",
    "struct S { int a; __device__ int operator*(int b) { return a * b; } }; y[0] = S{3} * 2;",
    "auto f = [&](int a) { return a + n; }; y[0] = f(1);",
    "auto f = [](float2 a) { return a.x; }; y[0] = f({1, 2}); y[1] = f(float2{3, 4});",
    "for (int i = 0; i < 3; i++) { if (i) { y[i] = i; } else { y[0] = 5; } }",
    "do { y[0] += 1; } while (y[0] < n); switch (n) { case 1: { y[0] = 1; } default: y[1] = 2; }",
    "if (__builtin_expect(n > 2, 1)) y[0] = 1; __builtin_assume(n > 0);",
    "int i{3.7}; y[0] = i; char c{300}; y[1] = c; unsigned u{-1}; y[2] = u;",
    "int a[] = {1.5}; y[3] = a[0];",
    "for (int i : {1, 2, n}) y[i] = i;",
    "std::initializer_list<int> l = {4, 5}; y[0] = l.size() + *l.begin();",
    "extern __shared__ float s; s = 3; y[0] = s;",
    "extern __shared__ int s[4]; s[n] = 3; y[0] = s[n];",
    "extern __shared__ float s[][4]; s[1][n] = 3; y[0] = s[1][n];",
    "__shared__ extern float s[]; s[n] = 3; y[0] = s[n];",
    "y[0] = __syncthreads_count(n > ((n >> 2) + __mulhi(n, n)));",
    "y[0] = __shfl_sync(~0u, n < 3 ? max(n, 2) : n, n > 2, 32);",
    "auto f = [](auto a, auto b) { return a + b; }; y[0] = __any_sync(~0u, f(1, 2) > (n, 3));",
    "switch (n) { case 1: y[0] = 1; break; default: y[0] = 3; } if (n) y[0] = 2; else y[0] = 1;",
    "do y[0] += 1; while (y[0] < 3); bool b = n and y[0]; (void)b;",
    "if constexpr (sizeof(int) == 4) y[0] = 1;",
    "float2 v = make_float2(1, 2); auto [a, b] = v; y[0] = a + b;",
    "static int q = 3; y[0] = q; static const float t[] = {1, 2}; y[1] = t[n % 2];",
    "int a[2] = {}; a[0] = 1; y[a[0]] = a [0] ? 1 : 0;",
    "__syncthreads(); y[0] = __shfl_sync(1u, n, 0, 32); __syncwarp();",
    "int a[] = {1, 2}; using T = int[]; y[0] = a[n & 1];",
    "#define F(a, ...) a __VA_OPT__(+) __VA_ARGS__\ny[0] = n;",
]  # fmt: skip


def source(body):
    return f'extern "C" __global__ void k(float *y, int n) {{\n{body}\n}}'


def is_taken(body, options=()):
    return not nvrtc.is_installed() or nvrtc.compile(source(body), options).accepted


@pytest.mark.parametrize("body", REFUSED)
def test_an_extension_of_gccs_is_refused(body):
    with pytest.raises(CompileError) as caught:
        Module(source(body), name="k")
    said = str(caught.value)
    assert said.startswith("k.cu(2): error: ") and (REFUSED[body] or "") in said
    if nvrtc.is_installed():
        done = nvrtc.compile(source(body), (), "k")
        assert (
            not done.accepted
            and (REFUSED[body] or "").replace("float a []", "float []") in done.log
        )


@pytest.mark.parametrize("what", ["auto x", "const auto &x", "int, auto *x"])
def test_auto_for_a_parameter_is_of_cpp_20(what):
    code = f"__device__ void f({what}) {{ auto g = [](auto y) {{ return y; }}; }}\n{source('')}"
    with pytest.raises(CompileError, match='"auto" is not allowed here'):
        Module(code, name="k")
    Module(code, ("-std=c++20",))
    if nvrtc.is_installed():
        assert not nvrtc.compile(code).accepted and nvrtc.compile(code, ("-std=c++20",)).accepted


@pytest.mark.parametrize("body", OLDER)
def test_a_word_of_a_later_standard(body):
    option = f"-std=c++{OLDER[body]}"
    with pytest.raises(CompileError, match=r"^k\.cu\(2\): error: "):
        Module(source(body), (option,), name="k")
    Module(source(body), ("-std=c++17",))
    if nvrtc.is_installed():
        assert not nvrtc.compile(source(body), (option,)).accepted
        assert nvrtc.compile(source(body), ("-std=c++17",)).accepted


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("namespace A::B { constexpr int v = 3; }", True),
        ("inline constexpr int v = 3;", True),
        ("inline __device__ int f() { return 3; }", False),
        (
            "template <class... A> __device__ int f(A... a) { return (a + ...); }"
            "__device__ int g() { return f(1, 2); }",
            True,
        ),
        (
            "template <class... A> __device__ int g(A... a) { return 1; }"
            "template <class... A> __device__ int f(A... a) { return sizeof...(A) + g(a...); }"
            "__device__ int h() { return f(1, 2); }",
            False,
        ),
    ],
)
def test_what_else_an_older_standard_lacks(text, refused):
    if refused:
        with pytest.raises(CompileError):
            Module(text, ("-std=c++14",))
    else:
        Module(text, ("-std=c++14",))
    if nvrtc.is_installed():
        assert nvrtc.compile(text, ("-std=c++14",)).accepted != refused


@pytest.mark.parametrize("body", TAKEN)
def test_what_looks_like_one_is_taken(body):
    Module(source(body), name="k")
    assert is_taken(body)


def test_integers_of_128_bits_by_an_option():
    body = "__int128 a = n; a <<= 70; y[0] = (float)(a >> 68);"
    y = cp.zeros(1, "f4")
    cp.RawKernel(source(body), "k", ("-device-int128",))((1,), (1,), (y, cp.int32(3)))
    assert y[0] == 12
    assert is_taken(body, ("-device-int128",))


def test_their_values():
    y = cp.zeros(8, "f4")
    body = """int i{3.7}; y[0] = i;
    for (int j : {1, 2, n}) y[j] = 10 * j;
    extern __shared__ float s[][4]; s[1][n % 4] = 3; y[4] = s[1][n % 4] + s[1][n % 4 + 0];
    y[5] = (&s[1][0] - &s[0][0]);"""
    cp.RawKernel(source(body), "k")((1,), (1,), (y, cp.int32(3)), shared_mem=64)
    assert y.get().tolist() == [3, 10, 20, 30, 6, 4, 0, 0]


def test_a_parameter_that_is_a_reference_takes_an_address():
    code = """extern "C" __global__ void k(float &y, const int &n, float (&z)[3]) {
    atomicAdd(&y, n + z[threadIdx.x % 3]);
}"""
    x, z = cp.zeros(3, "f4"), cp.array([1, 2, 4], "f4")
    cp.RawKernel(code, "k")((1,), (6,), (x[1:], cp.array([10], "i4"), z))
    assert x.get().tolist() == [0, 74, 0]
    with pytest.raises(RuntimeError, match="writes y"):
        beyond = code.replace("atomicAdd(&y, n", "(&y)[5000] = (n").replace("3]);", "3]);")
        cp.RawKernel(beyond, "k")((1,), (1,), (x, cp.array([10], "i4"), z))


def test_a_sized_array_that_is_extern_is_static_shared_memory_as_nvrtc_says():
    code = source("extern __shared__ float s[4]; s[n] = 3; y[0] = s[n];")
    k, y = cp.RawKernel(code, "k"), cp.zeros(1, "f4")
    k((1,), (1,), (y, cp.int32(3)))
    assert y[0] == 3 and k.shared_size_bytes == 16


def test_every_kind_of_kernel_is_read(only_the_standin):
    x = cp.arange(4, dtype="i4")
    for call in (
        lambda: cp.ElementwiseKernel("int32 x", "int32 y", "y = __builtin_popcount(x)", "k")(x),
        lambda: cp.ReductionKernel(
            "T x", "T y", "__builtin_popcount(x)", "a + b", "y = a", "0", "k"
        )(x),
    ):
        with pytest.raises(CompileException, match='identifier "__builtin_popcount" is undefined'):
            call()


DYNAMIC = """template <class T> __device__ T first(T a) {
    extern __shared__ T part[];
    part[threadIdx.x] = a;
    return part[0];
}
__global__ void k(float *y) { y[0] = first(1.5f)BODY; }"""


@pytest.mark.parametrize("both", [False, True])
def test_dynamic_shared_memory_of_one_name_has_one_type(both):
    code = DYNAMIC.replace("BODY", " + (float)first(2.5)" * both)
    assert nvrtc.compile(code, expressions=("k",)).accepted is not both
    module = cp.RawModule(code=code, options=("-std=c++17",), name_expressions=["k"])
    if both:
        words = "conflicting declaration 'double pa|redeclaration of 'part'"  # g++'s, Clang's
        with pytest.raises(CompileException, match=rf"\(2\): error: ({words})"):
            module.get_function("k")
        return
    y = cp.zeros(1, "f4")
    module.get_function("k")((1,), (1,), (y,), shared_mem=4)
    assert y[0] == 1.5


def test_one_type_in_many_places_and_words():
    code = """extern "C" __global__ void k(unsigned *y) {
        extern __shared__ __align__(16) unsigned s[];
        s[threadIdx.x] = threadIdx.x;
        struct Local {
            __device__ unsigned f() { extern __shared__ unsigned int s[]; return s[0]; }
        };
        extern __shared__ float other[];
        other[2] = 5;
        y[0] = Local().f() + (unsigned)other[2] + (1 & threadIdx.x);
    }"""
    assert nvrtc.compile(code).accepted
    y = cp.full(1, 7, "u4")
    cp.RawKernel(code, "k")((1,), (1,), (y,), shared_mem=64)
    assert y[0] == 5


MISREAD = {
    '"%d", 1.5f': "'%d' expects argument of type 'int', but argument 2 has type 'double'",
    '"%f", 1': "'%f' expects argument of type 'double', but argument 2 has type 'int'",
    '"%d %d", 1ll << 40, 3': "'%d' expects argument of type 'int', but argument 2 has type 'long",
    '"%ld", 1': "'%ld' expects argument of type 'long int', but argument 2 has type 'int'",
    '"%s", 5': "'%s' expects argument of type 'char\\*', but argument 2 has type 'int'",
    '"%d"': "'%d' expects a matching 'int' argument",
}


@pytest.mark.parametrize("arguments", MISREAD)
def test_what_printf_would_misread(arguments, only_the_standin):
    """NVRTC warns, and CuPy does not show its warnings."""
    code = f'extern "C" __global__ void k() {{\nprintf({arguments});\n}}'
    assert "#181-D" in nvrtc.compile(code).log or arguments == '"%d"'
    words = MISREAD[arguments] if find_compiler().family == "gcc" else ""
    with pytest.raises(CompileException, match=rf"k.cu\(2\): error: printf: .*{words}"):
        cp.RawKernel(code, "k").compile()


PACKED = """#include <cuda_fp16.h>
struct __attribute__((packed)) Record {{ char tag; {} value; int n; }};
extern "C" __global__ void k(const Record *r, int *o) {{ o[0] = sizeof(Record), o[1] = r[1].n; }}"""


def test_a_packed_struct(only_the_standin):
    assert nvrtc.compile(PACKED.format("__half") + "static_assert(sizeof(Record) == 7);").accepted
    with pytest.raises(CompileException, match=r"k.cu\(2\): error: CUDA packs this .*value'"):
        cp.RawKernel(PACKED.format("__half"), "k").compile()
    records = np.array([(1, 2, 3), (4, 5, 6)], [("tag", "i1"), ("value", "u2"), ("n", "i4")])
    size = cp.zeros(2, "i4")
    kernel = cp.RawKernel(PACKED.format("short"), "k")
    kernel((1,), (1,), (cp.asarray(records.view(np.uint8)), size))
    assert size.tolist() == [7, 6]


def test_what_printf_reads_rightly():
    code = """extern "C" __global__ void k(const char *y, long n) {
        printf("%lld %ld %llu %u %x %c %p %f %zu", n, 1ll, n, -1, -1, 65, y, 1.5f, 1ul);
        printf("%d %hu %i %zu", (short)1, (unsigned short)3, true, 1ul);
        printf("none", 5);
    }"""
    cp.RawKernel(code, "k").compile()


@pytest.mark.parametrize(
    "text",
    [
        "struct float3 { float x, y, z; };",
        "typedef struct { int x, y; } int2;",
        "using dim3 = int;",
        "enum float4 { a, b };",
        "enum class int3 : char { a };",
        "namespace float4 {}",
        "struct double4_16a { double x; };",
        "typedef int cudaStream_t;",
        "enum cudaError { failed };",
        "typedef unsigned int size_t;",
        "typedef int clock_t;",
        'extern "C" { struct float4 { float a; }; }',
    ],
)
def test_a_type_of_the_readers_with_a_name_of_cudas(text, only_the_standin):
    kernel = 'extern "C" __global__ void k() {}'
    assert not nvrtc.compile(text + kernel).accepted
    with pytest.raises(CompileException, match=r"k.cu\(1\): error: type .* already been defined"):
        cp.RawKernel(text + kernel, "k").compile()
    if '"C"' not in text:
        inside = f"namespace own {{ {text} }}\n{kernel}"
        nvrtc.check(inside)
        cp.RawKernel(inside, "k").compile()


REFUSED_OUTSIDE = {
    "class C { static __global__ void f(int *p) {} };": "cannot be a member function",
    "__device__ int main() { return 1; }": "function main cannot be marked",
    'extern "C" __global__ void norm(int *p) {}': "more than one instance of overloaded function",
    "__global__ void g(int *a, ...) {}": "a __global__ function cannot have ellipsis",
    "__global__ __device__ void g() {}": "illegal combination of memory qualifiers",
    "__host__ __global__ void g() {}": "illegal combination of memory qualifiers",
    "__device__ __launch_bounds__(128) void f() {}": "only allowed on a __global__ function",
    'extern "C" { template <class T> __global__ void g(T *a) {} }': 'may not have extern "C"',
    "__device__ float g = sqrtf(2.f);": "dynamic initialization is not supported",
    "const float g = -fabsf(-2.f); __device__ int h = (int)g;": "dynamic initialization is not",
    "__device__ float g[3] = {1, 2 * sinf(1), 3};": "dynamic initialization is not supported",
}
TAKEN_OUTSIDE = """
struct C { static const int t[]; }; const int C::t[] = {1};
typedef unsigned long size_t; typedef long ptrdiff_t; typedef long int clock_t; typedef float4 f4;
struct A { friend __global__ void g(A *a); __device__ int main() { return 1; } };
namespace N { __device__ int main() { return 1; } }
struct B : float4 { struct int2 { int a; }; float v = sqrtf(2.f); };
template <class... T> __global__ void h(T... a) {}
constexpr __device__ float mysqrt(float a) { return a; }
__device__ float v = mysqrt(3) * (1 + 2);
__device__ float w(float a = sqrtf(2.f)) { typedef double float4; return sizeof(float4); }
__global__ void __launch_bounds__(64 * (2 + 1), (4)) i() {}
"""


@pytest.mark.parametrize("text", REFUSED_OUTSIDE)
def test_words_that_do_not_go_together(text):
    with pytest.raises(CompileError, match=r"^k\.cu\(1\): error: ") as caught:
        Module(text, name="k")
    assert REFUSED_OUTSIDE[text] in str(caught.value)
    assert REFUSED_OUTSIDE[text] in nvrtc.compile(text, (), "k").log


def test_words_that_do():
    Module(TAKEN_OUTSIDE)
    nvrtc.check(TAKEN_OUTSIDE)


def test_blocks_of_a_cluster_are_refused_by_name():
    with pytest.raises(NotImplementedError, match="clusters, which need"):
        Module("__global__ void __launch_bounds__(128, max(1, 2), 1) k() {}")


def test_too_many_constants(only_the_standin):
    code = """__constant__ float one[10000], two[%d];
    extern "C" __global__ void k(float *x, int i) { x[0] = one[i] + two[i]; }"""
    cp.RawKernel(code % 6384, "k").compile()
    assert "too much global constant data" in nvrtc.compile(code % 6385).log
    with pytest.raises(CompileException, match="too much global constant data"):
        cp.RawKernel(code % 6385, "k").compile()


def test_functions_given_to_functions():
    code = """__device__ int twice(int x) { return 2 * x; }
    __device__ int apply(int (*f)(int), float x) { return f(int(x)); }
    template <int (*f)(int)> __device__ int called(int x) { return f(x); }
    extern "C" __global__ void k(int *y) { y[0] = apply(twice, 3.5f) + called<twice>(5); }"""
    nvrtc.check(code)
    y = cp.zeros(1, "i4")
    cp.RawKernel(code, "k")((1,), (1,), (y,))
    assert y[0] == 16


@pytest.mark.parametrize(
    "kind", ["struct complex { double r, i; };", "typedef struct { double r, i; } complex;"]
)
def test_a_complex_of_ones_own_beside_cupys(kind):
    code = kind + 'extern "C" __global__ void k(double *y) { complex z = {1, 2}; y[0] = z.i; }'
    header = "#include <cupy/complex.cuh>\n"
    for text in (header + code, f"{code}\n{header}"):
        with pytest.raises(CompileError, match='"complex" has already been defined'):
            Module(text, name="k")
    Module(code, name="k"), Module(header + code.replace("complex", "Complex", 2), name="k")
    with pytest.raises(CompileException, match='"complex" has already'):
        cp.ElementwiseKernel("T x", "T y", "y = x", "k", preamble=kind)(cp.ones(1))
    within = f"namespace my {{ {kind} }}"
    assert cp.ElementwiseKernel("T x", "T y", "y = x", "k", preamble=within)(cp.ones(1)) == 1
