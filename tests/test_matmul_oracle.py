"""The kernels of chapters 38 and 39: right for every shape, wrong ones refused, no spills.

What tensor cores do to a long sum was measured on an H200; the stand-in must show the same.
"""

import numpy as np
import nvrtc
import pytest
from marks import long_but
from parts_of_products import chapters, rungs

import helpers  # noqa: F401  (serves cupy where there is none)

import cupy as cp  # isort: skip
from helpers.products import SHAPES as JUDGED
from helpers.products import Product, agrees

PRODUCTS = rungs()

# (M, K, N): smaller than a tile, one more and one less than a tile, no multiple of 4 or 16, thin.
SHAPES = [
    (1, 1, 1),
    (3, 129, 5),
    (129, 17, 127),
    (128, 32, 128),
    (64, 16, 256),
    (132, 36, 20),
    (257, 3, 9),
    (5, 70, 131),
]
SPLIT = "three, short sums"  # the longest kernel, and the fastest
# The first have edges in both directions and rows of whole 16 bytes or not.
FEW_AND_MORE = [
    pytest.param(SHAPES[1:2] + SHAPES[5:6], id="few"),
    pytest.param(SHAPES, id="all", marks=pytest.mark.long),
]
# Of the whole product, as measured on an H200 at n = 4096: 3e-4 and 7.8e-4 for one product.
LIMITS = {"one product": 4e-4, "three, one sum": 1e-6}


def limit(name):
    """What the relative error may be at these sizes."""
    return 1e-14 if PRODUCTS[name].dtype == np.float64 else LIMITS.get(name, 8e-7)


def exact(A, B):
    """The product in float64 (in long double for float64), row by row of K."""
    wide = np.longdouble if A.dtype == np.float64 else np.float64
    total = np.zeros((A.shape[0], B.shape[1]), wide)
    for k in range(A.shape[1]):
        total += np.multiply.outer(A[:, k].astype(wide), B[k].astype(wide))
    return total


def draw(name, M, K, N):
    """Two matrices without symmetry, on the host, of the rung's type."""
    rng = np.random.default_rng(M + 7 * K + 31 * N)
    A, B = rng.standard_normal((M, K)), rng.uniform(-1, 3, (K, N))
    return A.astype(PRODUCTS[name].dtype), B.astype(PRODUCTS[name].dtype)


def error(C, A, B):
    right = exact(A, B)
    return float(np.linalg.norm((C - right).astype("f8")) / np.linalg.norm(right.astype("f8")))


@pytest.mark.parametrize("shapes", FEW_AND_MORE)
@pytest.mark.parametrize("name", long_but(["turned", "float64", SPLIT], PRODUCTS))
def test_every_rung_at_every_shape(name, shapes):
    for M, K, N in shapes:
        A, B = draw(name, M, K, N)
        C = cp.full((M, N), np.nan, A.dtype)
        assert PRODUCTS[name](cp.asarray(A), cp.asarray(B), C) is C
        assert error(C.get(), A, B) < limit(name), (M, K, N)


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_judge_meets_every_form_of_a_kernel(name, monkeypatch):
    """Tiles that are full or not, rows of whole 16 bytes or not: each is compiled for itself."""
    forms, known = set(), PRODUCTS[name]

    def compiled(self, edges, vec):
        forms.add((edges, vec))
        return lambda *launch, **options: None

    monkeypatch.setattr(Product, "_compiled", compiled)
    given = {"block": known.block, "dtype": known.dtype, "prepare": known.prepare}
    product = Product(known.source, **given, **known.constants)
    assert not agrees(product)  # nothing has been computed
    wide = 16 // product.dtype.itemsize
    if product.constants["BM"] < 128:
        assert any(edges for edges, _ in forms)
    else:
        assert forms >= {(False, wide), (True, wide), (True, 1)}


@pytest.mark.parametrize("name", long_but(["turned", "float64", SPLIT], PRODUCTS))
def test_strided_and_misaligned_arguments(name):
    A, B = draw(name, 68, 36, 44)
    turned = cp.asarray(np.ascontiguousarray(A.T)).T
    every_second = cp.zeros((36, 88), B.dtype)[:, ::2]
    every_second[...] = cp.asarray(B)
    got = PRODUCTS[name](turned, every_second)
    assert error(got.get(), A, B) < limit(name)
    # Contiguous, but it begins one number after an address that 16 bytes divide.
    buffer = cp.full(A.size + 2, np.nan, A.dtype)
    inside = buffer[1:-1].reshape(A.shape)
    inside[...] = cp.asarray(A)
    got = PRODUCTS[name](inside, cp.asarray(B))
    assert error(got.get(), A, B) < limit(name)


@pytest.mark.parametrize("name", ["snake", "turned", "float64", "three, short sums"])
def test_nothing_is_written_around_the_result(name):
    """On the stand-in a fence would say so; on a GPU the canaries do."""
    A, B = draw(name, 67, 21, 33)
    buffer = cp.full(67 * 33 + 400, 7, A.dtype)
    C = buffer[200:-200].reshape(67, 33)
    PRODUCTS[name](cp.asarray(A), cp.asarray(B), C)
    assert (buffer[:200] == 7).all() and (buffer[-200:] == 7).all()
    assert error(C.get(), A, B) < limit(name)


def test_empty_products():
    for M, K, N in ((0, 3, 5), (4, 0, 6), (3, 5, 0)):
        C = PRODUCTS["snake"](cp.ones((M, K), "f4"), cp.ones((K, N), "f4"))
        assert C.shape == (M, N) and not C.any()


def test_what_does_not_fit_is_refused():
    A, B = cp.ones((4, 5), "f4"), cp.ones((5, 6), "f4")
    with pytest.raises(ValueError, match="no product"):
        PRODUCTS["snake"](A, A)
    with pytest.raises(ValueError, match="no product"):
        PRODUCTS["snake"](A[0], B)
    with pytest.raises(TypeError, match="float64"):
        PRODUCTS["snake"](A.astype("f8"), B.astype("f8"))
    with pytest.raises(TypeError, match="float32"):
        PRODUCTS["float64"](A, B)
    for C in (cp.empty((6, 4), "f4").T, cp.empty((4, 5), "f4"), cp.empty((4, 6), "f8")):
        with pytest.raises(ValueError, match="must be an array of rows"):
            PRODUCTS["snake"](A, B, C)


def test_float32_rungs_add_in_order():
    """They keep one sum a number, k by k: so all of them agree to the last bit."""
    A, B = (cp.asarray(x) for x in draw("snake", 70, 45, 130))
    one, *others = (
        PRODUCTS[name](A, B).get()
        for name in ("start", "tile", "column", "square", "vector", "snake", "turned")
    )
    for other in others:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "name, low, high",  # measured on an H200: 1.9e-7 for short sums
    long_but(
        [("three, short sums", 1e-7, 3e-7)],
        [
            ("three, one sum", 1e-5, 1.6e-4),
            ("three, short sums", 1e-7, 3e-7),
        ],
    ),
)
def test_long_sums_of_tensor_cores_drift(name, low, high):
    """Uniform numbers in [0, 1), K = 4096, as on the GPU: the error is a bias."""
    rng = np.random.default_rng(3)
    A, B = rng.random((16, 4096), "f4"), rng.random((4096, 8), "f4")
    C = PRODUCTS[name](cp.asarray(A), cp.asarray(B)).get()
    assert low < error(C, A, B) < high
    if "one sum" in name:
        assert (C < exact(A, B)).all()


@pytest.mark.parametrize("power", [-120, -40, 0, 30, 60])
def test_the_scales_follow_the_largest_number(power):
    A, B = draw("three, short sums", 33, 40, 35)
    A, B = (A * np.float32(2.0**power)), (B * np.float32(2.0 ** (-power // 2)))
    C = PRODUCTS[SPLIT](cp.asarray(A), cp.asarray(B)).get()
    assert error(C, A, B) < 4e-7


@pytest.mark.parametrize("powers", [(120, -120), (-120, 120)])
def test_a_very_large_matrix_by_a_very_small_one(powers):
    """The result is of a common size; what was scaled must not pass by way of infinity."""
    A, B = draw("three, short sums", 33, 40, 35)
    A, B = (X * np.float32(2.0**power) for X, power in zip((A, B), powers, strict=True))
    C = PRODUCTS[SPLIT](cp.asarray(A), cp.asarray(B)).get()
    assert error(C, A, B) < 4e-7


def test_zeros_and_what_is_not_finite():
    A, B = draw("snake", 20, 33, 30)
    name = "three, short sums"
    assert not PRODUCTS[name](cp.zeros((20, 33), "f4"), cp.asarray(B)).any()
    for bad in (np.inf, -np.inf, np.nan):
        A[3, 5] = bad
        for name in ("snake", "three, short sums"):
            C = PRODUCTS[name](cp.asarray(A), cp.asarray(B)).get()
            assert not np.isfinite(C[3]).any()
            assert np.isnan(C[3]).all() or name == "snake"
            others = np.arange(20) != 3
            assert error(C[others], A[others], B) < limit(name)


def test_the_ring_goes_round():
    """The judge's longest K needs every stage again, of the deepest tiles in flight."""
    longest = max(K for _, K, _ in JUDGED)
    for name, product in PRODUCTS.items():
        deep = product.constants.get("STAGES", 1) * product.constants.get("BK", 1)
        assert longest > 2 * deep, name


def test_kernels_are_short():
    """What a reader has to read at one go: 50 lines at most."""
    for name, product in PRODUCTS.items():
        kernel = product.source[product.source.index('extern "C"') :].splitlines()
        assert len([line for line in kernel if line.strip()]) <= 50, name


needs_nvrtc = pytest.mark.skipif(
    not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc, -runtime and -cccl"
)


@needs_nvrtc
@pytest.mark.parametrize("name", long_but([SPLIT], PRODUCTS))
def test_no_registers_go_to_memory(name):
    """For matrices that fill their tiles, those that end inside, and those without 16 bytes."""
    import cubins

    product = PRODUCTS[name]
    wide = 16 // product.dtype.itemsize
    for edges, vec in ((0, wide), (1, wide), (1, 1)):
        cubins.check(product.source, options(product, edges, vec), "matmul")


def options(product, edges, vec):
    """Those that the product is compiled with."""
    macros = product.constants | {"EDGES": edges, "VEC": vec}
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in macros.items()))


@needs_nvrtc
@pytest.mark.parametrize("name", long_but([], ["copies ahead", "registers ahead", "snake"]))
def test_the_tiles_of_older_gpus(name):
    """What the chapter chooses below compute capability 8.0; 64 KB of shared memory are there."""
    import cubins

    product = PRODUCTS[name]
    size = product.constants["SHARED"] // 16 // 3 * 8 * 2
    smaller = product.constants | {"BK": 8, "STAGES": 2, "SHARED": size}
    older = Product(product.source, **smaller)
    assert size <= 65536 // product.constants["BLOCKS"] and agrees(older)
    for edges, vec in ((0, 4), (1, 4), (1, 1)):
        oldest = cubins.cubins(product.source, options(older, edges, vec), "matmul")[0]
        assert oldest.architecture == 75 and not oldest.problems()


@pytest.mark.parametrize("name", ["turned", "float64", SPLIT, "snake"])
def test_asynchronous_copies_give_the_same(name):
    """The stand-in takes the older way of its own accord; here it carries out cp.async."""
    A, B = draw(name, 130, 37, 131)
    product = PRODUCTS[name]
    by_copies = product.asynchronous()
    for columns in (131, 128):
        x, y = cp.asarray(A[:, :36]), cp.asarray(B[:36, :columns])
        C = by_copies(x, y).get()
        assert error(C, A[:, :36], B[:36, :columns]) < limit(name)


def test_chapters_measure_these():
    first, second = chapters()
    assert first["vector"] is PRODUCTS["vector"] and second["fast"]["turned"] is PRODUCTS["turned"]
