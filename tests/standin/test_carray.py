"""Raw arrays inside a kernel: flat and multi-index, whatever the strides, as in NumPy."""

import cupy as cp
import numpy as np
import pytest
from cupy.cuda.compiler import CompileException
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import shapes, views

EXAMPLES = settings(max_examples=40, deadline=None)

flat = cp.ElementwiseKernel("raw T x", "T y", "y = x[i]", "flat")
store = cp.ElementwiseKernel("T x", "raw T y", "y[i] = x", "store")


@EXAMPLES
@given(st.data())
def test_flat_index_follows_the_strides(data):
    shape = data.draw(shapes())
    x, dx = data.draw(views(shape, "int32"))
    np.testing.assert_array_equal(flat(dx, size=x.size).get(), x.ravel())


@EXAMPLES
@given(st.data())
def test_flat_store_follows_the_strides(data):
    shape = data.draw(shapes())
    y, dy = data.draw(views(shape, "int32", seed=1))
    values = np.arange(y.size, dtype="int32")
    assert store(cp.asarray(values), dy) is dy
    np.testing.assert_array_equal(dy.get(), values.reshape(shape))


@pytest.mark.long
@EXAMPLES
@given(st.data())
def test_multi_index_follows_the_strides(data):
    ndim = data.draw(st.integers(1, 3))
    shape = data.draw(st.lists(st.integers(1, 5), min_size=ndim, max_size=ndim).map(tuple))
    integer = data.draw(st.sampled_from(["int", "ptrdiff_t", "unsigned short"]))
    braces = data.draw(st.booleans())
    x, dx = data.draw(views(shape, "float64"))
    body = ""
    for axis in reversed(range(ndim)):
        body += f"{integer} i{axis} = rest % x.shape()[{axis}]; rest /= x.shape()[{axis}]; "
    index = "{" + ", ".join(f"i{axis}" for axis in range(ndim)) + "}"
    body += f"y = x[{index}]" if braces else f"{integer} at[] = {index}; y = x[at]"
    gather = cp.ElementwiseKernel("raw T x", "T y", f"ptrdiff_t rest = i; {body}", "gather")
    np.testing.assert_array_equal(gather(dx, size=x.size).get(), x.ravel())


@EXAMPLES
@given(st.data())
def test_what_an_array_says_of_itself(data):
    shape = data.draw(shapes())
    x, dx = data.draw(views(shape, "int16"))
    describe = cp.ElementwiseKernel(
        "raw T x",
        "int64 shape, int64 strides, int64 size, int64 ndim",
        "size = x.size(); ndim = x.ndim;"
        "shape = i < x.ndim ? x.shape()[i] : -1; strides = i < x.ndim ? x.strides()[i] : -1",
        "describe",
    )
    rest = [-1] * (4 - x.ndim)
    answers = [a.get().tolist() for a in describe(dx, size=4)]
    # A dimension of length 1 has no stride to speak of, and NumPy is free to report any.
    assert answers == [[*x.shape, *rest], [*dx.strides, *rest], [x.size] * 4, [x.ndim] * 4]


def test_an_array_without_dimensions():
    x = cp.asarray(np.float32(7))
    assert flat(x, size=3).get().tolist() == [7, 7, 7]
    total = cp.zeros((), "float32")
    cp.ElementwiseKernel("T x", "raw T total", "atomicAdd(&total[0], x)", "add_all")(
        cp.arange(5, dtype="float32"), total
    )
    assert total == 10


def test_raw_inputs_cannot_be_written():
    with pytest.raises(CompileException, match="read-only|const value"):
        cp.ElementwiseKernel("raw T x", "T y", "x[i] = 1; y = 0", "writes")(cp.zeros(2), size=2)


def test_the_number_of_indices_is_checked():
    kernel = cp.ElementwiseKernel("raw T x", "T y", "y = x[{i, i}]", "too_many")
    with pytest.raises(CompileException, match="the number of indices is not the array's ndim"):
        kernel(cp.zeros(3), size=1)


def test_pointers_into_an_array():
    x = cp.arange(12.0).reshape(3, 4)
    rows = cp.ElementwiseKernel(
        "raw T x, int32 width",
        "T y",
        "const T *row = &x[i * width]; y = 0; for (int k = 0; k < width; ++k) y += row[k]",
        "row_sums",
    )
    np.testing.assert_array_equal(rows(x, 4, size=3).get(), x.get().sum(axis=1))


def test_template_over_the_array():
    kernel = cp.ElementwiseKernel(
        "raw T x",
        "T y",
        "y = last(x)",
        "templated",
        preamble="template <class A> __device__ float last(const A &a) { return a[a.size() - 1]; }",
    )
    assert kernel(cp.arange(5, dtype="float32")[::-1], size=1)[0] == 0


def test_stencil_on_a_view():
    x = np.random.default_rng(2).normal(size=(7, 9)).astype("float32")
    view = cp.asarray(x)[1:6, ::2]  # 5 x 5, not contiguous
    laplace = cp.ElementwiseKernel(
        "raw T x",
        "T y",
        "const int h = x.shape()[0], w = x.shape()[1], r = i / w, c = i % w;"
        "y = 0; if (r > 0 && c > 0 && r < h - 1 && c < w - 1)"
        "  y = x[{r - 1, c}] + x[{r + 1, c}] + x[{r, c - 1}] + x[{r, c + 1}] - 4 * x[i]",
        "laplace",
    )
    got = laplace(view, cp.empty((5, 5), "float32")).get()
    v = x[1:6, ::2]
    wanted = np.zeros_like(v)
    wanted[1:-1, 1:-1] = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1]
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


# Views whose neighbours in memory are the parent's elements, and the number of elements of each.
VIEWS = {
    "x[2:5]": (lambda x: x[2:5], 3),
    "x[6:1:-2]": (lambda x: x[6:1:-2], 3),
    "x.reshape(4, 3)[1:3, 1:]": (lambda x: x.reshape(4, 3)[1:3, 1:], 4),
    "x.reshape(4, 3)[::2].T": (lambda x: x.reshape(4, 3)[::2].T, 6),
    "x.reshape(3, 2, 2)[1]": (lambda x: x.reshape(3, 2, 2)[1], 4),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("past", [0, -1, 1, 5])
def test_an_index_outside_a_view_is_found_inside_its_parent(view, past):
    make, size = VIEWS[view]
    parent = cp.arange(12.0)
    index = size + past if past >= 0 else past
    message = f"index {index} is outside the raw array 'v', which has {size} elements"
    read = cp.ElementwiseKernel("raw T v, int32 k", "T y", "y = v[k]", "reads")
    with pytest.raises(IndexError, match=f"^kernel 'reads': {message}"):
        read(make(parent), index, size=1)
    write = cp.ElementwiseKernel("T y, int32 k", "raw T v", "v[k] = y", "writes")
    with pytest.raises(IndexError, match=f"^kernel 'writes': {message}"):
        write(cp.full(1, 99.0), index, make(parent))
    np.testing.assert_array_equal(parent.get(), np.arange(12.0))


@pytest.mark.parametrize(
    "index, axis, wrong, length", [("0, 2", 1, 2, 2), ("2, 0", 0, 2, 2), ("1, -1", 1, -1, 2)]
)
def test_a_multi_index_outside_a_view_is_found_inside_its_parent(index, axis, wrong, length):
    parent = cp.arange(20.0).reshape(4, 5)
    write = cp.ElementwiseKernel("T y", "raw T v", f"v[{{{index}}}] = y", "cells")
    message = f"^kernel 'cells': index {wrong} is outside the raw array 'v', which has length "
    with pytest.raises(IndexError, match=f"{message}{length} along axis {axis}"):
        write(cp.full(1, 99.0), parent[1:3, 1:5:2])
    np.testing.assert_array_equal(parent.get(), np.arange(20.0).reshape(4, 5))


def test_what_cupy_puts_before_its_kernels():
    """<cupy/atomics.cuh> and <cupy/math_constants.h>."""
    add = cp.ElementwiseKernel("T x", "raw T total", "atomicAdd(&total[0], x)", "add_all")
    for dtype in ("int64", "float16"):
        total = cp.zeros(1, dtype)
        add(cp.arange(5, dtype=dtype), total)
        assert total == 10
    most = cp.ElementwiseKernel("T x", "raw T most", "atomicMax(&most[0], x)", "most_of_all")
    for dtype in ("float32", "float64"):  # CuPy compares as floats
        found = cp.zeros(1, dtype)
        most(cp.array([1 / 3, np.nan], dtype), found)
        assert found == np.float32(1 / 3)
    ends = cp.ElementwiseKernel("T x", "T y", "y = x > 0 ? CUDART_INF : CUDART_NAN", "ends")
    np.testing.assert_array_equal(ends(cp.arange(2.0)).get(), [np.nan, np.inf])
    least = cp.ReductionKernel("T x", "T y", "x", "min(a, b)", "y = a", "CUDART_INF", "least")
    assert least(cp.array([3.0, 2])) == 2
    source = """#include <cupy/atomics.cuh>
    #include <cupy/math_constants.h>
    extern "C" __global__ void k(long long *n, double *y) {
        atomicAdd(n, 2ll);
        if (threadIdx.x == 0) y[0] = CUDART_INF;
    }"""
    n, y = cp.zeros(1, "int64"), cp.zeros(1)
    cp.RawKernel(source, "k")((1,), (32,), (n, y))
    assert n == 64 and y == np.inf
    bare = source.replace("#include <cupy/atomics.cuh>", "")
    with pytest.raises(CompileException, match=r"k\.cu\(4\): error"):
        cp.RawKernel(bare, "k")((1,), (32,), (n, y))
