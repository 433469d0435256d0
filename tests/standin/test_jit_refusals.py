"""``cupyx.jit``: what it refuses, with CuPy's errors and the line."""

import warnings

import cupy as cp
import cupyx
import numpy as np
import pytest
from cupy.cuda.compiler import CompileException
from jit_lines import line_of

from gpuless.engine.errors import KernelError

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    from cupyx import jit

pytestmark = pytest.mark.filterwarnings("ignore:cupyx.jit.rawkernel is experimental")


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


def test_an_array_from_outside_is_refused():
    outside = cp.arange(3)

    @jit.rawkernel()
    def element(a):
        a[0] = outside[jit.threadIdx.x]

    @jit.rawkernel()
    def constant(a):
        a[0] = outside[1]

    with pytest.raises(TypeError, match="is not subscriptable with non-constants"):
        element[1, 1](cp.zeros(1))
    with pytest.raises(NotImplementedError, match="1 is not scalar object"):
        constant[1, 1](cp.zeros(1))


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
    for name in ("cub", "thrust"):
        with pytest.raises(NotImplementedError, match=f"cupyx.jit.{name} is not covered"):
            getattr(jit, name)

    @jit.rawkernel()
    def counts(a):
        a[0] = jit.thrust.count(jit.thrust.seq, a, a, 1)

    @jit.rawkernel()
    def iterates(a):
        a[0] = a.begin()

    @jit.rawkernel()
    def of_complex(a, z):
        z[0] = cp.log1p(z[0])

    @jit.rawkernel()
    def sinc(a):
        a[0] = cp.sinc(a[0])

    for kernel, text in (
        (sinc, "cupy.sinc in a kernel"),
        (counts, "cupyx.jit.thrust"), (iterates, r"begin\(\)"), (of_complex, "log1p of complex"),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=f"{text}.* is not covered"):
            kernel[1, 1](*[cp.zeros(1), cp.zeros(1, "F")][: 1 + (kernel is of_complex)])
    with pytest.raises(NotImplementedError, match="get_lto_ir"):
        counts.get_lto_ir((cp.zeros(1),))
    assert cupyx.jit is jit


def test_what_the_compiler_rejects_has_the_line():
    @jit.rawkernel()
    def kernel(a):
        a[0] += 1  # here: half

    with pytest.raises(CompileException, match=rf"kernel.cu\({line_of('half')}\): error"):
        kernel[1, 1](cp.zeros(1, "e"))


def test_what_groups_refuse():
    def attribute(a, n):
        jit.cg.this_grid().thread_index()

    def no_group(a, n):
        jit.cg.sync(n)

    def no_array(a, n):
        jit.cg.memcpy_async(jit.cg.this_thread_block(), n, 0, a, 0, 8)

    def any_step(a, n):
        jit.cg.wait_prior(jit.cg.this_thread_block(), n)

    def any_size(a, n):
        jit.cg.memcpy_async(jit.cg.this_thread_block(), a, 0, a, 1, 8, aligned_size=n)

    def pair(a, n):
        block, grid = jit.cg.this_thread_block(), jit.cg.this_grid()
        block.sync(), grid.sync()

    def only_cg_sync(a, n):
        jit.cg.sync(jit.cg.this_grid())

    for function, error, text in (
        (attribute, AttributeError, "Unknown attribute: thread_index"),
        (no_group, ValueError, "group must be a valid cooperative group"),
        (no_array, TypeError, "dst/src must be of array type"),
        (any_step, ValueError, "step must be a compile-time constant"),
        (any_size, ValueError, "aligned_size must be a compile-time constant"),
        (pair, TypeError, "not assignable"),
        (only_cg_sync, KernelError, "needs a cooperative launch"),
    ):
        with pytest.raises(error, match=text):
            jit.rawkernel()(function)[1, 1](cp.zeros(3), 1)
