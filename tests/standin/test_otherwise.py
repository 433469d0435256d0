"""What NVRTC and a C++ compiler both take, and understand differently: refused here. NVRTC's own
code shows what it makes of each."""

import re

import cupy as cp
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException

from gpuless.engine.options import parse
from gpuless.engine.preprocess import preprocess

NEEDS_NVRTC = pytest.mark.skipif(not nvrtc.is_installed(), reason="needs NVRTC")
DECLARED = """
struct Wide { int a : 5; unsigned long long key : 40; long long c : 33; int i; unsigned flag : 7; };
struct Stack { int n; };
__device__ int next(int *p) { return ++*p; }
"""
KERNEL = (
    DECLARED.replace("{", "{{").replace("}", "}}")
    + 'extern "C" __global__ void k(long long *o) {{ int a[4] = {{5, 6, 7, 8}}, *p = a, i = 0;'
    " int x = 3; Wide w = {{1, 5, 3, 4}}, *q = &w; Stack s = {{0}}, *t = &s;\n{}\n"
    "o[0] = x; o[1] = a[0]; o[2] = a[1]; o[3] = i + (p - a) + q->i + t->n; }}"
)
# What it is, what is said of it, and what NVRTC stores in o[0] or o[1], whichever changes.
REFUSED = {
    "a[i++] += i;": ("an order", 5),
    "*p++ += *p;": ("an order", 10),
    "a[t->n++] += t->n;": ("an order", 5),
    "a[i++] -= a[i];": ("an order", 0),
    "a[i] = next(&i);": ("an order", 1),
    "i = 2; x = i++ << i;": ("an order", 16),
    "x = ~w.key;": ("40 bits", -6),
    "x = -(q->key) / 2 > 9;": ("40 bits", 1),
    "x = (long long)-w.key;": ("40 bits", -5),
    "x = (i ? w.flag : -1) < 0;": ("an int in NVRTC", 1),
    "x = (a[0] ? -1 : q->flag) > 0;": ("an int in NVRTC", 0),
    "typedef struct { char c; int i; } __attribute__((packed)) S; x = sizeof(S);": ("braces", 8),
    "struct S { char c; int i; } __align__(16); x = sizeof(S);": ("braces", 8),
    "enum E { A } __attribute__((packed)); x = sizeof(E);": ("braces", 4),
    "struct [[gnu::packed]] S { char c; int i; }; x = sizeof(S);": ("unknown attribute", 8),
    "struct E {}; struct S { [[no_unique_address]] E e; int i; }; x = sizeof(S);": (
        "unknown attribute",
        8,
    ),
    "typedef float V __attribute__((vector_size(16))); x = sizeof(V);": ("unknown attribute", 4),
    r"x = '\e';": ("no escape sequence", 101),
    r'x = sizeof("\u00e9");': ("one byte", 2),
    'x = sizeof(L"é");': ("one byte", 12),
}
TAKEN = [
    "a[i++] += x;",
    "a[i] += i;",
    "a[i++] = i;",
    "a[i++] += t->n;",
    "x = *p++ << 8 | *p++;",
    "x = (a[i++] << 8) | a[i++];",
    "a[i] = next(&x);",
    "x = ((i ? w.flag : 1) < 0) + (i ? (int)w.flag : -1);",
    "x = i - w.key;",
    "x = (i + x) - w.key - a[0] - w.key;",
    "x = -w.a + ~q->i;",
    "x = ~(unsigned long long)w.key + (short)w.c;",
    "struct __attribute__((packed)) S { char c; int i; }; x = sizeof(S);",
    "if (x) { i = 1; } else { i = 2; } struct __align__(8) S { char c; }; x = sizeof(S);",
    r'x = "\\e"[1] + "\\u00e9"[1] + sizeof(L"\u00e9") + sizeof("é");',
]


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_understood_differently_is_refused(code):
    with pytest.raises(CompileException) as error:
        cp.RawKernel(KERNEL.format(code), "k").compile()
    assert REFUSED[code][0] in str(error.value)
    assert re.match(r"\w+\.cu\(6\): error: ", str(error.value))


@NEEDS_NVRTC
@pytest.mark.parametrize("code", REFUSED)
def test_nvrtc_understands_it_as_said(code):
    compiled = nvrtc.compile(KERNEL.format(code))
    assert compiled.accepted, compiled.log
    constants = set(re.findall(r"mov\.u64\s+%rd\d+, (-?\d+);", compiled.ptx))
    assert str(REFUSED[code][1]) in constants


@pytest.mark.parametrize("code", TAKEN)
def test_what_is_understood_alike_is_taken(code):
    o = cp.zeros(4, "int64")
    cp.RawKernel(KERNEL.format(code), "k")((1,), (1,), (o,))
    if nvrtc.is_installed():
        ptx = nvrtc.compile(KERNEL.format(code)).ptx
        constants = set(map(int, re.findall(r"mov\.u64\s+%rd\d+, (-?\d+);", ptx)))
        assert set(o.tolist()) <= constants


STANDARDS = ["-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20"]
MACROS = """__cplusplus __cpp_lambdas __cpp_constexpr __cpp_generic_lambdas __cpp_if_constexpr
__cpp_static_assert __cpp_range_based_for __cpp_concepts __cpp_rtti __cpp_exceptions __CUDA_FTZ
__EXCEPTIONS __EDG__ _GNU_SOURCE __USE_FAST_MATH__""".split()


@NEEDS_NVRTC
@pytest.mark.parametrize("standard", STANDARDS)
def test_macros_of_the_language_are_nvrtcs(standard):
    probes = "".join(f"#ifdef {m}\nprobe{i} {m}\n#endif\n" for i, m in enumerate(MACROS))
    seen = preprocess(probes, "k", parse((standard,))).text
    values = {MACROS[int(i)]: value for i, value in re.findall(r"^probe(\d+) (.+)$", seen, re.M)}
    asked = [f"#if {m} != ({value})\n#error {m}\n#endif" for m, value in values.items()]
    asked += [f"#ifdef {m}\n#error {m}\n#endif" for m in MACROS if m not in values]
    source = "\n".join(asked) + '\nextern "C" __global__ void k() {}'
    compiled = nvrtc.compile(source, (standard, "--ftz=true"))
    assert compiled.accepted, compiled.log


def test_a_standard_that_is_asked_for_decides_what_is_compiled():
    source = """
#if __cplusplus >= 201703L
extern "C" __global__ void k(int *x) { x[0] = 17; }
#else
extern "C" __global__ void k(int *x) { x[0] = 14; }
#endif"""
    x = cp.zeros(1, "int32")
    for standard, expected in (("-std=c++14", 14), ("-std=c++17", 17), ("-std=c++20", 17)):
        cp.RawKernel(source, "k", (standard,))((1,), (1,), (x,))
        assert x[0] == expected


def test_no_answer_is_given_for_a_header_that_only_the_standin_lacks():
    source = """
#if __has_include(<{}>)
extern "C" __global__ void k(int *x) {{ x[0] = 1; }}
#else
extern "C" __global__ void k(int *x) {{ x[0] = 2; }}
#endif"""
    x = cp.zeros(1, "int32")
    for header, expected in (("cuda_fp16.h", 1), ("nowhere.h", 2)):
        cp.RawKernel(source.format(header), "k")((1,), (1,), (x,))
        assert x[0] == expected
    with pytest.raises(NotImplementedError, match=r"^k\.cu\(2\): .* the header <cuda_bf16\.h>"):
        cp.RawKernel(source.format("cuda_bf16.h"), "k").compile()


def test_a_blank_behind_a_backslash_joins_no_lines():
    source = 'extern "C" __global__ void k(int *x) {\n// C:\\temp\\ \nx[0] = 2;\n}'
    x = cp.zeros(1, "int32")
    cp.RawKernel(source, "k")((1,), (1,), (x,))
    assert x[0] == 2
    with pytest.raises(CompileException):  # as NVRTC
        source = '#define A 1 + \\ \n 2\nextern "C" __global__ void k(int *x) { *x = A; }'
        cp.RawKernel(source, "k").compile()


def test_a_function_that_the_compiler_runs_may_loop_beside_threads_that_wait():
    source = """
__device__ constexpr int lg(unsigned n) { int r = 0; while (n > 1) { n >>= 1; r++; } return r; }
__device__ volatile int ready = 1;
extern "C" __global__ void k(int *x) { int a[lg(64)]; while (!ready); *x = sizeof(a) / sizeof(*a); }
"""
    x = cp.zeros(1, "int32")
    cp.RawKernel(source, "k")((1,), (1,), (x,))
    assert x[0] == 6


def test_variables_of_a_type_without_a_name_have_initialisers():
    source = """
__device__ struct { int a; float b; } one = {3, 1.5f};
__constant__ struct Q { int a[2]; } q[2] = {{{1, 2}}, {{3, 4}}};
__device__ int after = 5;
extern "C" __global__ void k(int *x) { *x = one.a * 100 + q[1].a[1] * 10 + after; }
"""
    x = cp.zeros(1, "int32")
    cp.RawKernel(source, "k")((1,), (1,), (x,))
    assert x[0] == 345


OWN = "namespace util {{ __device__ int {}(int a, int n) {{ return -1; }} }}\n"
POWER = 'extern "C" __global__ void k(float *o) { o[0] = pow(2.f, 0.5f); }'


def test_functions_of_cudas_names_that_come_out_of_a_namespace():
    using = "using namespace util;\n"
    for text in (OWN.format("pow") + using, "inline " + OWN.format("pow")):
        with pytest.raises(CompileException, match="'pow', NVRTC has some for CUDA's function"):
            cp.RawKernel(text + POWER, "k").compile()
    for text in (OWN.format("pow"), OWN.format("power") + using):
        o = cp.zeros(1, "f")
        cp.RawKernel(text + POWER, "k")((1,), (1,), (o,))
        assert 1.414 < float(o[0]) < 1.415


def test_a_name_of_cooperative_groups_beside_one_s_own():
    head = "#include <cooperative_groups.h>\nusing namespace cooperative_groups;\n"
    body = 'struct thread_block { int n; };\nextern "C" __global__ void k() {}'
    with pytest.raises(CompileException, match="'thread_block' is ambiguous"):
        cp.RawKernel(head + body, "k").compile()
    cp.RawKernel(head + body.replace("thread_block", "threads"), "k").compile()
