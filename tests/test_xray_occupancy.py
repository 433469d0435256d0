"""Registers and blocks at once: against numbers worked out by hand from NVIDIA's tables."""

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import pytest

from gpuless import nvrtc
from gpuless.machine_code import Cubin
from gpuless.xray.occupancy import KINDS, residence

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256) sum(const float *x, float *y) {
    __shared__ float part[256];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = part[255 - threadIdx.x];
}
extern "C" __global__ void other(float *y) { y[threadIdx.x] = 1; }"""


def code(registers, shared=0, threads=None):
    return Cubin("k", 80, registers, shared=shared, stack=0, spilled=0, threads=threads)


@pytest.mark.parametrize(
    ("architecture", "registers", "shared", "threads", "dynamic", "blocks", "limit"),
    [
        (80, 32, 0, 256, 0, 8, "threads"),
        (80, 33, 0, 256, 0, 6, "registers"),  # 1,280 a warp, 12 warps a quarter, 48 in all
        (80, 255, 0, 256, 0, 1, "registers"),
        (75, 64, 0, 256, 0, 4, "threads"),
        (75, 16, 0, 32, 0, 16, "blocks"),
        (90, 16, 0, 32, 0, 32, "blocks"),
        (75, 16, 16384, 128, 0, 4, "shared memory"),
        (80, 16, 40960, 128, 1024, 3, "shared memory"),  # 42 KiB + 1 of CUDA's own, of 164
        (90, 16, 0, 128, 227 << 10, 1, "shared memory"),
        (90, 16, 0, 128, (227 << 10) + 1, 0, "shared memory"),
    ],
)
def test_blocks_at_once(architecture, registers, shared, threads, dynamic, blocks, limit):
    found = residence(code(registers, shared), KINDS[architecture], threads, dynamic)
    assert found.blocks == blocks
    assert found.limit == limit
    assert found.threads == blocks * -(-threads // 32) * 32


def test_a_block_beyond_the_launch_bounds_does_not_fit():
    assert residence(code(16, threads=128), KINDS[80], 256).limit == "__launch_bounds__"


@pytest.mark.skipif(not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc")
def test_a_kernel_of_a_module():
    kernel = cp.RawModule(code=SOURCE).get_function("sum")
    found = helpers.occupancy(kernel, (256,))
    assert [r.kind.architecture for r in found] == [75, 80, 90]
    assert {r.code.shared for r in found} == {1024} and {r.code.spilled for r in found} == {0}
    assert [r.blocks for r in found] == [4, 8, 8]
    assert "sm_90 (H100)" in str(found) and "100%" in str(found)


@pytest.mark.skipif(not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc")
def test_spilled_registers_are_seen():
    kernel = cp.RawKernel(SOURCE, "sum", ("-maxrregcount=16",))
    assert all(r.code.registers <= 16 for r in helpers.occupancy(kernel, (256,)))


def test_bad_input():
    kernel = cp.RawKernel(SOURCE, "sum")
    with pytest.raises(TypeError, match="takes a RawKernel, not a function"):
        helpers.occupancy(lambda: 0, (32,))
    with pytest.raises(ValueError, match="1 to 1,024 threads"):
        helpers.occupancy(kernel, (32, 33))
    with pytest.raises(ValueError, match="1 to 1,024 threads"):
        helpers.occupancy(kernel, (32, 0))
    with pytest.raises(ValueError, match=r"not \[12\]"):
        helpers.occupancy(kernel, (32,), architectures=(12,))


def test_without_nvidias_compiler_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("gpuless.nvrtc._wheel_folders", lambda: [])
    nvrtc._library.cache_clear()
    with pytest.raises(RuntimeError, match="pip install nvidia-cuda-nvrtc"):
        helpers.occupancy(cp.RawKernel(SOURCE, "sum"), (32,))
    nvrtc._library.cache_clear()
