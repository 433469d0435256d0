"""Arguments of an odd kind: refused by a table, or taken as CuPy takes them."""

import sys

import cupy as cp
import cupyx.scipy.fft
import cupyx.scipy.fftpack
import cupyx.scipy.linalg
import cupyx.scipy.ndimage
import cupyx.scipy.signal.windows
import cupyx.scipy.sparse.csgraph
import cupyx.scipy.sparse.linalg
import cupyx.scipy.special
import cupyx.scipy.stats
import numpy as np
import pytest
from cupy._core import _refused
from scipy import signal as library

signal, ndimage, sparse = cupyx.scipy.signal, cupyx.scipy.ndimage, cupyx.scipy.sparse
POINT, ROW = cp.array(1), cp.arange(1.0, 6)
IMAGE = cp.asarray(np.cos(np.arange(12)).reshape(3, 4), "f")
DENSE = np.array([[1.5, -2, 0, 4], [0, 3.25, -1, 2], [2.5, 0, 0.5, -3]], "f")
MATRIX = sparse.csr_matrix(cp.asarray(DENSE))
SQUARE = sparse.csr_matrix(
    cp.asarray(np.diag([4.0, 5, 3, 4]) + np.eye(4, k=1) - np.eye(4, k=-1), "f")
)


def test_every_row_of_the_table_is_of_a_function():
    places = {"linalg": "cupy.linalg", "fft": "cupy.fft", "random": "cupy.random"}
    places |= {"scipy.fft": "cupyx.scipy.fft", "scipy.linalg": "cupyx.scipy.linalg"}
    places |= {"windows": "cupyx.scipy.signal.windows"}
    for module, parameters in _refused._table().items():
        where = sys.modules.get(places.get(module, f"cupyx.scipy.{module}"), cp.random.Generator)
        for rows in parameters.values():
            for row in [rows] if isinstance(rows, str) else rows:
                assert all(callable(getattr(where, name)) for name in row.split(":")[1].split())


def test_kinds():
    values = [None, True, 1, np.int8(1), 2**70, 1.0, np.float32(1), 1j, "a", [1], (1,), [POINT]]
    values += [POINT, ROW, np.ones(2), np.array(1), float, MATRIX, ...]
    kinds = "none bool int integer huge float floating complex text list tuple arrays point array"
    assert list(map(_refused.kind, values)) == [
        *kinds.split(),
        *"host hosted type sparse other".split(),
    ]


REFUSED = [
    lambda: cp.linalg.matrix_power(cp.eye(2), np.int64(2)),
    lambda: cp.linalg.norm(IMAGE, cp.array(2)),
    lambda: cp.fft.fftshift(IMAGE, axes=np.int64(1)),
    lambda: cp.fft.fftn(IMAGE, axes=cp.array([0, 1])),
    lambda: cp.random.normal((0.0, 1.0), 1.0, 3),
    lambda: cp.random.randint(1, 5, np.int64(3)),
    lambda: cp.random.randint([1, 2], 5, 2),
    lambda: cp.random.RandomState(1, method="xorwow"),
    lambda: cp.random.XORWOW(1, size=[100]),
    lambda: cp.random.default_rng(1).poisson(2.0, [3]),
    lambda: ndimage.convolve1d(IMAGE, ROW, axis=POINT),
    lambda: ndimage.shift(IMAGE, 1.0, cval=cp.array(1.0)),
    lambda: ndimage.zoom(IMAGE, 2, order=POINT),
    lambda: ndimage.binary_erosion(IMAGE > 0, np.ones((3, 3), bool)),
    lambda: ndimage.minimum(IMAGE, 2, cp.array([1])),
    lambda: ndimage.distance_transform_edt(IMAGE.astype("F")),
    lambda: signal.windows.kaiser(5.0, 4.0),
    lambda: signal.windows.hann(cp.array(5)),
    lambda: signal.freqs([1.0, 2.0], ROW),
    lambda: signal.find_peaks(ROW, height=[1.0]),
    lambda: signal.find_peaks(ROW, width=1, rel_height=True),
    lambda: signal.find_peaks(ROW > 2),
    lambda: signal.sepfir2d(IMAGE, [1.0], ROW),
    lambda: cupyx.scipy.special.gamma(ROW, dtype=ROW),
    lambda: cupyx.scipy.linalg.hadamard(4.0),
    lambda: cupyx.scipy.linalg.khatri_rao(IMAGE, DENSE.tolist()),
    lambda: cupyx.scipy.fft.dct(IMAGE, axis=POINT),
    lambda: cupyx.scipy.stats.boxcox_llf(0.5, 2.0),
    lambda: sparse.tril([1, 2]),
    lambda: sparse.find([1, 2]),
    lambda: sparse.kron(MATRIX, 2),
    lambda: sparse.vstack([MATRIX, MATRIX], dtype=ROW),
    lambda: sparse.linalg.svds(SQUARE, 2, tol="a"),
    lambda: sparse.linalg.lsmr(MATRIX, cp.arange(3)),
    lambda: MATRIX.multiply([1, 2, 3, 4]),
    lambda: MATRIX.dot([[1]] * 4),
    lambda: MATRIX.getrow(1.0),
    lambda: MATRIX.max(axis=(0,)),
    lambda: MATRIX.sum(axis=1.0),
    lambda: MATRIX.reshape(POINT * 4, 3),
    lambda: MATRIX.power(2j),
    lambda: cp.cuda.Event(None),
    lambda: cp.cuda.Stream(priority="high"),
    lambda: cp.cuda.MemoryPool().set_limit("1 GB"),
    lambda: cupyx.errstate(speed="raise"),
]


@pytest.mark.parametrize("call", REFUSED)
def test_kinds_that_cupy_takes_not(call):
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: cp.linalg.cross(cp.ones((2, 3)), cp.ones(3)),
        lambda: cp.linalg.qr(IMAGE, "full"),
        lambda: cp.random.multivariate_normal(cp.ones(2), cp.eye(2), 3, "f"),
        lambda: cp.random.beta([None], 2.0),
        lambda: ndimage.minimum_filter(IMAGE, 0),
        lambda: ndimage.rotate(IMAGE, 30, axes=(1, 1)),
        lambda: signal.ss2tf(cp.eye(2), cp.ones((2, 1)), cp.ones((1, 2)), []),
        lambda: signal.sosfilt(ROW, ROW),
        lambda: sparse.linalg.lsqr(SQUARE, cp.arange(4.0, dtype="f")[::-1]),
        lambda: MATRIX.max(0, out=ROW),
    ],
)
def test_values_that_cupy_takes_not(call):
    with pytest.raises(ValueError):
        call()


def test_the_state_of_a_filter_is_its_last_inputs_and_outputs():
    b, a, x = cp.array([1, 2, -0.5]), cp.array([1, 0.25, 0.5]), cp.cos(cp.arange(20.0))
    whole, (first, state) = signal.lfilter(b, a, x), signal.lfilter(b, a, x[:9], zi=cp.zeros(4))
    assert np.allclose(state.get(), [*x[7:9].get(), *first[7:].get()])
    rest, _ = signal.lfilter(b, a, x[9:], zi=state)
    assert np.allclose(cp.concatenate((first, rest)).get(), whole.get())
    assert signal.lfiltic(b, a, first[::-1], x[8::-1]).tolist() == state.tolist()
    gain = 2.5 / 1.75
    assert np.allclose(signal.lfilter_zi(b, a).get(), [1, 1, gain, gain])
    sos = cp.asarray(library.butter(3, 0.3, output="sos"))
    whole = signal.sosfilt(sos, x)
    first, state = signal.sosfilt(sos, x[:9], zi=cp.zeros((2, 4)))
    rest, _ = signal.sosfilt(sos, x[9:], zi=state)
    assert np.allclose(cp.concatenate((first, rest)).get(), whole.get())
    steady, _ = signal.sosfilt(sos, cp.ones(5), zi=signal.sosfilt_zi(sos))
    assert np.allclose(steady.get(), 1)


def test_types_of_responses():
    b, a = cp.array([1, 0.5], "f"), cp.array([1, 2, -0.5], "f")
    sos = cp.asarray(library.butter(2, 0.3, output="sos"), "f")
    kinds = {
        "dF": signal.freqz(b),
        "dD": signal.freqz(b, a),
        "fF": signal.freqresp((b, a), n=5),
        "fff": signal.bode((b, a), n=5),
        "dd": signal.lp2hp(b, a, 2.0),
    }
    for chars, found in kinds.items():
        assert "".join(part.dtype.char for part in found) == chars
    assert [v.dtype.char for v in signal.sosfreqz(sos, 8)] == ["d", "D"]
    assert [v.dtype.char for v in signal.freqz_zpk(b, a, 2.0, 8)] == ["d", "D"]
    assert signal.findfreqs(b, a, 5).dtype == np.float32


def test_small_things_of_sparse_matrices():
    assert MATRIX.getrow(-1).shape == (0, 4) and MATRIX.getcol(-1).shape == (3, 0)
    assert MATRIX.count_nonzero(axis=0).dtype == np.int64
    assert MATRIX.power(np.int64(2)).dtype == np.float32
    assert int(MATRIX.sum(dtype=int)) == int(DENSE.sum())
    assert isinstance(MATRIX + cp.array(0), cp.ndarray)
    assert sparse.eye_array(3).format == sparse.diags_array(ROW).format == "csr"
    diagonal = sparse.dia_matrix((cp.asarray(DENSE[:1]), cp.array([0])), shape=(4, 4))
    assert diagonal.getH().format == "csc" and diagonal.dot(2).format == "csr"


def test_cycles_of_gmres_are_whole():
    b = cp.array([1, -2, 0.5, 3], "f")
    exact = np.linalg.solve(SQUARE.toarray().get(), b.get())
    found, info = sparse.linalg.gmres(SQUARE, b, atol=3.0)
    assert info == 0 and np.allclose(found.get(), exact, atol=1e-5)
    found, info = sparse.linalg.gmres(SQUARE, b, rtol=1.0)
    assert info == 0 and not found.any()
    assert sparse.linalg.gmres(SQUARE, b, restart=2, maxiter=3)[1] == 4


def test_what_is_not_overwritten():
    x, y = ROW.copy(), IMAGE.copy()
    cupyx.scipy.fft.dct(x, overwrite_x=True)
    cupyx.scipy.fftpack.rfft(x, overwrite_x=True)
    cupyx.scipy.linalg.lu(y, overwrite_a=True)
    assert x.tolist() == ROW.tolist() and y.tolist() == IMAGE.tolist()


def test_small_things_of_signals_and_images():
    assert signal.buttap(3)[2] == 1 and isinstance(signal.ellipap(3, 1, 30)[2], cp.ndarray)
    assert isinstance(signal.gausspulse("cutoff", fc=2.0), float)
    assert signal.unique_roots(cp.array([1.5, 0.5]), 1.0)[1].tolist() == [1, 1]
    assert not cp.fft.irfft(cp.zeros(0, "F"), 6).any()
    blurred = ndimage.gaussian_filter(IMAGE, 2.0).get()
    assert np.array_equal(ndimage.gaussian_filter(IMAGE, np.uint8(2)).get(), blurred)
    found = ndimage.maximum_filter1d(cp.array([-2.0, -1, 0]), 1, output=bool)
    assert found.tolist() == [True, True, False]
    wave = signal.sweep_poly(ROW, cp.poly1d([1.0, 2.0]))
    assert np.allclose(wave.get(), library.sweep_poly(ROW.get(), np.poly1d([1.0, 2.0])))


def test_a_shift_and_a_width_are_numbers():
    with pytest.raises(NotImplementedError, match="no number"):
        ndimage.shift(IMAGE, (np.nan, 0))
    with pytest.raises(ValueError, match="no number"):
        ndimage.gaussian_filter(IMAGE, np.nan)


def test_priorities_of_streams_end_where_a_gpus_end():
    assert [cp.cuda.Stream(priority=p).priority for p in (-100, -2, 5, None)] == [-5, -2, 0, 0]
