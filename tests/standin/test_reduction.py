"""ReductionKernel: results against NumPy, the order of the sums, and CuPy's rules and messages."""

import warnings

import cupy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import shapes, views

total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_axes_of_any_view(data):
    shape = data.draw(shapes())
    x, dx = data.draw(views(shape, "int64"))
    ndim = len(shape)
    axes = (
        data.draw(st.lists(st.integers(-ndim, ndim - 1), unique_by=lambda a: a % ndim))
        if ndim
        else []
    )
    axis = data.draw(st.sampled_from([None, tuple(axes), *axes]))
    keepdims = data.draw(st.booleans())
    y = total(dx, axis=axis, keepdims=keepdims)
    wanted = np.sum(x, axis=axis, keepdims=keepdims)
    assert y.shape == wanted.shape and y.dtype == np.int64
    np.testing.assert_array_equal(y.get(), wanted)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 2000), st.booleans(), st.sampled_from([0, 1]))
def test_larger_sums(rows, columns, transposed, axis):
    x = np.random.default_rng(rows * columns).integers(-99, 99, (rows, columns))
    view = x.T if transposed else x
    dx = cp.asarray(x).T if transposed else cp.asarray(x)
    np.testing.assert_array_equal(total(dx, axis=axis).get(), view.sum(axis=axis))


def by_512_partials(x):
    """Sum in float32 as CuPy's kernel does: partial k takes every 512th element, then a tree."""
    partial = np.zeros(512, np.float32)
    for start in range(0, x.size, 512):
        chunk = x[start : start + 512]
        partial[: chunk.size] += chunk
    while partial.size > 1:
        half = partial.size // 2
        partial = partial[:half] + partial[half:]
    return partial[0]


@pytest.mark.parametrize("size", [1, 511, 512, 513, 5000, 100_003])
def test_order_of_a_full_sum(size):
    x = np.random.default_rng(size).normal(size=size).astype("float32")
    assert total(cp.asarray(x)).get() == by_512_partials(x)  # to the last bit


def test_order_along_an_axis():
    x = np.random.default_rng(1).normal(size=(3, 3000)).astype("float32")
    wanted = [by_512_partials(row) for row in x]
    np.testing.assert_array_equal(total(cp.asarray(x), axis=1).get(), wanted)


def test_a_float32_sum_is_accurate():
    x = np.random.default_rng(0).random(1_000_000, np.float32)
    exact = x.sum(dtype=np.float64)
    assert abs(float(total(cp.asarray(x))) / exact - 1) < 1e-6


def test_several_inputs_are_broadcast():
    x = np.arange(6.0).reshape(2, 3)
    distance = cp.ReductionKernel(
        "T x, T y", "T z", "(x - y) * (x - y)", "a + b", "z = sqrt(a)", "0", "distance"
    )
    y = np.array([1.0, 0.0, 2.0])
    got = distance(cp.asarray(x), cp.asarray(y), axis=1).get()
    np.testing.assert_allclose(got, np.sqrt(((x - y) ** 2).sum(axis=1)), rtol=1e-15)
    assert abs(float(distance(cp.asarray(x), 1.0)) - np.sqrt(((x - 1) ** 2).sum())) < 1e-14


def test_types_and_intermediate_type():
    count = cp.ReductionKernel("T x", "int64 n", "x > 2 ? 1 : 0", "a + b", "n = a", "0", "count")
    y = count(cp.arange(5, dtype="float32"))
    assert y.dtype == np.int64 and y == 2
    mean = cp.ReductionKernel(
        "int8 x", "float32 y", "x", "a + b", "y = a / _in_ind.size()", "0", "mean", "double"
    )
    assert mean(cp.full(1000, 100, "int8")) == 100


def test_a_struct_as_intermediate_type():
    argmax = cp.ReductionKernel(
        "T x",
        "int64 y",
        "best(x, _j)",
        "a.value >= b.value ? a : b",
        "y = a.place",
        "best()",
        "argmax_kernel",
        "best",
        preamble="struct best { float value; long long place;"
        " __device__ best() : value(-1e30f), place(-1) {}"
        " __device__ best(float v, long long p) : value(v), place(p) {} };",
    )
    x = np.random.default_rng(3).permutation(5000).astype("float32")
    assert argmax(cp.asarray(x)) == x.argmax()


def test_outputs():
    x = cp.arange(6.0).reshape(2, 3)
    out = cp.empty(3)
    assert total(x, axis=0, out=out) is out
    np.testing.assert_array_equal(out.get(), [3, 5, 7])
    strided = cp.zeros((3, 2))[:, 1]
    assert total(x, strided, axis=0) is strided
    np.testing.assert_array_equal(strided.get(), [3, 5, 7])
    both = cp.ReductionKernel("T x", "T s, T m", "x", "a + b", "s = a, m = a / 2", "0", "both")
    m = cp.zeros(())
    assert both(x, cp.zeros(()), m) == 15 and m == 7.5  # the first output is returned


def test_raw_parameters():
    weighted = cp.ReductionKernel(
        "T x, raw T w", "T y", "x * w[_j % w.size()]", "a + b", "y = a", "0", "weighted"
    )
    x, w = np.arange(12.0), np.array([1.0, 10.0, 100.0])
    assert weighted(cp.asarray(x), cp.asarray(w)) == (x * np.tile(w, 4)).sum()
    with pytest.raises(NotImplementedError, match="^Illegal conditions$"):
        weighted(cp.asarray(x.reshape(3, 4)), cp.asarray(w), axis=1)
    far = cp.ReductionKernel("T x, raw T w", "T y", "x * w[_j]", "a + b", "y = a", "0", "far")
    with pytest.raises(IndexError, match="^kernel 'far': index 3 is outside the raw array 'w'"):
        far(cp.asarray(x), cp.asarray(w))


def test_empty_inputs():
    assert total(cp.zeros(0)) == 0
    np.testing.assert_array_equal(total(cp.zeros((0, 3)), axis=0).get(), [0, 0, 0])
    assert total(cp.zeros((0, 3)), axis=1).shape == (0,)
    for identity in (None, ""):
        largest = cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", identity, "largest")
        with pytest.raises(ValueError) as caught:
            largest(cp.zeros((0, 3)), axis=0)
        wanted = "zero-size array to reduction operation largest which has no identity"
        assert str(caught.value) == wanted
        assert largest(cp.zeros((0, 3)), axis=1).shape == (0,)


def test_millions_of_numbers_are_added_in_parts():
    total = cp.ReductionKernel("T a", "T y", "a", "a + b", "y = a", "0", "total")
    n = 6_000_000
    assert float(total(cp.full(n, 0.1, "f"))) == pytest.approx(0.1 * n, rel=1e-5)
    assert int(total(cp.arange(n))) == n * (n - 1) // 2
    assert (total(cp.ones((2, n // 2), "i4"), axis=1) == n // 2).all()


def test_without_an_identity_partials_start_at_zero():
    """A trap on a GPU as well: the maximum of negative numbers is then 0."""
    largest = cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")
    assert largest(cp.asarray([-3.0, -2.0])) == 0
    with_identity = cp.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "-1e300", "largest")
    assert with_identity(cp.asarray([-3.0, -2.0])) == -2


def test_graph_capture():
    stream, x, y = cp.cuda.Stream(non_blocking=True), cp.ones(4), cp.zeros(())
    with stream:
        stream.begin_capture()
        total(x, out=y)
        graph = stream.end_capture()
    assert y == 0
    x += 1
    graph.launch()
    assert y == 8


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((), {}, TypeError, "Wrong number of arguments for total"),
        (([1.0],), {}, TypeError, "Unsupported type <class 'list'>"),
        ((np.ones(2),), {}, TypeError, "Unsupported type <class 'numpy.ndarray'>"),
        ((1.0,), {}, ValueError, "Loop size is undecided."),
        ((cp.zeros(2),), {"size": 3}, TypeError, "Wrong arguments {'size': 3}"),
        ((cp.zeros((2, 2)),), {"axis": (0, -2)}, ValueError, "duplicate value in 'axis'"),
        ((cp.zeros(2), cp.zeros(())), {"out": cp.zeros(())}, ValueError,
         "cannot specify 'out' as both a positional and keyword argument"),
        ((cp.zeros(2),), {"out": cp.zeros(2)}, ValueError, "Out shape is mismatched"),
        ((cp.zeros(2), 1.0), {}, TypeError, "Output arguments must be cupy.ndarray"),
        ((cp.zeros(2),), {"out": cp.zeros((), "f")}, TypeError,
         "Type is mismatched. x <class 'numpy.float64'> <class 'numpy.float32'> T"),
    ],
)  # fmt: skip
def test_call_is_refused(arguments, options, error, message):
    with pytest.raises(error) as caught:
        total(*arguments, **options)
    assert str(caught.value) == message


def test_axis_is_checked():
    with pytest.raises(cp.exceptions.AxisError, match="axis 2 is out of bounds for array of dim"):
        total(cp.zeros((2, 2)), axis=2)


def test_definition_is_refused():
    with pytest.raises(ValueError, match='^Invalid kernel name: "1"$'):
        cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name="1")
    two = cp.ReductionKernel("T x", "T y, T z", "x", "a + b", "y = a, z = a", "0")
    with pytest.raises(NotImplementedError):
        two(cp.zeros(2), out=cp.zeros(()))
    with pytest.raises(NotImplementedError, match="no threads inside a ReductionKernel"):
        cp.ReductionKernel("T x", "T y", "x + threadIdx.x", "a + b", "y = a", "0")


@pytest.mark.parametrize("name", ["div", "x", "memcpy"])
def test_names_of_the_c_library_are_free(name):
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name)
    assert float(total(cp.arange(5.0))) == 10


def test_compile_error_names_the_kernel():
    with pytest.raises(cp.cuda.compiler.CompileException, match=r"^wrong\.cu\(1\): error: .*'c'"):
        cp.ReductionKernel("T x", "T y", "x", "a + c", "y = a", "0", "wrong")(cp.zeros(2))


@pytest.mark.parametrize(
    ("reduce", "post"), [("P(a.a + b.a)", "y = a.a"), ("add(a,\n b)", "y = a.v"), ("b", "y =\na.v")]
)
def test_expressions_are_macros(reduce, post):
    """In CuPy's kernel: a member with the name of an argument, or a second line, is an error."""
    struct = "struct P { float v, a; __device__ P(float x = 0) : v(x), a(x) {} };"
    struct += "__device__ P add(P x, P y) { return P(x.v + y.v); }"

    def kernel(*texts):
        return cp.ReductionKernel("T x", "T y", "P(x)", *texts, "0", "k", "P", True, struct)

    assert float(kernel("add(a, b)", "y = a.v")(cp.arange(5.0, dtype="f4"))) == 10
    with pytest.raises(cp.cuda.compiler.CompileException, match=r"^k\.cu\([12]\): error: "):
        kernel(reduce, post)(cp.arange(5.0, dtype="f4"))


def test_cached_code():
    kernel = cp.ReductionKernel("T x", "T y", "x * 43", "a + b", "y = a", "0", "cached_sum")
    with pytest.warns(UserWarning, match="^No codes are cached"):
        assert kernel.cached_codes == {}
    kernel(cp.zeros(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "x * 43" in kernel.cached_code and "__syncthreads()" in kernel.cached_code
    kernel(cp.zeros(3, "int32"))
    assert list(kernel.cached_codes) == [("d", "d"), ("i", "i")]
