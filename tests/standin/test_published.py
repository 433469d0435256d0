"""What published programs ask of CuPy beyond its page of functions, and what they say that CuPy 14
refuses."""

import collections

import cupy as cp
import cupyx.scipy
import cupyx.scipy.ndimage as ndimage
import numpy as np
import nvrtc
import pytest
import scipy
from cupy.cuda.compiler import CompileException
from cupyx import jit
from cupyx.scipy import signal, sparse

from gpuless.engine.compiler import find_compiler

X = cp.arange(6.0)


def test_a_stream_of_another_library_is_known_by_its_address():
    named = collections.namedtuple("Stream", "ptr")
    own = cp.cuda.Stream()
    add = cp.ElementwiseKernel("T x", "T y", "y = x + 1", "add")
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    fill = cp.RawKernel('extern "C" __global__ void f(double *x) { x[0] = 7; }', "f")
    for stream in (named(0), named(own.ptr)):
        y = cp.zeros(1)
        fill((1,), (1,), (y,), stream=stream)
        assert (y[0], add(X, stream=stream)[5], total(X, stream=stream)) == (7, 6, 15)
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="invalid resource handle"):
        fill((1,), (1,), (X,), stream=named(12345))


def test_a_view_with_as_few_axes_as_its_strides_allow():
    a = cp.zeros((2, 3, 4))
    for part, shape, strides in (
        (a, (24,), (8,)),
        (a[:, 1:], (2, 8), (96, 8)),
        (a[:, :, ::2], (12,), (16,)),
        (a[None, :, :, :1], (6,), (32,)),
        (a[:0], (0,), (8,)),
    ):
        view = part.reduced_view()
        assert (view.shape, view.strides) == (shape, strides) and view.base is not None
    for same in (a.T, a[0, 0], a[0, 0, 0], cp.broadcast_to(X, (2, 6))):
        assert same.reduced_view() is same


def test_lengths_and_widths_from_the_host():
    image = cp.asarray(np.random.default_rng(3).random((4, 5)))
    two = np.array([1.0, 2.0])
    for call in (
        lambda s: ndimage.gaussian_filter(image, s),
        lambda s: ndimage.shift(image, shift=s),
        lambda s: ndimage.zoom(image, s),
        lambda s: cp.fft.rfftn(image, np.array([8, 16]) if s is two else [8, 16]),
    ):
        cp.testing.assert_array_equal(call(two), call((1.0, 2.0)))
    with pytest.raises(TypeError, match="Unsupported type"):
        ndimage.convolve(image, np.ones((2, 2)))
    assert (cp.mgrid[[slice(2), slice(3)]] == cp.mgrid[:2, :3]).all()


def test_a_seed_from_the_environment(monkeypatch):
    kept = cp.random.get_random_state()
    try:
        monkeypatch.setenv("CUPY_SEED", "5")
        cp.random.reset_states()
        assert cp.random.rand() == cp.random.RandomState(5).rand()
    finally:
        cp.random.set_random_state(kept)


def test_places_found_along_an_axis_are_long_long():
    a = cp.array([[3.0, 1], [0, 5]])
    assert [repr(f(a, 1)) for f in (cp.argmax, cp.nanargmin)] == [
        "array([0, 1], dtype=int64)",
        "array([1, 0], dtype=int64)",
    ]
    assert repr(a.argmax()) == "array(3)" and repr(cp.nanargmax(a)) == "array(3, dtype=int64)"


def test_sharp_filters_of_which_cupy_loses_the_digits_are_warned_of():
    x = cp.asarray(np.random.default_rng(0).standard_normal(2000))
    with pytest.warns(RuntimeWarning, match="all is rounding.* Use sosfilt"):
        signal.lfilter(*signal.butter(4, [0.01, 0.02], "band"), x)
    with pytest.warns(RuntimeWarning, match="about [2-9]e-02 is rounding"):
        signal.filtfilt(*(c.astype("f") for c in (*signal.butter(4, 0.05), x)))
    sections = signal.butter(2, 0.001, output="sos")
    with pytest.warns(RuntimeWarning, match="double precision"):
        signal.sosfilt(sections.astype("f"), x.astype("f"))
    signal.sosfilt(sections, x)
    signal.lfilter(*signal.butter(4, 0.1), x)  # no warning, which would be an error


def test_an_elementwise_kernel_that_writes_beside_what_it_reads_is_warned_of():
    add, x = cp.ElementwiseKernel("T x", "T z", "z = x + 1", "add"), cp.zeros(6)
    with pytest.warns(RuntimeWarning, match="'z' of kernel 'add' and its input 'x' are overla"):
        add(x[:-1], x[1:])
    add(x, x)
    add(x[::2], x[1::2])
    add(x[:3], x[3:])


def test_small_things_that_libraries_take():
    for module, other in ((cp, np), (cupyx.scipy, scipy)):
        assert module.get_array_module(sparse.eye(3)) is module.get_array_module(1, X) is module
        assert module.get_array_module(X.get()) is other
    assert cp._util.memoize is cp.memoize
    assert (
        cp._core._scalar.get_typename(X.dtype) == "double" and cp._core.internal.prod((2, 3)) == 6
    )
    assert cp._core.internal._normalize_axis_indices((-1, 0), 3) == (0, 2)
    with pytest.raises(ValueError, match="duplicate value"):
        cp._core.internal._normalize_axis_indices((1, -2), 3)
    with pytest.raises(TypeError, match="'a' must be a cupy.ndarray"):
        cp._util.check_array(np.ones(2), arg_name="a")
    assert cp.shares_memory(X[:4], X[::5], "MAY_SHARE_BOUNDS") is True
    assert cp.shares_memory(X[:4], X[4:], "MAY_SHARE_EXACT") is False
    assert cp.promote_types(X.astype("f2"), "f4") == np.float32


TRAITS = """#include <cupy/cuda_workaround.h>
#include <cupy/float16.cuh>
template <> struct std::is_floating_point<float16> : std::true_type {};
template <class T>
__device__ typename std::enable_if<std::is_signed<T>::value, T>::type minus(T x) { return -x; }
extern "C" __global__ void f(int *y) {
    int64_t least = minus(std::numeric_limits<int>::max());
    y[0] = std::is_floating_point<float16>::value ? least : 0;
}"""


@pytest.mark.skipif(find_compiler().family != "gcc", reason="ziglang has no such header")
def test_traits_of_types_in_cupys_header():
    y = cp.zeros(1, "i")
    cp.RawKernel(TRAITS, "f")((1,), (1,), (y,))
    assert y[0] == -(2**31) + 1
    assert not nvrtc.is_installed() or nvrtc.compile(TRAITS).accepted


ALONE = """extern "C" __global__ void f(const float *x, float *y, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    for (int i = 0; i < n; ++i) {
        s[t] = x[i * 32 + t];
        __syncthreads();
        if (t == 0)
            for (int k = 0; k < 32; ++k) y[i] += s[k];
    }
}"""


def test_a_warp_waits_for_its_first_lane_where_nothing_makes_it():
    """A race, of which the x-ray tells; a GPU makes nothing of it."""
    x, y = cp.arange(320, dtype="f"), cp.zeros(10, "f")
    cp.RawKernel(ALONE, "f")((1,), (32,), (x, y, 10))
    np.testing.assert_array_equal(y.get(), x.get().reshape(10, 32).sum(1))


RETURNED = """extern "C" __global__ void f(int *y, int n) {
    int i = threadIdx.x;
    if (i % 3 == 0 || i >= n) return;
    for (int round = 0; round < 2; ++round) {
        y[i] = __syncthreads_count(i % 2);
        if (i > 40) return;
    }
}"""


def test_a_barrier_does_not_wait_for_threads_that_have_returned_if_lenient(monkeypatch):
    y, f = cp.zeros(64, "i"), cp.RawKernel(RETURNED, "f")
    with pytest.raises(RuntimeError, match="GPUs since 2017 do not wait for threads that have ret"):
        f((1,), (64,), (y, 50))
    monkeypatch.setenv("CUPY_STANDIN_LENIENT", "1")
    f((1,), (64,), (y, 50))
    taking = [i for i in range(50) if i % 3]
    odd, late = sum(i % 2 for i in taking), sum(i % 2 for i in taking if i <= 40)
    expected = [0 if i not in taking else late if i <= 40 else odd for i in range(64)]
    np.testing.assert_array_equal(y.get(), expected)


@pytest.mark.parametrize("standard", ["-std=c++11", "--std=c++14"])
def test_cupys_headers_need_cpp_17(standard):
    modern = "requires at least C\\+\\+ 17"
    for kernel in (
        cp.ElementwiseKernel("T x", "T y", "y = x", "k", options=(standard,)),
        cp.ElementwiseKernel("T x", "T y", "y = threadIdx.x", "k", options=(standard,)),
        cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "k", options=(standard,)),
    ):
        with pytest.raises(CompileException, match=modern):
            kernel(X)
    body = 'extern "C" __global__ void f() {}'
    for header in ("cupy/complex.cuh", "cooperative_groups.h", "cuda/atomic"):
        with pytest.raises(CompileException, match=modern):
            cp.RawKernel(f"#include <{header}>\n{body}", "f", (standard,)).compile()
    for header in ("cupy/float16.cuh", "cupy/carray.cuh", "cuda_fp16.h"):
        cp.RawKernel(f"#include <{header}>\n{body}", "f", (standard,)).compile()


@pytest.mark.filterwarnings("ignore:cupyx.jit")
def test_a_shape_of_two_numbers_is_not_unpacked():
    @jit.rawkernel()
    def two(x, y):
        rows, columns = x.shape
        y[0] = rows

    @jit.rawkernel()
    def three(x, y):
        rows, columns, _ = x.shape
        y[0] = rows * 10 + columns + x.shape[1]

    y = cp.zeros(1, "q")
    three[1, 1](cp.zeros((2, 3, 4)), y)
    assert y[0] == 26
    with pytest.raises(CompileException, match="no pair of a shape"):
        two[1, 1](cp.zeros((2, 3)), y)


GROUPS = """#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
extern "C" __global__ void f(float *y, const __half *h) {{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    __shared__ float s[32];
    float v = y[threadIdx.x];
    {};
}}"""


@pytest.mark.parametrize(
    "line, accepted",
    {
        "y[0] = cg::reduce(warp, v, cg::plus<float>())": True,
        "y[0] = cg::reduce(warp, v, cg::plus<int>())": False,
        "y[0] = cg::reduce(warp, threadIdx.x, cg::less<int>())": False,
        "y[0] = cg::reduce(cg::coalesced_threads(), v, cg::plus<double>())": False,
        "y[0] = cg::inclusive_scan(warp, v, cg::greater<int>())": False,
        "y[0] = cg::exclusive_scan(warp, 1u, cg::bit_or<unsigned>())": True,
        "cg::memcpy_async(block, s, y, 128)": True,
        "cg::memcpy_async(block, s, (int *)y, 128)": False,
        "y[0] = isnan(h[0])": False,
        "y[0] = signbit(h[0]) + isinf(v)": False,
        "y[0] = __hisnan(h[0]) + isfinite(v)": True,
    }.items(),
)
def test_types_that_nvrtc_refuses(line, accepted):
    code, options = GROUPS.format(line), ("-arch=sm_80",)
    assert not nvrtc.is_installed() or nvrtc.compile(code, options).accepted == accepted
    if accepted:
        cp.RawKernel(code, "f", options).compile()
        return
    with pytest.raises(CompileException):
        cp.RawKernel(code, "f", options).compile()


def test_arrays_where_cupy_takes_numbers():
    n = cp.array(3)
    for call in (
        lambda: cp.reshape(X, (n, 2)),
        lambda: cp.broadcast_to(X, shape=(n, 6)),
        lambda: cp.tile(X, (n, 1)),
        lambda: cp.resize(X, (n, 2)),
    ):
        with pytest.raises(TypeError, match="no number of a shape"):
            call()
    with pytest.raises(IndexError, match="an array for the edges"):
        cp.histogram(X, bins=n)
    for options in (["-DN=3"], "-DN=3"):
        with pytest.raises(TypeError, match="options are a tuple"):
            cp.ElementwiseKernel("T x", "T y", "y = x", "k", options=options)


def test_the_centre_of_mass_of_halves_is_of_their_sum_in_half_precision():
    halves = np.array([2049, 1, 1], "e")  # whose sum is 2050 in double precision
    (place,) = ndimage.center_of_mass(cp.asarray(halves))
    assert place == 3 / float(np.float16(halves.astype("f").sum()))
