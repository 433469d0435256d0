"""``cupyx.scipy``: SciPy's own results, on device arrays and nothing else."""

import warnings

import cupy as cp
import cupyx
import cupyx.scipy
import cupyx.scipy.fft
import cupyx.scipy.linalg
import cupyx.scipy.ndimage
import cupyx.scipy.signal
import cupyx.scipy.spatial.distance
import cupyx.scipy.special
import cupyx.scipy.stats
import numpy as np
import pytest
import scipy
import scipy.stats
from scipy import fft, linalg, ndimage, signal, special, stats
from scipy.spatial import distance

import gpuless
import helpers

pytestmark = [
    pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own faces"),
    # Of a class that a process that only hands out tests cannot import.
    pytest.mark.filterwarnings("ignore:no kernel of CuPy's adds"),
]
RNG = np.random.default_rng(28)
IMAGE, STACK = RNG.random((37, 53)).astype("f4"), RNG.random((3, 17, 21))
FACES = cupyx.scipy
CALLS = {
    "gaussian_filter": (ndimage, lambda m, x: m.gaussian_filter(x, (2.0, 0.5)), IMAGE),
    "modes": (ndimage, lambda m, x: m.maximum_filter(x, 5, mode="wrap"), IMAGE),
    "median_filter": (ndimage, lambda m, x: m.median_filter(x, (1, 3, 3)), STACK),
    "dilation": (ndimage, lambda m, x: m.binary_dilation(x > 0.9), IMAGE),
    "label": (ndimage, lambda m, x: m.label(x > 0.6), STACK),
    "fftconvolve": (signal, lambda m, x: m.fftconvolve(x, x[:5, :3], "same"), IMAGE),
    "savgol_filter": (signal, lambda m, x: m.savgol_filter(x, 7, 2, axis=1), STACK),
    "butter": (signal, lambda m, x: m.butter(3, 0.2), IMAGE),
    "windows": (signal, lambda m, x: m.windows.tukey(37, 0.3), IMAGE),
    "get_window": (signal, lambda m, x: m.windows.get_window(("kaiser", 4.0), 20), IMAGE),
    "find_peaks": (signal, lambda m, x: m.find_peaks(x, height=0.5), STACK[0, 0]),
    "erf": (special, lambda m, x: m.erf(x), STACK),
    "expit": (special, lambda m, x: m.expit(x), IMAGE),
    "rfft2": (fft, lambda m, x: m.rfft2(x), STACK),
    "dct": (fft, lambda m, x: m.dct(x, axis=0), IMAGE),
    "toeplitz": (linalg, lambda m, x: m.toeplitz(x), IMAGE[0]),
    "lu": (linalg, lambda m, x: m.lu(x), IMAGE[:37, :37]),
    "zscore": (stats, lambda m, x: m.zscore(x), IMAGE),
    "cdist": (distance, lambda m, x: m.cdist(x, x[:3]), STACK[0]),
}


def same(got, want):
    if isinstance(want, tuple):
        assert type(got) is type(want) and len(got) == len(want)
        return all(map(same, got, want))
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(same(got[key], want[key]) for key in want)
    if isinstance(want, int):
        return type(got) is int and got == want
    assert isinstance(got, cp.ndarray) and got.dtype == want.dtype and got.shape == want.shape
    return np.array_equal(got.get(), want)


@pytest.mark.parametrize("name", CALLS)
def test_results_are_scipys(name):
    library, call, x = CALLS[name]
    face = FACES
    for part in library.__name__.split(".")[1:]:
        face = getattr(face, part)
    assert same(call(face, cp.asarray(x)), call(library, x))


def test_measurements_of_labels():
    labels, n = FACES.ndimage.label(cp.asarray(IMAGE > 0.7), np.ones((3, 3), bool))
    assert n == ndimage.label(IMAGE > 0.7, np.ones((3, 3)))[1]
    index = np.arange(1, n + 1)
    for name in ("sum_labels", "mean", "maximum", "variance"):
        got = getattr(FACES.ndimage, name)(cp.asarray(IMAGE), labels, cp.asarray(index))
        assert same(got, getattr(ndimage, name)(IMAGE, labels.get(), index))
    assert FACES.ndimage.sum_labels(cp.asarray(IMAGE), labels).shape == ()


def test_an_output_is_written_and_returned():
    x, out, image = cp.asarray(IMAGE), cp.empty(IMAGE.shape), IMAGE.astype(float)
    want = np.empty(IMAGE.shape)
    ndimage.gaussian_filter(image, 1, output=want)
    assert FACES.ndimage.gaussian_filter(cp.asarray(image), 1, output=out) is out
    assert np.array_equal(out.get(), want)
    # Of single precision CuPy's sums are of that, too.
    FACES.ndimage.gaussian_filter(x, 1, output=out)
    assert not np.array_equal(out.get(), want) and np.allclose(out.get(), want, rtol=1e-6)
    labels = cp.empty(x.shape, np.int32)
    found = FACES.ndimage.label(x > 0.5, output=labels)
    assert found == ndimage.label(IMAGE > 0.5)[1] == int(labels.max())


def places(module):
    return (np if module is ndimage else cp).asarray([[0.5, 1.5, 2.5]])


BETWEEN = {
    "shift": lambda m, x, **to: m.shift(x, 0.5, order=1, **to),
    "zoom": lambda m, x, **to: m.zoom(x, 1.5, order=1, **to),
    "map_coordinates": lambda m, x, **to: m.map_coordinates(x, places(m), order=1, **to),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_integers_between_two_are_the_even_one(name):
    function, x = BETWEEN[name], np.arange(9)
    wanted = np.rint(function(ndimage, x.astype(float)))
    found = function(FACES.ndimage, cp.asarray(x))
    assert found.dtype == x.dtype and found.tolist() == wanted.tolist()
    out = cp.zeros(found.shape, "i2")
    assert function(FACES.ndimage, cp.asarray(x), output=out) is out
    assert out.tolist() == wanted.tolist()
    assert function(FACES.ndimage, cp.asarray(x), output=np.float32).dtype == np.float32


def test_sums_of_booleans_are_true_where_they_are_not_0():
    mask = cp.asarray(IMAGE > 0.5)
    with pytest.raises(NotImplementedError, match="with booleans as its output"):
        FACES.ndimage.zoom(mask, 2)
    found = FACES.ndimage.gaussian_filter(mask, 0.5, truncate=2)
    assert found.dtype == bool
    assert found.tolist() == ndimage.binary_dilation(IMAGE > 0.5, np.ones((3, 3))).tolist()
    assert FACES.ndimage.gaussian_filter(mask, 1, output=np.float32).dtype == np.float32
    assert FACES.ndimage.zoom(mask, 2, order=0).dtype == bool


@pytest.mark.parametrize(
    "call",
    [
        lambda x: FACES.ndimage.gaussian_filter(x.get(), 1),
        lambda x: FACES.ndimage.gaussian_filter([1.0, 2.0], 1),
        lambda x: FACES.ndimage.convolve(x, np.ones((3, 3), np.float32)),
        lambda x: FACES.ndimage.gaussian_filter(x, 1, output=np.empty(x.shape)),
        lambda x: FACES.special.erf(x.get()),
        lambda x: FACES.signal.fftconvolve(x, x.get()),
        lambda x: FACES.fft.rfft(x.get()),
        lambda x: FACES.spatial.distance.cdist(x, x.get()),
    ],
)
def test_arrays_of_the_host_are_refused(call):
    with pytest.raises(TypeError, match="Unsupported type"):
        call(cp.asarray(IMAGE))


ARRAY, SMALL = cp.asarray(STACK[0]), cp.arange(9, dtype="h").reshape(3, 3)
UNABLE = {  # what SciPy does and CuPy does not
    "workers": (TypeError, lambda: FACES.fft.fft(ARRAY, workers=2)),
    "keywords": (TypeError, lambda: FACES.signal.windows.hann(5, xp=np)),
    "lists": (TypeError, lambda: FACES.special.erf([0.5])),
    "filters": (TypeError, lambda: FACES.signal.lfilter([1.0], cp.ones(2), ARRAY)),
    "weights": (TypeError, lambda: FACES.ndimage.convolve1d(SMALL, [1, 2, 1])),
    "where": (TypeError, lambda: FACES.special.erf(ARRAY, where=ARRAY > 0)),
    "complex": (TypeError, lambda: FACES.special.erf(ARRAY + 1j)),
    "DCT-I": (NotImplementedError, lambda: FACES.fft.dct(ARRAY, 1)),
    "iterations": (NotImplementedError, lambda: FACES.ndimage.binary_dilation(ARRAY > 1, None, 2)),
    "1-D": (NotImplementedError, lambda: FACES.ndimage.distance_transform_edt(ARRAY[0] > 1)),
    "mode": (NotImplementedError, lambda: FACES.signal.upfirdn(ARRAY[0], ARRAY[1], mode="wrap")),
    "bessel": (
        NotImplementedError,
        lambda: FACES.signal.iirfilter(3, 0.5, None, None, "low", ftype="bessel"),
    ),
    "cval": (
        NotImplementedError,
        lambda: FACES.ndimage.uniform_filter(SMALL, 3, None, "constant", cp.inf),
    ),
    "index": (TypeError, lambda: FACES.ndimage.sum(SMALL, SMALL, [1, 2])),
    "stacks": (cp.linalg.LinAlgError, lambda: FACES.linalg.expm(cp.zeros((2, 3, 3)))),
    "rows": (ValueError, lambda: FACES.linalg.companion(cp.ones((2, 3)))),
    "integers": (NotImplementedError, lambda: FACES.linalg.lu_factor(SMALL)),
    "only a structure": (
        ValueError,
        lambda: FACES.ndimage.grey_opening(ARRAY, structure=cp.ones((3, 3))),
    ),
    "counts of int8": (
        NotImplementedError,
        lambda: FACES.ndimage.histogram(cp.full(3, -1, "b"), -5, 5, 4),
    ),
    "sums in integers": (
        NotImplementedError,
        lambda: FACES.signal.convolve2d(ARRAY.astype("f"), cp.ones((3, 3), int)),
    ),
    "medians of a row": (ValueError, lambda: FACES.signal.medfilt2d(ARRAY[0], 3)),
    "gains": (TypeError, lambda: FACES.signal.firwin2(9, [0, 0.5, 1], [1, 1, 0])),
    "complex maxima": (NotImplementedError, lambda: FACES.signal.argrelmax(ARRAY[0] * 1j)),
    "a power": (
        TypeError,
        lambda: FACES.spatial.distance.minkowski(ARRAY[0], ARRAY[1]),
    ),
    "an order": (AttributeError, lambda: FACES.special.polygamma(2, ARRAY)),
    "both of zeta": (TypeError, lambda: FACES.special.zeta(ARRAY)),
    "complex zeta": (TypeError, lambda: FACES.special.zeta(ARRAY * 1j, 2)),
    "sums of lists": (TypeError, lambda: FACES.special.logsumexp([1.0, 2.0])),
    "entropy of a number": (TypeError, lambda: FACES.stats.entropy(ARRAY[0], 0.2)),
    "a row of a number": (TypeError, lambda: FACES.linalg.toeplitz(ARRAY[0], 3)),
    "one argument": (TypeError, lambda: FACES.linalg.circulant(ARRAY[0], np.ones(2))),
    "one matrix": (TypeError, lambda: FACES.linalg.expm(cp.zeros((0, 0)), True)),
    "sides": (ValueError, lambda: FACES.linalg.solve_triangular(cp.eye(3), cp.ones((3, 3, 3)))),
    "branches": (TypeError, lambda: FACES.special.lambertw(1.0, [0, 1])),
    "degrees": (TypeError, lambda: FACES.special.spherical_yn([1, 2], 1.0)),
    "degrees of harmonics": (TypeError, lambda: FACES.special.sph_harm_y(1, [1], 0.1, 0.1)),
    "an infinity alone": (AttributeError, lambda: FACES.special.logsumexp(cp.array(cp.inf))),
    "one row": (cp.linalg.LinAlgError, lambda: FACES.linalg.lu_factor(ARRAY[0])),
    "trans": (TypeError, lambda: FACES.linalg.solve_triangular(cp.eye(3), cp.ones(3), "x")),
    "complex bands": (TypeError, lambda: FACES.linalg.bandwidth(cp.eye(3) * 1j)),
    "packed lengths": (TypeError, lambda: FACES.fftpack.fftn(ARRAY, 4)),
    "grid-constant": (
        RuntimeError,
        lambda: FACES.ndimage.gaussian_filter(ARRAY, 1, mode="grid-constant"),
    ),
    "grids of ranks": (
        RuntimeError,
        lambda: FACES.ndimage.median_filter(ARRAY, 3, mode=["grid-constant", "wrap"]),
    ),
    "no 0": (
        NotImplementedError,
        lambda: FACES.ndimage.distance_transform_edt(cp.ones((3, 4))),
    ),
    "no length": (ValueError, lambda: FACES.fft.irfft(ARRAY, 0)),
}


@pytest.mark.parametrize(("error", "call"), UNABLE.values(), ids=UNABLE)
def test_what_cupy_does_not_do_is_refused(error, call):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    ("name", "types"),
    [("erf", "h->f"), ("erf", "e->d"), ("ellipk", "e->f"), ("gammainc", "bH->f"), ("erf", "l->d"),
     ("xlogy", "bf->f"), ("xlogy", "el->d"), ("beta", "hh->d"), ("yn", "be->d"), ("expn", "if->d")],
)  # fmt: skip
def test_special_functions_have_cupys_types(name, types):
    given, made = types.split("->")
    numbers = [np.array([1, 2]).astype(char) for char in given]
    found = getattr(FACES.special, name)(*map(cp.asarray, numbers))
    assert found.dtype == made
    want = getattr(special, name)(*(x.astype(float) for x in numbers))
    np.testing.assert_allclose(found.get(), want, rtol=1e-6)


def test_matrices_of_one_type_and_their_right_sides():
    low = np.tril(RNG.random((4, 3, 3))) + np.eye(3)
    sides = RNG.random((4, 3))
    found = FACES.linalg.solve_triangular(cp.asarray(low), cp.asarray(sides), lower=True)
    for matrix, side, x in zip(low, sides, found.get(), strict=True):
        np.testing.assert_allclose(matrix @ x, side)
    single, double = cp.asarray(low[0].astype("f")), cp.asarray(sides[0])
    found = FACES.linalg.solve_triangular(single, double, lower=True)
    assert found.dtype == np.float32
    factored = FACES.linalg.lu_factor(single)
    np.testing.assert_allclose(FACES.linalg.lu_solve(factored, double).get(), found.get(), 1e-5)
    assert FACES.linalg.toeplitz(cp.ones((2, 2))).shape == (4, 4)
    assert FACES.linalg.fiedler_companion(cp.arange(1, 5)).dtype == float


def test_places_are_of_the_host():
    at = FACES.ndimage.maximum_position(ARRAY)
    assert at == np.unravel_index(STACK[0].argmax(), ARRAY.shape)
    assert all(isinstance(i, np.integer) for i in at)


@pytest.mark.parametrize("name", ["generic_filter", "generic_filter1d"])
def test_what_cupy_alone_can_is_named(name):
    with pytest.raises(NotImplementedError, match=f"cupyx.scipy.ndimage.{name} is not covered"):
        getattr(FACES.ndimage, name)(ARRAY, len)
    with pytest.raises(NotImplementedError, match="opencv"):
        FACES.ndimage.zoom(ARRAY, 2, mode="opencv")


def test_what_cupy_has_not_is_not_there():
    for module, name in (("ndimage", "watershed_ift"), ("signal", "upfirdn2"), ("fft", "nofft")):
        assert not hasattr(getattr(FACES, module), name)
    with pytest.raises(ModuleNotFoundError, match="cupyx.scipy.interpolate is not covered"):
        import cupyx.scipy.interpolate  # noqa: F401


@pytest.mark.parametrize("module", ["fft", "linalg", "ndimage", "signal", "special", "stats"])
def test_what_is_served_is_cupys(module):
    face = getattr(FACES, module)
    served = {name for name, value in vars(face).items() if callable(value) and name[0] != "_"}
    served -= {"serve", "missing"}
    assert len(served) > 4 and served <= gpuless.public(f"cupyx.scipy.{module}")


def test_the_module_of_an_array():
    assert FACES.get_array_module(cp.ones(2), 3) is FACES
    assert FACES.get_array_module(np.ones(2), 3) is scipy


def test_a_label_waits_for_the_device():
    lane = cp.cuda.Stream(non_blocking=True)
    x = cp.asarray(IMAGE) > 0.5
    with lane:
        lane.begin_capture()
        with pytest.raises(RuntimeError, match="capturing"):
            FACES.ndimage.label(x)
        lane.end_capture()


def test_numpy_shares_the_memory():
    x = cp.arange(7, dtype=np.float32)
    y = np.from_dlpack(x)
    assert y.ctypes.data == x.data.ptr and x.__dlpack_device__() == (1, 0)
    x[2] = 40
    assert y[2] == 40
    # What is lent is not given to anybody else.
    del x
    others = [cp.full(7, 5, np.float32) for _ in range(9)]
    assert y.tolist() == [0, 1, 40, 3, 4, 5, 6] and len(others) == 9


def test_pinned_arrays_like_others():
    x = np.asfortranarray(np.ones((3, 5), np.int16))
    for like in (x, cp.asarray(x)):
        made = cupyx.zeros_like_pinned(like)
        assert made.dtype == np.int16 and made.shape == (3, 5) and not made.any()
        assert made.flags.f_contiguous == like.flags.f_contiguous
    assert cupyx.empty_like_pinned(x, np.float32, shape=(2,)).nbytes == 8
    with pytest.raises(TypeError, match="subok"):
        cupyx.empty_like_pinned(x, subok=True)


def test_images_and_signals_as_cupys():
    """Where CuPy's own method is another than SciPy's."""
    image = cp.asarray(STACK[0, :4, :5] + 1)
    turned = FACES.ndimage.rotate(image, 90, order=1)
    assert turned.shape == (5, 4) and turned[:, 0].tolist() == [0, 0, 0, 0, float(image[0, 0])]
    np.testing.assert_allclose(turned[:, 1:].get(), np.rot90(image.get())[:, 1:])
    wanted = ndimage.rotate(STACK, 33, (2, 0), reshape=False, order=1)
    mine = FACES.ndimage.rotate(cp.asarray(STACK), 33, (2, 0), reshape=False, order=1)
    np.testing.assert_allclose(mine.get(), wanted, atol=1e-12)
    with pytest.warns(np.exceptions.ComplexWarning):
        assert FACES.ndimage.spline_filter1d(image + 1j).dtype == np.float64
        assert FACES.ndimage.spline_filter(image + 1j).dtype == np.float64
    places = FACES.ndimage.distance_transform_edt(image > 1.5, return_indices=True)[1]
    assert places.dtype == np.int16
    labels = cp.asarray(np.arange(20).reshape(4, 5) % 3)
    rows = FACES.ndimage.center_of_mass(image, labels, cp.array([1, 2]))
    assert [row.shape for row in rows] == [(2,), (2,)]
    analytic = FACES.signal.hilbert2(image, 4)
    weights = np.outer([1, 2, 1, 0], [1, 2, 1, 0])
    wanted = np.fft.ifft2(np.fft.fft2(image.get(), (4, 4)) * weights)
    np.testing.assert_allclose(analytic.get(), wanted, atol=1e-12)
    assert FACES.signal.resample_poly(image[0].astype("f"), 3, 2).dtype == np.float64
    assert FACES.signal.fftconvolve(cp.zeros(0, "f"), image[0]).dtype == np.float32
    assert FACES.fft.next_fast_len(11) == 12 and FACES.fft.next_fast_len(7, True) == 7
    assert isinstance(cp.polyfit(image[0], image[1], 1, full=True)[-1], np.float64)


def test_the_first_of_several_places():
    """Of up to fifteen labels the first place of each; of more, the last one of the greatest."""
    x = cp.asarray(np.resize([1, 0, 3, 3, 0, 1, 3], 320).reshape(20, 16))
    labels = cp.asarray(np.repeat(np.arange(1, 21), 16).reshape(20, 16))
    for many in (15, 20):
        least, most, first, last = FACES.ndimage.extrema(x, labels, cp.arange(1, many + 1))
        rows = x.get()[:many]
        assert [tuple(map(int, p)) for p in first] == [*enumerate(rows.argmin(1).tolist())]
        places = rows.argmax(1) if many == 15 else 15 - rows[:, ::-1].argmax(1)
        assert [tuple(map(int, p)) for p in last] == [*enumerate(places.tolist())]
        assert least.tolist() == [0] * many and most.tolist() == [3] * many
    assert FACES.ndimage.maximum_position(x, labels, 2) == (1, int(x[1].argmax()))


def test_what_is_solved_in_the_memory_that_is_given_away():
    linalg, a = FACES.linalg, cp.eye(3) * 2
    factors = linalg.lu_factor(a)
    for solve in (
        lambda b: linalg.lu_solve(factors, b, overwrite_b=True),
        lambda b: linalg.solve_triangular(a, b, overwrite_b=True),
    ):
        for b in (cp.ones(3), cp.asfortranarray(cp.ones((3, 2)))):
            assert solve(b) is b and bool((b == 0.5).all())
        for kept in (cp.ones((3, 2)), cp.ones(3, "f")):
            assert bool((solve(kept) == 0.5).all() & (kept == 1).all())

    stack, sides = cp.stack([a, a]), cp.ones((2, 3))
    solved = linalg.solve_triangular(stack, sides, overwrite_b=True)
    assert solved.data.ptr == sides.data.ptr and bool((sides == 0.5).all())
    given = cp.asfortranarray(cp.asarray([[2.0, 1.0], [4.0, 1.0]]))
    made = linalg.lu(given, overwrite_a=True)
    assert given.tolist() == [[4, 1], [0.5, 0.5]] and made[2].tolist() == [[4, 1], [0, 0.5]]
    with pytest.warns(RuntimeWarning, match="zero"):
        assert linalg.lu(cp.zeros((1, 1), "F"))[0].dtype == np.float32


@pytest.mark.parametrize("name", ["shift", "zoom", "rotate", "affine_transform"])
def test_an_output_that_is_the_input(name):
    call, ways = getattr(FACES.ndimage, name), {"shift": 1, "zoom": 1, "rotate": 90}
    a = cp.arange(25.0).reshape(5, 5)
    how = ways.get(name, cp.eye(2))
    wanted = call(a, how)
    assert call(a, how, output=a) is a and bool(cp.allclose(a, wanted))  # of a spline
    with pytest.raises(NotImplementedError, match="overlap"):
        call(a, how, output=a, order=1)
    part = cp.arange(75.0).reshape(5, 5, 3)[..., 0]  # of which CuPy takes a copy
    wanted = call(part, how, order=1)
    assert bool((call(part, how, output=part, order=1) == wanted).all()) and bool(wanted.any())


FILTERED = {
    "correlate1d": lambda m, x, **k: m.correlate1d(x, cp.array([1j, 2, 3]), **k),
    "convolve": lambda m, x, **k: m.convolve(x, cp.array([[1j, 2, 3]]), **k),
    "uniform_filter": lambda m, x, **k: m.uniform_filter(x, (3, 1), **k),
    "gaussian_filter": lambda m, x, **k: m.gaussian_filter(x, 1.0, **k),
    "sobel": lambda m, x, **k: m.sobel(x, **k),
}


@pytest.mark.parametrize("name", FILTERED)
def test_an_output_over_the_input(name):
    x = cp.arange(24.0).reshape(6, 4) * (1 + 2j)
    wanted = FILTERED[name](FACES.ndimage, x[:-1])
    assert cp.abs(wanted.imag).sum() > 1
    for first in (0, 1):
        y = x.copy()
        source = y[:-1]
        out = y[1:] if first else source
        assert FILTERED[name](FACES.ndimage, source, output=out) is out
        assert cp.allclose(out, wanted)


@pytest.mark.parametrize("name", ["rank_filter", "median_filter", "percentile_filter"])
def test_a_filter_of_a_row_has_an_output_of_another_type(name):
    numbers = np.array([5, 1, 4, 2, 3, 9])
    more = () if name == "median_filter" else (1,) if name == "rank_filter" else (40,)
    wanted = getattr(ndimage, name)(numbers, *more, size=3)
    found = getattr(FACES.ndimage, name)(cp.asarray(numbers), *more, size=3, output=cp.float32)
    assert found.dtype == np.float32 and found.get().tolist() == wanted.tolist()
    out = cp.zeros(6)
    assert getattr(FACES.ndimage, name)(cp.asarray(numbers), *more, 3, output=out) is out
    assert out.get().tolist() == wanted.tolist()


def test_integers_between_elements_are_of_single_precision():
    labels = cp.asarray([[2**24 + 1, 7]], dtype=cp.int32)
    assert int(FACES.ndimage.zoom(labels, (2, 1), order=0)[0, 0]) == 2**24
    edge = FACES.ndimage.shift(cp.ones((2, 2), "i"), 1, order=0, cval=2.5)
    assert int(edge[0, 0]) == 2
    at = cp.asarray([[0.0], [-1.0]])
    pixels = cp.ones((4, 5), "B")
    found = FACES.ndimage.map_coordinates(
        pixels, at, cp.float64, order=2, mode="grid-constant", cval=-3
    )
    assert abs(float(found[0]) - -3) < 1e-5


def test_a_spline_is_cut_to_integers_once():
    pixels = np.arange(20, dtype=np.uint8).reshape(4, 5) * 7 % 50
    wanted = ndimage.spline_filter(pixels, output=np.float64).astype(np.int32)
    found = FACES.ndimage.spline_filter(cp.asarray(pixels), output=cp.int32)
    assert found.dtype == np.int32 and abs(found.get() - wanted).max() == 0
    out = cp.zeros((4, 5), "i")
    assert FACES.ndimage.spline_filter(cp.asarray(pixels), output=out) is out
    assert bool((out == found).all())


@pytest.mark.parametrize("name, taps", [("sobel", [1, 2, 1]), ("prewitt", [1, 1, 1])])
def test_derivatives_go_along_the_axes_in_order(name, taps):
    image = np.arange(12.0).reshape(3, 4) ** 2
    one = ndimage.correlate1d(image, taps, 0, mode="constant", cval=-3)
    wanted = ndimage.correlate1d(one, [-1, 0, 1], 1, mode="constant", cval=-3)
    found = getattr(FACES.ndimage, name)(cp.asarray(image), 1, mode="constant", cval=-3)
    assert np.allclose(found.get(), wanted)
    pixels = image.astype(np.uint64)
    one = ndimage.correlate1d(pixels, taps, 0, output=np.uint64)
    wanted = ndimage.correlate1d(one, [-1, 0, 1], 1, output=np.uint64)
    found = getattr(FACES.ndimage, name)(cp.asarray(pixels), 1)
    assert found.dtype == np.uint64 and bool((found.get() == wanted).all())


def test_the_first_of_many_labels():
    image = cp.arange(40.0)
    labels = cp.arange(40)
    for name in ("minimum", "maximum", "median", "minimum_position", "maximum_position", "extrema"):
        measure = getattr(FACES.ndimage, name)
        with pytest.raises(NotImplementedError, match="label 0"):
            measure(image, labels, cp.arange(40))
        with pytest.raises(TypeError, match="unsized"):
            measure(image, labels, cp.asarray(2))
        measure(image, labels, cp.arange(1, 40))
        measure(image, labels, cp.arange(10))
    assert FACES.ndimage.median(image + 1, labels, cp.array([2, 99])).get().tolist() == [3, 0]


@pytest.mark.parametrize(("dtype", "again"), [("f", True), ("i", True), ("l", False)])
def test_a_label_below_0_and_one_that_is_there_twice(dtype, again):
    image, labels = cp.arange(1, 7, dtype=dtype), cp.array([1, 2, 2, 3, -1, 0])
    for sum in (FACES.ndimage.sum, FACES.ndimage.sum_labels):
        assert sum(image, labels) == 15
        found = sum(image, labels, cp.array([2, 1, 2])).get().tolist()
        assert found == [5, 1, 0 if again else 5]
    for name, value in (("mean", 2.5), ("variance", 0.25), ("standard_deviation", 0.5)):
        found = getattr(FACES.ndimage, name)(image, labels, cp.array([2, 1, 2])).get()
        np.testing.assert_array_equal(found[[0, 2]], [value, np.nan if again else value])
    found = cp.stack(FACES.ndimage.center_of_mass(image, labels, cp.array([1, 1]))).get()
    np.testing.assert_array_equal(found, [[0], [np.nan if again else 0]])
    assert FACES.ndimage.center_of_mass(image, labels)[0] == (2 + 6 + 12 + 20) / 15


def test_not_a_number_is_weighted_as_by_cupy():
    """Only pixels that a weight other than 0 reaches become NaN."""
    image = IMAGE[:20, :20].copy()
    image[5, 6] = np.nan
    x, holes = cp.asarray(image), np.isnan(image)
    column = ndimage.binary_dilation(holes, np.ones((3, 1)))
    taps = cp.asarray([1.0, 0, 2])
    around = {
        "uniform_filter": (ndimage.binary_dilation(holes, np.ones((3, 3))), (3,)),
        "uniform_filter1d": (column, (3, 0)),
        "correlate1d": (ndimage.binary_dilation(holes, [[1, 0, 1]]), (taps,)),
        "sobel": (ndimage.binary_dilation(column, [[1, 0, 1]]), ()),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, (wanted, more) in around.items():
            found = getattr(FACES.ndimage, name)(x, *more).get()
            assert np.array_equal(np.isnan(found), wanted)
    out = cp.asarray(image)
    assert FACES.ndimage.uniform_filter(out, 3, out) is out
    plain = ndimage.uniform_filter(IMAGE[:20, :20], 3)
    np.testing.assert_allclose(
        out.get()[~around["uniform_filter"][0]], plain[~around["uniform_filter"][0]], 1e-6
    )


TOLD = {
    "median_filter": (3,),
    "maximum_filter": (3,),
    "grey_opening": (3,),
    "gaussian_filter": (1, 1),
    "shift": (1,),
    "zoom": (2,),
    "spline_filter": (),
    "maximum_position": (),
}


@pytest.mark.parametrize("name", TOLD)
def test_who_filters_not_a_number_is_told(name):
    image = cp.asarray(IMAGE)
    getattr(FACES.ndimage, name)(image, *TOLD[name])
    image[5, 6] = cp.nan
    with pytest.warns(RuntimeWarning, match="NaN or infinities") as told:
        getattr(FACES.ndimage, name)(image, *TOLD[name])
    assert {warning.filename for warning in told} == {__file__}


def test_places_and_signals_that_are_not_numbers_are_told_of():
    image = cp.asarray(IMAGE)
    places = cp.asarray([[0.5, cp.nan], [1, 2]])
    with pytest.warns(RuntimeWarning, match="NaN or infinities"):
        FACES.ndimage.map_coordinates(image, places, order=1)
    row = cp.asarray([1.0, cp.nan, 2, 3, 4])
    with pytest.warns(RuntimeWarning, match="NaN or infinities"):
        FACES.signal.medfilt(row, 3)
    with pytest.warns(RuntimeWarning, match="NaN or infinities"):
        FACES.signal.lfilter(cp.asarray([1.0, 0, 1]), cp.ones(1), row)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FACES.signal.lfilter(cp.ones(2), cp.ones(1), row)
        FACES.signal.medfilt(cp.asarray([1.0, cp.inf, 2]), 3)
        FACES.ndimage.gaussian_filter(row, 1, output=cp.float32)
        FACES.ndimage.shift(row, 1, order=0)


def test_signals_have_cupys_types():
    pixels = np.arange(30).reshape(5, 6) ** 2 % 251
    found = FACES.signal.wiener(cp.asarray(pixels, dtype=cp.uint8), 3)
    assert np.allclose(found.get(), signal.wiener(pixels.astype(float), 3))
    wave = np.random.default_rng(0).normal(size=40).astype("f")
    assert FACES.signal.welch(cp.asarray(wave), nperseg=8, average="median")[1].dtype == float
    assert FACES.signal.welch(cp.asarray(wave), nperseg=8)[1].dtype == np.float32
    assert FACES.signal.welch(cp.asarray(wave), nperseg=40, average="median")[1].dtype == np.float32
    _, about = FACES.signal.find_peaks(cp.asarray(wave), height=0, threshold=0, prominence=0)
    kinds = {about[key].dtype for key in ("peak_heights", "left_thresholds", "prominences")}
    assert kinds == {np.dtype("f")}
    with pytest.raises(NotImplementedError, match="medians"):
        FACES.signal.csd(cp.asarray(wave), cp.asarray(wave[::-1]), nperseg=8, average="median")
    with pytest.raises(ValueError, match="padtype"):
        FACES.signal.resample_poly(cp.asarray(wave), 2, 3, padtype="mean")


@pytest.mark.filterwarnings("ignore:an array or its coordinates hold NaN")
def test_cupy_chooses_fourier_transforms():
    """``_choose_conv_method``: of floats in one dimension always, of more dimensions neither."""
    wave, taps = cp.arange(5.0), cp.ones(2)
    wave[2] = cp.nan
    for function in (FACES.signal.convolve, FACES.signal.correlate):
        with pytest.warns(RuntimeWarning, match="NAN"):
            assert cp.isnan(function(wave, taps)).all()
        assert cp.isnan(function(wave, taps, method="direct")).sum() == 2
        assert function(cp.arange(4), cp.ones(2, int), "valid").tolist() == [1, 3, 5]
        assert float(function(cp.array(2.0), cp.array(3.0))) == 6
        with pytest.raises(NotImplementedError, match="Only 1d"):
            function(ARRAY, ARRAY)
        with pytest.raises(ValueError, match="acceptable mode"):
            function(ARRAY, ARRAY, "most")
        assert function(ARRAY, ARRAY, method="fft").ndim == 2
    assert FACES.signal.choose_conv_method(wave, taps) == "fft"
    assert FACES.signal.choose_conv_method(wave, cp.arange(2)) == "direct"
    with pytest.raises(NotImplementedError, match="Only 1d"):
        FACES.signal.choose_conv_method(ARRAY, ARRAY)


def test_waves_have_the_type_of_their_times():
    times = np.linspace(-1, 2, 50)
    ours, narrow = cp.asarray(times), cp.asarray(times, dtype=cp.float32)
    for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
        for at_zero in (True, False):
            case = (6.5, 2, 1.5, method, 30, at_zero)
            found = FACES.signal.chirp(narrow, *case)
            assert found.dtype == np.float32
            np.testing.assert_allclose(found.get(), signal.chirp(times, *case), atol=1e-3)
            assert same(FACES.signal.chirp(ours, *case), signal.chirp(times, *case))
    pulses = FACES.signal.gausspulse(narrow, 5, retquad=True, retenv=True)
    assert [one.dtype for one in pulses] == [np.float32] * 3
    assert FACES.signal.gausspulse(ours, 5).dtype == float
    with pytest.raises(NotImplementedError, match="float16"):
        FACES.signal.chirp(ours.astype("e"), 1, 2, 3)
    with pytest.raises(NotImplementedError, match="int64"):
        FACES.signal.gausspulse(cp.arange(3))
    for name in ("square", "sawtooth"):
        wave = getattr(FACES.signal, name)
        assert same(wave(ours, 0.25), getattr(signal, name)(times, 0.25))
        for bad in ((narrow,), (cp.arange(3),), (ours, 1)):
            with pytest.raises(TypeError, match="Type is mismatched"):
                wave(*bad)
        with pytest.raises(NotImplementedError, match="float32"):
            wave(narrow, np.float32(0.5))


def test_peaks_and_windows_of_cupys():
    wave = cp.array([0, 1, 0, 2, 1], "f")
    assert FACES.signal.peak_prominences(wave, cp.array([1, 3]))[0].dtype == np.float32
    assert FACES.signal.resample_poly(wave, 2, 2).dtype == np.float32
    assert FACES.signal.resample_poly(wave, 1, 2).dtype == float
    assert FACES.signal.resample_poly(wave, 1, 2, window=cp.ones(3, "f")).dtype == np.float32
    for few in (0, 1):
        with pytest.raises(ValueError, match="Negative dimensions"):
            FACES.signal.find_peaks(wave[:few])
    assert FACES.signal.find_peaks(wave[:2])[0].size == 0
    # Of the kernel's three pieces the middle one begins 1 off, where (M - 1) % 4 is 0.
    wanted = [2 / 9**3, 2 / 27, 250 / 729, 83 / 243, 187 / 243, 1, 187 / 243, 250 / 729, 2 / 27]
    for found in (
        FACES.signal.windows.parzen(9),
        FACES.signal.windows.parzen(8, sym=False),
        FACES.signal.get_window("parzen", 8),
        FACES.signal.windows.get_window(("par",), 8),
    ):
        assert np.allclose(found.get(), wanted[: found.size])
    assert np.allclose(FACES.signal.windows.parzen(8).get(), signal.windows.parzen(8))
    with pytest.raises(NotImplementedError, match="parzen"):
        FACES.signal.firwin(9, 0.3, window="parzen")


def test_complex_numbers_are_resampled_by_cupys_window():
    wave = (np.arange(31) ** 2 % 7 + 1j * np.arange(31)).astype("F")
    window = np.fft.ifftshift(signal.get_window("hamming", 31))
    found = FACES.signal.resample(cp.asarray(wave), 10, window="hamming")
    assert found.dtype == np.complex64
    assert np.allclose(found.get(), signal.resample(wave, 10, window=window), atol=1e-4)


def test_special_functions_end_as_in_cupys_sources():
    faces, ends = FACES.special, cp.asarray([-0.0, np.inf, -np.inf])
    assert float(faces.gammasgn(ends)[0]) == 1
    assert faces.j1(ends).get().tolist() == [0, 0, 0]
    negative = faces.yn(cp.asarray([-2, 1]), cp.asarray([0.5, 0.5]))
    assert cp.isnan(negative).get().tolist() == [True, False]
    assert bool(cp.isnan(faces.fdtri(cp.asarray(1.0), cp.asarray(2.0), 0.0)))
    assert float(faces.betainc(*cp.array([[110.346], [31.56], [0.3745873]], "f"))[0]) > 1e-23
    assert float(faces.binom(cp.array([-46.457624939001555]), 126)[0]) == pytest.approx(
        8.0129528653e41
    )
    assert faces.bdtr(cp.array([7.0]), 1e15, 0.5).tolist() == [0]
    assert faces.fdtri(cp.array([18.0]), 60, 1e-20).tolist() == [0]
    tiny = cp.array([1e-17 + 1e-17j])
    assert faces.expm1(tiny).real[0] == 0 == faces.xlog1py(tiny, cp.array([1e-17 + 0j]))[0]
    few = cp.arange(3, dtype=cp.uint8)
    assert faces.radian(few, few, few).dtype == np.float64


def test_distributions_at_nan_and_infinity_are_cupys():
    """Which of a NaN, an infinity and a zero CuPy's sources ask about first."""
    inf, nan = np.inf, np.nan
    for name, rows in {
        "gammainc": [(nan, 0, 0), (nan, inf, 1), (inf, nan, 0), (nan, 1, nan), (inf, inf, nan)],
        "gammaincc": [(nan, 0, 1), (nan, inf, 0), (inf, nan, 1), (1, nan, nan)],
        "chdtr": [(nan, 0, 0), (nan, inf, 1), (inf, nan, 0), (2, -1, nan)],
        "chdtrc": [(nan, 0, 1), (inf, nan, 1)],
        "gdtr": [(0, nan, 2, 0), (1, nan, inf, 1), (nan, inf, 1, 0), (1, 1, -1, nan)],
        "gdtrc": [(0, nan, 2, 1), (3, inf, nan, 1)],
        "pdtr": [(inf, nan, 1), (nan, inf, 0), (nan, 0, 1), (-1, 1, nan)],
        "pdtrc": [(inf, nan, 0), (nan, inf, 1), (nan, 0, 0)],
        "fdtr": [(1, 1, inf, nan), (1, inf, 0.5, 0), (inf, 1, 1, nan), (nan, 1, 1, nan)],
        "fdtrc": [(1, 1, inf, 0), (inf, 1, 1, 0), (0.5, inf, inf, nan)],
        "nbdtr": [(1, inf, 0, 0), (1, inf, 1, 1), (inf, 1, 0.5, nan), (nan, 1, 1, nan)],
        "nbdtrc": [(1, inf, 0, 1), (1, inf, 1, 0)],
        "nbdtri": [(inf, 1, 1, 1), (inf, inf, 0, 0), (inf, 1, 0.5, nan)],
        "xlog1py": [(0, nan, 0), (1, nan, nan)],
    }.items():
        *operands, want = np.array(rows, float).T
        for dtype in "fd":
            found = getattr(FACES.special, name)(*(cp.asarray(v, dtype) for v in operands))
            assert found.dtype == dtype
            np.testing.assert_array_equal(found.get(), want, name)
    # delta**2 (sqrt(1 + (r / delta)**2) - 1), of which little is left for a small r
    delta, r = 1e5, 0.25
    want = delta * delta * (np.sqrt(1 + (r / delta) * (r / delta)) - 1)
    assert FACES.special.pseudo_huber(cp.array([delta, -1]), r).tolist() == [want, np.inf]


def test_statistics_are_cupys():
    stats, nan = FACES.stats, np.nan
    flat, some = cp.full(3, 2.0), cp.array([1.0, 2, 3])
    assert stats.zscore(cp.array(1.0), None).shape == ()
    assert stats.boxcox_llf(0.5, cp.ones((0, 3), "e")).dtype == "e"  # one NaN
    assert cp.isnan(stats.zmap(some, flat)).all() and cp.isnan(stats.zscore(flat)).all()
    part = cp.array([1, 2, nan, 3])
    np.testing.assert_allclose(
        stats.zmap(some, part, nan_policy="omit").get(), [-(1.5**0.5), 0, 1.5**0.5]
    )
    np.testing.assert_allclose(stats.zmap(some, some, axis=None).get(), [-(1.5**0.5), 0, 1.5**0.5])
    with pytest.raises(ValueError, match="contains nan"):
        stats.zmap(some, part, nan_policy="raise")
    whole, single = cp.array([[1, 2], [3, 2]]), cp.array([[1, 2], [3, 2]], "f")
    assert stats.entropy(whole, single).dtype == np.float64
    assert stats.entropy(single, whole).dtype == np.float32
    assert single.tolist() == [[0.25, 0.5], [0.75, 0.5]]  # CuPy divides in place
    assert stats.entropy(whole[:, 1], base=2) == 1
    assert stats.trim_mean(cp.array([3, nan, 1, 2, 9, 8]), 0.2) == 5.5  # NaN is the greatest
    rows = cp.arange(20).reshape(5, 4)
    assert stats.trim_mean(rows, 0.25, axis=-1).tolist() == [1.5, 5.5, 9.5, 13.5, 17.5]


def test_axes_and_lengths_of_a_transform_may_be_lists():
    x = cp.arange(16.0).reshape(4, 4)
    assert (FACES.fft.fftn(x, axes=[0, 1]) == FACES.fft.fftn(x)).all()
    assert (FACES.fft.fft2(x, s=[4, 4]) == FACES.fft.fft2(x)).all()
    assert FACES.fft.rfftn(x, [2, 4], [0, 1]).shape == (2, 3)


def test_images_are_cupys_own():
    """What an H200 gave where SciPy gives another number."""
    images, dot = FACES.ndimage, cp.array([0, 0, 1, 0, 0])
    assert images.binary_dilation(dot, structure=(3,)).tolist() == [False, True, True, True, False]
    assert (images.binary_dilation(dot, 3) == images.binary_dilation(dot, [3])).all()
    with pytest.raises(RuntimeError, match="a shape"):
        images.binary_erosion(dot, [1, 1, 1])
    assert images.median_filter(cp.array([3, 1, 2]), footprint=N).tolist() == [3, 3, 2]
    assert images.maximum_filter(dot, footprint=(3,)).tolist() == [0, 1, 1, 1, 0]  # a size
    out = cp.zeros((3, 3), int)
    ring = cp.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    assert images.binary_fill_holes(ring, output=out) is out and out.all()
    assert list(images.value_indices(cp.array([1, 2, 1], "q"))) == [1, 2]
    few = images.value_indices(cp.array([1, 2]), adaptive_index_dtype=True)
    assert few[2][0].dtype == np.int8
    far = images.distance_transform_edt(ring, float64_distances=False)
    assert far.dtype == np.float32 and far[0, 0] == np.sqrt(np.float32(2))
    taken = images.grey_dilation(dot, footprint=cp.array([0, 1, 1]), structure=cp.arange(3))
    want = ndimage.grey_dilation(dot.get(), footprint=[0, 1, 1], structure=[0, 1, 2])
    assert taken.tolist() == want.tolist()
    assert images.mean(LINE, cp.array([0, 1, 1, 2]), cp.array(1)).shape == ()
    shown = images.histogram(cp.array([1, 2, 3]), 0, 4, 2, cp.array([1, 1, 2]), cp.array([1, 2]))
    assert [one.tolist() for one in shown] == [[1, 1], [0, 1]]


def some(shape=(4,), dtype=float):
    return cp.ones(shape, dtype)


SPECTRUM = some((3, 3), complex)
LINE, PLANE, N = some(), some((3, 3)), cp.array([1, 0, 1])
ABOVE_AND_BELOW = cp.array([1.0, 2]), cp.array([1.0, 2j])
REFUSED_AS_BY_CUPY = {
    NotImplementedError: [
        lambda m: m.ndimage.shift(some(dtype=int), 1, cval=np.inf),
        lambda m: m.ndimage.shift(some(dtype=int), 1, order=0, cval=np.nan),
        lambda m: m.ndimage.minimum_filter(LINE, 3, cval=cp.nan),
        lambda m: m.ndimage.grey_erosion(PLANE, 3, structure=-PLANE),
        lambda m: m.ndimage.grey_erosion(some((3, 3), "i"), 3, structure=PLANE / 2),
        lambda m: m.ndimage.grey_dilation(some((3, 3), "B"), 3, structure=-N[None]),
        lambda m: m.ndimage.grey_closing(PLANE, footprint=N[None], structure=N[:, None]),
        lambda m: m.ndimage.center_of_mass(LINE, LINE.astype(int), cp.array([[1, 1]])),
        lambda m: m.ndimage.median(LINE, cp.array([-1, 0, 1, 2]), cp.array([7])),
        lambda m: m.ndimage.minimum_filter(-PLANE, 3, output=bool),
        lambda m: m.ndimage.fourier_shift(SPECTRUM[1:], 1, output=SPECTRUM[:-1]),
        lambda m: m.ndimage.spline_filter(SPECTRUM[1:], output=SPECTRUM[:-1]),
        lambda m: m.signal.argrelmax(some(dtype="B")),
        lambda m: m.signal.bilinear(*ABOVE_AND_BELOW),
        lambda m: m.signal.lp2bp(*ABOVE_AND_BELOW),
        lambda m: m.signal.zpk2tf(cp.array([1j]), cp.array([1.0]), 1),
        lambda m: m.signal.freqz(cp.array([1.0, 2]), include_nyquist=True),
        lambda m: m.signal.cspline1d(some(dtype=int)),
        lambda m: m.signal.resample(some((16,)), 4, domain="freq"),
        lambda m: m.signal.correlate2d(some((3, 3), "h"), some((2, 2), "H")),
        lambda m: m.special.spherical_yn(-1, LINE),
    ],
    TypeError: [
        lambda m: m.ndimage.correlate1d(LINE, LINE, mode="constant", cval=True),
        lambda m: m.ndimage.uniform_filter(LINE, 3, mode="constant", cval=float("nan")),
        lambda m: m.ndimage.shift(LINE, 1, cval=float("nan")),
        lambda m: m.ndimage.minimum_filter(LINE, footprint=[1, 0, 1]),
        lambda m: m.ndimage.map_coordinates(LINE, [[0.5]]),
        lambda m: m.ndimage.grey_opening(LINE, footprint=(3,)),
        lambda m: m.ndimage.grey_erosion(PLANE, 3, structure=np.ones((3, 3))),
        lambda m: m.ndimage.white_tophat(PLANE, 3, output=bool),
        lambda m: m.ndimage.fourier_uniform(PLANE, 3, output=some((3, 3), int)),
        lambda m: m.ndimage.binary_fill_holes(PLANE, origin=None),
        lambda m: m.signal.convolve2d(PLANE, PLANE, fillvalue=True),
        lambda m: m.special.spherical_yn(LINE, LINE),
        lambda m: m.special.zeta(LINE, None),
        lambda m: m.special.sph_harm(0, 1, LINE, LINE, out=some()),
        lambda m: m.linalg.expm(some((2, 2), "e")),
    ],
    ValueError: [
        lambda m: m.ndimage.minimum_filter(LINE, 1, origin=1),
        lambda m: m.ndimage.rank_filter(LINE, 0, footprint=N * 0),
        lambda m: m.ndimage.zoom(LINE, 2, order=6),
        lambda m: m.ndimage.value_indices(-some(dtype=int)),
        lambda m: m.ndimage.find_objects(some((), int)),
        lambda m: m.ndimage.label(PLANE, output=some((3, 2), int)),
        lambda m: m.linalg.lu(some((0, 0))),
        lambda m: m.linalg.solve_triangular(some((0, 0)), some((0,))),
        lambda m: m.signal.get_window("taylor", 8),
        lambda m: m.signal.convolve2d(some((3, 3), bool), PLANE),
        lambda m: m.signal.symiirorder2(some((7,), int), 0.01, 2.0),
    ],
    IndexError: [
        lambda m: m.ndimage.find_objects(cp.array([1, 65]), 1),
        lambda m: m.ndimage.correlate(some(()), some(())),
        lambda m: m.ndimage.gaussian_filter(some(()), 1, output=some(())),
        lambda m: m.stats.zscore(LINE, axis=None, nan_policy="omit"),
    ],
    RuntimeError: [
        lambda m: m.ndimage.uniform_filter(LINE, 1, mode="bogus"),
        lambda m: m.ndimage.shift(PLANE, 1, output=some((1, 3, 3), int)),
        lambda m: m.ndimage.distance_transform_edt(
            1 - N[None], return_indices=True, indices=some((2, 1, 3), int)
        ),
    ],
    ZeroDivisionError: [lambda m: m.linalg.dft(0)],
}


@pytest.mark.parametrize("error", REFUSED_AS_BY_CUPY)
def test_what_an_h200_refused_or_gave_otherwise_is_refused(error):
    for number, call in enumerate(REFUSED_AS_BY_CUPY[error]):
        with pytest.raises(error):
            call(FACES)
            pytest.fail(f"number {number} is taken")


def test_signals_are_cupys_own():
    """What an H200 gave where SciPy gives another number or type."""
    signals, single = FACES.signal, cp.array([1.0, 0.5], "f")
    times, values = cp.arange(6.0), cp.array([1.0, 3, 2, 5, 4, 4])
    plain, normal = (
        signals.lombscargle(times, values, cp.array([0.5]), True, whole) for whole in (False, True)
    )
    np.testing.assert_allclose(normal.get(), (plain * 2 / (values @ values)).get())
    assert all(part.dtype == float for part in signals.lp2bp(single, single))
    assert signals.lombscargle(times, values, cp.array([0.5])).shape == (1,)
    assert signals.gauss_spline(cp.array([0, 2]), 1).dtype == np.int64
    placed = signals.place_poles(cp.array([[1.0, 2], [3, 4]]), cp.array([[0.0], [1]]), -times[1:3])
    assert isinstance(placed.gain_matrix, cp.ndarray)
    assert signals.convolve2d(some((0, 3)), PLANE).shape == (0,)
    assert signals.lp2bs(single, single)[0].dtype == float


def test_matrices_and_special_functions_are_cupys_own():
    matrices, functions = FACES.linalg, FACES.special
    assert matrices.bandwidth(some((7, 1))) == (6, 0) and matrices.bandwidth(np.eye(2)) == (0, 0)
    assert matrices.hilbert(0).shape == (0, 1)
    assert matrices.fiedler(some(dtype="F")).dtype == np.complex64
    assert matrices.expm(some((1, 1), bool)).dtype == float
    assert matrices.expm(some((0, 3), "i")).dtype == "i" and matrices.hadamard(2, None).dtype == "d"
    assert matrices.khatri_rao(some((0, 3), "i"), some((2, 3))).dtype == some().dtype
    with pytest.raises(cp.linalg.LinAlgError):
        matrices.expm(cp.array(1.0))
    assert cp.isnan(matrices.expm(cp.diag(cp.array([cp.nan, 1.0])))).all()
    with pytest.raises(OverflowError):
        matrices.expm(cp.eye(2) * 710)
    assert cp.isnan(functions.sph_harm_y(1, 2, LINE, LINE)).all()
    assert functions.sph_harm_y(2, 1, 0.5, 0.25).dtype == complex
    assert functions.sph_harm_y(2, 1, LINE.astype("f"), LINE.astype("f")).dtype == np.complex64
    assert functions.sph_harm_y(cp.array([1]), 1, 0.5, 0.25).dtype == np.complex64
    with pytest.warns(DeprecationWarning), pytest.raises(TypeError, match="cast"):
        functions.sph_harm(1, 2, LINE, LINE, out=LINE.copy())
    for call in (
        lambda: functions.sph_harm_y(2, 1, LINE + 1j, LINE),
        lambda: functions.lambertw(LINE, 0.5),
        lambda: functions.lambertw(LINE, cp.array([1], "L")),
    ):
        with pytest.raises(TypeError):
            call()
    assert functions.expn(some(dtype=bool), 3.0).dtype == float
    np.testing.assert_allclose(functions.expn(2.0**40, cp.array([2.0])).get(), 6.30204022e-11, 1e-6)
    # SciPy's own ufunc of a device array is CuPy's.
    assert isinstance(special.erf(LINE), cp.ndarray)


def test_a_stack_of_stacks_is_solved_and_overwritten():
    a = cp.arange(1.0, 25).reshape(3, 2, 2, 2)
    for sides in (some((3, 2, 2)), some((3, 2, 2, 1))):
        copy = sides.copy()
        found = FACES.linalg.solve_triangular(a, copy, overwrite_b=True)
        single = linalg.solve_triangular(a[2, 1].get(), sides[2, 1].get())
        np.testing.assert_allclose(found[2, 1].get(), single)
        assert (copy == found).all()  # one column lies in memory as cuBLAS wants it
    copy = cp.ones((3, 2, 2, 5))
    FACES.linalg.solve_triangular(a, copy, overwrite_b=True)
    assert (copy == 1).all()


def test_special_functions_have_an_h200s_precision():
    functions, half = FACES.special, cp.array([8.64], "e")
    # A number of Python's is half precision beside such an array.
    assert float(functions.boxcox1p(half, 0.1)[0]) != float(
        functions.boxcox1p(half.astype("f"), 0.1)[0]
    )
    assert functions.cbrt.types == ["l->d", "L->d", "e->d", "f->f", "d->d"]
    assert float(functions.spherical_yn(5, cp.array([0.5], "f"))[0]) == pytest.approx(
        -61327.56316698, 1e-12
    )
    assert float(functions.spherical_yn(3, cp.array([1e-10], "f"))[0]) == pytest.approx(
        -1.5e41, 1e-6
    )
    # The cosine of a small angle is 1.
    assert functions.sph_harm_y(3, -1, cp.array([1e-8]), 0.0).tolist() == [0]
    np.testing.assert_allclose(
        functions.sph_harm_y(3, 1, LINE, 0.5).get(), special.sph_harm_y(3, 1, LINE.get(), 0.5)
    )
    with pytest.warns(DeprecationWarning):
        assert (
            functions.sph_harm(1, 3, LINE, LINE) == functions.sph_harm_y(3, 1, LINE, LINE)
        ).all()
    a = LINE + 4
    assert (functions.multigammaln(a, 1) == functions.gammaln(a)).all()
    np.testing.assert_allclose(functions.multigammaln(a, 3).get(), special.multigammaln(a.get(), 3))
    for odd in (cp.array(2), 1.5):
        with pytest.raises(ValueError, match="positive integer"):
            functions.multigammaln(a, odd)
    assert functions.exprel(cp.array([2j])).tolist() == [(np.exp(2j) - 1) / 2j]


def test_integers_shapes_and_conjugates_are_cupys_own():
    images, signals = cupyx.scipy.ndimage, cupyx.scipy.signal
    image = cp.array([[200, 3, 250, 7]], "u1")
    made = images.spline_filter1d(image, 3, 1, np.uint8).get()
    wide = images.spline_filter1d(image.astype(float), 3, 1).get()
    assert made.tolist() == (np.maximum(wide, 0).astype(int) % 256).tolist()
    assert signals.gauss_spline(cp.array([0, 3], "u1"), 3).tolist() == [0, 0]
    with pytest.raises(IndexError):
        images.spline_filter1d(cp.ones(1), axis=1)
    with pytest.raises(RuntimeError, match="output shape"):
        images.affine_transform(cp.ones(5), cp.ones(1), output=cp.ones((5, 2)))
    labels = cp.array([1, 1])
    assert images.sum_labels(cp.ones(2), labels, cp.array([], int)).dtype == np.int64
    with pytest.warns(RuntimeWarning, match="NaN"):
        images.correlate(cp.ones((2, 2)), cp.array([[np.nan, 1]]))
    b, a = np.array([1.0, 0.5]), np.array([1, 0.5j])
    found = signals.group_delay((cp.asarray(b), cp.asarray(a)), 4, True)[1].get()
    np.testing.assert_allclose(found, signal.group_delay((b, a.conj()), 4, True)[1])


def test_a_sum_that_is_cut_to_an_integer_is_a_gpus():
    """Values of an H200: it adds in single precision, and fuses each product with its sum."""
    ndi = FACES.ndimage
    assert ndi.gaussian_filter(cp.full(8, 1, "i2"), 1, mode="nearest").tolist() == [0] * 8
    out = cp.zeros((3, 4), "i2")
    assert ndi.uniform_filter(cp.full((3, 4), 7.0), 3, output=out, mode="grid-mirror") is out
    assert out.tolist() == [[6] * 4] * 3
    once = ndi.uniform_filter1d(cp.array([72, 0, 0, 0, 0, 0, 0, 189], "u1"), 5, output=float)
    assert (once * 5 != cp.rint(once * 5)).any() and once.dtype == float
    assert ndi.correlate1d(cp.array([1, 2, 3], "u1"), -cp.ones(3)).tolist() == [252, 250, 248]
    assert ndi.uniform_filter(cp.array([1e16, 0, 0, 0, 1, 1, 1]), 3)[5] == 1
    assert cp.isfinite(ndi.convolve1d(cp.array([1.0, np.nan, 2.0]), cp.zeros(3))).all()


def test_halves_are_filtered_in_single_precision():
    x = cp.array([1, 5, 2, 2049, 3], "e")
    ndi = FACES.ndimage
    for call, want in (
        (ndi.median_filter(x, 3), [1, 2, 5, 3, 3]),
        (ndi.maximum_filter1d(x, 3), [5, 5, 2048, 2048, 2048]),
        (ndi.uniform_filter(cp.full((3, 3), 2, "e"), 3)[0], [2, 2, 2]),
        (ndi.laplace(cp.array([0, 4, 0], "e")), [4, -8, 4]),
        (ndi.sobel(cp.array([0, 4, 0], "e")), [4, 0, -4]),
        (ndi.white_tophat(x, 3, output=x.copy()), [0, 3, 0, 2045, 0]),
    ):
        assert call.dtype == np.float16 and call.tolist() == want
    for name in "uniform_filter maximum_filter gaussian_filter".split():
        with pytest.raises(TypeError, match="does not compile for float16"):
            getattr(ndi, name)(x, 3, mode="constant")


def test_an_axis_of_one_weight_is_left_alone():
    x = cp.asarray(IMAGE)
    assert (FACES.ndimage.gaussian_filter(x, 0.1, order=1) == x).all()
    assert (FACES.ndimage.gaussian_filter1d(x, 0.1, order=1) == 0).all()


def test_an_edge_is_of_the_images_type():
    """As in the kernels of ranks and of footprints with gaps, but not in those of sizes."""
    ndi, flags = FACES.ndimage, cp.zeros((3, 4), bool)
    gap, x = cp.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]), cp.full((3, 4), 7, "u1")
    edged = {"mode": "constant", "cval": 2}
    assert ndi.median_filter(flags, footprint=gap, output=float, **edged).max() <= 1
    assert ndi.minimum_filter(flags, 5, mode="constant", cval=-1.0).view("u1").max() == 1
    assert ndi.minimum_filter(x, footprint=gap, mode="constant", cval=-1).tolist() == [[7] * 4] * 3
    assert ndi.minimum_filter(x, 3, mode="constant", cval=-1)[0, 0] == 255
    with pytest.raises(NotImplementedError, match="infinite cval"):
        ndi.minimum_filter(x, 3, mode="constant", cval=np.inf)


def test_what_a_gpu_does_not_take_of_an_image():
    ndi, x, z = FACES.ndimage, cp.asarray(IMAGE), cp.ones((3, 3), complex)
    labels = cp.ones(x.shape, int)
    for call in (ndi.uniform_filter, ndi.sobel, ndi.laplace):
        with pytest.raises(RuntimeError, match="complex dtype"):
            call(z, output=float)
    with pytest.raises(NotImplementedError, match="infinite cval"):
        ndi.correlate1d(z, cp.ones(2), mode="constant", cval=np.inf)
    with pytest.raises(TypeError, match="scalar int"):
        ndi.sum_labels(x, labels, np.int32(1))
    assert ndi.mean(x, labels, np.int32(1)) == ndi.mean(x)
    with pytest.raises(ValueError, match="no pixels"):
        ndi.median(x, labels, 5)
    assert ndi.median(cp.ones(3, "u2"), cp.ones(3, int), cp.array([2])).dtype == np.uint16
    with pytest.raises(NotImplementedError, match="nowhere, of more than 15"):
        ndi.median(cp.ones(3), cp.array([1, 9, 9]), cp.arange(1, 18))
    with pytest.raises(ValueError, match="without labels"):
        ndi.histogram(x, 0, 1, 2, labels, cp.array([], int))
    with pytest.raises(NotImplementedError, match="origin outside of the structure"):
        ndi.binary_dilation(x > 0.5, origin=2)
    with pytest.raises(RuntimeError, match="incorrect shape"):
        ndi.maximum_filter(x, footprint=np.ones(3), axes=0)
    with pytest.raises(TypeError, match="sampling"):
        ndi.distance_transform_edt(x > 0.5, sampling=cp.array([1.0, 2.0]))


def test_what_a_gpu_takes_of_an_image():
    ndi, x = FACES.ndimage, cp.asarray(IMAGE)
    mask = x > 0.5
    labels = mask.astype(int)
    assert ndi.find_objects(mask) == ndi.find_objects(labels)
    twice = ndi.distance_transform_edt(mask, sampling=(2.0,))
    assert (twice == 2 * ndi.distance_transform_edt(mask)).all()
    assert (twice == -ndi.distance_transform_edt(mask, -2)).all()
    found = ndi.maximum(x, labels, np.array([0, 1]))
    assert found.tolist() == ndi.maximum(x, labels, cp.array([0, 1])).tolist()
    assert (ndi.median_filter(x, 3, axes=-1) == ndi.median_filter(x, (1, 3))).all()
    lying = cp.zeros(x.shape, int, "F")
    assert ndi.label(mask, output=lying) == ndi.label(mask)[1]
    assert (lying == ndi.label(mask)[0]).all()
    assert ndi.label(x.astype("e"))[1] == 1
    assert list(ndi.value_indices(labels, ignore_value=0.5)) == [0, 1]
    assert ndi.morphological_gradient(x, 3, output=bool).dtype == x.dtype  # as SciPy
    assert ndi.spline_filter(cp.array(2.0)).shape == (1,)
    assert ndi.sum(x, None, cp.array([], int)).dtype == x.dtype
    seed = mask & (cp.arange(x.size).reshape(x.shape) < 9)
    shaded = ndi.binary_propagation(seed, mask=mask * 0.5)
    assert (shaded == ndi.binary_propagation(seed, mask=mask)).all()
    few = cp.array([[250, 3]], "u1")
    high = {"mode": "constant", "cval": 300}
    assert (ndi.maximum_filter(few, 3, None, **high) == ndi.maximum_filter(few, 3, **high)).all()


@pytest.mark.parametrize("name", ["erf", "lambertw", "spherical_yn", "zeta"])
def test_special_functions_give_rows(name):
    numbers = cp.ones((2, 3), order="F")
    orders = {"zeta": (numbers,), "spherical_yn": (numbers.astype(int),)}.get(name, ())
    assert getattr(FACES.special, name)(*orders, numbers).flags.c_contiguous


def test_what_cupy_warns_of_in_an_image():
    ndi, x = FACES.ndimage, cp.ones((3, 3), int)
    with pytest.warns(cp._util.PerformanceWarning):
        ndi.mean(x)
    with pytest.warns(UserWarning, match="structure"):
        ndi.grey_dilation(x, 3, structure=x)
    with pytest.warns(UserWarning, match="slower"):
        ndi.binary_fill_holes(x, origin=(0, 1))


def test_the_readers_function_gets_device_arrays():
    ndi, x = FACES.ndimage, cp.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    labels = cp.array([[1, 1, 2], [2, 0, 3]])
    given = x, labels, cp.array([3, 1, 5])
    assert ndi.labeled_comprehension(*given, cp.sum, float, -1).tolist() == [32, 3, -1]
    assert ndi.labeled_comprehension(*given, cp.max, "i4", 0).dtype == np.int32
    last = ndi.labeled_comprehension(x, labels, 2, lambda v, at: at[-1], int, 0, True)
    seen = []
    given = cp.arange(3), cp.array([3, 1, 2]), cp.array([2, 3, 1])
    found = ndi.labeled_comprehension(*given, lambda v: seen.append(int(v[0])), float, 0)
    assert seen == [1, 2, 0] and bool(cp.isnan(found).all())
    assert last.shape == () and last == 3
    assert ndi.labeled_comprehension(x, labels, None, cp.sum, float, 0) == 47

    def second(input, axis, output, mode, cval):
        return ndi.correlate1d(input, cp.array([1, -2, 1]), axis, output, mode, cval)

    assert (ndi.generic_laplace(x, second) == ndi.laplace(x)).all()
    both = cp.hypot(ndi.sobel(x, 0), ndi.sobel(x, 1))
    assert cp.allclose(ndi.generic_gradient_magnitude(x, ndi.sobel), both)


def test_blocks_may_lie_on_the_host():
    a = cp.ones((2, 2))
    assert FACES.linalg.block_diag(a, np.eye(2), a).shape == (6, 6)
