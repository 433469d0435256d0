"""``cupyx.scipy.signal`` where CuPy's own code decides; numbers are an H200's."""

import cupy as cp
import numpy as np
import pytest
from cupyx.scipy import signal
from scipy import ndimage

import helpers

pytestmark = pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own faces")
WAVE = cp.tile(cp.array([0.0, 1]), 20)
ONES = cp.ones(1025)


def test_of_equal_peaks_that_are_near_the_last_is_kept():
    found, _ = signal.find_peaks(cp.append(WAVE, 0), distance=3)
    assert found.tolist() == list(range(3, 40, 4))


def test_properties_of_peaks_are_of_the_type_of_the_signal():
    x = cp.array([-100, 100, -100], "b")
    found, about = signal.find_peaks(x, threshold=(None, 0), prominence=(None, 0))
    assert found.tolist() == [1] and about["prominences"].tolist() == [-56]
    limits = cp.array([0, 1, 0])
    for height in (limits, [limits, None], [0.5, 101]):
        assert signal.find_peaks(x, height=height)[0].tolist() == [1]
    with pytest.raises(ValueError, match="must match x"):
        signal.find_peaks(x, height=limits[:2])
    with pytest.raises(TypeError, match="one end or two"):
        signal.find_peaks(x, prominence=(0.1,))


def test_the_bits_of_a_whole_rel_height_are_a_floats():
    x, peaks = cp.array([0.0, 2, 1, 0]), [1]
    assert signal.peak_widths(x, peaks, 1.0)[0].tolist() == [3]
    with pytest.warns(RuntimeWarning, match="say 1.0"):
        assert signal.peak_widths(x, peaks, 1)[0].tolist() == [0]


def test_widths_with_what_was_found_of_prominences():
    x = cp.array([0, 3, 1, 2, 0], "i2")
    data = signal.peak_prominences(x, [1, 3])
    assert signal.peak_widths(x, [1, 3], 0.5, data)[0].tolist() == [1.25, 0.75]
    with pytest.raises(TypeError, match="of the type of x"):
        signal.peak_widths(x, [1, 3], 0.5, (data[0].astype(float), *data[1:]))


def test_extrema():
    x = cp.array([[1.0, 2, 1], [3, 3, 0]])
    assert signal.argrelextrema(x, cp.greater_equal)[0].tolist() == [0, 1, 1]
    assert signal.argrelmax(x, 1, mode="wrap")[1].tolist() == [1]
    assert signal.argrelmin(cp.array([2.0, 1, 2]))[0].tolist() == [1]
    with pytest.raises(KeyError):
        signal.argrelextrema(x, np.greater)
    assert signal.argrelextrema(x[None], lambda a, b: cp.less_equal(a, b), 1)[1].size == 3
    with pytest.warns(RuntimeWarning, match="ascontiguousarray"):
        signal.argrelmax(WAVE[::2])
    with pytest.warns(RuntimeWarning, match="axis -2 for the last"):
        signal.argrelmax(x, -2)


def test_filters_that_go_on_mirrored():
    assert float(signal.symiirorder2(ONES, 0.7, np.pi)[997]) == pytest.approx(3.1854795952885184)
    ramp = cp.arange(600) * 0.05
    assert signal.symiirorder1(ramp.astype("f"), 0.25, 0.5).dtype == np.float32
    image = cp.asarray(np.sin(np.arange(600.0)).reshape(20, 30))
    assert signal.spline_filter(image, 0).shape == (20, 30)
    for call in (signal.spline_filter, lambda x: signal.cspline2d(x * 1j)):
        with pytest.raises(ValueError, match="did not converge"):
            call(image)
    with pytest.raises(ValueError, match="broadcast"):
        signal.symiirorder1(image, 1.0, 0.5)
    with pytest.raises(ValueError, match="finfo"):
        signal.qspline2d(image.astype(int))


def test_a_separable_filter_of_a_small_image():
    image, row, column = np.arange(8.0)[None], np.hanning(7), np.arange(5.0)
    wanted = ndimage.correlate1d(ndimage.correlate1d(image, column[::-1], 0), row[::-1], 1)
    found = signal.sepfir2d(*(cp.asarray(v) for v in (image, row, column)))
    np.testing.assert_allclose(found.get(), wanted)


def test_the_state_of_sections_counts_its_axes_as_cupy_does():
    sections = signal.butter(4, 0.3, output="sos")
    x = cp.ones((3, 50))
    assert signal.sosfilt(sections, x, zi=cp.zeros((2, 3, 4)))[1].shape == (2, 4, 3)
    with pytest.raises(ValueError, match="not SciPy's two"):
        signal.sosfilt(sections, x[0], zi=cp.zeros((2, 2)))
    assert signal.sosfilt(sections, x.T, 0, cp.zeros((2, 4, 3)))[1].shape == (4, 2, 3)


def test_a_section_of_first_order_is_padded_as_one_of_second():
    sections = signal.butter(3, 0.1, output="sos")
    with pytest.raises(ValueError, match="which is 15"):
        signal.sosfiltfilt(sections, cp.ones(15))
    assert signal.zpk2sos(cp.array([]), cp.array([0.5]), 1.0)[0, [1, 2]].tolist() == [0, 0]


def test_signals_that_are_too_short():
    b, a = signal.butter(4, 0.2)
    for call in (signal.lfilter, signal.filtfilt):
        with pytest.raises(ValueError, match="without numbers"):
            call(b, a, ONES[:0])
    with pytest.raises(ValueError, match="keeps more numbers"):
        signal.filtfilt(b, a, ONES[:2], padtype=None)
    signal.filtfilt(b, a, ONES[:4], padtype=None)


def test_states_of_which_digits_are_lost():
    with pytest.warns(RuntimeWarning, match="is rounding"):
        signal.lfilter_zi(*signal.butter(5, 0.002))
    assert signal.sosfilt_zi(cp.array([[1.0, 0, 0, 1, -1, 0]])).tolist() == [[1, 1, 0, 0]]
    b, a = signal.butter(4, 0.05)
    x, zi = ONES * 1.5, signal.lfilter_zi(b, a)
    with pytest.warns(RuntimeWarning, match="is rounding"):
        signal.lfilter(b.astype("f"), a.astype("f"), x.astype("f"), zi=zi.astype("f"))
    signal.lfilter(b, a, x, zi=zi)  # no warning, which would be an error


def test_sums_that_do_not_compile_or_are_cut_off():
    whole, halves = cp.ones((1, 1), int), cp.full((3, 3), 0.5, "f")
    for boundary in ("fill", "pad"):
        with pytest.raises(NotImplementedError, match="a sum in int64"):
            signal.convolve2d(whole, halves, boundary=boundary)
    with pytest.raises(TypeError, match="does not compile"):
        signal.correlate2d(halves.astype("F"), cp.ones((1, 3)))


def test_windows_and_places_of_the_readers():
    x = cp.asarray(np.random.default_rng(3).random(40))
    found = signal.resample(x, 20, window=lambda f: cp.exp(-f * f))
    wanted = signal.resample(x, 20, window=cp.exp(-(cp.fft.fftfreq(40) ** 2)))
    assert (found == wanted).all()
    assert signal.order_filter(x, np.ones(3), 1)[5] == cp.median(x[4:7])
    assert signal.resample_poly(x.astype("e"), 1, 2).dtype == np.float64
    assert signal.decimate(x.astype("e"), 4).dtype == np.float64


POINT, SECTIONS = cp.array(2), signal.butter(3, 0.3, output="sos")


@pytest.mark.parametrize(
    "call",
    [
        lambda: signal.chirp(cp.ones(3, "?"), 6, 10, 1),
        lambda: signal.chirp(cp.ones(3, "F"), 6, 10, 1),
        lambda: signal.convolve(2, POINT),
        lambda: signal.cspline2d(ONES),
        lambda: signal.firwin(5, 0.3, nyq=1.0),
        lambda: signal.freqs_zpk(ONES[:2], ONES[:3], 1.0, POINT),
        lambda: signal.gauss_spline(ONES, POINT),
        lambda: signal.gauss_spline(ONES.astype("u4"), 2),
        lambda: signal.get_window(("kaiser", cp.array(8.0)), 5),
        lambda: signal.hilbert(ONES, POINT),
        lambda: signal.lfiltic(ONES[:2], ONES[:1], [1, 2]),
        lambda: signal.lfilter_zi(cp.ones((2, 2)), ONES[:2]),
        lambda: signal.max_len_seq(4, taps=[4]),
        lambda: signal.residue(ONES[:2], cp.array([1.0, 3, 2]), 0),
        lambda: signal.resample(ONES, 12, axis=3),
        lambda: signal.sosfilt_zi(cp.asfortranarray(SECTIONS)),
        lambda: signal.unique_roots([1.0, 2], 0),
        lambda: signal.upfirdn(ONES[:2], ONES, axis=False),
        lambda: signal.upfirdn(ONES[:2], ONES, axis=POINT),
        lambda: signal.windows.chebwin(5, cp.array(100.0)),
        lambda: signal.zpk2tf(ONES[:1], ONES[:2], None),
    ],
)
def test_arguments_that_cupy_does_not_take(call):
    with pytest.raises(Exception):  # noqa: B017  of which class is another matter
        call()


def test_small_integers_are_times_before_their_cube_is_taken():
    times = cp.array([1, 7], "u1")
    expected = signal.chirp(times.astype(float), 6, 10, 1, "quadratic")
    assert signal.chirp(times, 6, 10, 1, "quadratic").tolist() == expected.tolist()


def test_a_spectrum_is_weighed_where_it_lies():
    spectrum, weights = cp.ones((3, 8), "F"), cp.arange(8.0)
    assert signal.resample(spectrum, 4, axis=1, window=weights, domain="freq").dtype == "F"
    assert spectrum.tolist() == [weights.tolist()] * 3
    assert signal.resample(cp.ones(8, "F"), 4, window=cp.ones(8)).dtype == "F"


def test_what_is_given_back_and_what_is_new():
    edges, single = cp.array([0.2, 0.5]), cp.array([1.0, 2], "f")
    assert signal.cheb1ord(edges, cp.array([0.1, 0.6]), 1.0, 20.0, True)[1] is not edges
    assert signal.freqresp((single, single), single)[0] is single
    assert signal.lfiltic(single, single, None) is None
    assert isinstance(signal.gausspulse("cutoff", cp.array(5.0)), cp.ndarray)


@pytest.mark.parametrize("name", ["periodogram", "welch"])
def test_a_spectrum_of_complex_numbers_has_both_sides(name):
    x = cp.ones(8, "F")
    with pytest.warns(UserWarning, match="onesided"):
        getattr(signal, name)(x, window=x.real)
    getattr(signal, name)(x, window=x.real, return_onesided=False)


def test_a_detrend_along_the_segments_mixes_them():
    x = cp.asarray(np.random.default_rng(3).random(40))
    with pytest.raises(NotImplementedError, match="mixes segments"):
        signal.welch(x, nperseg=8, detrend=signal.detrend, axis=0)
    signal.welch(x, nperseg=8, detrend=signal.detrend)


def test_a_point_is_a_frequency_of_a_group_delay():
    assert signal.group_delay((ONES[:3], ONES[:1]), POINT)[0].tolist() == [2]


def test_an_order_of_splines_is_cut_off():
    assert signal.gauss_spline(ONES[:1], 2.5) == signal.gauss_spline(ONES[:1], 2)


def test_several_real_poles_of_several_inputs():
    A, B, poles = cp.diag(cp.arange(3.0)), cp.eye(3)[:, :2] + 1, cp.array([-1.0, -2, -3])
    with pytest.warns(RuntimeWarning, match="KNV0"):
        signal.place_poles(A, B, poles)
    signal.place_poles(A, B, poles, "KNV0")


def test_filters_along_the_first_axis_lie_in_cs_order():
    x, sos = cp.ones((20, 3)), signal.butter(4, 0.2, output="sos")
    b, a = signal.butter(2, 0.2)
    for made in (
        signal.sosfilt(sos, x, axis=0),
        signal.lfilter(b, a, x, axis=0),
        *signal.lfilter(b, a, x, axis=0, zi=cp.zeros((4, 3))),
        signal.csd(x, x, axis=0, nperseg=8)[1],
        signal.detrend(x.T.copy().T, axis=0, type="constant"),
        signal.resample_poly(x.T.copy().T, 3, 3),
        signal.gausspulse(x.T.copy().T),
    ):
        assert made.flags.c_contiguous
