"""What a GPU lets pass and the stand-in tells of: writes outside views, shifts, addresses."""

import cupy as cp
import numpy as np
import pytest
from marks import long_but

import gpuless
from gpuless.engine import compiler

PUT = cp.RawKernel(
    'extern "C" __global__ void put(float *x, const float *y, int i) {\n  x[i] = y[0] + 1;\n}',
    "put",
)


@pytest.mark.parametrize(
    "part, at", [(slice(10, 20), 10), (slice(10, 20), 15), (slice(11, 20), -1), (slice(11, 18), 7),
                 (slice(11, 18), 60), (slice(0, 40, 2), 40)]
)  # fmt: skip
def test_a_write_outside_a_view_is_told(part, at):
    if not compiler.has_shadow():
        pytest.skip("without a shadow it is not seen")
    z, y = cp.zeros(90, np.float32), cp.zeros(3, np.float32)
    view = z[part]
    match = rf"'put', block \(0, 0, 0\), thread \(0, 0, 0\), line 2: writes x\[{at}\], .*view"
    with pytest.warns(RuntimeWarning, match=match) as caught:
        PUT((1,), (1,), (view, y, np.int32(at)))
    assert caught[0].filename == __file__
    assert z[part.start + at] == 1  # as on a GPU


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "arguments, at",
    [
        (lambda z: (z[10:20], z[70:]), 9),
        (lambda z: (z[11:20], z[70:]), 0),
        (lambda z: (z[10:20], z[20:30]), 12),  # of the other view
        (lambda z: (z[10:20], z), 40),  # the whole is given too
        (lambda z: (z[10:20].data, z), 40),  # an address, no view
        (lambda z: (z[10:20].data.ptr, z[3:]), 40),
        (lambda z: (z[::-1], z), -3),
        (lambda z: (z, z[3:9]), 80),
    ],
)
def test_what_is_no_write_outside_a_view(arguments, at):
    z = cp.zeros(90, np.float32)
    PUT((1,), (1,), (*arguments(z), np.int32(at)))
    assert z.sum() == 1


def test_outside_of_the_whole_array_it_is_an_error_as_ever():
    z, y = cp.zeros(91, np.float32), cp.zeros(3, np.float32)
    for at in (81, 5000, -11):
        with pytest.raises(RuntimeError, match=rf"writes x\[{at}\], outside the array 'x'"):
            PUT((1,), (1,), (z[10:20], y, np.int32(at)))
    PUT((1,), (1,), (z, y, np.int32(90)))  # and all of it is open again
    assert z[90] == 1


@pytest.mark.parametrize(
    "statement, bits, by",
    [
        ("x[1] = 1 << x[0];", 32, 40),
        ("x[1] = 1 << 40;", 32, 40),
        ("x[1] = 1u << 32;", 32, 32),
        ("x[1] >>= x[0];", 32, 40),
        ("x[1] = 1 << -x[0];", 32, -40),
        ("x[1] = (int)(1ll << (x[0] + 24));", 64, 64),
        ("unsigned char c = 1; x[1] = c << x[0];", 32, 40),
    ],
)
def test_a_shift_past_the_width(statement, bits, by):
    x = cp.array([40, 1], np.int32)
    kernel = cp.RawKernel(f'extern "C" __global__ void k(int *x) {{\n {statement} }}', "k")
    with pytest.raises(RuntimeError, match=rf"line 2: a shift of .*{bits} bits, by {by}\..* a GPU"):
        kernel((1,), (1,), (x,))


BOOLS = """extern "C" __global__ void k(const bool *b, int *o) {
    int t = threadIdx.x;
    bool unset[2]; unset[1] = b[0];
    o[t] = !b[t] + unset[1 - t / 5]; }"""


def test_a_bool_that_is_neither():
    """NVIDIA's compiler takes !b for b == 0, g++ for b ^ 1."""
    kernel, out = cp.RawKernel(BOOLS, "k"), cp.zeros(6, np.int32)
    kernel((1,), (3,), (cp.array([1, 0, 1], bool), out))
    kernel((1,), (3,), (cp.array([1, 0, 1], np.uint8), out))
    assert out.tolist() == [1, 2, 1, 0, 0, 0]
    with pytest.raises(RuntimeError, match="line 4: a .*bool' whose byte is 255, neither .* char"):
        kernel((1,), (3,), (cp.array([1, 0, 255], np.uint8), out))
    with pytest.raises(RuntimeError, match="line 4: a .*bool' whose byte .* never given a value"):
        kernel((1,), (6,), (cp.ones(6, bool), out))


def test_shifts_within_the_width():
    x = cp.array([31, 1, -7, 63], np.int64)
    source = """extern "C" __global__ void k(long long *x) {
        x[2] = -7 >> x[0]; x[1] = (int)(1u << x[0]); x[3] = 1ull << x[3]; x[0] = -1 << 31; }"""
    cp.RawKernel(source, "k")((1,), (1,), (x,))
    assert x.tolist() == [-(2**31), -(2**31), -1, -(2**63)]


def test_addresses_as_integers():
    source = 'extern "C" __global__ void k(int *x, const int *y) { x[0] = y ? y[1] : -1; }'
    x, y = cp.zeros(3, np.int32), cp.arange(5, dtype=np.int32)
    kernel = cp.RawKernel(source, "k")
    for address in (y.data.ptr, np.uint64(y.data.ptr), np.int64(y.data.ptr)):
        x[:] = 0
        kernel((1,), (1,), (x.data.ptr, address))
        assert x[0] == 1
    kernel((1,), (1,), (x, y[2:].data.ptr))
    assert x[0] == 3
    kernel((1,), (1,), (x, 0))
    assert x[0] == -1
    for wrong in (1234, np.zeros(3).ctypes.data):
        with pytest.raises(
            TypeError, match="address of no array that is alive.*passes it as it is"
        ):
            kernel((1,), (1,), (x, wrong))
    for wrong in (True, np.int32(3), 2.5):
        with pytest.raises(TypeError, match=r"argument 2 of kernel 'k'"):
            kernel((1,), (1,), (x, wrong))


@pytest.mark.parametrize("kind, off", [("int", 1), ("float", 2), ("unsigned long long", 4)])
def test_a_misaligned_atomic_is_in_the_readers_line(kind, off):
    body = f"\n\n atomicAdd(({kind} *)((char *)x + {off}), ({kind})1); }}"
    kernel = cp.RawKernel('extern "C" __global__ void k(int *x) {' + body, "k")
    with pytest.raises(RuntimeError, match="line 3: a misaligned access"):
        kernel((1,), (1,), (cp.zeros(9, np.int32),))


WAITS = [
    "for (;;) if (atomicAdd(flag, 0)) break;",
    "int v; do v = atomicCAS(flag, 1, 1); while (v == 0);",
    "int v; do { v = atomicCAS(flag, 1, 1); } while (v == 0);",
    "bool done = false; for (int i = 0; !done; i++) { if (atomicCAS(flag, 1, 1)) done = true; }",
    "again: if (atomicAdd(flag, 0) == 0) goto again;",
    "while (true) { if (atomicOr(flag, 0)) break; }",
]


@pytest.mark.parametrize("wait", long_but([WAITS[0], WAITS[3]], WAITS))
def test_a_block_that_waits_for_a_later_one(wait):
    """Begun again with all blocks at once, as if the first time had not been."""
    source = f"""__device__ int calls = 5;
    extern "C" __global__ void k(int *flag, int *count) {{
        atomicAdd(count, 1);
        atomicAdd(&calls, 1);
        if (blockIdx.x == 0) {{
            {wait}
            atomicAdd(count, 10);
        }} else atomicExch(flag, 1);
    }}"""
    module = cp.RawModule(code=source)
    calls = cp.ndarray((1,), np.int32, module.get_global("calls"))
    flag, count = cp.zeros(1, np.int32), cp.zeros(1, np.int32)
    with gpuless.time_limit(0.3):
        for times in (1, 2):
            flag[:] = 0
            module.get_function("k")((3,), (2,), (flag, count))
            assert (int(count[0]), int(calls[0])) == (26 * times, 5 + 6 * times)


@pytest.mark.long
def test_a_wait_without_an_end_is_still_an_error():
    source = """extern "C" __global__ void k(int *flag) {
        for (;;) if (atomicAdd(flag, 0)) break; }"""
    with (
        gpuless.time_limit(0.3),
        pytest.raises(RuntimeError, match="too long|round a loop"),
    ):
        cp.RawKernel(source, "k")((2,), (2,), (cp.zeros(1, np.int32),))


@pytest.mark.parametrize(
    "barriers",
    [
        "if (threadIdx.x < 3) __syncthreads(); else __syncthreads();",
        "threadIdx.x % 2 ? (void)__syncthreads_count(1) : (void)__syncthreads_or(2);",
    ],
)
def test_two_barriers_on_one_line_are_two(barriers):
    kernel = cp.RawKernel(f'\nextern "C" __global__ void k() {{ {barriers} }}', "k")
    with pytest.raises(RuntimeError, match="barrier in line 2 while .* wait at another in line 2"):
        kernel((1,), (64,), ())


def test_barriers_on_one_line_that_all_pass():
    source = """extern "C" __global__ void k(int *x) { __shared__ int s[64]; int i = threadIdx.x;
        s[i] = x[i]; __syncthreads(); int a = s[63 - i]; __syncthreads();
        s[i] = __syncthreads_count(a > 9); __syncthreads(); x[i] = s[0] + a; }"""
    x = cp.arange(64, dtype=np.int32)
    cp.RawKernel(source, "k")((1,), (64,), (x,))
    np.testing.assert_array_equal(x.get(), 54 + np.arange(64)[::-1])


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f4"])
def test_the_imaginary_part_is_not_lost_in_silence(dtype):
    with pytest.warns(np.exceptions.ComplexWarning):
        made = cp.array([1 + 2j, -3.5 + 1j]).astype(dtype)
    assert made.dtype == dtype and made.get()[0] == 1


UNSET = [
    "struct Sum { float s; int n; __device__ Sum() : n(0) {} };",
    "Sum sum; for (int i = 0; i < 4; i++) sum.s += x[i], sum.n++;\n    x[5] = sum.s;",
]


@pytest.mark.parametrize("threads", [1, 4])
def test_what_a_constructor_forgets_is_a_useless_number(threads):
    code = f'{UNSET[0]}\nextern "C" __global__ void k(float *x) {{\n    {UNSET[1]}\n}}'
    x = cp.ones(8, np.float32)
    cp.RawKernel(code, "k")((1,), (threads,), (x,))
    assert not x[5] > -1e30  # Clang's is NaN


def test_what_malloc_gives_is_not_zero():
    code = """extern "C" __global__ void k(int *x) {
    int *p = (int *)malloc(64);
    x[threadIdx.x] = p[3];
    p[3] = 0;
    free(p);
}"""
    x = cp.zeros(4, np.int32)
    for _ in range(2):  # fresh, and given again
        cp.RawKernel(code, "k")((1,), (4,), (x,))
        assert (x == -0x1010102).all()


@pytest.mark.parametrize("width", [0, 12, 64, -8])
@pytest.mark.parametrize("name", ["__shfl_sync", "__shfl_up_sync", "__shfl_xor_sync"])
def test_a_width_that_no_shuffle_has(name, width, only_the_standin):
    call = f"{name}(~0u, threadIdx.x, 1, {width})"
    kernel = cp.RawKernel(
        f'extern "C" __global__ void k(int *x) {{\n x[threadIdx.x] = {call}; }}', "k"
    )
    with pytest.raises(RuntimeError, match=f"line 2: a shuffle's width of {width} is no power"):
        kernel((1,), (32,), (cp.zeros(32, np.int32),))


def test_what_cupy_makes_of_odd_grids_and_blocks():
    """Asserted on an H200: nothing less than 1, nothing behind the third, no error."""
    k = cp.RawKernel(
        """extern "C" __global__ void k(int *y) {
    atomicAdd(y, 1); y[1] = gridDim.x; y[2] = gridDim.y; y[3] = gridDim.z; y[4] = blockDim.x;
}""",
        "k",
    )
    for grid, block, shape in (
        ((0,), (1,), (1, 1, 1, 1)),
        ((-1, 2), (1,), (1, 2, 1, 1)),
        ((3,), (0,), (3, 1, 1, 1)),
        ((1,), (-5,), (1, 1, 1, 1)),
        ((2, 1, 3, 7), (2, 1, 1, 9), (2, 1, 3, 2)),
    ):
        y = cp.zeros(5, "i4")
        k(grid, block, (y,))
        assert y.get().tolist() == [shape[0] * shape[1] * shape[2] * shape[3], *shape]
    for grid, block in (((), (1,)), ((1,), ())):
        with pytest.raises(IndexError, match="tuple index out of range"):
            k(grid, block, (y,))


OWED = {
    "if (a < 2) return 7;": 2,
    "int twice = 2 * a;": 0,
    "for (int i = 0; i < 3; ++i)\n    if (i == a) return i;": 3,
}


@pytest.mark.parametrize("body", OWED)
def test_a_return_that_is_owed(body):
    code = f"""__device__ int owes(int a) {{
    {body}
}}
extern "C" __global__ void k(int *y) {{ y[threadIdx.x] = owes(threadIdx.x); }}"""
    said = rf"thread \({OWED[body]}, 0, 0\), line 1: .*ended without the return it owes"
    with pytest.raises(RuntimeError, match=said):
        cp.RawKernel(code, "k")((1,), (5,), (cp.zeros(5, "i4"),))


def test_a_return_that_is_not_needed():
    code = """__device__ int sign(int a) {
    if (a > 0) return 1;
    else if (a <= 0) return -1;
}
extern "C" __global__ void k(int *y) { y[threadIdx.x] = sign((int)threadIdx.x - 2); }"""
    y = cp.zeros(5, "i4")
    cp.RawKernel(code, "k")((1,), (5,), (y,))
    assert y.tolist() == [-1, -1, -1, 1, 1]
