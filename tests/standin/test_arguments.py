"""Arguments that NumPy's or SciPy's functions have and CuPy's have not."""

import pickle

import cupy as cp
import cupyx.scipy.ndimage
import cupyx.scipy.signal
import numpy as np
import pytest
from cupyx.scipy.spatial import distance

X, M = cp.arange(4.0), cp.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cp.take(X, cp.array([9]), 0, None, "clip"),
        lambda: cp.concatenate([X, X], 0, None, "f"),
        lambda: cp.mean(X, 0, None, None, False, X > 1),
        lambda: cp.cumsum(X, 0, None, None, True),
        lambda: cp.sum(X, 0, None, None, False, 100),
        lambda: cp.max(X, 0, None, False, 100),
        lambda: X.max(0, None, False, 100),
        lambda: cp.broadcast_to(X, (2, 4), True),
        lambda: cp.indices((2, 3), sparse=True),
        lambda: cp.eye(3, device="cpu"),
        lambda: cp.fft.fftfreq(4, 1.0, None),
        lambda: cp.fft.fft(X, None, -1, None, X),
        lambda: cp.pad(X, {0: (1, 2)}),
        lambda: cp.random.choice(3, 4, p=[0, 1, 0]),
        lambda: X.dump("path"),
        lambda: distance.euclidean(X, X, X),
        lambda: distance.minkowski(X, X),
        lambda: distance.pdist(M, len),
    ],
)
def test_of_numpy_alone(call):
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: cp.fft.fftn(M, s=(-1, 3)), "give the length"),
        (lambda: cp.bincount(cp.array([], int), X), "same length"),
        (lambda: distance.cdist(M, X), "2-dimensional"),
        (lambda: X.__dlpack__(stream=-2), "stream"),
        (lambda: distance.cdist(M, M, "jaccard"), "Unknown Distance Metric"),
        (lambda: cupyx.scipy.signal.get_window("tukey", 6), "needs one or more parameters"),
        (lambda: cupyx.scipy.signal.firwin(5, 0.3, window="hann_periodic"), "Unknown window"),
        (lambda: cupyx.scipy.signal.invres(X[:3], cp.array([0.5, 0.7, 0.5]), []), "adjacent"),
    ],
)
def test_that_mean_something_else(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_structure_is_not_iterated_three_times():
    cross = cupyx.scipy.ndimage.generate_binary_structure(2, 1)
    assert cupyx.scipy.ndimage.iterate_structure(cross, 2).shape == (5, 5)
    with pytest.raises(NotImplementedError, match="only brute_force"):
        cupyx.scipy.ndimage.iterate_structure(cross, 3)


def test_sobel_takes_one_mode_and_borders_that_fit():
    image = cp.arange(20, dtype="u1").reshape(4, 5)
    ndimage = cupyx.scipy.ndimage
    with pytest.raises(RuntimeError, match="boundary mode not supported"):
        ndimage.sobel(image, mode=["wrap", "reflect"])
    for call in (
        lambda **how: ndimage.convolve(image, cp.ones((3, 3)), **how),
        lambda **how: ndimage.gaussian_laplace(image, 1, **how),
    ):
        with pytest.raises(NotImplementedError, match="Non-finite cval"):
            call(mode="constant", cval=np.nan)
        assert call(mode="constant", cval=1).shape == (4, 5)


def test_lombscargle_has_no_power_at_frequency_0():
    times = cp.linspace(0, 3, 40)
    power = cupyx.scipy.signal.lombscargle(times, cp.sin(times * 5) + 0.3, cp.array([0.0, 1, 5]))
    assert cp.isnan(power).tolist() == [True, False, False]


def test_lp2hp_fills_up_the_shorter_one_in_its_type():
    b, a = cp.array([1, 2, 0.5], "f"), cp.array([1], "f")
    for above, below, kinds in ((b, a, "df"), (a, b, "dd")):
        made = cupyx.scipy.signal.lp2hp(above, below, 2.0)
        assert "".join(one.dtype.char for one in made) == kinds


def test_wrap_pads_in_rounds():
    """Each takes what the one before has made: with two sides the period grows."""
    assert cp.pad(cp.arange(3), (1, 7), "wrap").tolist() == [2, 0, 1, 2, 0, 1, 2, 2, 0, 1, 2]
    padded = cp.pad(M, ((3, 1), (2, 5)), "wrap")
    assert padded[:, 0].tolist() == [1, 1, 4, 1, 4, 1]
    assert padded[0].tolist() == [1, 2, 0, 1, 2, 0, 1, 2, 1, 2]
    assert cp.pad(X, (2, 3), "wrap").tolist() == np.pad(X.get(), (2, 3), "wrap").tolist()


def test_distances_have_the_type_of_the_rows():
    rows = M.astype("f")
    assert distance.cdist(rows, rows).dtype == np.float32
    assert distance.cdist(M.astype(int), M.astype(int), "e").dtype == np.float32
    two = distance.euclidean(rows[:1], rows[1:])
    assert isinstance(two, cp.ndarray) and two.shape == () and abs(float(two) - 27**0.5) < 1e-6
    assert distance.pdist(M, "cityblock").tolist() == [9]
    out = cp.zeros((2, 2))
    assert distance.cdist(M, M, "minkowski", out, p=1) is out and out[0, 1] == 9
    turned = cp.asfortranarray(rows)
    assert distance.cdist(turned, turned).flags.fnc
    whole = cp.zeros((2, 2), int)  # of another type, it is another array
    assert distance.cdist(rows, rows, "cityblock", whole)[0, 1] == 9 and not whole.any()
    for pair in ((rows, M), (M, M, "cityblock", cp.zeros((3, 2, 2)))):
        with pytest.raises(ValueError, match="dtype|shape"):
            distance.cdist(*pair)


@pytest.mark.parametrize(
    "call",
    [
        lambda: distance.euclidean(M[0], M[1]),
        lambda: distance.euclidean(M[:1].astype(int), M[1:].astype(int)),
        lambda: distance.cdist(M[:, ::2], M[:, ::2]),
        lambda: distance.cdist(M, M, out=cp.zeros((4, 2))[::2]),
        lambda: distance.cdist(M, M, "minkowski", p=np.inf),
    ],
)
def test_cuvs_takes_rows_without_gaps(call):
    with pytest.raises((ValueError, NotImplementedError), match="cuVS"):
        call()


def test_cuvs_takes_no_row_for_probabilities_or_truths():
    rows = cp.array([[2.0, 0, 6], [0.5, 1, 1]])
    x, y = rows.get()
    m = (x + y) / 2
    want = sum(a * np.log(a / b) for v in (x, y) for a, b in zip(v, m, strict=True) if a) / 2
    between = distance.cdist(rows, rows, "jensenshannon")
    assert abs(float(between[0, 1]) - want**0.5) < 1e-12 and not between.diagonal().any()
    assert distance.cdist(rows, rows, "russellrao")[0, 1] == (3 - 7) / 3


def test_a_pickle_is_of_a_device_array():
    assert isinstance(pickle.loads(X.dumps()), cp.ndarray)
