"""``cupyx.jit``: Python functions as kernels, held to what Python and NumPy make of them."""

import itertools
import re
import warnings

import cupy as cp
import numpy as np
import pytest
from jit_lines import line_of
from translated import collatz

from gpuless.engine.errors import KernelError

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    from cupyx import jit

pytestmark = pytest.mark.filterwarnings("ignore:cupyx.jit.rawkernel is experimental")
NUMBERS = np.array([0, 1, 5, 6, 7, 27, 97, -3])
OFFSET = 3
FACTORS = (2, 5)


# The language


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


def test_what_an_operand_does_is_done_once():
    @jit.rawkernel(device=True)
    def counts(a):
        a[0] += 1
        return a[0]

    @jit.rawkernel()
    def kernel(a):
        a[1] = cp.square(counts(a)) + counts(a) // 2 + max(counts(a), 0)
        a[1 + counts(a)] += counts(a)

    a = cp.zeros(6, int)
    kernel[1, 1](a)
    assert a.get().tolist() == [5, 1 + 1 + 3, 0, 0, 0, 5]

    @jit.rawkernel(device=True)
    def places(a):
        return counts(a), counts(a)

    @jit.rawkernel()
    def indices(a, b):
        i, j = counts(a), counts(a)
        b[i, j] = 7
        b[places(a)] = 8
        pair = places(a)
        b[pair] = b[pair[0]][0] - 1

    a, b = cp.zeros(1, int), cp.zeros((6, 7), int)
    indices[1, 1](a, b)
    wanted = np.zeros((6, 7), int)
    wanted[1, 2], wanted[3, 4], wanted[5, 6] = 7, 8, -1
    assert a == 6 and b.get().tolist() == wanted.tolist()


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


def test_a_float16_of_the_text_has_the_digits_of_one():
    @jit.rawkernel()
    def kernel(o):
        o[0] = np.float16(0.1) + 1
        o[1] = np.float16(0.1)
        o[2] = np.float16(-0.1) * o[3]

    for kind in "fd":
        o = cp.ones(4, kind)
        kernel[1, 1](o)
        assert o.tolist() == [1.099609375, 0.0999755859375, -0.0999755859375, 1]


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


def test_a_short_number_overflows_where_it_is_kept():
    @jit.rawkernel()
    def kernel(x, out):
        out[0] = x[0] + x[1]  # an int, as in C
        kept = x[0] + x[1]
        pair = (x[0] + x[1], x[0] > 3)
        out[1], out[2] = kept, pair[0]

    out = cp.zeros(3, int)
    kernel[1, 1](cp.array([127, 1], "b"), out)
    assert out.get().tolist() == [128, -128, -128]


def test_functions_of_short_numbers_compute_with_what_an_operand_is_in_c():
    @jit.rawkernel()
    def kernel(x, y, out):
        out[0] = (x[0] + x[0]) // y[0]
        out[1] = (x[0] + x[0]) % y[0]
        out[2] = max(x[0] + x[0], y[0])
        out[3] = cp.fmin(x[0] * x[0], y[0] * x[0])
        out[4] = (x[0] + x[0]) ** (y[0] + y[0])
        out[5] = cp.lcm(x[0] + x[0], y[0] + y[0])
        out[6] = cp.sign(x[0] + x[0])
        out[7] = cp.absolute(x[0] + x[0])

    out = cp.zeros(8, int)
    kernel[1, 1](cp.array([100], "b"), cp.array([3], "b"), out)
    assert out.get().tolist() == [66, 2, 200, 300, 200**6 % 2**32, 600, 1, -56]


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
