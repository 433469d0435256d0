"""``__constant__`` variables: the host writes them, kernels read them.

A store that NVIDIA's compiler sees becomes a trap; by a pointer whose const is cast away an H200
does change the variable, which CUDA leaves open. Both are mistakes.
"""

import ctypes
import threading

import cupy as cp
import numpy as np
import pytest

from gpuless.engine import KernelError, Module, compiler, listening

MODULE = r"""
typedef struct { int n; float w[3]; } Filter;
__constant__ float c[3] = {1, 2, 3};
__constant__ const float fixed[2] = {4, 5};
namespace ours { __constant__ Filter filter; }
__device__ float free_to_write[3] = {6, 7, 8};
extern "C" {
__global__ void reads(float *y) {
    int i = threadIdx.x;
    y[i] = c[i % 3] + fixed[i % 2] + free_to_write[i % 3] + ours::filter.n;
}
__global__ void any(float *p, float *y) { p[0] = 1; y[0] += p[0]; }
CASE
}
"""


def module(statement=""):
    return cp.RawModule(
        code=MODULE.replace("CASE", "__global__ void k(float *y, int i) {\n" + statement + "}")
    )


WRITES = {
    "a store": ("c[i] = 9;", "writes byte 4 of 'c'"),
    "through a pointer": ("float *p = (float *)((const float *)c + i); *p += 1;", "byte 4 of 'c'"),
    "of what is const besides": (
        "float *p = (float *)fixed; p[i] = 9;",
        "writes byte 4 of 'fixed'",
    ),
    "an atomic function": ("atomicAdd(&c[i], 1.f);", "writes byte 4 of 'c'"),
    "memcpy": ("memcpy(c, y, 4 * i);", "writes byte 0 of 'c'"),
    "memset": ("memset(c + i, 0, 4);", "writes byte 4 of 'c'"),
    "in a namespace": ("ours::filter.n = i;", "writes byte 0 of 'filter'"),
    "behind a barrier": ("__syncthreads();\nc[i] = y[0];", "writes byte 4 of 'c'"),
}


@pytest.mark.skipif(compiler.find_compiler().family != "gcc", reason="see shim/constants.h")
@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_stopped_and_changes_nothing(name):
    statement, said = WRITES[name]
    made, y = module(statement), cp.zeros(6, "f4")
    line = 14 + statement.count("\n")
    with pytest.raises(RuntimeError, match=rf"thread \([02], 0, 0\), line {line}: ") as caught:
        made.get_function("k")((2,), (3,), (y, 1))
    assert said in str(caught.value)
    assert "which is constant: a kernel is to read it only" in str(caught.value)
    made.get_function("reads")((1,), (6,), (y,))
    assert y.get().tolist() == [11, 14, 15, 12, 13, 16]
    assert cp.ndarray(3, "f4", made.get_global("c")).get().tolist() == [1, 2, 3]


def test_where_pages_cannot_be_closed_a_change_is_seen_behind_the_launch():
    made = Module(MODULE.replace("CASE", "__global__ void k(int i) { c[i] = 9; }"))
    kernel = made.kernel("k")
    listening.structure(kernel).constants = None
    listening.structure(kernel).constants_end = None
    for _ in range(2):
        with pytest.raises(KernelError, match="'k': writes to 'c', which is constant: a kernel is"):
            kernel.launch((1, 1, 1), (1, 1, 1), [1])
        assert np.frombuffer(ctypes.string_at(*made.variable("c")), "f4").tolist() == [1, 2, 3]


def test_what_is_beside_constants_can_be_written():
    made, y = module("free_to_write[i] = c[i];"), cp.zeros(3, "f4")
    made.get_function("k")((1,), (1,), (y, 1))
    assert cp.ndarray(3, "f4", made.get_global("free_to_write")).get().tolist() == [6, 2, 8]


def test_the_host_writes_and_so_does_a_kernel_that_it_gives_the_address():
    made, y = module(), cp.zeros(1, "f4")
    constants = cp.ndarray(3, "f4", made.get_global("c"))
    for k in range(3):  # between launches
        constants[...] = cp.asarray(np.array([k, 2, 5], "f4"))
        made.get_function("reads")((1,), (1,), (y,))
        assert float(y[0]) == k + 4 + 6
    made.get_function("any")((1,), (1,), (constants[1:], y))  # as on an H200
    assert constants.get().tolist() == [2, 1, 5]


def test_a_thread_of_the_hosts_may_write_while_a_kernel_runs():
    """The order of the two is open; what counts is that nobody is stopped."""
    made, y = module("for (int k = 0; k < 100000000; ++k) y[i] += 1;"), cp.zeros(3, "f4")
    constants = cp.ndarray(3, "f4", made.get_global("c"))
    new = cp.asarray(np.array([7, 8, 9], "f4"))

    def write():
        for _ in range(200):
            constants[...] = new

    writer = threading.Thread(target=write)
    writer.start()
    made.get_function("k")((1,), (1,), (y, 1))
    writer.join()
    assert constants.get().tolist() == [7, 8, 9]
