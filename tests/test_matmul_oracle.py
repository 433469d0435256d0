"""Chapter 15's kernels: right for every shape, refused where they would be wrong, no spills.

What tensor cores do to a long sum was measured on an H200; the stand-in must show the same.
"""

import numpy as np
import nvrtc
import pytest
from marks import long_but

import helpers  # noqa: F401  (serves cupy where there is none)

import cupy as cp  # isort: skip
from helpers.press import export

chapter = export.load("matmul_fast")

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
LIMITS = {"one float16 product": 4e-4, "TF32, one product": 1e-3, "three, one sum": 1e-6}
LIMITS["TF32, three, one sum"] = 3e-6


def limit(name):
    """What the relative error may be at these sizes."""
    return 1e-14 if chapter.rungs[name].dtype == np.float64 else LIMITS.get(name, 8e-7)


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
    return A.astype(chapter.rungs[name].dtype), B.astype(chapter.rungs[name].dtype)


def error(C, A, B):
    right = exact(A, B)
    return float(np.linalg.norm((C - right).astype("f8")) / np.linalg.norm(right.astype("f8")))


@pytest.mark.parametrize("shapes", FEW_AND_MORE)
@pytest.mark.parametrize("name", long_but(["turned", "float64, ahead", SPLIT], chapter.rungs))
def test_every_rung_at_every_shape(name, shapes):
    for M, K, N in shapes:
        A, B = draw(name, M, K, N)
        C = cp.full((M, N), np.nan, A.dtype)
        assert chapter.product(name, cp.asarray(A), cp.asarray(B), C) is C
        assert error(C.get(), A, B) < limit(name), (M, K, N)


@pytest.mark.parametrize("name", chapter.rungs)
def test_the_judge_meets_every_form_of_a_kernel(name, monkeypatch):
    """Tiles that are full or not, rows of whole 16 bytes or not: each is compiled for itself."""
    forms = set()

    def compiled(name, edges, vec):
        forms.add((edges, vec))
        return lambda *launch, **options: None

    monkeypatch.setattr(chapter, "compiled", compiled)
    assert not chapter.agrees(name)  # nothing has been computed
    wide = 16 // np.dtype(chapter.rungs[name].dtype).itemsize
    assert forms >= {(False, wide), (True, wide), (True, 1)}


@pytest.mark.parametrize("name", long_but(["turned", "float64, ahead", SPLIT], chapter.rungs))
def test_strided_and_misaligned_arguments(name):
    A, B = draw(name, 68, 36, 44)
    turned = cp.asarray(np.ascontiguousarray(A.T)).T
    every_second = cp.zeros((36, 88), B.dtype)[:, ::2]
    every_second[...] = cp.asarray(B)
    got = chapter.product(name, turned, every_second)
    assert error(got.get(), A, B) < limit(name)
    # Contiguous, but it begins one number after an address that 16 bytes divide.
    buffer = cp.full(A.size + 2, np.nan, A.dtype)
    inside = buffer[1:-1].reshape(A.shape)
    inside[...] = cp.asarray(A)
    got = chapter.product(name, inside, cp.asarray(B))
    assert error(got.get(), A, B) < limit(name)


@pytest.mark.parametrize("name", ["snake", "turned", "float64, ahead", "three, short sums"])
def test_nothing_is_written_around_the_result(name):
    """On the stand-in a fence would say so; on a GPU the canaries do."""
    A, B = draw(name, 67, 21, 33)
    buffer = cp.full(67 * 33 + 400, 7, A.dtype)
    C = buffer[200:-200].reshape(67, 33)
    chapter.product(name, cp.asarray(A), cp.asarray(B), C)
    assert (buffer[:200] == 7).all() and (buffer[-200:] == 7).all()
    assert error(C.get(), A, B) < limit(name)


def test_empty_products():
    for M, K, N in ((0, 3, 5), (4, 0, 6), (3, 5, 0)):
        C = chapter.product("snake", cp.ones((M, K), "f4"), cp.ones((K, N), "f4"))
        assert C.shape == (M, N) and not C.any()


def test_what_does_not_fit_is_refused():
    A, B = cp.ones((4, 5), "f4"), cp.ones((5, 6), "f4")
    with pytest.raises(ValueError, match="no product"):
        chapter.product("snake", A, A)
    with pytest.raises(ValueError, match="no product"):
        chapter.product("snake", A[0], B)
    with pytest.raises(TypeError, match="float64"):
        chapter.product("snake", A.astype("f8"), B.astype("f8"))
    with pytest.raises(TypeError, match="float32"):
        chapter.product("float64, ahead", A, B)
    for C in (cp.empty((6, 4), "f4").T, cp.empty((4, 5), "f4"), cp.empty((4, 6), "f8")):
        with pytest.raises(ValueError, match="must be an array of rows"):
            chapter.product("snake", A, B, C)


def test_float32_rungs_add_in_order():
    """They keep one sum a number, k by k: so all of them agree to the last bit."""
    A, B = (cp.asarray(x) for x in draw("snake", 70, 45, 130))
    one, *others = (
        chapter.product(name, A, B).get()
        for name in ("naive", "tile", "column", "square", "vector", "snake", "turned")
    )
    for other in others:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "name, low, high",  # measured on an H200: 8.1e-5 and 7.3e-7 for TF32, 1.9e-7 for float16
    long_but(
        [("three, short sums", 1e-7, 3e-7)],
        [
            ("TF32, three, one sum", 4e-5, 1.6e-4),
            ("TF32, short sums", 5e-7, 9e-7),
            ("three, one sum", 1e-5, 1.6e-4),
            ("three, short sums", 1e-7, 3e-7),
        ],
    ),
)
def test_long_sums_of_tensor_cores_drift(name, low, high):
    """Uniform numbers in [0, 1), K = 4096, as on the GPU: the error is a bias."""
    rng = np.random.default_rng(3)
    A, B = rng.random((16, 4096), "f4"), rng.random((4096, 8), "f4")
    C = chapter.product(name, cp.asarray(A), cp.asarray(B)).get()
    assert low < error(C, A, B) < high
    if "one sum" in name:
        assert (C < exact(A, B)).all()


@pytest.mark.parametrize("power", [-120, -40, 0, 30, 60])
def test_the_scales_follow_the_largest_number(power):
    A, B = draw("three, short sums", 33, 40, 35)
    A, B = (A * np.float32(2.0**power)), (B * np.float32(2.0 ** (-power // 2)))
    C = chapter.product("three, short sums", cp.asarray(A), cp.asarray(B)).get()
    assert error(C, A, B) < 4e-7


@pytest.mark.parametrize("powers", [(120, -120), (-120, 120)])
def test_a_very_large_matrix_by_a_very_small_one(powers):
    """The result is of a common size; what was scaled must not pass by way of infinity."""
    A, B = draw("three, short sums", 33, 40, 35)
    A, B = (X * np.float32(2.0**power) for X, power in zip((A, B), powers, strict=True))
    C = chapter.product("three, short sums", cp.asarray(A), cp.asarray(B)).get()
    assert error(C, A, B) < 4e-7


def test_zeros_and_what_is_not_finite():
    A, B = draw("snake", 20, 33, 30)
    name = "three, short sums"
    assert not chapter.product(name, cp.zeros((20, 33), "f4"), cp.asarray(B)).any()
    for bad in (np.inf, -np.inf, np.nan):
        A[3, 5] = bad
        for name in ("snake", "three, short sums"):
            C = chapter.product(name, cp.asarray(A), cp.asarray(B)).get()
            assert not np.isfinite(C[3]).any()
            assert np.isnan(C[3]).all() or name == "snake"
            others = np.arange(20) != 3
            assert error(C[others], A[others], B) < limit(name)


@pytest.mark.parametrize(
    "optin, of_sm",  # T4; cards for games from 8.6 on; A100; H100
    [(65536, 65536), (101376, 102400), (166912, 167936), (232448, 233472)],
)
def test_stages_fit_what_a_card_has(monkeypatch, optin, of_sm):
    limits = {"MaxSharedMemoryPerBlockOptin": optin, "MaxSharedMemoryPerMultiprocessor": of_sm}
    monkeypatch.setattr(chapter, "attributes", limits)
    deep = 16 if optin > 65536 else 8
    for tile in (
        chapter.outer_tile(4, 2, bk=deep),
        chapter.outer_tile(2, 2, blocks=4, bk=deep),
        chapter.outer_tile(2, 2, tm=16, bk=deep),
        chapter.tensor_tile(128, 128 if deep == 16 else 64, 32, (4, 2), 8, (4, 8), 4, parts=2),
        chapter.tensor_tile(128, 128 if deep == 16 else 64, 32, (4, 2), 8, (4, 8), 4),
    ):
        assert 2 <= tile["STAGES"] <= 3 and tile["SHARED"] <= optin
    if deep == 16:
        for large in ((128, 128, 16, (4, 2)), (64, 64, 16, (2, 2))):
            assert chapter.tensor_tile(*large, 4, (4, 4), 8)["SHARED"] <= optin


def test_kernels_are_short():
    """What a reader has to read at one go: 80 lines at most."""
    for name, rung in chapter.rungs.items():
        kernel = rung.source[rung.source.index('extern "C"') :].splitlines()
        assert len([line for line in kernel if line.strip()]) <= 80, name


needs_nvrtc = pytest.mark.skipif(
    not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc, -runtime and -cccl"
)


def test_tiles_that_threads_cannot_share_are_refused():
    with pytest.raises(ValueError, match="cannot share"):
        chapter.outer_tile(2, 1, tm=16, bk=3)
    with pytest.raises(ValueError, match="cannot share"):
        chapter.tensor_tile(128, 96, 16, (4, 2), 4, (4, 4), 8)


@needs_nvrtc
@pytest.mark.parametrize("name", long_but([SPLIT], chapter.rungs))
def test_no_registers_go_to_memory(name):
    """For matrices that fill their tiles, those that end inside, and those without 16 bytes."""
    import cubins

    rung = chapter.rungs[name]
    wide = 16 // np.dtype(rung.dtype).itemsize
    for edges, vec in ((False, wide), (True, wide), (True, 1)):
        text = chapter.constants(rung.tile | {"EDGES": edges, "VEC": vec}) + rung.source
        cubins.check(text, ("-std=c++17",), "matmul")


@needs_nvrtc
@pytest.mark.parametrize(
    "name", long_but([], ["registers ahead", "snake", "snake, small", "turned"])
)
def test_the_tiles_of_older_gpus(name):
    """What the chapter chooses below compute capability 8.0; 64 KB of shared memory are there."""
    import cubins

    rung = chapter.rungs[name]
    tile = rung.tile
    rows, cols = tile["BM"] // 4 // tile["TM"], tile["WARPS_X"]
    small = chapter.outer_tile(rows, cols, tile["TM"], tile["TN"], 8, 2, tile["BLOCKS"])
    assert small["BM"] == tile["BM"] and small["SHARED"] <= 65536 // tile["BLOCKS"]
    source = rung.source.removeprefix(chapter.note)
    for edges, vec in ((False, 4), (True, 4), (True, 1)):
        text = chapter.constants(small | {"EDGES": edges, "VEC": vec}) + source
        oldest = cubins.cubins(text, ("-std=c++17",), "matmul")[0]
        assert oldest.architecture == 75 and not oldest.problems()


@pytest.mark.long
@needs_nvrtc
@pytest.mark.parametrize("mma", ["mma_f64_small", "mma_f16_small"])
def test_the_smaller_tensor_instructions_compile(mma):
    import cubins

    if "f64" in mma:
        pieces = chapter.mma_f64_small, chapter.fetch_f64, chapter.multiply_f64
        source = chapter.tensor_source(*pieces, "double", "double")
        tile = chapter.rungs["float64, ahead"].tile
    else:
        source = chapter.split_source(chapter.short_sums, chapter.mma_f16_small)
        pads = chapter.split_tile["PAD_A"], chapter.split_tile["PAD_B"]
        tile = chapter.tensor_tile(128, 64, 32, (4, 2), 8, pads, 4, parts=2, wanted=2)
        assert tile["SHARED"] <= 65536
    text = chapter.constants(tile | {"EDGES": True, "VEC": 1}) + source
    assert 80 in cubins.architectures(text)
    cubins.check(text, ("-std=c++17",), "matmul")


@pytest.mark.parametrize("name", ["float64, ahead", "three, short sums"])
def test_the_smaller_tensor_instructions_give_the_same(name):
    A, B = draw(name, 33, 50, 40)
    rung = chapter.rungs[name]
    large, small = (
        (chapter.mma_f64, chapter.mma_f64_small)
        if "float64" in name
        else (chapter.mma_f16, chapter.mma_f16_small)
    )
    source = rung.source.replace(large, small)
    assert source != rung.source
    chapter.rungs["smaller"] = rung._replace(source=source)
    try:
        C = chapter.product("smaller", cp.asarray(A), cp.asarray(B)).get()
    finally:
        del chapter.rungs["smaller"]
        chapter.compiled.cache_clear()
    assert error(C, A, B) < limit(name)


def test_asynchronous_copies_give_the_same(monkeypatch):
    """The stand-in takes the older way of its own accord; here it carries out cp.async."""
    A, B = draw("snake", 130, 37, 131)
    rung = chapter.rungs["snake"]
    chapter.rungs["by cp.async"] = rung._replace(source="#define ASYNC 1\n" + rung.source)
    try:
        for columns in (131, 128):
            x, y = cp.asarray(A[:, :36]), cp.asarray(B[:36, :columns])
            C = chapter.product("by cp.async", x, y).get()
            assert error(C, A[:, :36], B[:36, :columns]) < 8e-7
    finally:
        del chapter.rungs["by cp.async"]
        chapter.compiled.cache_clear()
