"""Chapter 50's layers against SciPy's and scikit-image's, and what they do with bad input."""

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
    conv = layer(cnn.ConvLayer, shape, xp, F_shape=F_shape, stride=stride, pad=pad)
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
    conv = layer(cnn.ConvLayer, (2, 6, 5), xp, F_shape=(3, 3, 2))
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
        made.training(2, n_batch=7, every=2)
    a, b = managers
    assert [step for step, _ in a.errors] == [2, 4, 5, 7, 9, 10]
    np.testing.assert_allclose(a.errors, b.errors, rtol=1e-9)
    for ours, theirs in zip(a.learning, b.learning, strict=True):
        np.testing.assert_allclose(cp.asnumpy(theirs.wb), ours.wb, rtol=1e-6, atol=1e-9)


def test_weights_come_back_or_a_damaged_file_is_refused(xp, tmp_path):
    path = tmp_path / "weights.npz"
    saved = cnn.build_cnn(cnn.Network((1, 28, 28), xp=xp, seed=3))
    cnn.save_weights(saved, path)
    content = path.read_bytes()
    other = cnn.build_cnn(cnn.Network((1, 28, 28), xp=np, seed=4))
    cnn.load_weights(other, path)
    for ours, theirs in zip(saved.learning, other.learning, strict=True):
        assert (cp.asnumpy(ours.wb) == theirs.wb).all()
    before = [one.wb.copy() for one in other.learning]
    rng, refused = np.random.default_rng(8), 0
    for place in rng.integers(200, len(content) - 400, 20):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            cnn.load_weights(other, path)
        except ValueError as error:
            assert "weights.npz is damaged" in str(error)
            refused += 1
        assert all((one.wb == was).all() for one, was in zip(other.learning, before, strict=True))
    assert refused > 15  # a bit in a date means nothing
    for damaged in (content[:-1], content[: len(content) // 2], b"", b"no weights"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="weights.npz is damaged"):
            cnn.load_weights(other, path)
    with pytest.raises(FileNotFoundError):
        cnn.load_weights(other, tmp_path / "none.npz")
    smaller = cnn.Network((1, 28, 28))
    smaller.append(cnn.DenseLayer, n=10)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="of another network"):
        cnn.load_weights(smaller, path)


def bad_inputs():
    x, t = np.zeros((5, 1, 28, 28), np.float32), np.arange(5)
    nan = x.copy()
    nan[4, 0, 27, 27] = np.nan
    yield x.tolist(), t, TypeError, "a list"
    yield np.uint8(x), t, TypeError, "uint8"
    yield x[:, 0], t, ValueError, r"\(5, 28, 28\)"
    yield x[:, :, :27], t, ValueError, r"not \(N, 1, 28, 28\)"
    yield x[:0], t[:0], ValueError, "from 1 on"
    yield nan, t, ValueError, "NaN"
    yield x + 2, t, ValueError, "go from 2 to 2, not 0 to 1"
    yield x - 1, t, ValueError, "go from -1 to -1"
    yield x, t[:4], ValueError, "not 5 integers"
    yield x, t.astype(float), ValueError, "float64"
    yield x, t - 1, ValueError, "label 0 is -1"
    yield x, t + 6, ValueError, "label 4 is 10"


@pytest.mark.parametrize("images, labels, error, words", list(bad_inputs()))
def test_bad_data_are_refused(xp, images, labels, error, words):
    good = np.zeros((5, 1, 28, 28), np.float32), np.arange(5)
    if np.shape(images)[1:] == (1, 28, 28):
        with pytest.raises(error, match=words):
            cnn.LayerManager((images, labels), good, xp=xp)
    with pytest.raises(error, match=words):
        cnn.LayerManager(good, (images, labels), xp=xp)


def test_a_batch_larger_than_the_set_is_refused(xp):
    data = np.zeros((5, 1, 28, 28), np.float32), np.arange(5)
    manager = cnn.build_cnn(cnn.LayerManager(data, data, xp=xp))
    for n_batch in (6, 0, -1):
        with pytest.raises(ValueError, match="not 1 to 5"):
            manager.training(1, n_batch=n_batch)


@pytest.mark.filterwarnings("ignore:invalid value")  # NumPy says so
def test_nan_stops_training_and_what_was_learnt_goes_on(xp):
    """After the repair the network learns as if the bad step had not been: Adam too is kept."""
    train, test = cnn.mnist_images(24, 8)
    manager = cnn.build_cnn(cnn.LayerManager(train, test, xp=xp))
    manager.training(1)
    state = [
        (one.wb.copy(), one.opt.m.copy(), one.opt.v.copy(), one.opt.t) for one in manager.learning
    ]
    manager.x_train = manager.x_train.copy()
    manager.x_train[7, 0, 9, 9] = np.inf
    with pytest.raises(FloatingPointError, match="in steps 4 to 6.*after step 3"):
        manager.training(1)
    for one, (wb, m, v, t) in zip(manager.learning, state, strict=True):
        for now, was in ((one.wb, wb), (one.opt.m, m), (one.opt.v, v)):
            assert bool((now == was).all())
        assert one.opt.t == t == 3
    assert len(manager.errors) == 1 and manager.steps == 3
    manager.x_train[7, 0, 9, 9] = 0
    manager.training(1)
    assert manager.steps == 6 and np.isfinite(manager.errors[-1][1])


def test_weights_that_are_nan_are_refused(tmp_path):
    network = cnn.build_cnn(cnn.Network((1, 28, 28)))
    network.layers[3].wb[5, 5] = np.nan
    cnn.save_weights(network, tmp_path / "weights")  # no suffix: the name is kept
    with pytest.raises(ValueError, match="weights has weights that are NaN"):
        cnn.load_weights(cnn.build_cnn(cnn.Network((1, 28, 28))), tmp_path / "weights")


def test_training_images_without_a_channel_are_the_ones_blamed():
    x, t = np.zeros((5, 28, 28), np.float32), np.arange(5)
    with pytest.raises(ValueError, match=r"images are \(5, 28, 28\), not \(N, C, H, W\)"):
        cnn.LayerManager((x, t), (x[:, None], t))
