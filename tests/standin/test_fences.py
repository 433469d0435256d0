"""What a kernel must not touch: each stray access is an error that says who, where and what.

The fences around arrays reach a megabyte; those around shared memory too. Nothing a kernel does
ends the process.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys

import cupy as cp
import numpy as np
import pytest

from gpuless.engine import Allocation, KernelError, compiler, kernels

exact = pytest.mark.skipif(not compiler.has_shadow(), reason="no shadow memory on this system")
COPY = """extern "C" __global__ void copy(const float *x, float *y, int n_cols) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    y[row * n_cols + col] = x[row * n_cols + col];
}"""


def kernel(body, parameters="", before=""):
    return cp.RawKernel(f'{before}\nextern "C" __global__ void k({parameters}) {{\n{body}\n}}', "k")


def complaint(k, *args, grid=(1,), block=(1,), **keywords):
    with pytest.raises(KernelError) as caught:
        k(grid, block, args, **keywords)
    return str(caught.value)


def test_a_copy_without_a_bounds_test_at_many_sizes():
    copy = cp.RawKernel(COPY, "copy")
    caught = 0
    for number in range(60):
        rows, cols = 3 + 7 * number % 101, 2 + 13 * number % 97
        x, y = cp.ones((rows, cols), np.float32), cp.zeros((rows, cols), np.float32)
        side = (16, 32)[number % 2]
        grid = (-(-cols // side), -(-rows // side))
        fits = grid == (cols / side, rows / side)
        for _ in range(100):
            try:
                copy(grid, (side, side), (x, y, np.int32(cols)))
            except KernelError as error:
                caught += 1
                assert re.search(r"line 4: reads x\[\d+\], outside the array 'x' of", str(error))
        assert fits or caught >= 100 * (number + 1) - 100
    assert caught >= 5900
    assert float((cp.ones(1000) * 2).sum()) == 2000  # the session goes on


def test_the_same_from_outside_the_process():
    """Once more where nothing that pytest does could help: the interpreter itself must live."""
    program = f"""
import gpuless; gpuless.install()
import cupy as cp
copy = cp.RawKernel({COPY!r}, "copy")
caught = 0
for n in range(1, 200, 7):
    x, y = cp.ones((n, n), cp.float32), cp.zeros((n, n), cp.float32)
    for _ in range(5):
        try:
            copy((n // 16 + 1, n // 16 + 1), (16, 16), (x, y, n))
        except RuntimeError:
            caught += 1
print("lives", caught)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "lives 145", done.stderr


# ---- arrays ----------------------------------------------------------------------------------


@exact
@pytest.mark.parametrize("size", [1, 2, 5, 7, 8, 1000, 1001, 4096, 33333])
@pytest.mark.parametrize(
    "dtype, ctype", [("u1", "unsigned char"), ("f4", "float"), ("f8", "double")]
)
def test_the_first_element_past_either_end(size, dtype, ctype):
    reads = kernel(f"volatile {ctype} s = x[i]; (void)s;", f"const {ctype} *x, int i")
    writes = kernel("x[i] = 1;", f"{ctype} *x, int i")
    x = cp.zeros(size, dtype)
    for index in (0, size - 1):
        reads((1,), (1,), (x, index))
        writes((1,), (1,), (x, index))
    for index in (-1, size):
        place = "just past its end" if index > 0 else f"{x.itemsize} bytes? before its start"
        for k, verb in ((reads, "reads"), (writes, "writes")):
            assert re.match(
                rf"kernel 'k', block \(0, 0, 0\), thread \(0, 0, 0\), line 3: {verb} x\[{index}\], "
                rf"outside the array 'x' of {x.nbytes:,} bytes, {place}",
                complaint(k, x, index),
            )


@pytest.mark.parametrize("bytes_away", [16, 100, 511, 512, 4096, 50_000, 2**18, 2**20 - 4])
@pytest.mark.parametrize("size", [4, 1000, 123_456])
def test_any_distance_up_to_a_megabyte(size, bytes_away):
    k = kernel("x[i] = x[i] + 1;", "float *x, long long i")
    others = [cp.zeros(size // 4, np.float32) for _ in range(3)]
    for x in others:
        for index in ((size + bytes_away) // 4, -(bytes_away // 4)):
            assert f"x[{index}]" in complaint(k, x, index)
    assert all(float(x.sum()) == 0 for x in others)


def test_memory_that_was_freed():
    x = cp.zeros(1000, np.float32)
    address = x.data.ptr
    del x
    k = kernel("*(float *)address = 1;", "unsigned long long address")
    assert "writes memory" in complaint(k, np.uint64(address))


def test_a_view_ends_where_its_memory_does():
    k = kernel("x[i] = 5;", "float *x, int i")
    x = cp.zeros(10, np.float32)
    k((1,), (1,), (x[3:], 6))
    assert x[9] == 5
    assert "x[7]" in complaint(k, x[3:], 7)


@exact
def test_vectors_and_structs():
    k = kernel("y[i] = x[i];", "const float4 *x, float4 *y, int i")
    x, y = cp.arange(10, dtype=np.float32), cp.zeros(12, np.float32)
    k((1,), (1,), (x, y, 1))
    assert y.tolist()[4:8] == [4, 5, 6, 7]
    assert "reads x[2]" in complaint(k, x, y, 2)
    pair = "struct Triple { char a, b, c; };"
    k = kernel("y[i] = x[i];", "const Triple *x, Triple *y, int i", pair)
    x, y = cp.arange(7, dtype=np.uint8), cp.zeros(9, np.uint8)
    k((1,), (1,), (x, y, 1))
    assert y.tolist()[3:6] == [3, 4, 5]
    assert "outside the array 'x'" in complaint(k, x, y, 2)


def test_misalignment():
    x, y = cp.arange(8, dtype=np.float32), cp.zeros(1)
    k = kernel("*y = *(const double *)(x + i);", "const float *x, double *y, int i")
    k((1,), (1,), (x, y, 2))
    assert re.search(
        r"line 3: a misaligned access: '.*double'.*multiples of 8 bytes.* 4 past",
        complaint(k, x, y, 1),
    )
    k = kernel("y[0] = x[0].y;", "const float4 *x, double *y")
    k((1,), (1,), (x, y))
    assert "misaligned access: " in complaint(k, x[1:], y)


WRITE = "for (int i = 0; i < 8; ++i) x[i] = i;"


# An offset that the compiler knows, and what it may be told of a pointer before.
@pytest.mark.parametrize(
    "load",
    [
        "int v = *(int *)(x + 2);",
        "int v; v = *(int *)&x[2];",
        "int v = ((int *)(x + 2))[0];",
        "int v = *reinterpret_cast<int *>(x + 2);",
        "int v = *static_cast<int *>(static_cast<void *>(x + 2));",
        "int v = *(int *)(long *)(void *)(x + 2);",
        "int v = *(int const *)(x + 2);",
    ],
)
def test_misalignment_by_an_offset_of_the_text(load):
    k = kernel(f"{load} y[0] = v;", "unsigned char *x, int *y")
    x, y = cp.arange(16, dtype=np.uint8), cp.zeros(1, np.int32)
    assert re.search("misaligned access: .*int.* 2 past", complaint(k, x, y))
    k((1,), (1,), (x[2:], y))
    assert y[0] == 0x07060504
    k = kernel(f"extern __shared__ char x[]; {WRITE} {load} y[0] = v;", "int *y")
    assert "misaligned access: " in complaint(k, y, shared_mem=16)
    k = kernel(f"{WRITE} {load} y[0] = v;", "int *y", "__device__ __align__(8) char x[16];")
    assert "misaligned access: " in complaint(k, y)


def test_atomics_are_accesses_too():
    k = kernel("atomicAdd(&x[i], 2.f);", "float *x, int i")
    x = cp.zeros(5, np.float32)
    k((2,), (3,), (x, 4))
    assert x.tolist() == [0, 0, 0, 0, 12]
    assert "line 3" in (text := complaint(k, x, 5)) and "x[5]" in text


def test_the_line_of_a_statement_over_several_lines():
    k = kernel(
        "float sum = 0;\nfor (int j = 0;\n     j <= n;\n     ++j)\n  sum += x[j];\ny[0] = sum;",
        "const float *x, float *y, int n",
    )
    assert "line 7: reads x[9]" in complaint(k, cp.zeros(9, np.float32), cp.zeros(1, np.float32), 9)


# ---- shared memory ---------------------------------------------------------------------------


@exact
def test_shared_memory_through_a_pointer():
    k = kernel(
        "__shared__ float a[5], b[3]; a[0] = b[0] = 1;\nfloat *p = a;\nb[1] = p[i];", "int i"
    )
    k((1,), (1,), (0,))
    assert "line 5: reads outside the 20 bytes of shared memory 'a', just past" in complaint(k, 5)
    assert "'a', 4 bytes before its start" in complaint(k, -1)
    assert "'a', 399,980 bytes past its end" in complaint(k, 100_000)


@exact
def test_dynamic_shared_memory_to_the_byte():
    k = kernel("extern __shared__ char c[]; c[threadIdx.x] = 1;")
    k((2,), (13,), (), shared_mem=13)
    text = complaint(k, grid=(2,), block=(14,), shared_mem=13)
    assert "thread (13, 0, 0), line 3: writes outside the 13 bytes of its dynamic shared" in text
    assert "outside the 0 bytes of its dynamic shared memory" in complaint(k, block=(1,))
    before = kernel("extern __shared__ int d[]; d[-1 - (int)blockIdx.x] = 1;")
    assert "4 bytes before its start" in complaint(before, shared_mem=16)


@exact
@pytest.mark.parametrize("barrier", ["", "__syncthreads();"], ids=["loop", "fibers"])
def test_reading_shared_memory_that_nobody_wrote(barrier):
    body = f"__shared__ short s[7]; s[threadIdx.x] = 3; {barrier}\n"
    body += "o[threadIdx.x] = s[threadIdx.x + i];"
    k = kernel(body, "short *o, int i")
    o = cp.zeros(4, np.int16)
    k((3,), (4,), (o, 0))
    assert o.tolist() == [3] * 4
    text = complaint(k, o, 1, grid=(3,), block=(4,))
    assert "line 4: reads byte 8 of 's', shared memory that no thread" in text or not barrier
    # What the block before this one left there counts as little as on a GPU.
    late = kernel("__shared__ int s; if (blockIdx.x == 0) s = 7;\no[0] = s;", "int *o")
    assert "block (1, 0, 0)" in complaint(late, cp.zeros(1, np.int32), grid=(2,))


@exact
def test_copies_by_memcpy():
    body = """__shared__ char s[13];
    memset(s, 1, 5); memcpy(s + 5, x, 8);
    memcpy(o, s, n);"""
    k = kernel(body, "const char *x, char *o, int n")
    x, o = cp.arange(8, dtype=np.int8), cp.zeros(14, np.int8)
    k((1,), (1,), (x, o, 13))
    assert o.tolist() == [1] * 5 + list(range(8)) + [0]
    assert "line 5: reads outside the 13 bytes of shared memory 's'" in complaint(k, x, o, 14)
    assert "line 5: writes o[9]" in complaint(k, x, o[:9].copy(), 13)


@exact
def test_a_shared_struct_is_known_by_the_byte():
    k = kernel(
        "__shared__ struct { char a; int b; char c[3]; } s;\n"
        "s.a = 1; s.c[1] = 2;\no[0] = s.a + s.c[i];",
        "int *o, int i",
    )
    o = cp.zeros(1, np.int32)
    k((1,), (1,), (o, 1))
    assert o[0] == 3
    assert "reads byte 8 of 's'" in complaint(k, o, 0)


def test_static_and_dynamic_shared_memory_share_their_limit():
    k = kernel("__shared__ char s[48000]; extern __shared__ char d[]; s[0] = d[0] = 1;")
    k((1,), (1,), (), shared_mem=1000)
    with pytest.raises(cp.cuda.driver.CUDADriverError, match="CUDA_ERROR_INVALID_VALUE"):
        k((1,), (1,), (), shared_mem=40_000)
    assert k.shared_size_bytes == 48000


TEMPLATE = r"""
template <class T> __device__ T total(T mine) {
    __shared__ T parts[64];
    parts[threadIdx.x] = mine;
    __syncthreads();
    T sum = 0;
    for (int i = 0; i < blockDim.x; ++i) sum += parts[i];
    __syncthreads();
    return sum;
}
template <class T> __global__ void sums(const T *x, T *y, volatile int *turn) {
    __shared__ T kept;
    T sum = total(x[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) {
        kept = sum;
        while (*turn != blockIdx.x) { }  // all blocks have written theirs by then
        y[blockIdx.x] = kept;
        __threadfence();
        *turn = blockIdx.x + 1;
    }
}"""


def test_templates_have_their_own_shared_memory_in_every_block():
    names = ("sums<float>", "sums<double>")
    module = cp.RawModule(code=TEMPLATE, name_expressions=names)
    for name, dtype in zip(names, (np.float32, np.float64), strict=True):
        x = np.random.default_rng(1).integers(-50, 50, (5, 64)).astype(dtype)
        y = cp.zeros(5, dtype)
        module.get_function(name)((5,), (64,), (cp.asarray(x), y, cp.zeros(1, np.int32)))
        np.testing.assert_array_equal(y.get(), x.sum(axis=1))
    assert module.get_function("sums<double>").shared_size_bytes == 65 * 8


# ---- loops, and the engine alone -------------------------------------------------------------


def test_an_endless_loop_ends():
    k = kernel("for (int i = 0;; ++i)\n    x[0] = x[0] + i;", "float *x")
    x = cp.zeros(1, np.float32)
    with kernels.time_limit(0.3):
        assert "it has run for too long: does a loop never end?" in (text := complaint(k, x))
    assert re.search(r"line [34]:", text)
    kernel("x[0] = 1;", "float *x")((1,), (1,), (x,))
    assert x[0] == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize(
    "steps, seconds", [(200_000, 0.2), pytest.param(1, 0.0003, marks=pytest.mark.long)]
)
def test_an_alarm_of_the_program_is_never_taken_for_the_time_limit(steps, seconds):
    """In a process of its own: one that fell between two launches once ended or hung it."""
    program = f"""
import signal, time
import gpuless; gpuless.install()
import cupy as cp
k = cp.RawKernel('''extern "C" __global__ void k(float *x) {{
    for (int i = 0; i < {steps}; ++i) x[0] += i;
}}''', "k")
x, rung = cp.zeros(1, "float32"), []
k((1,), (1,), (x,))
signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
signal.setitimer(signal.ITIMER_REAL, {seconds}, {seconds})
end = time.monotonic() + 2
while time.monotonic() < end:
    k((1,), (1,), (x,))
signal.setitimer(signal.ITIMER_REAL, 0)
assert len(rung) >= 2, rung
"""
    environment = {**os.environ, "CUPY_STANDIN": "always"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, timeout=60)


@pytest.mark.parametrize("backwards", [False, True])
def test_the_other_order(backwards):
    """Blocks and threads tell when they ran; with barriers only the blocks' order is another."""
    body = "int i = ((blockIdx.y * 2 + blockIdx.x) * 3 + threadIdx.y) * 5 + threadIdx.x;\n"
    k = kernel(body + "when[i] = atomicAdd(clock, 1);", "int *when, int *clock")
    when = cp.full(60, -1, np.int32)
    order = kernels.backwards() if backwards else contextlib.nullcontext()
    with order:
        k((2, 2), (5, 3), (when, cp.zeros(1, np.int32)))
    assert when.tolist() == list(range(60))[:: -1 if backwards else 1]


def test_the_engine_knows_no_cupy():
    program = """
import sys
import numpy as np
from gpuless.engine import Allocation, Module
x = Allocation(12)
np.asarray(x).view(np.float32)[:] = 1, 2, 3
source = 'extern "C" __global__ void scale(float *x, float f) { x[threadIdx.x] *= f; }'
Module(source).kernel("scale").launch((1, 1, 1), (3, 1, 1), [x, 0.5])
assert np.asarray(x).view(np.float32).tolist() == [0.5, 1, 1.5]
assert not [name for name in sys.modules if name.startswith("cupy")]
"""
    environment = {"CUPY_STANDIN": "never"}
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, **environment})


def test_an_allocation_is_closed_when_nothing_sees_it_any_more():
    allocation = Allocation(100)
    seen = np.asarray(allocation)[10:20].view(np.int16)
    address = allocation.address
    del allocation
    seen[:] = 7  # still ours
    assert Allocation(100).address != address
    del seen
    assert Allocation(100).address == address


def test_without_a_shadow(tmp_path):
    """The fences of systems that have none: what is 16 bytes away or more is found all the same."""
    program = """
import gpuless; gpuless.install()
import cupy as cp
from gpuless.engine import compiler
assert not compiler.has_shadow()
k = cp.RawKernel('extern "C" __global__ void k(float *x, int i) { x[i] = 1; }', "k")
s = cp.RawKernel('''extern "C" __global__ void s(int i) {
    __shared__ float t[9];
    float *p = t;
    p[i] = 1;
}''', "s")
x = cp.zeros(1001, cp.float32)
bad = [(k, (x, i)) for i in (1004, 200_000, -2000)] + [(s, (i,)) for i in (12, 100_000)]
for kernel, args in bad:
    for _ in range(3):
        try:
            kernel((1,), (1,), args)
        except RuntimeError as error:
            assert "outside" in str(error), error
        else:
            raise AssertionError(args)
k((1,), (1,), (x, 1000))
assert float(x.sum()) == 1
"""
    environment = {**os.environ, "STANDIN_FENCES": "pages", "CUPY_STANDIN": "always"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_fences_are_exact_where_the_stack_has_no_limit():
    """Linux lays out such a program otherwise: its libraries lie far below."""
    resource = pytest.importorskip("resource")
    program = "from gpuless.engine import compiler; assert compiler.has_shadow()"
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    if most != resource.RLIM_INFINITY:
        pytest.skip("the limit of the stack cannot be lifted here")
    lifted = resource.RLIM_INFINITY, most
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, lifted),
    )
