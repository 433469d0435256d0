"""Filters, systems and spectra in the steps of CuPy's ``signal``; the numbers are an H200's."""

from __future__ import annotations

import warnings

import cupy as cp
import cupyx.scipy.signal as ours
import cupyx.scipy.stats
import numpy as np
import pytest


def near(found, numbers) -> bool:
    numbers = numbers.get() if isinstance(numbers, cp.ndarray) else numbers
    return np.allclose(found.get(), numbers, rtol=1e-10, atol=0)


def test_what_scipy_takes_by_name_alone_has_its_place_too():
    assert near(ours.firwin(11, 0.3, None, "hann"), ours.firwin(11, 0.3, window="hann").get())
    bands, gains = [0, 0.2, 0.4, 1], [1, 1, 0, 0]
    found = ours.firls(7, bands, gains, [1, 2], 2)
    assert near(found, ours.firls(7, bands, gains, weight=[1, 2]).get())
    at, of = cp.asarray([0, 0.5, 1]), cp.asarray([1.0, 1, 0])
    found = ours.firwin2(5, at, of, 33, "hann", None)
    assert near(found, ours.firwin2(5, at, of, nfreqs=33, window="hann").get())
    assert ours.windows.lanczos(8, False).size == 8
    with pytest.raises(TypeError, match="several values for 'bands'"):
        ours.firls(7, bands, gains, bands=bands)


def test_numpy_arrays_are_copied_where_cupy_copies_them():
    assert near(
        ours.butter(2, np.array([0.2, 0.4]), "band")[0], ours.butter(2, [0.2, 0.4], "band")[0]
    )
    assert near(
        ours.firwin(9, np.array([0.2, 0.4]), pass_zero=0),
        ours.firwin(9, [0.2, 0.4], pass_zero=False),
    )
    wave = np.random.RandomState(0).randn(32)
    assert near(ours.welch(wave, nperseg=8)[1], ours.welch(cp.asarray(wave), nperseg=8)[1])
    assert ours.welch(wave.tolist(), nperseg=8)[1].shape == (5,)
    times, _ = ours.step((np.ones(1), np.array([1.0, 1])), T=np.arange(3.0))
    assert times.tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="Unsupported type"):
        ours.zpk2tf(np.ones(1), cp.ones(1), 1)
    with pytest.raises(TypeError):
        ours.butter(2, 0.2, "low", False, "ba", None, 1)


def test_the_middle_of_a_cepstrum_counts_in_minimum_phase():
    found = ours.minimum_phase(cp.asarray([1.0, 2, 1]), n_fft=10)
    assert near(found, [0.79815064623, 0.839161727164])
    assert ours.minimum_phase(ours.firwin(33, 0.3).astype("f")).dtype == np.float32


def test_a_fit_without_digits_is_told_of():
    with pytest.warns(RuntimeWarning, match="hardly determine"):
        ours.firls(73, [0, 0.3, 0.5, 0.8], [0.5, 1, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.firls(11, [0, 0.3, 0.4, 1], [1, 1, 0, 0])
    with pytest.raises(ValueError, match="odd"):
        ours.firls(10, [0, 1], [1, 1])


def test_roots_have_the_type_of_the_coefficients():
    zeros, poles, gain = ours.tf2zpk([-1.1, -1.42, -0.03], cp.asarray([1.03, -0.03, 1.61], "f"))
    assert (zeros.dtype, poles.dtype, gain.dtype) == (float, np.complex64, float)
    assert near(gain, -1.067961194713)
    assert ours.tf2sos(cp.asarray([1.0, 2]), cp.asarray([1, 0.5], "f")).shape == (1, 6)


def test_frequencies_in_single_precision():
    b = cp.asarray([1, 0.66, -0.04, 1.48, 1.23, -0.71], "f")
    w, h = ours.freqz(b, worN=cp.asarray([0.1, 0.2], "f"), fs=1.0)
    assert (w.dtype, h.dtype) == (np.float32, complex)
    assert np.allclose(h.get()[0], 0.779154539108 - 2.480435609818j, rtol=1e-8)


def test_impulses_in_their_places():
    assert ours.unit_impulse((5, 5), [1, 1]).sum() == 1
    assert ours.unit_impulse((4, 5), "mid", "f")[2, 2] == 1
    for bad, kind in (((7, -1), ValueError), ((7, 0, bool), TypeError)):
        with pytest.raises(kind):
            ours.unit_impulse(*bad)


def test_windows_by_cupys_names():
    assert (ours.get_window("hanning", 8, 1) == ours.windows.hann(8, False)).all()
    assert ours.welch(cp.arange(9.0), window="hanning", nperseg=4)[1].size == 3
    for window in (("tukey",), ("exponential", None)):
        with pytest.raises(ValueError, match="all of its parameters"):
            ours.get_window(window, 8)
    window = cp.hanning(5).astype("f")  # which scales in double precision
    found = ours.welch(cp.arange(5.0), window=window, noverlap=0)[1]
    assert np.allclose(found.get()[1:], [1.206011329583, 0.460655337083], rtol=1e-11)


def test_a_trend_is_taken_off_all_segments_on_the_device():
    waves = cp.asarray(np.random.RandomState(0).randn(2, 32))
    plain = ours.welch(waves, nperseg=8)[1]
    own = ours.welch(waves, nperseg=8, detrend=lambda parts: ours.detrend(parts, type="constant"))[
        1
    ]
    assert near(own, plain.get())
    turned = ours.csd(
        waves.T, waves.T, nperseg=8, axis=0, detrend=lambda v: v - cp.mean(v, axis=0, keepdims=True)
    )[1]
    assert near(turned, plain.T.get())
    assert ours.stft(waves, nperseg=8, detrend=lambda v: v * cp.ones(8))[2].shape == (2, 5, 9)
    for axis, mixing in (
        (-1, lambda v: v - v.mean()),
        (1, lambda v: v - v.mean(-1, keepdims=True)),
    ):
        with pytest.raises(NotImplementedError, match="mixes segments"):
            ours.welch(waves, nperseg=8, detrend=mixing, axis=axis)


def test_vectors_are_as_strong_as_both_types_tell():
    events = cp.asarray(np.random.RandomState(39).rand(2) * 10)
    strength, phase = ours.vectorstrength(events, cp.float32(2))
    assert np.allclose([float(strength), float(phase)], [0.69580142771, -0.867264693093])
    assert (strength.dtype, phase.dtype) == (float, float)


def test_systems_of_zeros_and_poles():
    pair = cp.asarray([-0.5 + 0.5j, -0.5 - 0.5j])
    assert ours.bode((cp.asarray([]), pair, 2), n=5)[1].size == 5
    for call in (ours.step, ours.impulse, lambda system: ours.cont2discrete(system, 0.1)):
        with pytest.raises(NotImplementedError, match="conjugates"):
            call((cp.asarray([]), pair[:1], 2))
    with pytest.raises(ValueError, match="array of times"):
        ours.impulse((cp.ones(1), cp.asarray([1.0, 1])), T=5)
    with pytest.warns(RuntimeWarning, match="hardly any"):
        ours.step((cp.ones(1), cp.asarray([1.0, 0, 4])))
    with pytest.raises(NotImplementedError, match="one step"):
        ours.dimpulse((cp.ones(1), cp.asarray([1.0, 0.5]), 1), n=1)


def test_poles_that_are_placed():
    A, B = cp.asarray([[0.0, 1], [2, 3]]), cp.asarray([[0.0], [1]])
    found = ours.place_poles(A, B, cp.asarray([-1.0, -2]))
    assert np.allclose(np.sort(found.requested_poles), [-2, -1])
    assert found.computed_poles.dtype == found.requested_poles.dtype
    with pytest.raises(TypeError, match="array of the device"):
        ours.place_poles(A, B, [-1.0, -2])


def test_numbers_stay_numbers():
    assert type(ours.kaiser_atten(65, np.float64(0.1))) is np.float64
    power = ours.lombscargle(cp.arange(1.0, 4), cp.zeros(3), cp.ones(2), normalize=True)
    assert power.tolist() == [0, 0]
    with pytest.raises(NotImplementedError, match="every so many"):
        ours.lombscargle(cp.arange(6.0)[::2], cp.ones(3), cp.ones(2))
    with pytest.raises(TypeError, match="mismatched"):
        ours.chirp(cp.arange(3.0), 1, 2, cp.asarray(3))
    llf = cupyx.scipy.stats.boxcox_llf(np.float64(0.5), cp.asarray([1, 2, 4], "f"))
    assert llf.dtype == np.float32


def test_a_phase_on_the_device_is_left_in_radians():
    t, phi = cp.linspace(0, 1, 3), cp.array([0.0, 90, 180])
    first = ours.chirp(t, 1, 1, 5, phi=phi)
    assert near(phi, [0, np.pi / 2, np.pi]) and not near(first, ours.chirp(t, 1, 1, 5, phi=phi))
    phi = cp.array(90.0)
    ours.sweep_poly(t, cp.poly1d([1.0, 2]), phi)
    assert near(phi, np.pi / 2)
    a = ours.zpk2tf(cp.array([]), cp.array([100_000, 200_000, 300_000, 400_000]), 1)[1]
    assert float(a[-1]) == 2.4e21


@pytest.mark.parametrize("name", ["periodogram", "welch", "stft", "spectrogram"])
def test_a_detrend_that_writes_is_refused(name):
    def centre(parts):
        parts -= parts.mean(-1, keepdims=True)
        return parts

    with pytest.raises(NotImplementedError, match="writes in its segments"):
        getattr(ours, name)(cp.arange(256.0), detrend=centre)
