"""float16 in kernels that CuPy writes: made of what CuPy's class is made of."""

import cupy as cp
import numpy as np
import pytest
from cupy.cuda.compiler import CompileException
from cupyx import jit

from gpuless import nvrtc

pytestmark = pytest.mark.filterwarnings("ignore:cupyx.jit.rawkernel is experimental")

# Just beside the middle of two numbers of 16 bits, where a float lies in the middle; and the ends.
DOUBLES = np.array(
    [1 + 2**-11 + 2**-40, 1 + 2**-11, 65519.9999999, 65520, -1e40, 1.5 * 2**-24 - 2**-60, 1e-50]
    + [2**-25 * (1 + 1e-12), -np.inf, np.nan]
)


def run(body, x, y):
    cp.ElementwiseKernel("T x", "float16 y", body, "k")(cp.asarray(x), y)
    return y.get()


def test_a_double_is_rounded_once():
    with np.errstate(over="ignore"):
        wanted = DOUBLES.astype("e")
    for body in ("y = x", "y = (float16)x", "y = 0; y += x"):
        np.testing.assert_array_equal(run(body, DOUBLES, cp.empty(10, "e")), wanted)
    twice = cp.ReductionKernel("float64 x", "float16 y", "x", "a + b", "y = a", "0", "add")
    assert twice(cp.asarray(DOUBLES[:1])) == np.float16(1.001)


def test_a_variable_that_begins_as_a_double_is_rounded_twice():
    """As in CuPy, where `float16 a = x;` may take the constructor of a float only."""
    assert run("float16 a = x; y = a", DOUBLES[:1], cp.empty(1, "e")) == 1
    with np.errstate(over="ignore"):

        @jit.rawkernel()
        def kernel(x, y):  # where a float16 that is in no array is a float
            y[0] = cp.float16(x[0])

        y = cp.empty(1, "e")
        kernel[1, 1](cp.asarray(DOUBLES), y)
    assert y[0] == 1


@pytest.mark.parametrize(
    ("body", "x", "before", "after"),
    [("y *= x", 1e40, 0, 0), ("y /= x", 1e-50, 0, 0), ("y -= x", -(2**-11) - 2**-40, 1, 1.001)],
)
def test_an_assignment_with_an_operator_counts_in_the_type_of_both(body, x, before, after):
    y = run(body, np.array([x]), cp.full(1, before, "e"))
    assert y == np.float16(after)


@pytest.mark.parametrize(
    "body",
    ["y = i", "y = size_t(3)", "y = _ind.size()", "y = sizeof(T)", "y = min(y, 1.0f)",
     "long l = 1; float16 a(l)", "y++", "atomicAdd(&y, 1.0f)"],
)  # fmt: skip
def test_what_no_constructor_or_function_is_nearest_to_is_refused(body):
    with pytest.raises(CompileException, match=r"^k\.cu\(1\): error"):
        run(body, np.ones(1), cp.zeros(1, "e"))


def test_what_a_float16_has():
    for body, wanted in [
        ("y = half(1.5f)", 1.5), ("y = true", 1), ("y = 3u; y += 4ll", 7), ("y = short(-2)", -2),
        ("y = float16::from_bits(0x3c00)", 1), ("y = 2; y = y.to_bits()", 0x4000),
        ("y = -2; y = y.signbit() + signbit(y)", 2), ("y = float16::nan; y = y.isfinite()", 1),
        ("y = copysign(float16(3), float16(-0.0))", -3), ("y = min(y, float16(-4))", -4),
        ("y = 1e9; y = isinf(y) + y.isinf() + y.isnan()", 2), ("y = iszero(y) + y.iszero()", 2),
        ("atomicAdd(&y, float16(5))", 5), ("y = 100000", np.inf),
        ("float16 never_set; y = isnan(never_set) && isnan(float16())", 1),
    ]:  # fmt: skip
        assert run(body, np.ones(1), cp.zeros(1, "e")) == np.float16(wanted), body


def test_where_no_array_is_of_float16_it_is_unknown():
    kernel = cp.ElementwiseKernel("float64 x", "float64 y", "y = float16(x)", "k")
    with pytest.raises(CompileException, match="incomplete type"):
        kernel(cp.ones(1))


def test_an_atomic_addition_takes_no_float_for_a_float16():
    @jit.rawkernel()
    def of_elements(x, total):
        jit.atomic_add(total, 0, x[jit.threadIdx.x])

    @jit.rawkernel()
    def of_floats(x, total):
        jit.atomic_add(total, 0, x[jit.threadIdx.x] * x[0])

    x, total = cp.arange(1, 9, dtype="e"), cp.zeros(1, "e")
    of_elements[1, 8](x, total)
    assert total == 36
    with pytest.raises(CompileException, match="atomicAdd"):
        of_floats[1, 8](x, total)


@pytest.mark.skipif(not nvrtc.is_installed(), reason="needs NVIDIA's compiler")
def test_nvidias_compiler_takes_the_same():
    for body, taken in {
        "float16 a(l);": False, "y = l;": False, "y = d; y *= d;": True, "y = half(d);": True,
        "float16 a = d; y = a == y;": True, "y = min(y, d);": False,
    }.items():  # fmt: skip
        source = f"""#include <cupy/float16.cuh>
extern "C" __global__ void k(float16 &y, double d, long l) {{ {body} }}"""
        assert nvrtc.compile(source).accepted == taken, body
