"""NVIDIA's own compiler as a second opinion; needs no GPU."""

import cupy as cp
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException
from functions import BINARY, EXACT, FLOAT_ONLY, UNARY

from gpuless import nvrtc as compiler
from gpuless.engine import sources

pytestmark = pytest.mark.skipif(
    not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc, -runtime and -cccl"
)


def test_a_good_kernel_passes():
    nvrtc.check(
        'extern "C" __global__ void k(float *x) { x[threadIdx.x] = rsqrtf(2.0f); __syncthreads(); }'
    )


def test_a_bad_kernel_is_refused_with_its_lines():
    source = 'extern "C" __global__ void k(float *x) {\n\n    x[0] = missing;\n}'
    with pytest.raises(CompileException, match="NVRTC refused it") as caught:
        nvrtc.check(source, name="bad")
    assert 'bad.cu(3): error: identifier "missing" is undefined' in str(caught.value)
    assert caught.value.source == source


def test_the_limit_of_the_stack_stays():
    """NVRTC lifts it; processes started later would have it, and their addresses elsewhere."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_STACK)
    with pytest.raises(CompileException):
        nvrtc.check('extern "C" __global__ void k(const T *x) {}', ("-DT=float",))
    assert resource.getrlimit(resource.RLIMIT_STACK) == before


def test_options_and_templates():
    source = "template <class T> __global__ void k(T *x) { x[0] = N; }"
    nvrtc.check(source, ("-DN=3", "-std=c++20"), expressions=("k<float>", "k<long long>"))
    with pytest.raises(CompileException):
        nvrtc.check(source, ("-DN=3",), expressions=("k<missing>",))
    with pytest.raises(CompileException):
        nvrtc.check(source, ("--no-such-option",))


def test_every_function_of_the_stand_in_exists():
    """What the shim offers beyond CUDA would fail on a reader's GPU."""
    lines = [f"o[0] += {name}(y) + {name}f(f[0]) + {name}(f[0]);" for name in UNARY]
    lines += [f"o[0] += {name}(y, y) + {name}(f[1], f[2]);" for name in BINARY if name != "rhypot"]
    lines += [f"f[0] += {name}(f[1]);" for name in FLOAT_ONLY]
    lines += [f"o[{i}] = (double)({text});" for i, (text, _) in enumerate(EXACT)]
    start = 'extern "C" __global__ void k(double *o, float *f, const double *x) { double y = x[0];'
    nvrtc.check("\n".join([start, *lines, "}"]))


def test_switched_on_by_the_environment(monkeypatch):
    """C++ compilers may be told to let numbers become narrower; NVRTC may not."""
    source = 'extern "C" __global__ void only_here(int *x) { int n = *x; dim3 d{n}; *x = d.x; }'
    monkeypatch.delenv(sources.VARIABLE, raising=False)
    cp.RawKernel(source, "only_here").compile()
    monkeypatch.setenv(sources.VARIABLE, nvrtc.__file__)
    with pytest.raises(CompileException, match=r"NVRTC refused it:\nonly_here.cu\(1\): error"):
        cp.RawKernel(source + " ", "only_here").compile()


def test_newer_instructions_are_compiled_for_a_newer_gpu():
    source = 'extern "C" __global__ void k() { asm volatile("cp.async.commit_group;"); %s }'
    nvrtc.check(source % "")
    with pytest.raises(CompileException, match='"missing" is undefined'):
        nvrtc.check(source % "missing();")


def test_cooperative_groups(monkeypatch):
    source = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
extern "C" __global__ void k(float *x) {
    namespace cg = cooperative_groups;
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    x[0] = cg::reduce(tile, tile.shfl_xor(x[1], 3), cg::plus<float>()) + tile.meta_group_rank();
    cg::this_grid().sync();
}"""
    nvrtc.check(source)
    monkeypatch.setattr("gpuless.nvrtc.include_folder", lambda header: None)
    with pytest.raises(RuntimeError, match="pip install nvidia-cuda-runtime nvidia-cuda-cccl"):
        nvrtc.check(source + "\n")  # what has been accepted is not compiled again


def test_not_installed(monkeypatch):
    monkeypatch.setattr("gpuless.nvrtc._wheel_folders", lambda: [])
    compiler._library.cache_clear()
    with pytest.raises(RuntimeError, match="pip install nvidia-cuda-nvrtc"):
        nvrtc.check("")
    compiler._library.cache_clear()
