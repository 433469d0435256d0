"""``cupyx.jit``: Python functions as kernels, held to what Python and NumPy make of them."""

import itertools
import re
import warnings

import cupy as cp
import cupyx
import numpy as np
import pytest
from cupy.cuda.compiler import CompileException

from gpuless.engine.errors import KernelError

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    from cupyx import jit

pytestmark = pytest.mark.filterwarnings("ignore:cupyx.jit.rawkernel is experimental")
NUMBERS = np.array([0, 1, 5, 6, 7, 27, 97, -3])
OFFSET = 3
FACTORS = (2, 5)


def line_of(text):
    """The number of the only line of this file that has ``text`` behind ``# here:``."""
    with open(__file__, encoding="utf-8") as file:
        found = [n for n, line in enumerate(file, 1) if line.rstrip().endswith(f"# here: {text}")]
    (number,) = found
    return number


# The language


def collatz(n):
    """Steps to 1, at most 20."""
    steps = 0
    while n > 1 and steps < 20:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def first_divisor(n):
    found = 0
    for d in range(2, 9):
        if n % d != 0:
            continue
        found = d
        break
    return found


def counts_down(n):
    total = 0
    for i in range(n, -2, -3):
        for j in range(i):
            total += i * j
    return total


def early(n):
    if n < 0:
        return -n
    elif n == 5:
        return n - 5
    for i in range(3):
        n += i
        if n > 7 or not n:
            return n * 10
    return n


def swaps(n):
    a, b = n, n + 1
    a, b = b, a
    pair = (a - b, (b, 7))
    t = pair[1]
    return a * 100 + pair[0] * 10 + t[0] + t[-1]


def captured(n):
    """Constants: from outside, a tuple of them, one that is worked out, a branch for ever."""
    local = FACTORS[1]
    if OFFSET > 2:
        local += 4
    else:
        local = unknown  # noqa: F821
    return max(n, OFFSET, local - 8) * FACTORS[0] + min(n, -1)


def chosen(n):
    return n if n > 5 else -n if n != 1 else 40


FUNCTIONS = [collatz, first_divisor, counts_down, early, swaps, captured, chosen]


@pytest.mark.parametrize("mode", ["cuda", "numpy"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_language_is_pythons(function, mode):
    inner = jit.rawkernel(device=True)(function)

    @jit.rawkernel(mode=mode)
    def kernel(x, y):
        i = jit.grid(1)
        y[i] = inner(x[i])

    y = cp.zeros(NUMBERS.size, int)
    kernel[2, NUMBERS.size // 2](cp.asarray(NUMBERS), y)
    assert y.get().tolist() == [function(int(n)) for n in NUMBERS]


def test_functions_that_functions_make():
    """A device function for each constant, and for each set of types."""

    def adds(constant):
        @jit.rawkernel(device=True)
        def add(x, y):
            return x + y + constant

        return add

    @jit.rawkernel()
    def kernel(x, y):
        i = jit.threadIdx.x
        y[i] = adds(10)(x[i], 1) + adds(20)(x[i], 0.5)

    x, y = cp.arange(5), cp.zeros(5)
    kernel[1, 5](x, y)
    assert y.get().tolist() == [2 * i + 31.5 for i in range(5)]
    assert len(re.findall("__device__", kernel.cached_code)) == 2


# Types


def kinds(mode, *values):
    """What ``x + y`` is in C++, for the two values."""

    @jit.rawkernel(mode=mode)
    def kernel(x, y):
        z = x + y  # noqa: F841

    kernel[1, 1](*values)
    return re.search(r"(\S.*) z = ", kernel.cached_code)[1]


@pytest.mark.parametrize(
    "x, y, cuda, numpy",
    [
        (np.uint32(1), np.int64(1), "long long", "long long"),
        (np.uint8(1), np.int16(1), "short", "short"),
        (np.int32(1), np.float16(1), "float", "double"),
        (np.int64(1), np.float32(1), "float", "double"),
        (np.float64(1), np.complex64(1), "thrust::complex<float>", "thrust::complex<double>"),
        (np.int16(1), 1, "int", "long long"),
        (np.int16(1), 1 << 31, "long long", "long long"),
        (1, 1.0, "float", "double"),
        (True, True, "bool", "bool"),
        (2.0, 1j, "thrust::complex<float>", "thrust::complex<double>"),
    ],
)
def test_two_rules_for_types(x, y, cuda, numpy):
    assert (kinds("cuda", x, y), kinds("numpy", x, y)) == (cuda, numpy)


def of_integers(xp):
    def body(x, y, i, out):
        a, b = x[i], y[i]
        out[0, i], out[1, i], out[2, i] = a + b, a - b, a * b
        out[3, i], out[4, i], out[5, i] = a // b, a % b, a / b
        out[6, i], out[7, i], out[8, i] = a & b, a | b, a ^ b
        out[9, i], out[10, i] = a << (b & 3), a >> (b & 3)
        out[11, i], out[12, i] = xp.gcd(a, b), xp.lcm(a, b)
        out[13, i], out[14, i] = xp.sqrt(xp.square(a)), xp.sign(a)
        out[15, i], out[16, i], out[17, i] = a**2, ~a, xp.fmod(a, b)
        out[18, i], out[19, i] = xp.maximum(a, b), xp.minimum(a, b)
        out[20, i], out[21, i], out[22, i] = a < b, a != b, xp.logical_xor(a, b - b)

    return body


def of_fractions(xp):
    def body(x, y, i, out):
        a, b = x[i], y[i]
        out[0, i], out[1, i], out[2, i] = a + b, a - b, a * b
        out[3, i], out[4, i], out[5, i] = a // b, a / b, -a
        out[6, i], out[7, i], out[8, i] = xp.floor(a), xp.ceil(a), xp.trunc(a)
        out[9, i], out[10, i] = xp.arctan2(a, b), xp.hypot(a, b)
        out[11, i], out[12, i] = xp.sin(a), xp.arctan(a)
        out[13, i], out[14, i] = xp.sqrt(xp.absolute(a)), xp.log1p(xp.absolute(a))
        out[15, i], out[16, i] = xp.absolute(a) ** b, xp.exp2(a)
        out[17, i], out[18, i] = xp.copysign(a, b), xp.deg2rad(a)
        out[19, i], out[20, i] = xp.maximum(a, b), xp.fmin(a, b)
        out[21, i], out[22, i] = a >= b, xp.isnan(a)
        out[23, i], out[24, i] = xp.reciprocal(b), xp.rint(a)

    return body


def of_complex(xp):
    def body(x, y, i, out):
        a, b = x[i], y[i]
        out[0, i], out[1, i], out[2, i] = a + b, a - b, a * b
        out[3, i], out[4, i], out[5, i] = a / b, -a, xp.conjugate(a)
        out[6, i], out[7, i], out[8, i] = xp.exp(a), xp.sqrt(a), xp.log(a)
        out[9, i], out[10, i], out[11, i] = xp.sin(a), xp.tanh(a), a**b
        out[12, i], out[13, i] = xp.absolute(a), a == b

    return body


@pytest.mark.parametrize("char", "bBHiqfdFD")
def test_arithmetic_and_functions_are_numpys(char):
    rng = np.random.default_rng(3)
    x, y = rng.integers(-9, 9, 11), rng.integers(1, 6, 11)
    if char in "BH":
        x = abs(x)
    if char in "fdFD":
        x, y = x + rng.random(11), y * 0.75
    if char in "FD":
        x, y = x + 1j * rng.random(11), y - 0.5j
    x, y = x.astype(char), y.astype(char)
    make = of_complex if char in "FD" else of_fractions if char in "fd" else of_integers
    body = jit.rawkernel(device=True)(make(cp))

    @jit.rawkernel(mode="numpy")
    def kernel(x, y, out):
        body(x, y, jit.threadIdx.x, out)

    wanted = np.zeros((25, 11), "D" if char in "FD" else "d")
    make(np)(x, y, slice(None), wanted)
    found = cp.zeros_like(cp.asarray(wanted))
    kernel[1, 11](cp.asarray(x), cp.asarray(y), found)
    close = 1e-6 if char in "fF" else 1e-12
    np.testing.assert_allclose(found.get(), wanted, rtol=close, atol=close)


def test_float16_is_a_float_until_it_is_stored():
    @jit.rawkernel()
    def kernel(x, y):
        i = jit.threadIdx.x
        y[i] = cp.sqrt(x[i] * x[i + 1]) / 3

    x, y = np.arange(1, 8, dtype="e") / 7, cp.zeros(6, "e")
    kernel[1, 6](cp.asarray(x), y)
    wide = x.astype("f")
    np.testing.assert_array_equal(y.get(), (np.sqrt(wide[:-1] * wide[1:]) / 3).astype("e"))


def test_signs_do_not_mix_in_sums():
    """As in CuPy with NumPy 2, which casts no signed number to an unsigned one."""

    @jit.rawkernel()
    def kernel(a, n):
        a[jit.grid(1) + n] = 1

    with pytest.raises(TypeError, match="Cannot cast from 'int32' to uint32 with casting rule"):
        kernel[1, 1](cp.zeros(3), 1)
    a = cp.zeros(3)
    kernel[1, 1](a, np.uint32(1))
    assert a.get().tolist() == [0, 1, 0]


def test_casts_and_literals():
    @jit.rawkernel()
    def kernel(x, out):
        out[0] = int(x[0])
        out[1] = cp.int8(x[1])
        out[2] = bool(x[0]) + float(3)
        out[3] = np.float32(0.1)
        out[4] = -cp.inf
        out[5] = cp.float64(1e300)
        out[6] = cp.add(x[0], 1, dtype="d")
        out[7] = cp.nan

    out = cp.zeros(8)
    kernel[1, 1](cp.array([-2.75, 300.0]), out)
    wanted = [-2, np.array(300.0).astype("i4").astype("i1"), 4, np.float32(0.1), -np.inf, 1e300]
    np.testing.assert_array_equal(out.get(), [*wanted, -1.75, np.nan])


@pytest.mark.parametrize("value", [np.float16(1.5), np.int8(-7), True, 3, 2.5, 1 + 2j])
def test_numbers_as_arguments(value):
    @jit.rawkernel()
    def kernel(x, y):
        x[jit.threadIdx.x] = y

    x = cp.zeros(3, np.asarray(value).dtype)
    kernel((1,), (3,), (x, value))
    assert x.get().tolist() == [value] * 3


# Arrays


@pytest.mark.parametrize(
    "view",
    [lambda a: a, lambda a: a[:, ::-1], lambda a: a[1::2, ::3], lambda a: a.T],
    ids=["whole", "backwards", "steps", "transposed"],
)
def test_arrays_have_their_shapes_and_strides(view):
    @jit.rawkernel()
    def kernel(a, out, told):
        x, y = jit.grid(2)
        if x < len(a) and y < a.shape[1]:
            row = a[x]
            out[x, y] = row[y] * 2 + a[x][y] - a[x, y]
        told[0], told[1], told[2] = a.size, a.ndim, a.strides[1]

    host = np.random.default_rng(1).integers(0, 99, (5, 7)).astype("i2")
    a, like = view(cp.asarray(host)), view(host)
    out, told = cp.zeros(like.shape, "i8"), cp.zeros(3, "i8")
    kernel[(2, 3), (4, 3)](a, out, told)
    np.testing.assert_array_equal(out.get(), 2 * like.astype("i8"))
    assert told.get().tolist() == [like.size, 2, a.strides[1]]


def test_arrays_without_dimensions_and_without_elements():
    @jit.rawkernel()
    def kernel(a, b, c):
        b[()] = a[()] + c.size

    b = cp.zeros((), "f")
    kernel[1, 1](cp.array(4, "f"), b, cp.zeros((0, 3)))
    assert b == 4


def test_an_index_outside_is_an_error_that_has_the_line_and_the_array():
    @jit.rawkernel()
    def kernel(a, n):
        i = jit.grid(1)
        if i < n:
            a[i, 2] += a[i, 1]  # here: outside

    a = cp.ones((4, 3))
    where = rf"kernel 'kernel', block \(1, 0, 0\), thread \(0, 0, 0\): line {line_of('outside')}"
    with pytest.raises(KernelError, match=f"{where}: index 4 is outside axis 0 of 'a', which has"):
        kernel[2, 4](a, 5)
    with pytest.raises(KernelError, match="index 2 is outside axis 1 of 'a', which has length 2"):
        kernel[1, 4](a[:, :2], 4)

    @jit.rawkernel()
    def before(a):
        a[jit.threadIdx.x - 1] = 1

    with pytest.raises(KernelError, match="index 4294967295 is outside axis 0 of 'a'"):
        before[1, 2](a[0])


# Blocks and warps


def test_a_transposition_in_shared_memory():
    @jit.rawkernel()
    def kernel(a, b):
        tile = jit.shared_memory(np.float32, 8 * 9, alignment=16)
        x, y = jit.threadIdx.x, jit.threadIdx.y
        tile[y * 9 + x] = a[jit.blockIdx.y * 8 + y, jit.blockIdx.x * 8 + x]
        jit.syncthreads()
        b[jit.blockIdx.x * 8 + y, jit.blockIdx.y * 8 + x] = tile[x * 9 + y]

    a = np.random.default_rng(2).random((16, 24), "f")
    b = cp.zeros((24, 16), "f")
    kernel[(3, 2), (8, 8)](cp.asarray(a), b)
    np.testing.assert_array_equal(b.get(), a.T)


def test_shared_memory_of_the_launch():
    @jit.rawkernel()
    def kernel(a):
        kept = jit.shared_memory(cp.int64, None)
        i = jit.threadIdx.x
        kept[i] = a[i]
        jit.syncthreads()
        rest = kept + 1
        a[i] = rest[6 - i] if i < 7 else kept[0]

    a = cp.arange(8)
    kernel((1,), (8,), (a,), shared_mem=64)
    assert a.get().tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    with pytest.raises(KernelError, match="its dynamic shared memory"):
        kernel((1,), (8,), (a,), shared_mem=56)


def test_faults_in_shared_memory_and_at_barriers_have_the_line():
    @jit.rawkernel()
    def writes(a):
        kept = jit.shared_memory(np.int32, 4)
        kept[jit.threadIdx.x] = 1  # here: shared

    with pytest.raises(KernelError, match=f"line {line_of('shared')}: writes outside the 16 bytes"):
        writes[1, 5](cp.zeros(1))

    @jit.rawkernel()
    def skips(a):
        if jit.threadIdx.x < 3:
            jit.syncthreads()  # here: barrier

    with pytest.raises(KernelError, match=f"barrier divergence.*line {line_of('barrier')}"):
        skips[1, 5](cp.zeros(1))


@pytest.mark.parametrize(
    "name, oracle",
    [("add", np.add), ("sub", np.subtract), ("min", np.minimum), ("max", np.maximum),
     ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)],
)  # fmt: skip
def test_atomics(name, oracle):
    atomic = getattr(jit, f"atomic_{name}")

    @jit.rawkernel()
    def kernel(bins, index, values):
        i = jit.grid(1)
        atomic(bins, index[i], values[i])

    rng = np.random.default_rng(5)
    index, values = rng.integers(0, 3, 40), rng.integers(0, 1000, 40).astype("i4")
    bins = np.array([12, 555, 9], "i4")
    found = cp.asarray(bins)
    kernel[5, 8](found, cp.asarray(index), cp.asarray(values))
    oracle.at(bins, index, values)
    assert found.get().tolist() == bins.tolist()


def test_atomics_that_answer():
    @jit.rawkernel()
    def kernel(a, table):
        old = jit.atomic_cas(a, (0, 1), 5, 8)
        table[0] = old + jit.atomic_exch(a, (0, 1), 3)
        table[1] = jit.atomic_inc(table, 2, 7)
        jit.atomic_dec(table, 3, 9)

    a, table = cp.array([[1, 5]], "i4"), cp.array([0, 0, 7, 0], "u4")
    with pytest.raises(TypeError, match="Cannot cast from 'int32' to uint32"):
        kernel[1, 1](a, table)
    a = a.astype("u4")
    kernel[1, 1](a, table)
    assert table.get().tolist() == [13, 7, 0, 9] and a.get().tolist() == [[1, 3]]


def test_half_an_atomic(only_the_standin):
    @jit.rawkernel()
    def kernel(a, b):
        jit.atomic_add(a, 0, b[jit.threadIdx.x])

    a = cp.zeros(1, "e")
    kernel[1, 9](a, cp.arange(9, dtype="e"))
    assert a[0] == 36


def test_warps():
    @jit.rawkernel()
    def kernel(a, out):
        lane = jit.laneid()
        v = a[jit.threadIdx.x]
        out[0, lane] = jit.shfl_sync(0xFFFFFFFF, v, 5)
        out[1, lane] = jit.shfl_up_sync(0xFFFFFFFF, v, 3)
        out[2, lane] = jit.shfl_down_sync(0xFFFFFFFF, v, 3, width=8)
        out[3, lane] = jit.shfl_xor_sync(0xFFFFFFFF, v, 6)
        if lane < 16:
            jit.syncwarp(mask=0xFFFF)
        jit.syncwarp()
        out[4, lane] = jit.warpsize

    a = np.random.default_rng(4).random(32)
    out = cp.zeros((5, 32))
    kernel[1, 32](cp.asarray(a), out)
    lane = np.arange(32)
    down = np.where(lane % 8 < 5, np.minimum(lane + 3, 31), lane)
    wanted = [[a[5]] * 32, a[np.where(lane < 3, lane, lane - 3)], a[down], a[lane ^ 6], [32] * 32]
    np.testing.assert_array_equal(out.get(), wanted)


def test_the_xray_sees_races_in_lines_of_python():
    from gpuless.xray import can_xray, xray

    if not can_xray():
        pytest.skip("no compiler for the x-ray")

    @jit.rawkernel()
    def kernel(a):
        kept = jit.shared_memory(np.float32, 32)
        i = jit.threadIdx.x
        kept[i] = a[i]  # here: race
        a[i] = kept[31 - i]

    a = cp.arange(32, dtype="f")
    text = str(xray(kernel, (1,), (32,), (a,)))
    assert f"line {line_of('race')}" in text and "`kept[i] = a[i]" in text
    assert a.get().tolist() == list(range(32))


# Launches


def test_sources_are_kept_by_types():
    @jit.rawkernel()
    def kernel(a):
        a[jit.grid(1)] += 1

    with pytest.warns(UserWarning, match="No codes are cached"):
        assert kernel.cached_codes == {}
    a, b = cp.zeros(3, "i"), cp.zeros(3, "f")
    for array in (a, b, a):
        kernel[1, 3](array)
    assert a.get().tolist() == [2, 2, 2] and b.get().tolist() == [1, 1, 1]
    assert len(kernel.cached_codes) == 2
    with pytest.warns(UserWarning, match="use `.cached_codes`"):
        assert 'extern "C" __global__ void kernel(' in kernel.cached_code
    assert kernel.__name__ == "kernel"


def test_it_is_experimental(monkeypatch):
    with pytest.warns(FutureWarning, match="cupyx.jit.rawkernel is experimental"):
        jit.rawkernel()
    monkeypatch.setattr(cp, "disable_experimental_feature_warning", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit.rawkernel()


def test_a_graph_keeps_the_arrays():
    @jit.rawkernel()
    def kernel(a, b):
        b[jit.grid(1)] += a[jit.grid(1)]

    stream, b = cp.cuda.Stream(non_blocking=True), cp.zeros(4)
    with stream:
        stream.begin_capture()
        kernel((1,), (4,), (cp.arange(4.0), b), stream=stream)
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch()
    stream.synchronize()
    assert b.get().tolist() == [0, 3, 6, 9]


def test_unrolled_loops():
    @jit.rawkernel()
    def kernel(a):
        for i in jit.range(1, 8, 3, unroll=2):
            a[0] += i

    a = cp.zeros(1)
    kernel[1, 1](a)
    assert a[0] == 1 + 4 + 7 and "#pragma unroll(2)\n" in kernel.cached_code


# Refusals


def test_what_cannot_be_a_kernel_is_refused():
    a = cp.zeros(3)

    def chained(a):
        a[0] = 1 < a[1] < 2

    def names(a):
        a[0] = unknown  # noqa: F821

    def retypes(a):
        x = 1
        x = a[0]
        a[1] = x

    def retypes_pair(a):
        x = (1, 2)
        x = (1.0, a[0])  # noqa: F841

    def indexes(a):
        a[1.5] = 1

    def many(a):
        a[0, 1] = 1

    def calls(a):
        print(a[0])

    def lists(a):
        a[0] = [1, 2][jit.threadIdx.x]

    def attribute(a):
        a[0] = a.T

    def returns(a):
        return a[0]

    def loops(a):
        for x in a:
            a[0] = x

    def otherwise(a):
        while a[0] > 1:
            a[0] -= 1
        else:
            a[0] = 0

    def nests(a):
        def inner():
            pass

    def unpacks(a):
        x, y = 1, 2, 3
        a[x] = y

    def same(a):
        a[0] = a[1] is a[2]

    def raises(a):
        raise ValueError

    def signs(a):
        a[0] = cp.sign(a[0])

    def takes_array(a):
        a[0] = cp.sqrt(a)

    def product(a):
        a[jit.grid(1) * 2] = 1

    def constant(a):
        a[0] = a[1] if True else 0

    for function, error, text in (
        (chained, NotImplementedError, "Comparison of 3 or more"),
        (names, NameError, "Unbound name: unknown"),
        (retypes, TypeError, "Cannot cast from 'float64' to int32"),
        (retypes_pair, TypeError, "must not be constant value"),
        (indexes, TypeError, "indices must be integer"),
        (many, IndexError, "number of indices is beyond array dim: 1"),
        (calls, TypeError, "Invalid function call 'print'"),
        (lists, (TypeError, ValueError), "not subscriptable|Not supported"),
        (attribute, AttributeError, "Unknown attribute: T"),
        (returns, ValueError, "Failed to infer the return type: void or double"),
        (loops, NotImplementedError, "only for range"),
        (otherwise, NotImplementedError, "while-else"),
        (nests, NotImplementedError, "Nested functions"),
        (unpacks, ValueError, "too many values to unpack"),
        (same, NotImplementedError, "Not supported: Is"),
        (raises, ValueError, "throw/catch"),
        (signs, NotImplementedError, "`cupy_sign` is not supported"),
        (takes_array, TypeError, "is unsupported"),
        (product, ValueError, "without brackets"),
        (constant, AttributeError, "of a constant"),
    ):
        with pytest.raises(error, match=text) as caught:
            jit.rawkernel()(function)[1, 1](a)
        (note,) = caught.value.__notes__
        assert f"{__file__}, line " in note and f"in {function.__name__}: " in note


def test_what_cannot_be_an_argument_is_refused():
    @jit.rawkernel()
    def kernel(a, b):
        a[0] = b

    with pytest.raises(TypeError, match="is not supported for RawKernel"):
        kernel[1, 1](cp.zeros(1), [1])
    with pytest.raises(TypeError, match="is not supported for RawKernel"):
        kernel[1, 1](np.zeros(1), 1)
    with pytest.raises(NotImplementedError, match="is not scalar object"):
        kernel[1, 1](cp.zeros(1), "1")
    with pytest.raises(TypeError, match="takes 2 positional arguments but 1 were given"):
        kernel[1, 1](cp.zeros(1))
    with pytest.raises(TypeError, match="Argument 'grid' has incorrect type"):
        kernel(1, (1,), (cp.zeros(1), 1))


def test_functions_that_only_kernels_call():
    for name in "grid syncthreads shared_memory atomic_add shfl_sync range laneid".split():
        with pytest.raises(RuntimeError, match="Cannot call this function from Python layer"):
            getattr(jit, name)(1)

    def arguments(call):
        @jit.rawkernel()
        def kernel(a, n):
            call(a, n)

        return kernel

    for body, error, text in (
        (lambda a, n: jit.grid(n), TypeError, "must be constants"),
        (lambda a, n: jit.grid(4), ValueError, "ndim=1,2,3"),
        (lambda a, n: jit.shared_memory("f", 2.5), TypeError, "must be integer or `None`"),
        (lambda a, n: jit.atomic_add(n, 0, 1), TypeError, "must be of array type"),
        (lambda a, n: jit.atomic_sub(a, 0, 1), TypeError, "`atomicSub` does not support float64"),
        (lambda a, n: jit.shfl_sync(n, 1, 0), TypeError, "mask must be an integer"),
        (lambda a, n: jit.shfl_sync(1 << 32, 1, 0), ValueError, "mask is out of range"),
        (lambda a, n: jit.shfl_sync(1, n, 0, width=7), ValueError, "power of 2"),
        (lambda a, n: len(n), TypeError, "only array type"),
        (lambda a, n: range(), TypeError, "at least 1 argument"),
        (lambda a, n: jit.range(n, unroll=3), TypeError, "unrolling requires constant"),
        (lambda a, n: min(n), TypeError, "at least 2 arguments"),
        (lambda a, n: jit.syncthreads(1), TypeError, "too many positional"),
    ):
        with pytest.raises(error, match=text):
            arguments(jit.rawkernel(device=True)(body))[1, 1](cp.zeros(1), 1)

    plain = jit.rawkernel()(lambda a, n: 1)
    with pytest.raises(TypeError, match="Calling __global__ function <lambda>"):
        arguments(plain)[1, 1](cp.zeros(1), 1)


def test_functions_without_end():
    @jit.rawkernel(device=True)
    def again(x):
        return again(x)

    @jit.rawkernel()
    def kernel(a):
        a[0] = again(a[0])

    with pytest.raises(ValueError, match="Recursive function is not supported"):
        kernel[1, 1](cp.zeros(1))


def test_what_is_not_covered_says_so():
    for name in ("cg", "cub", "thrust"):
        with pytest.raises(NotImplementedError, match=f"cupyx.jit.{name} is not covered"):
            getattr(jit, name)

    @jit.rawkernel()
    def groups(a):
        g = jit.cg.this_thread_block()
        g.sync()

    @jit.rawkernel()
    def iterates(a):
        a[0] = a.begin()

    @jit.rawkernel()
    def of_complex(a, z):
        z[0] = cp.log1p(z[0])

    for kernel, text in (
        (groups, "cupyx.jit.cg"), (iterates, r"begin\(\)"), (of_complex, "log1p of complex"),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=f"{text}.* is not covered"):
            kernel[1, 1](*[cp.zeros(1), cp.zeros(1, "F")][: 1 + (kernel is of_complex)])
    with pytest.raises(NotImplementedError, match="get_lto_ir"):
        groups.get_lto_ir((cp.zeros(1),))
    assert cupyx.jit is jit


def test_what_the_compiler_rejects_has_the_line():
    @jit.rawkernel()
    def kernel(a):
        a[0] += 1  # here: half

    with pytest.raises(CompileException, match=rf"kernel.cu\({line_of('half')}\): error"):
        kernel[1, 1](cp.zeros(1, "e"))


def test_modes_differ_in_comparisons_of_signs():
    @jit.rawkernel()
    def cuda(x, y, out):
        out[0] = x < y

    @jit.rawkernel(mode="numpy")
    def numpy(x, y, out):
        out[0] = x < y

    for x, y in itertools.product((-1, 1), (0, 2)):
        found = cp.zeros(2, bool)
        cuda[1, 1](np.int32(x), np.uint32(y), found)
        numpy[1, 1](np.int64(x), np.uint64(y), found[1:])
        assert found.get().tolist() == [x < y, x < y]
