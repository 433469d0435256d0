"""Copies from global to shared memory that a GPU makes asynchronously: four ways to write them.

Sizes, alignment and zero fill: CUDA C++ Programming Guide, "Pipeline Primitives Interface", and the
PTX ISA, "cp.async".
"""

import itertools

import cupy as cp
import numpy as np
import pytest
from marks import long_but

RNG = np.random.default_rng(43)
HEAD = """#include <cuda_pipeline.h>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
"""


def run(body, *arrays, parameters="const float *x, float *out", block=32):
    source = f'{HEAD}extern "C" __global__ void k({parameters}) {{\n{body}\n}}'
    cp.RawKernel(source, "k")((1,), (block,), arrays)


PTX = """
    unsigned to = (unsigned)__cvta_generic_to_shared(s + {n} * t);
    asm volatile("cp.async.{kind}.shared.global [%0], [%1], {bytes};" :: "r"(to), "l"(x + {n} * t));
    asm volatile("cp.async.commit_group;"); asm volatile("cp.async.wait_group 0;" ::: "memory");"""
WAYS = {
    "pipeline": "__pipeline_memcpy_async(s + {n} * t, x + {n} * t, {bytes}); __pipeline_commit();"
    "__pipeline_wait_prior(0);",
    "ca": PTX,
    "cg": PTX,
}


@pytest.mark.parametrize(
    "way, bytes_",
    long_but(
        [("pipeline", 4), ("cg", 16)],
        [*itertools.product(["pipeline", "ca"], [4, 8, 16]), ("cg", 16)],
    ),
)
def test_each_thread_copies(way, bytes_):
    n = bytes_ // 4
    x, out = RNG.random(32 * n).astype("f4"), cp.zeros(32 * n, "f4")
    copy = WAYS[way].format(n=n, bytes=bytes_, kind=way)
    body = f"""__shared__ __align__(16) float s[128];
    int t = threadIdx.x;
    {copy}
    __syncthreads();
    for (int i = 0; i < {n}; ++i) out[{n} * t + i] = s[{n} * (31 - t) + i];"""
    run(body, cp.asarray(x), out)
    np.testing.assert_array_equal(out.get().reshape(32, n), x.reshape(32, n)[::-1])


def test_zero_fill():
    """The rest of the bytes is zero; with nothing to read any aligned address will do."""
    x = RNG.random(12).astype("f4")
    out = cp.full((3, 12), np.nan, "f4")
    body = """__shared__ __align__(16) float s[36];
    int t = threadIdx.x, have = 4 - t;  // of the four floats
    unsigned to = __cvta_generic_to_shared(s + 4 * t);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(x + 4 * t),
                 "r"(have * 4) : "memory");
    __pipeline_memcpy_async(s + 12 + 4 * t, x + 4 * t, 16, 4 * t + 4);
    unsigned to4 = __cvta_generic_to_shared(s + 24 + 4 * t);
    for (int i = 0; i < 4; ++i)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :: "r"(to4 + 4 * i), "l"(x), "n"(4), "r"(i < have ? 4 : 0));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    for (int i = t; i < 36; i += 3) out[i] = s[i];"""
    run(body, cp.asarray(x), out, block=3)
    rows, want = x.reshape(3, 4), np.zeros((3, 3, 4), "f4")
    for t in range(3):
        want[0, t, : 4 - t] = rows[t, : 4 - t]
        want[1, t, : 3 - t] = rows[t, : 3 - t]
        want[2, t, : 4 - t] = x[0]
    np.testing.assert_array_equal(out.get(), want.reshape(3, 12))


def test_stages():
    """Two tiles in flight, the classic loop: load the next one, wait for this one, use it."""
    x, out = RNG.random(32 * 7).astype("f4"), cp.zeros(32, "f4")
    body = """extern __shared__ float s[];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(s + t, x + t, 4);
    __pipeline_commit();
    for (int tile = 0; tile < 7; ++tile) {
        int next = tile + 1;
        if (next < 7) __pipeline_memcpy_async(s + next % 2 * 32 + t, x + next * 32 + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum = 2 * sum + s[tile % 2 * 32 + 31 - t];
        __syncthreads();
    }
    out[t] = sum;"""
    source = f'{HEAD}extern "C" __global__ void k(const float *x, float *out) {{\n{body}\n}}'
    cp.RawKernel(source, "k")((1,), (32,), (cp.asarray(x), out), shared_mem=256)
    want = np.zeros(32, "f4")
    for tile in x.reshape(7, 32):
        want = (2 * want + tile[::-1]).astype("f4")
    np.testing.assert_array_equal(out.get(), want)


@pytest.mark.parametrize("group, threads", [("cg::this_thread_block()", 45),
                                            ("cg::tiled_partition<8>(cg::this_thread_block())", 8)]
)  # fmt: skip
def test_a_group_copies(group, threads):
    x, out = RNG.random(103).astype("f4"), cp.zeros(103, "f4")
    body = f"""__shared__ float s[103];
    auto group = {group};
    cg::memcpy_async(group, s, x, sizeof(float) * 60);
    cg::memcpy_async(group, s + 60, 43, x + 60, 50);
    cg::wait(group);
    for (int i = group.thread_rank(); i < 103; i += group.size()) out[i] = s[102 - i];"""
    run(body, cp.asarray(x), out, block=threads)
    np.testing.assert_array_equal(out.get(), x[::-1])


def test_shared_addresses():
    """32 bits find the memory again, static and dynamic, in a grid-wide launch too."""
    body = """__shared__ int a[4];
    extern __shared__ int b[];
    unsigned pa = (unsigned)__cvta_generic_to_shared(a + 1), pb = __cvta_generic_to_shared(b + 2);
    *(int *)__cvta_shared_to_generic(pa + 4) = 7 + blockIdx.x;
    *(int *)__cvta_shared_to_generic(pb) = 9;
    cg::this_grid().sync();
    out[2 * blockIdx.x] = a[2]; out[2 * blockIdx.x + 1] = b[2];"""
    source = f'{HEAD}extern "C" __global__ void k(int *out) {{\n{body}\n}}'
    out = cp.zeros(6, "i4")
    kernel = cp.RawKernel(source, "k", enable_cooperative_groups=True)
    kernel((3,), (1,), (out,), shared_mem=64)
    assert out.get().tolist() == [7, 9, 8, 9, 9, 9]


@pytest.mark.parametrize(
    "copy, message",
    [
        ("__pipeline_memcpy_async(s, x, 12);", "copy of 12 bytes; it moves 4, 8 or 16"),
        ("__pipeline_memcpy_async(s, x + 1, 16);", "the source is 4 bytes past a multiple of 16"),
        (
            "__pipeline_memcpy_async(s + 1, x, 8);",
            "the destination is 4 bytes past a multiple of 8",
        ),
        ("__pipeline_memcpy_async(s, x, 4, 8);", "copy of 4 bytes cannot fill 8"),
        ("__pipeline_memcpy_async(out, x, 4);", "this destination is elsewhere"),
        ("float own; __pipeline_memcpy_async(&own, x, 4);", "this destination is elsewhere"),
        ("__pipeline_memcpy_async(s, s + 4, 4);", "this source is elsewhere"),
        (
            'asm("cp.async.cg.shared.global [%0], [%1], 8;" :: "r"(p), "l"(x));',
            "cp.async.cg moves 16",
        ),
        (
            'asm("cp.async.ca.shared.global [%0], [%1], 8, 12;" :: "r"(p), "l"(x));',
            "cannot read 12",
        ),
        (
            'asm("cp.async.ca.shared.global [%0+4], [%1], 8;" :: "r"(p), "l"(x));',
            "destination is 4",
        ),
    ],
)
def test_what_the_hardware_does_not_copy(copy, message, only_the_standin):
    source = f"""{HEAD}extern "C" __global__ void k(const float *x, float *out) {{
    __shared__ __align__(16) float s[8];
    unsigned p = (unsigned)__cvta_generic_to_shared(s);
    {copy}
}}"""
    with pytest.raises(RuntimeError, match=rf"line 8: .*{message}"):
        cp.RawKernel(source, "k")((1,), (1,), (cp.zeros(8, "f4"), cp.zeros(8, "f4")))


def test_a_group_copies_elsewhere_at_once():
    """As CUDA's header does: what does not go from global to shared memory is a plain copy."""
    x, out = RNG.random(64).astype("f4"), cp.zeros((3, 64), "f4")
    body = """__shared__ float s[64], r[64];
    auto b = cg::this_thread_block();
    cg::memcpy_async(b, out, x, 256);
    cg::memcpy_async(b, s, x, 256);
    cg::wait(b);
    cg::memcpy_async(b, out + 64, s, 256);
    cg::memcpy_async(b, r, s, 256);
    b.sync();
    for (int i = threadIdx.x; i < 64; i += 32) out[128 + i] = r[63 - i];"""
    run(body, cp.asarray(x), out)
    np.testing.assert_array_equal(out.get(), [x, x, x[::-1]])
