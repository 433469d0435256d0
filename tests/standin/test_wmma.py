"""nvcuda::wmma: tiles of a warp. NVIDIA's own compiler needs a header that its wheels lack."""

import cupy as cp
import numpy as np
import pytest

from gpuless.xray import xray
from gpuless.xray.machine.build import can_compile

RNG = np.random.default_rng(44)
pytestmark = pytest.mark.usefixtures("only_the_standin")
SOURCE = """#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const IN *A, const IN *B, const OUT *C, OUT *D,
                             int lda, int ldb, int ldc) {
    wmma::fragment<wmma::matrix_a, M, N, K, ELEMENT, wmma::LAYOUT_A> a;
    wmma::fragment<wmma::matrix_b, M, N, K, ELEMENT, wmma::LAYOUT_B> b;
    wmma::fragment<wmma::accumulator, M, N, K, OUT> c, d;
    wmma::load_matrix_sync(a, A, lda);
    wmma::load_matrix_sync(b, B, ldb);
    wmma::load_matrix_sync(c, C, ldc, wmma::mem_LAYOUT_C);
    for (int i = 0; i < c.num_elements; ++i) c.x[i] *= 2;
    wmma::fill_fragment(d, OUT(0));
    wmma::mma_sync(d, a, b, c);
    wmma::store_matrix_sync(D, d, ldc, wmma::mem_LAYOUT_C);
}"""
KINDS = {  # element, type in memory, of the sums, NumPy's types of both
    "double": ("double", "double", "double", "f8", "f8"),
    "half": ("half", "half", "float", "f2", "f4"),
    "tf32": ("wmma::precision::tf32", "float", "float", "f4", "f4"),
}


@pytest.mark.parametrize(
    "layouts", [("row", "row", "row"), ("col", "row", "col"), ("row", "col", "row")]
)
@pytest.mark.parametrize(
    "kind, m, n, k",
    [("double", 8, 8, 4), ("half", 16, 16, 16), ("half", 32, 8, 16), ("half", 8, 32, 16),
     ("tf32", 16, 16, 8)],
)  # fmt: skip
def test_products(kind, m, n, k, layouts):
    """Small integers, which every one of these types multiplies and adds without error."""
    element, ctype, sums, dtype, of_sums = KINDS[kind]
    a, b, c = (RNG.integers(-9, 10, s) for s in ((m, k), (k, n), (m, n)))

    def stored(x, layout, dtype, pad):
        x = x if layout == "row" else x.T
        return np.ascontiguousarray(np.pad(x, ((0, 0), (0, pad)), constant_values=99), dtype)

    la, lb, lc = layouts
    arrays = stored(a, la, dtype, 3), stored(b, lb, dtype, 5), stored(c, lc, of_sums, 2)
    source = SOURCE.replace("LAYOUT_A", f"{la}_major").replace("LAYOUT_B", f"{lb}_major")
    source = source.replace("LAYOUT_C", f"{lc}_major")
    options = tuple(
        f"-D{name}={value}"
        for name, value in dict(M=m, N=n, K=k, IN=ctype, OUT=sums, ELEMENT=element).items()
    )
    d = cp.full(arrays[2].shape, -1, of_sums)
    strides = [np.int32(x.shape[1]) for x in arrays]
    cp.RawKernel(source, "k", options)((1,), (32,), (*map(cp.asarray, arrays), d, *strides))
    want = a @ b + 2 * c
    got = d.get()
    np.testing.assert_array_equal(got[:, :-2], want if lc == "row" else want.T)
    assert (got[:, -2:] == -1).all()


def test_half_products_are_cut():
    """As by mma.sync: 16 times seven eighths of the last place of 1 are lost."""
    a, b = np.full((16, 16), 0.875, "f2"), np.full((16, 16), 2.0**-23, "f2")
    options = ("-DM=16", "-DN=16", "-DK=16", "-DIN=half", "-DOUT=float", "-DELEMENT=half")
    a[1] = 0.25  # of it: two bits are kept
    source = SOURCE.replace("LAYOUT_A", "row_major").replace("LAYOUT_B", "row_major")
    source = source.replace("LAYOUT_C", "row_major")
    c, d = np.full((16, 16), 0.5, "f4"), cp.zeros((16, 16), "f4")
    arrays = cp.asarray(a), cp.asarray(b), cp.asarray(c)
    cp.RawKernel(source, "k", options)((1,), (32,), (*arrays, d, *[np.int32(16)] * 3))
    assert b[0, 0] == 2.0**-23
    got = d.get()
    assert (got[0] == 1 + 12 * 2.0**-23).all() and (got[1] == 1 + 4 * 2.0**-23).all()


def test_shapes_that_there_are_not():
    options = ("-DM=16", "-DN=16", "-DK=4", "-DIN=double", "-DOUT=double", "-DELEMENT=double")
    source = SOURCE.replace("LAYOUT_A", "row_major").replace("LAYOUT_B", "row_major")
    with pytest.raises(Exception, match="the stand-in has no such wmma"):
        cp.RawKernel(source.replace("LAYOUT_C", "row_major"), "k", options).compile()


def test_a_warp_that_is_not_whole():
    options = ("-DM=8", "-DN=8", "-DK=4", "-DIN=double", "-DOUT=double", "-DELEMENT=double")
    source = SOURCE.replace("LAYOUT_A", "row_major").replace("LAYOUT_B", "row_major")
    kernel = cp.RawKernel(source.replace("LAYOUT_C", "row_major"), "k", options)
    arrays = cp.zeros(32), cp.zeros(32), cp.zeros(64), cp.zeros(64)
    with pytest.raises(RuntimeError, match="wmma needs all 32 lanes"):
        kernel((1,), (20,), (*arrays, np.int32(4), np.int32(8), np.int32(8)))


@pytest.mark.parametrize("meet", ["", "__syncwarp();"])
def test_what_was_stored_belongs_to_other_lanes(meet):
    """A GPU lays a fragment's elements out in its own way: who reads what was stored must wait."""
    source = """#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(float *y) {
    __shared__ float s[256];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 3.f);
    wmma::store_matrix_sync(s, c, 16, wmma::mem_row_major);
    MEET
    for (int k = threadIdx.x; k < 256; k += 32) y[k] = s[k];
}"""
    y = cp.zeros(256, "f4")
    kernel = cp.RawKernel(source.replace("MEET", meet), "k")
    if meet:
        kernel((1,), (32,), (y,))
        assert (y == 3).all()
    else:
        with pytest.raises(
            RuntimeError, match=r"line 9: reads byte \d+ of 's', shared memory that"
        ):
            kernel((1,), (32,), (y,))


@pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64")
@pytest.mark.parametrize("between, found", [("__syncwarp();", 0), ("", 1)])
def test_a_tile_is_loaded_of_what_a_barrier_has_made_seen(between, found):
    """The lanes come together to load it, which orders no memory."""
    source = f"""#include <mma.h>
    extern "C" __global__ void k(const half *x, float *y) {{
        __shared__ half a[256];
        for (int j = threadIdx.x; j < 256; j += 32) a[j] = x[j];
        {between}
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> f;
        nvcuda::wmma::load_matrix_sync(f, a, 16);
        y[threadIdx.x] = f.x[0];
    }}"""
    arguments = cp.arange(256, dtype="e"), cp.zeros(32, "f")
    assert len(xray(cp.RawKernel(source, "k"), (1,), (32,), arguments).races) == found
