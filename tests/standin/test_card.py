"""CUPY_STANDIN_CARD: smaller cards, and what they refuse."""

import gc
import subprocess
import sys

import cupy as cp
import numpy as np
import pytest
from cupy.cuda import runtime
from cupy.cuda.compiler import CompileException
from cupy.cuda.driver import CUDADriverError

KIB = 1024

COUNT = r"""
#include <cooperative_groups.h>
extern "C" __global__ void count(int *total, int *seen) {
    atomicAdd(total, 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) seen[blockIdx.x] = *total;
}
"""
SHARED = r"""
extern "C" __global__ void reverse(float *x, int n) {
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = s[n - 1 - i];
}
"""


@pytest.fixture
def card(monkeypatch):
    """Sets the variable; arrays of earlier tests do not count."""

    def choose(text):
        gc.collect()
        monkeypatch.setenv("CUPY_STANDIN_CARD", text)

    return choose


def properties(device=0):
    return runtime.getDeviceProperties(device)


def test_what_chapters_ask_for_is_there():
    asked = """name totalGlobalMem multiProcessorCount sharedMemPerBlock sharedMemPerBlockOptin
        sharedMemPerMultiprocessor regsPerBlock regsPerMultiprocessor maxThreadsPerMultiProcessor
        maxBlocksPerMultiProcessor l2CacheSize major minor singleToDoublePrecisionPerfRatio
        memoryClockRate memoryBusWidth clockRate cooperativeLaunch warpSize pciBusID ECCEnabled
        asyncEngineCount concurrentKernels maxThreadsDim maxGridSize totalConstMem""".split()
    assert set(asked) <= set(properties())
    for name, (number, where) in cp.cuda._card.ATTRIBUTES.items():
        assert getattr(runtime, f"cudaDevAttr{name}") == number
        value = cp.cuda._card.attribute(properties(), where)
        assert runtime.deviceGetAttribute(number, 0) == value
        assert cp.cuda.Device().attributes[name] == value
    assert cp.cuda.Device().attributes["MaxBlockDimZ"] == 64
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
        runtime.deviceGetAttribute(9999, 0)


def test_the_card_changes_the_properties(card):
    before = properties()
    card("sms=10, memory=2GiB,shared=64KiB,l2=512KiB,cooperative=0,capability=7.5")
    after = properties()
    changed = {name for name in before if before[name] != after[name]}
    assert after["multiProcessorCount"] == 10 and after["totalGlobalMem"] == 2 * KIB**3
    assert after["sharedMemPerBlock"] == 48 * KIB and after["sharedMemPerBlockOptin"] == 64 * KIB
    assert after["sharedMemPerMultiprocessor"] == 65 * KIB and after["l2CacheSize"] == 512 * KIB
    assert cp.cuda.Device().compute_capability == "75" and after["cooperativeLaunch"] == 0
    assert changed == {
        "multiProcessorCount",
        "totalGlobalMem",
        "sharedMemPerBlockOptin",
        "sharedMemPerMultiprocessor",
        "l2CacheSize",
        "cooperativeLaunch",
        "major",
        "minor",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sms", "'sms' is not one of sms=..., memory=..."),
        ("cores=5", "'cores=5' is not one of"),
        ("sms=1,sms=2", "'sms=2' is not one of .* each at most once"),
        ("sms=0", "sms must be a number, 1 or more, not '0'"),
        ("sms=1.5", "sms must be a number"),
        ("memory=2GB", "memory must be bytes, such as 65536, 64KiB, 512MiB or 2GiB, not '2GB'"),
        ("memory=-1", "memory must be bytes"),
        ("shared=47KiB", "shared must be 48KiB or more: no card has less, not '47KiB'"),
        ("cooperative=no", "cooperative must be 0 or 1, not 'no'"),
        ("capability=8", "capability must be two numbers with a point, such as 7.5, not '8'"),
    ],
)
def test_a_card_that_cannot_be(card, text, message):
    card(text)
    with pytest.raises(ValueError, match=f"CUPY_STANDIN_CARD='{text}': {message}"):
        properties()


def test_a_mistake_is_shown_at_the_import():
    code = "import helpers, cupy"
    environment = {"CUPY_STANDIN": "always", "CUPY_STANDIN_CARD": "sms=many", "PATH": ""}
    environment["PYTHONPATH"] = ":".join(sys.path)
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 1
    assert "ValueError: CUPY_STANDIN_CARD='sms=many': sms must be a number" in run.stderr


# Memory


def test_memory_ends_where_the_card_does(card):
    card("memory=1MiB")
    free, total = cp.cuda.Device().mem_info
    held = cp.cuda._ownership.used(0)
    assert (free, total) == (KIB**2 - held, KIB**2)
    x = cp.zeros(600 * KIB, np.int8)
    assert cp.cuda.Device().mem_info[0] == free - 600 * KIB
    with pytest.raises(cp.cuda.memory.OutOfMemoryError, match="allocating 614,400 bytes"):
        cp.zeros(600 * KIB, np.int8)
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorMemoryAllocation: out of memory"):
        cp.cuda.Memory(600 * KIB)
    del x
    assert cp.zeros(600 * KIB, np.int8).nbytes == 600 * KIB  # what was freed is there again


def test_each_device_has_memory_of_its_own(card, monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "2")
    card("memory=1MiB")
    x = cp.zeros(600 * KIB, np.int8)
    with cp.cuda.Device(1):
        y = cp.zeros(600 * KIB, np.int8)
        with pytest.raises(cp.cuda.memory.OutOfMemoryError):
            cp.zeros(600 * KIB, np.int8)
    assert x.device.id == 0 and y.device.id == 1


def test_what_lives_only_in_a_cycle_makes_room(card):
    card("memory=1MiB")
    cycle = [cp.zeros(600 * KIB, np.int8)]
    cycle.append(cycle)
    gc.disable()
    try:
        del cycle
        assert cp.zeros(600 * KIB, np.int8).size == 600 * KIB
    finally:
        gc.enable()


# Shared memory and cooperative launches


def test_dynamic_shared_memory_up_to_the_cards_limit(card):
    card("shared=64KiB")
    kernel = cp.RawKernel(SHARED, "reverse")
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_INVALID_VALUE") as caught:
        kernel.max_dynamic_shared_size_bytes = 65 * KIB
    assert "65536 is the limit" in caught.value.__notes__[0]
    kernel.max_dynamic_shared_size_bytes = 64 * KIB
    n = 16 * KIB
    x = cp.arange(n, dtype=np.float32)
    kernel((1,), (64,), (x, np.int32(n)), shared_mem=64 * KIB)
    assert np.array_equal(x.get(), np.arange(n)[::-1])
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_INVALID_VALUE"):
        kernel((1,), (64,), (x, np.int32(n)), shared_mem=64 * KIB + 16)


@pytest.mark.long
def test_no_cooperative_launch_where_the_card_has_none(card):
    kernel = cp.RawKernel(COUNT, "count", enable_cooperative_groups=True)
    total, seen = cp.zeros(1, np.int32), cp.zeros(3, np.int32)
    kernel((3,), (32,), (total, seen))
    assert seen.get().tolist() == [96, 96, 96]
    card("cooperative=0")
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_NOT_SUPPORTED: operation not supported"):
        kernel((3,), (32,), (total, seen))
    assert total.get().item() == 96


def test_fewer_multiprocessors_hold_fewer_blocks_at_once(card):
    card("sms=1")
    kernel = cp.RawKernel(COUNT, "count", enable_cooperative_groups=True)
    total, seen = cp.zeros(1, np.int32), cp.full(3, -1, np.int32)
    with pytest.warns(UserWarning, match="reduced from 3 to 2"):
        kernel((3,), (1024,), (total, seen))
    assert seen.get().tolist() == [2048, 2048, -1]


@pytest.mark.parametrize("capability", ["7.5", "8.0", None])
def test_reductions_of_a_warp_need_a_newer_card(card, capability):
    if capability:
        card(f"capability={capability}")
    code = """extern "C" __global__ void k(int *y) {
    y[threadIdx.x] = __reduce_add_sync(0xffffffff, threadIdx.x); }"""
    y = cp.zeros(32, "i")
    kernel = cp.RawKernel(code, "k", options=("-arch=sm_80",))  # for NVRTC; the card decides here
    if capability == "7.5":
        with pytest.raises(CompileException, match='identifier "__reduce_add_sync" is undefined'):
            kernel.compile()
    else:
        kernel((1,), (32,), (y,))
        assert y.tolist() == [496] * 32
