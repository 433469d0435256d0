"""Random kernels without a race: the x-ray raises no alarm, and counts what NumPy counts."""

import os

import helpers  # first: it decides who answers to `import cupy`

# isort: split
import cupy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuless.xray.machine.build import can_compile

pytestmark = pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64")
CASES = int(os.environ.get("XRAY_CASES", 12))

TEMPLATE = """extern "C" __global__ void k(const float *x, float *y, int *bins, int n) {{
    __shared__ float s[2][{threads}];
    int t = threadIdx.x, i = blockIdx.x * {threads} + t;
    float v = i < n ? x[i] : 0;
    s[0][t] = v;
    __syncthreads();
{steps}
    if (i < n) y[i] = v;
}}"""


def swap(turn, threads):
    return (
        f"    v += s[{turn}][({threads} - 1 - t)];\n    s[{1 - turn}][t] = v;\n    __syncthreads();"
    )


def rotate(turn, threads):
    return (
        f"    for (int k = 1; k < 4; k++) v += s[{turn}][(t + k) % {threads}];\n"
        f"    s[{1 - turn}][t] = v;\n    __syncthreads();"
    )


def some_lanes(turn, threads):
    return (
        f"    if (t % 3 == 1) v = s[{turn}][t - 1];\n"
        f"    s[{1 - turn}][t] = v;\n    __syncthreads();"
    )


def tree(turn, threads):
    half = 1 << (threads.bit_length() - 2)
    return (
        f"    for (int h = {half}; h; h /= 2) {{\n"
        f"        if (t < h) s[{turn}][t] += s[{turn}][t + h];\n        __syncthreads();\n    }}\n"
        f"    v = s[{turn}][0]; s[{1 - turn}][t] = v;\n    __syncthreads();"
    )


def count(turn, threads):
    return (
        f"    atomicAdd(&bins[(int)(v * 7) & 15], 1);\n"
        f"    s[{1 - turn}][t] = v;\n    __syncthreads();"
    )


@pytest.mark.long
@settings(max_examples=CASES, deadline=None, database=None, derandomize=True)
@given(
    st.lists(st.sampled_from([swap, rotate, some_lanes, tree, count]), max_size=4),
    st.sampled_from([32, 48, 64, 96]),
    st.integers(1, 3),
    st.integers(1, 200),
)
def test_no_alarm(steps, threads, blocks, n):
    texts = [step(k % 2, threads) for k, step in enumerate(steps)]
    code = TEMPLATE.format(threads=threads, steps="\n".join(texts))
    x, y, bins = cp.ones(n, "f4"), cp.zeros(n, "f4"), cp.zeros(16, "i4")
    found = helpers.xray(cp.RawKernel(code, "k"), (blocks,), (threads,), (x, y, bins, np.int32(n)))
    assert found.races == ()
    used = min(n, blocks * threads)
    (load,) = [a for a in found.accesses if a.array == "x"]
    (store,) = [a for a in found.accesses if a.array == "y"]
    for access in (load, store):
        assert (access.lanes, access.bytes) == (used, 4 * used)
        assert access.requests == sum(
            -(-max(0, min(n - b * threads, threads)) // 32) for b in range(blocks)
        )


@settings(max_examples=CASES, deadline=None, database=None, derandomize=True)
@given(
    st.sampled_from([1, 2, 4, 8, 16]),
    st.lists(st.integers(0, 300), min_size=64, max_size=64),
    st.integers(0, 31),
)
def test_sectors_and_passes_of_any_pattern(size, index, offset):
    """Counted anew, in plain Python."""
    kinds = {1: "char", 2: "short", 4: "int", 8: "double", 16: "float4"}
    code = f"""typedef {kinds[size]} T;
    extern "C" __global__ void k(const T *x, const int *p, T *y) {{
        y[threadIdx.x] = x[p[threadIdx.x]];
    }}"""
    x = cp.zeros(size * 512, "u1")[offset // 16 * 16 :]
    args = (x, cp.asarray(index, "i4"), cp.zeros(size * 64, "u1"))
    kernel = cp.RawKernel(code, "k")
    dtype = {1: "i1", 2: "i2", 4: "i4", 8: "f8", 16: "f4"}[size]
    args = (args[0][: len(args[0]) // size * size].view(dtype), args[1], args[2].view(dtype))
    found = helpers.xray(kernel, (1,), (64,), args)
    (load,) = [a for a in found.accesses if a.array == "x"]
    first = offset // 16 * 16
    sectors = passes = 0
    for warp in (index[:32], index[32:]):
        sectors += len({(first + size * k + b) // 32 for k in warp for b in range(size)})
        lanes = {16: 8, 8: 16}.get(size, 32)
        for part in range(0, 32, lanes):
            words = {(first + size * k + b) // 4 for k in warp[part : part + lanes]
                     for b in range(size)}  # fmt: skip
            passes += max(np.bincount([w % 32 for w in words]))
    assert (load.sectors, load.passes, load.requests) == (sectors, passes, 2)
