"""Chapter 50's layers and 52's training against SciPy and scikit-image, and on bad input."""

import numpy as np
import pytest
from scipy import signal, special
from skimage.measure import block_reduce

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers.chapters import cnn_mnist as cnn

cp = pytest.importorskip("cupy")


@pytest.fixture(params=[np, cp], ids=["numpy", "cupy"])
def xp(request):
    return request.param


def layer(kind, shape, xp, **options):
    made = kind(shape, xp=xp, dtype=np.float64, rng=np.random.default_rng(1), **options)
    if made.wb is not None:
        made.wb[-1] = xp.asarray(np.random.default_rng(2).standard_normal(made.wb.shape[1]))
    return made


@pytest.mark.parametrize(
    "shape, F_shape, stride, pad",
    [
        ((1, 28, 28), (10, 3, 3), 1, 1),
        ((3, 7, 6), (4, 3, 2), 2, 1),
        ((2, 5, 9), (3, 5, 1), 3, 0),
        ((2, 4, 4), (1, 1, 4), 1, 2),
    ],
)
def test_convolution(xp, shape, F_shape, stride, pad):
    options = {"M": F_shape[0], "F_shape": F_shape[1:], "stride": stride, "pad": pad}
    conv = layer(cnn.ConvLayer, shape, xp, **options)
    x = np.random.default_rng(3).standard_normal((2, *shape))
    w = cp.asnumpy(conv.w).T.reshape(F_shape[0], shape[0], *F_shape[1:])
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    expected = np.array(
        [[signal.correlate(image, one, "valid")[0] for one in w] for image in padded]
    )[:, :, ::stride, ::stride]
    expected += cp.asnumpy(conv.b)[:, None, None]
    y = conv.forward(xp.asarray(x))
    assert isinstance(y, xp.ndarray) and y.shape == (2, *conv.O_shape)
    np.testing.assert_allclose(cp.asnumpy(y), expected, rtol=1e-11, atol=1e-12)


def test_the_gradient_of_a_convolution_is_a_full_one_turned_round(xp):
    """Stride 1, no padding: SciPy's other mode gives the gradient of x."""
    conv = layer(cnn.ConvLayer, (2, 6, 5), xp, M=3, F_shape=(3, 2))
    rng = np.random.default_rng(4)
    x, g = rng.standard_normal((1, 2, 6, 5)), rng.standard_normal((1, 3, 4, 4))
    conv.forward(xp.asarray(x))
    w = cp.asnumpy(conv.w).T.reshape(3, 2, 3, 2)
    expected = [sum(signal.convolve(g[0, m], w[m, c]) for m in range(3)) for c in range(2)]
    grad = cp.asnumpy(conv.backward(xp.asarray(g)))
    np.testing.assert_allclose(grad[0], expected, rtol=1e-11, atol=1e-12)
    of_w = [[signal.correlate(x[0, c], g[0, m], "valid") for m in range(3)] for c in range(2)]
    of_w = np.moveaxis(np.array(of_w), 1, -1).reshape(-1, 3)
    np.testing.assert_allclose(cp.asnumpy(conv.grad_w), of_w, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(cp.asnumpy(conv.grad_b), g.sum(axis=(0, 2, 3)), rtol=1e-11)


@pytest.mark.parametrize("pool", [2, 3])
def test_pooling(xp, pool):
    x = np.random.default_rng(5).standard_normal((3, 2, 4 * pool, 5 * pool))
    made = layer(cnn.PoolingLayer, x.shape[1:], xp, pool=pool)
    y = cp.asnumpy(made.forward(xp.asarray(x)))
    assert (y == block_reduce(x, (1, 1, pool, pool), np.max)).all()
    g = np.random.default_rng(6).standard_normal(y.shape)
    grad = cp.asnumpy(made.backward(xp.asarray(g)))
    # Where x is the largest of its window stands that window's g, elsewhere 0.
    large, spread = (a.repeat(pool, 2).repeat(pool, 3) for a in (y, g))
    assert (grad == np.where(x == large, spread, 0)).all()


def test_a_tie_gives_its_gradient_once(xp):
    made = layer(cnn.PoolingLayer, (1, 3, 5), xp, pool=2)
    made.forward(xp.zeros((1, 1, 3, 5)))
    grad = made.backward(xp.asarray([[[[3.0, 4.0]]]]))
    assert cp.asnumpy(grad)[0, 0].tolist() == [[3, 0, 4, 0, 0], [0] * 5, [0] * 5]


def test_softmax(xp):
    z = 50 * np.random.default_rng(7).standard_normal((4, 10))
    made = layer(cnn.SoftmaxLayer, (10,), xp)
    t = np.eye(10)[[9, 0, 3, 3]]
    np.testing.assert_allclose(
        cp.asnumpy(made.forward(xp.asarray(z))), special.softmax(z, axis=1), rtol=1e-12
    )
    expected = -special.log_softmax(z, axis=1)[[0, 1, 2, 3], [9, 0, 3, 3]].mean()
    assert float(made.get_error(xp.asarray(t))) == pytest.approx(expected, rel=1e-12)


def test_adam_keeps_both_means_to_float32s_digits(xp):
    """A share of a mean that is worked out in float16, as in a fused kernel, is percents off."""
    rng, wb = np.random.default_rng(9), xp.zeros(50, np.float32)
    opt, m, v = cnn.Adam(wb), 0.0, 0.0
    for _ in range(3):
        g = rng.standard_normal(50).astype(np.float32)
        opt.update(wb, xp.asarray(g))
        m, v = 0.9 * m + 0.1 * g.astype(float), 0.999 * v + 0.001 * g.astype(float) ** 2
    np.testing.assert_allclose(cp.asnumpy(opt.m), m, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(cp.asnumpy(opt.v), v, rtol=1e-5)


def test_both_sides_of_the_switch_learn_the_same_for_a_few_steps():
    train, test = cnn.mnist_images(40, 16)
    managers = [
        cnn.build_cnn(cnn.LayerManager(train, test, xp=m, dtype=np.float64)) for m in (np, cp)
    ]
    for made in managers:
        cnn.training(made, 2, n_batch=7, every=2)
    a, b = managers
    assert [step for step, _ in a.errors] == [2, 4, 5, 7, 9, 10]
    np.testing.assert_allclose(a.errors, b.errors, rtol=1e-9)
    for ours, theirs in zip(a.learning, b.learning, strict=True):
        np.testing.assert_allclose(cp.asnumpy(theirs.wb), ours.wb, rtol=1e-6, atol=1e-9)


def test_weights_come_back_and_another_networks_are_refused(xp, tmp_path):
    path = tmp_path / "weights.npz"
    saved = cnn.build_cnn(cnn.Network((1, 28, 28), xp=xp, seed=3))
    cnn.save_weights(saved, path)
    other = cnn.build_cnn(cnn.Network((1, 28, 28), xp=np, dtype=np.float64, seed=4))
    views = [one.w for one in other.learning]
    cnn.load_weights(other, path)
    for ours, theirs, view in zip(saved.learning, other.learning, views, strict=True):
        assert (cp.asnumpy(ours.wb) == theirs.wb).all() and theirs.wb.dtype == np.float64
        assert (view == theirs.wb[:-1]).all()
    smaller = cnn.Network((1, 28, 28))
    smaller.append(cnn.DenseLayer, n=10)
    with pytest.raises(ValueError, match=r"the network needs \[\(785, 10\)\]"):
        cnn.load_weights(smaller, path)
    with pytest.raises(FileNotFoundError):
        cnn.load_weights(other, tmp_path / "none.npz")


def test_weights_that_would_be_broadcast_are_refused(tmp_path):
    network = cnn.Network((3,))
    network.append(cnn.DenseLayer, n=5)
    np.savez(tmp_path / "row.npz", np.ones((1, 5), np.float32))
    with pytest.raises(ValueError, match=r"the file has \[\(1, 5\)\]"):
        cnn.load_weights(network, tmp_path / "row.npz")


def bad_inputs():
    x, t = np.zeros((5, 1, 28, 28), np.float32), np.arange(5)
    nan = x.copy()
    nan[4, 0, 27, 27] = np.nan
    yield np.uint8(x), t, "floats from 0 to 1"
    yield nan, t, "floats from 0 to 1"
    yield x + 2, t, "floats from 0 to 1"
    yield x - 1, t, "floats from 0 to 1"
    yield x, t[:4], "4 labels for 5 images"
    yield x, t - 1, "labels must be from 0 to 9"
    yield x, t + 6, "labels must be from 0 to 9"


@pytest.mark.parametrize("images, labels, words", list(bad_inputs()))
def test_bad_data_are_refused(xp, images, labels, words):
    good = np.zeros((5, 1, 28, 28), np.float32), np.arange(5)
    for train, test in (((images, labels), good), (good, (images, labels))):
        with pytest.raises(ValueError, match=words):
            cnn.LayerManager(train, test, xp=xp)


def test_a_batch_larger_than_the_set_is_refused(xp):
    data = np.zeros((5, 1, 28, 28), np.float32), np.arange(5)
    manager = cnn.build_cnn(cnn.LayerManager(data, data, xp=xp))
    with pytest.raises(ValueError, match="a batch of 6 does not fit into 5 images"):
        cnn.training(manager, 1, n_batch=6)


@pytest.mark.filterwarnings("ignore:invalid value")  # NumPy says so
def test_nan_stops_training(xp):
    train, test = cnn.mnist_images(24, 8)
    manager = cnn.build_cnn(cnn.LayerManager(train, test, xp=xp))
    cnn.training(manager, 1)
    assert manager.steps == 3 and len(manager.errors) == len(manager.accuracies) == 1
    manager.x_train = manager.x_train.copy()
    manager.x_train[7, 0, 9, 9] = np.nan
    with pytest.raises(FloatingPointError, match="error nan, step 6"):
        cnn.training(manager, 1)
    assert len(manager.errors) == 1


def test_a_network_takes_the_optimiser_that_it_is_told(xp):
    network = cnn.build_cnn(cnn.Network((1, 28, 28), xp=xp, opt=lambda wb: cnn.Adam(wb, 0.25)))
    assert [one.opt.rate for one in network.learning] == [0.25] * 3
    assert [one.is_first for one in network.layers] == [True] + [False] * 6


def test_what_training_keeps_is_what_was_measured():
    """With one batch an epoch the first error is that of the first weights, in any order."""
    train, test = cnn.mnist_images(16, 30)
    manager = cnn.build_cnn(cnn.LayerManager(train, test, dtype=np.float64))
    before = cnn.build_cnn(cnn.Network((1, 28, 28), dtype=np.float64))
    p = before.forward(np.float64(train[0]))
    expected = -np.log(p[np.arange(16), train[1]]).mean()
    cnn.training(manager, 2, n_batch=16)
    assert manager.errors[0] == (1, pytest.approx(expected, rel=1e-12))
    assert [step for step, _ in manager.errors] == [1, 2]
    read = manager.forward(np.float64(test[0])).argmax(axis=1)
    assert manager.accuracies[-1][1] == (read == test[1]).mean()
