"""Functions that have the name of one of CUDA's: they overload it, as NVRTC has it; and calls for
which no overload is the best."""

import cupy as cp
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException

# The text before the kernel, what it computes, and what must come out.
CASES = {
    "__device__ float max(float a, float b) { return a < b ? b : a; }": (
        "max(16777217, 3), max(1.f, 2.f), max(3u, 2)",
        [16777217, 2, 3],
    ),
    "__device__ float abs(float a) { return a < 0 ? -a : 7; }": (
        "abs(-16777217), abs(2.f), abs(-2.5)",
        [16777217, 7, 2.5],
    ),
    "__device__ int max(int a, int b) { return 77; }": ("max(1, 2), max(1.5, 2.5)", [77, 2.5]),
    "__device__ float fmaxf(float a, const float b) { return 77; }": ("fmaxf(1, 2)", [77]),
    "__device__ unsigned int max(unsigned a, unsigned int) { return 7; }": (
        "max(1u, 2u), max(1u, 2)",
        [7, 2],
    ),
    "__device__ int pow(int x, int n) { int y = 1; while (n--) y *= x; return y; }": (
        "pow(3, 19), pow(2.5, 2), pow(2.0, 0.5) > 1.41",
        [3**19, 6.25, 1],
    ),
    "__device__ float3 fminf(float3 a, float3 b) { return make_float3(fminf(a.x, b.x), 5, 6); }": (
        "fminf(make_float3(4, 2, 3), make_float3(3, 3, 3)).x, fminf(2.f, 1.f)",
        [3, 1],
    ),
    "__device__ float3 make_float3(float4 v) { return make_float3(v.x, v.y, v.z); }": (
        "make_float3(make_float4(1, 2, 3, 4)).z, make_float3(4, 5, 6).y",
        [3, 5],
    ),
    "template <class T> __device__ T min(T a, T b) { return 77; }": (
        "min(1, 2), min((char)1, (char)2)",
        [1, 77],
    ),
    "template <class T> __device__ T sqrt(T x) { return 77; }": ("sqrt(4.f), sqrt(4)", [2, 77]),
    "__device__ int atomicAdd(int *a, float b) { return 9; }": (
        "atomicAdd((int *)o, 2.f), atomicAdd((int *)o, 2) >= 0",
        [9, 1],
    ),
    "__device__ int __shfl_sync(unsigned m, float2 v, int from) { return 9; }": (
        "__shfl_sync(1, make_float2(1, 2), 0), __shfl_sync(1, 5, 0)",
        [9, 5],
    ),
    "__device__ double atomicAdd(double *a, double b) { return 9; }": (
        "atomicAdd(o, 1.0), atomicAdd((float *)(o + 7), 1.f)",
        [9, 0],
    ),
    "namespace n { __device__ float max(float a, float b) { return a < b ? b : a; }"
    " __device__ float f() { return max(16777217, 3); } }": (
        "n::f(), max(16777217, 3)",
        [2**24, 2**24 + 1],
    ),
    "#include <cuda_fp16.h>\n__device__ half max(half a, half b) { return __hmax(a, b); }": (
        "(float)max((half)1.5f, (half)2.5f), max(16777217, 3)",
        [2.5, 16777217],
    ),
}  # fmt: skip


@pytest.mark.parametrize("before", CASES)
def test_they_overload_cudas(before):
    text, wanted = CASES[before]
    code = f"""{before}
extern "C" __global__ void k(double *o) {{
    auto put = [&](auto... all) {{ int i = 0; ((o[i++] = (double)all), ...); }};
    put({text});
}}"""
    nvrtc.check(code, ("-std=c++17",))
    o = cp.zeros(8)
    cp.RawKernel(code, "k", ("-std=c++17",))((1,), (1,), (o,))
    assert o[: len(wanted)].get().tolist() == wanted


def test_in_a_preamble():
    before = "__device__ float max(float a, float b) { return a < b ? b : a; }"
    kernel = cp.ElementwiseKernel("int32 x", "int32 y", "y = max(x, 3)", "k", preamble=before)
    assert kernel(cp.array([16777217, 1], "i4")).tolist() == [16777217, 3]


AMBIGUOUS = ["pow(f, 2.0)", "fmax(f, 0.0)", "fma(f, 2.0, f)", "atan2(1.0, f)", "own(f, 2.0)"]


@pytest.mark.parametrize("call", AMBIGUOUS)
def test_no_overload_is_the_best(call, only_the_standin):
    code = f"""__device__ int own(float, float) {{ return 1; }}
__device__ int own(double, double) {{ return 2; }}
extern "C" __global__ void k(double *o, float f) {{
    o[0] = {call};
}}"""
    refused = nvrtc.compile(code)
    assert "more than one instance of overloaded function" in refused.log
    with pytest.raises(CompileException, match=r"^k.cu\(4\): error: more than one overloaded"):
        cp.RawKernel(code, "k").compile()
    with pytest.raises(CompileException, match="more than one overloaded"):
        cp.ElementwiseKernel("float32 f", "float32 y", "y = pow(f, 2.0)", "power")(cp.ones(1, "f4"))
