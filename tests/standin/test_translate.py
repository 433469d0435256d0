"""What becomes of the text of a module."""

import pytest

from gpuless.engine.errors import CompileError
from gpuless.engine.options import parse
from gpuless.engine.translate import translate
from gpuless.xray.machine.build import lines_of


def test_line_numbers_stay():
    source = """#include <cooperative_groups.h>
/* a
 b */ extern
"C" __global__ void k() {
// x
extern __shared__
 float s[];
}
"""
    text = translate(source, name="k").text
    lines = lines_of(text)
    assert lines["k.cu", 4].strip() == "__global__ void k() {"
    assert lines["k.cu", 6].startswith("extern float standin_dynamic_s[]; float *const &s = ")
    assert lines["k.cu", 8] == "}"


@pytest.mark.parametrize(
    "source, names",
    [
        ('extern "C" __global__ void a() {}', ["a"]),
        ('extern "C" __global__ void __launch_bounds__(256, 2) a(int n) {}', ["a"]),
        ('extern "C" __global__ __launch_bounds__(256) void a(int n) {}', ["a"]),
        ('extern "C" { __global__ void a() { if (1) {} }\n__global__ void b() {} }', ["a", "b"]),
        ('extern "C" { } __global__ void c() {}', []),
        ('extern "C" __global__ void a();\nextern "C" __global__ void a() {}', ["a"]),
        ("template <class T> __global__ void a(T x) {}", []),
        ('// extern "C" __global__ void a() {}', []),
        ('__device__ const char *s = "extern __global__ void a()";', []),
    ],
)
def test_kernels_are_found(source, names):
    assert translate(source).kernels == names


@pytest.mark.parametrize(
    "source, names",
    [
        ("__constant__ float a[3];", ["a"]),
        ("__constant__ float a[3] = {1, 2, 3}, b;", ["a", "b"]),
        ("__device__ int a = 4, b[2][2], c;", ["a", "b", "c"]),
        ("__device__ int f(int a) { int b = 1; return b; }", []),
        ("__device__ __forceinline__ int f(int a = 3);", []),
        ("__device__ volatile int flag;", ["flag"]),
        ("__constant__ __align__(16) float a[4];", ["a"]),
        ("struct S { __device__ int f() const { return 1; } };", []),
        ('extern "C" { __constant__ double c[8]; }', ["c"]),
        ("namespace n { __device__ int hidden; }", []),
        ("// __constant__ float a[3];", []),
    ],
)
def test_global_variables_are_found(source, names):
    assert translate(source).globals == names


@pytest.mark.parametrize(
    "body, fibers, spins",
    [
        ("int i = 0;", False, False),
        ("// __syncthreads();", False, False),
        ('printf("__syncthreads()");', False, False),
        ("__syncthreads();", True, False),
        ("__shfl_down_sync(1, 2, 3);", True, False),
        ("while (i < 3) atomicAdd(x, 1);", False, False),
        ("while (atomicCAS(x, 0, 1) != 0);", True, True),
        ("while (f(g(1)) + atomicAdd(x, 0) < 3);", True, True),
        ("while (f(i)) { atomicAdd(x, 1); }", False, False),
        ("volatile int *p;", True, True),
    ],
)
def test_whether_threads_may_wait(body, fibers, spins):
    translation = translate(f'extern "C" __global__ void k() {{ {body} }}')
    assert (translation.fibers, translation.spins) == (fibers, spins)


@pytest.mark.parametrize(
    "declaration",
    [
        "extern __shared__ float s[];",
        "extern __shared__ __align__(16) unsigned char s[];",
        "extern __shared__ double2\n s [ ] ;",
        "extern volatile __shared__ int s[];",
        "extern __shared__ volatile int s[];",
    ],
)
def test_dynamic_shared_memory(declaration):
    text = translate(f'extern "C" __global__ void k() {{ {declaration} s[0]; }}').text
    assert "standin_here.dynamic_shared" in text and "extern __shared__" not in text


def test_headers(tmp_path):
    (tmp_path / "mine.h").write_text("#define MINE 1\n")
    source = '#include "mine.h"\n#include <cuda_fp16.h>\n'
    missing = r'^kernel\.cu\(1\): catastrophic error: could not open source file "mine\.h"'
    with pytest.raises(CompileError, match=missing):
        translate(source)
    options = parse((f"-I{tmp_path}", "-default-device"))
    text = translate(source + "int MINE", options=options).text
    assert "int 1" in text and text.startswith('#include "half.h"')
