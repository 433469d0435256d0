"""Arguments that NumPy's functions take and CuPy's refuse: most often an array of the host."""

import enum

import cupy as cp
import cupyx
import cupyx.scipy.ndimage
import cupyx.scipy.special
import numpy as np
import pytest

HOST, LIST = np.ones((2, 3)), [1.0, 2.0, 3.0]
X, N, Z = cp.ones((2, 3)), cp.arange(6), cp.ones((2, 3), complex)
POINT, PLACES, EMPTY = cp.array(2.0), cp.array([1, 2]), cp.ones((0, 3))


def scattered(function, value):
    whole = cp.zeros(4, int)
    function(whole, slice(1, 3), value)


REFUSED = {
    TypeError: [
        lambda: cp.ascontiguousarray(HOST),
        lambda: Z.sum(axis=0, out=cp.zeros(3)),
        lambda: cp.cumsum(X, 1.5),
        lambda: cp.tril(X, cp.array(1)),
        lambda: cp.triu_indices(3, cp.array(1)),
        lambda: cp.tril_indices_from(X, cp.array(1.0)),
        lambda: cp.tri(3, k=cp.array(1)),
        lambda: cp.eye(3, k=cp.array(1)),
        lambda: cp.indices((cp.array(2), 2)),
        lambda: cp.cumsum(X > 0, out=X > 0),
        lambda: cp.ptp(cp.ones((4, 6))[:, ::2], 0, out=cp.zeros(3, int)),
        lambda: cp.percentile(X, [POINT]),
        lambda: cp.diag([N, N]),
        lambda: cp.nanvar(X, dtype="F"),
        lambda: cp.nan_to_num(None),
        lambda: cp.asfortranarray(LIST),
        lambda: cp.copy(LIST),
        lambda: cp.angle(LIST),
        lambda: cp.nan_to_num(LIST),
        lambda: cp.trapezoid(X, LIST),
        lambda: cp.ediff1d(N, 1),
        lambda: cp.average(X, (0,), cp.ones(2)),
        lambda: cp.average(X, axis=True),
        lambda: cp.kaiser(4, POINT),
        lambda: cp.matmul(X, X.T, signature="dd->d"),
        lambda: cp.matmul(Z, X.T, dtype="D", out=cp.ones((2, 2))),
        lambda: cp.cov(X, fweights=[1, 2, 3]),
        lambda: cp.einsum("ij->ji", X, optimize=None),
        lambda: cp.linalg.eigvalsh(cp.ones((0, 0), "e")),
        lambda: cp.linalg.pinv(cp.ones((0, 0), "e")),
        lambda: cp.polynomial.polyutils.as_series(HOST[0]),
        lambda: cp.ediff1d(N, to_begin=[1]),
        lambda: cp.cov(N, [1, 2, 3, 4, 5, 6]),
        lambda: cp.corrcoef(N, [1, 2, 3, 4, 5, 6]),
        lambda: cp.shares_memory(X, HOST),
        lambda: cp.may_share_memory(X, 1),
        lambda: X + np.array(2),
        lambda: np.array(2) * X,
        lambda: N & np.array(1),
        lambda: cp.zeros(3, X),
        lambda: X.astype(X),
        lambda: cp.ones_like(X, X),
        lambda: cp.split(N, PLACES),
        lambda: cp.vsplit(X, PLACES),
        lambda: cp.array_split(N, 2.5),
        lambda: cp.tile(N, PLACES),
        lambda: cp.expand_dims(N, [0, 1]),
        lambda: X.reshape(None),
        lambda: cp.tri(2.5),
        lambda: cp.hanning(2.5),
        lambda: cp.tril_indices(2.5),
        lambda: cp.logspace(1j, 2),
        lambda: cp.unravel_index(5, (3, 4)),
        lambda: cp.unravel_index(N, 6),
        lambda: cp.count_nonzero(X, keepdims=True),
        lambda: X.argmax(dtype="f"),
        lambda: cp.nanargmax(X, dtype="b"),
        lambda: X.min(axis=0, out=cp.zeros(3)),
        lambda: cp.ptp(X, out=cp.zeros(())),
        lambda: cp.std(X, dtype="i"),
        lambda: X.var([0, 1]),
        lambda: Z.sum(dtype=int),
        lambda: Z.mean(dtype="d"),
        lambda: cp.nansum(Z, dtype="f"),
        lambda: cp.nanvar(Z, dtype="d"),
        lambda: cp.isin(Z, N),
        lambda: Z.clip(),
        lambda: X.clip(1j, 2),
        lambda: cp.fuse(lambda x: x.astype("d") + 1)(Z),
        lambda: scattered(cupyx.scatter_add, 2.5),
        lambda: scattered(cupyx.scatter_max, cp.ones(2)),
        lambda: cp.add.at(X, 0),
        lambda: cp.bitwise_or.at(cp.zeros(3, bool), PLACES, True),
        lambda: cp.reshape(X, None),
        lambda: cp.ravel(X, None),
        lambda: setattr(cp.ones(3), "shape", None),
        lambda: cp.broadcast_to(POINT, PLACES),
        lambda: cp.resize(X, PLACES),
        lambda: cp.indices(PLACES),
        lambda: cp.tril_indices(POINT),
        lambda: cp.hstack(arrays=[X, X]),
        lambda: cp.putmask(POINT, True, 1),
    ],
    ValueError: [
        lambda: cp.dot(X[0], POINT, out=cp.zeros(3, "f")),
        lambda: cp.median(N.reshape(2, 3), (0,), cp.zeros((1, 3)), keepdims=True),
        lambda: cp.histogram2d(POINT, POINT),
        lambda: cp.histogram2d(N[:0], N[:0], 3, weights=N),
        lambda: cp.median(EMPTY, (1,)),
        lambda: cp.histogram2d(N, N, (2, 3, 4)),
        lambda: cp.matmul(X[:1], X[0], out=cp.ones((2, 1))),
        lambda: cp.histogram2d(N, N, ([0, 1], [0, 1, 2])),
        lambda: cp.linalg.tensorsolve(cp.ones((0, 0)), cp.ones(0)),
        lambda: cp.repeat(N, 2.5),
        lambda: EMPTY.repeat(-1, 0),
        lambda: cp.column_stack([POINT, POINT]),
        lambda: cp.tri(-1),
        lambda: cp.pad(X, ((1,), (2,))),
        lambda: cp.sort(N, kind="quicksort"),
        lambda: N.argsort(kind="mergesort"),
        lambda: cp.partition(cp.zeros(0), 1),
        lambda: cp.quantile(X, 0.5, out=cp.zeros(())),
        lambda: X.argmax(out=cp.zeros(2, int)),
        lambda: X.argmin(axis=0, out=cp.zeros((2, 3), int)),
        lambda: cp.nanmedian(N, out=cp.zeros(2)),
        lambda: cp.nanmedian(EMPTY, axis=1),
        lambda: cp.var(X, axis=0, out=cp.zeros((2, 3))),
        lambda: cp.array(X[:, ::2], order="A", copy=False),
        lambda: cp.logspace(0, 2, 5, base=cp.array([2.0, 10.0])),
        lambda: X.astype(float, order="X", copy=False),
        lambda: cp.putmask(cp.ones((2, 3)), cp.ones(6, bool), 1),
        lambda: cp.lib.stride_tricks.sliding_window_view(X, (1, 1), axis=(0, 0)),
        lambda: X.__dlpack__(stream="1"),
        lambda: X.__dlpack__(dl_device=(1, 0), copy=False),
    ],
    AttributeError: [
        lambda: cp.dot(np.float32(2), LIST),
        lambda: cp.searchsorted(N, 1, sorter=[0, 1, 2, 3, 4, 5]),
        lambda: cp.zeros_like(LIST),
        lambda: cp.ones_like(3),
        lambda: cp.empty_like(LIST, "f"),
        lambda: cp.full_like(2.5, 1),
        lambda: cp.full(3, None, "f"),
        lambda: cp.full_like(X, None),
        lambda: cp.copy(3),
        lambda: cp.gradient(cp.ones(3), LIST),
    ],
    np.exceptions.AxisError: [
        lambda: cp.repeat(POINT, 2, 0),
        lambda: cp.count_nonzero(POINT, 0),
        lambda: cp.average(POINT, axis=-1),
        lambda: cp.cumsum(POINT, 0),
        lambda: cp.cumprod(POINT, axis=-1, out=POINT),
        lambda: cp.nancumsum(POINT, -1),
        lambda: cp.add.accumulate(POINT),
        lambda: cupyx.scipy.special.softmax(POINT, axis=0),
        lambda: cupyx.scipy.special.logsumexp(POINT, axis=-1),
    ],
    IndexError: [lambda: cp.linalg.norm(cp.ones((0, 3, 2)), 2, (0, 1))],
    OverflowError: [
        lambda: cp.put(cp.zeros(3, "i1"), [1], 300),
        lambda: cp.pad(cp.ones(3, "u1"), 1, constant_values=-1),
    ],
    ZeroDivisionError: [lambda: cp.average(EMPTY, axis=1)],
    NotImplementedError: [
        lambda: cp.var(X, axis=0, out=cp.zeros(3, int)),
        lambda: cp.sort_complex(X.T),
    ],
}
CASES = [(error, call) for error, calls in REFUSED.items() for call in calls]


@pytest.mark.parametrize(("error", "call"), CASES)
def test_refused(error, call):
    with pytest.raises(error):
        call()


class Mode(enum.IntEnum):
    LOW, HIGH = 1, 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: N + Mode.LOW,
        lambda: Mode.LOW - N,
        lambda: Mode.LOW == N,
        lambda: cp.maximum(N, Mode.LOW),
        lambda: cp.where(X > 0, X, Mode.LOW),
        lambda: cp.clip(N, Mode.LOW, Mode.HIGH),
        lambda: cp.full(3, Mode.LOW),
        lambda: cp.full_like(N, Mode.LOW),
        lambda: cp.ElementwiseKernel("T x, T n", "T y", "y = x + n")(N, Mode.LOW),
        lambda: cp.RawKernel('extern "C" __global__ void k(int n) {}', "k")(
            (1,), (1,), (Mode.LOW,)
        ),
    ],
)
def test_kernels_take_no_numbers_of_types_made_from_python_s(call):
    """CuPy asks for the very types; where NumPy makes the number an array, it is one."""
    with pytest.raises(TypeError):
        call()
    assert int(N[Mode.HIGH]) == 2


REDUCTIONS = (
    "all any amax amin argmax argmin max mean min nanargmax nanargmin nanmax nanmean nanmin"
)
REDUCTIONS += " nanprod nanstd nansum nanvar prod std sum var"


@pytest.mark.parametrize("name", REDUCTIONS.split())
def test_axes_of_reductions(name):
    """None of an array that has none; several in a list, too."""
    function = getattr(cp, name)
    for axis in (0, -1):
        with pytest.raises(np.exceptions.AxisError):
            function(POINT, axis=axis)
        with pytest.raises(np.exceptions.AxisError):
            function(POINT, axis)
    assert function(POINT).shape == ()
    if not (name.startswith(("arg", "nanarg")) or name.endswith(("std", "var"))):
        assert function(X, [0, 1]).shape == function(X, axis=[0, 1]).shape == ()
        assert function(POINT, axis=()).shape == ()


def test_taken_all_the_same():
    assert type(cp.copy(HOST)) is np.ndarray and cp.ones_like(HOST).shape == (2, 3)
    assert cp.repeat(POINT, 2).tolist() == [2, 2] and cp.tri(N=2).tolist() == [[1, 0], [1, 1]]
    assert [part.tolist() for part in cp.split(N, np.array([1, 4]))] == [[0], [1, 2, 3], [4, 5]]
    assert X[:, 1:].min(axis=0, out=cp.zeros(2)).tolist() == [1, 1]  # no way for cuB
    assert cp.isin(Z, X).all() and cp.argmax(N, dtype="b").dtype == np.int8
    for whole in (cp.zeros(4, "b"), cp.zeros(4, "?")):  # no atomic function is needed
        cupyx.scatter_add(whole, slice(1, 3), whole.dtype.type(1))
        assert whole.tolist() == [0, 1, 1, 0]
    few = cp.zeros(3, "b")
    cupyx.scatter_add(few, [True, False, True], 2)
    assert few.tolist() == [2, 0, 2]
    assert cp.full((2, 3), cp.arange(3)).tolist() == [[0, 1, 2]] * 2
    assert cp.isreal(3) is True and type(cp.iscomplex(1j)) is np.bool_


@pytest.mark.parametrize(
    ("call", "same"),
    [
        (lambda of: cp.histogram(N, of([0.0, 2, 4]))[0], [2, 3]),
        (lambda of: cp.cov(cp.arange(2.0), bias=None, ddof=None), 0.5),
        (lambda of: cp.cov(cp.arange(4.0), ddof=np.float32(1)).round(12), 1.666666666667),
        (lambda of: cp.percentile(N, of([20.0, 80.0])), [1, 4]),
        (lambda of: cp.quantile(N, of([0.2, 0.8])), [1, 4]),
        (lambda of: cp.average(X > 0, 1, of([1, 2, 3])), [1, 1]),
        (lambda of: cp.einsum("i,->i", N[:2], of(2)), [0, 2]),
        (lambda of: cp.einsum("i,i->i", N[:2], of([1, 2])), [0, 2]),
        (lambda of: cp.einsum(N[:2], [0], of([1, 2]), [0], [0]), [0, 2]),
    ],
)
@pytest.mark.parametrize("of", [lambda value: value, np.array])
def test_numbers_of_the_host_that_cupy_takes(call, same, of):
    assert call(of).tolist() == same


def test_types_of_variances():
    """A dtype says how large a float; an ``out`` has that type, since CuPy adds in its own."""
    x = cp.array([[1, 2, 4], [3, 5, 9]])
    assert cp.var(x, dtype="i").dtype == np.float64 and cp.var(x, dtype="f").dtype == np.float32
    assert float(cp.var(x, dtype="d")) == 40 * (1 / 6)
    assert float(cp.var(x[0], dtype="d")) == (1 + 0 + 4) * (1 / 3)  # around 2, an integer
    for function in (cp.var, cp.nanvar):
        out = cp.zeros(3)
        assert function(x, axis=0, out=out) is out and out.tolist() == [1, 2.25, 6.25]
        with pytest.raises(NotImplementedError, match="an out of another type"):
            function(x, axis=0, out=cp.zeros(3, "f"))
    out = cp.zeros(3, "d")
    assert cp.var(x.astype("d"), 0, None, out) is out and x.std(0).tolist() == [1, 1.5, 2.5]
    assert cp.kron(cp.ones(2, "f"), 2.5).dtype == np.float32
    assert cp.linspace(cp.ones(2, "e"), cp.ones(2, "b")).dtype == np.float64


COUNTED = {
    "eye": cp.eye,
    "columns": lambda n: cp.eye(2, M=n),
    "identity": cp.identity,
    "tri": lambda n: cp.tri(3, n),
    "linspace": lambda n: cp.linspace(0, 1, n),
    "logspace": lambda n: cp.logspace(0, 1, num=n),
    "window": cp.hanning,
    "normal": lambda n: cp.random.normal(size=n),
    "integers": lambda n: cp.random.randint(0, 5, (2, n)),
    "choice": lambda n: cp.random.choice(5, n),
    "generator": lambda n: cp.random.default_rng(0).random(n),
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_number_on_the_device_is_no_size(name):
    COUNTED[name](3)
    with pytest.raises(TypeError):
        COUNTED[name](cp.array(3))


def test_what_cupy_refuses_of_views_and_other_libraries():
    class Masked:
        __cuda_array_interface__ = {**X.__cuda_array_interface__, "mask": X}

    class Nowhere:
        __cuda_array_interface__ = {**X.__cuda_array_interface__, "data": (0, False)}

    with pytest.raises(ValueError, match="masked"):
        cp.asarray(Masked())
    with pytest.raises(RuntimeError, match="null pointer"):
        cp.asarray(Nowhere())
    with pytest.raises(NotImplementedError):
        cp.lib.stride_tricks.sliding_window_view(X, (1, 2), writeable=True)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: cp.add.at(x, cp.array([0]), 1j), TypeError),
        (lambda x: cp.add.at(x, cp.array([0]), float("nan")), ValueError),
        (lambda x: cp.add.at(x, cp.array([0]), 2**40), OverflowError),
        (lambda x: x.flat.__setitem__(0, 2**40), OverflowError),
        (lambda x: cp.put(x, [0], cp.array([1j])), TypeError),
        (lambda x: cp.add(x, 300, dtype="i1"), OverflowError),
        (lambda x: cp.searchsorted(x, np.int8(1)), NotImplementedError),
        (lambda x: cp.arange(np.complex64(3)), TypeError),
        (lambda x: x.ravel(order=None), TypeError),
        (lambda x: cp.flip(x, [0]), TypeError),
        (lambda x: cp.ravel(x, order=None), TypeError),
        (lambda x: cp.reshape(x, 3, order=None), TypeError),
        (lambda x: cp.zeros_like(x, order=None), AttributeError),
        (lambda x: cp.linalg.norm(x.reshape(1, 3), axis=[0]), TypeError),
        (lambda x: cp.linalg.norm(x[:0], np.inf), ValueError),
        (lambda x: cp.linalg.norm(cp.ones((3, 0)), 1), ValueError),
        (lambda x: cp.copyto(x, 2**63), OverflowError),
        (lambda x: cp.piecewise(x, [x == 0], [2**40]), OverflowError),
        (lambda x: cp.tensordot(x[0], x, axes=-1), ValueError),
        (lambda x: cp.triu_indices(4, 0, -1), ValueError),
        (lambda x: cp.bincount(cp.array([2**62])), MemoryError),
    ],
)
def test_numbers_and_orders_that_cupy_does_not_take(call, error):
    with pytest.raises(error):
        call(cp.zeros(3, "i4"))


def test_lists_and_places_that_only_numpy_takes():
    square = cp.eye(2)
    for refused in (
        lambda: cp.matmul(square, square, cp.empty((2, 2))),
        lambda: cp.size([1, 2]),
        lambda: cp.diagflat([1, 2]),
        lambda: cupyx.scipy.ndimage.sum(square, [[1, 1], [2, 2]]),
        lambda: cupyx.scipy.ndimage.maximum(square, [[1, 1], [2, 2]]),
        lambda: cupyx.scipy.ndimage.affine_transform(square, [1, 1.0]),
    ):
        with pytest.raises(TypeError):
            refused()
