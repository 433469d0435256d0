"""An epoch in one launch: its gradients against float64, its steps against those of the library."""

import numpy as np
import pytest

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers.chapters.cnn_mnist import LayerManager, build_cnn, mnist_images, relative_error
from helpers.programs import cnn_step, one_launch

cp = pytest.importorskip("cupy")


def manager(n=39, seed=0):
    train, test = mnist_images(n, 30)
    return build_cnn(LayerManager(train, test, xp=cp, seed=seed))


def state(net):
    return net.held["state"][0].get()


def gradients(net):
    """After one step from the beginning Adam's m is a tenth of them."""
    m = 10 * state(net)[1]
    return m[:196000], m[196000:196100], m[196100:196200], m[196200:197210]


def errors(n_batch, **how):
    net = one_launch.load(manager(), n_batch, **how)
    one_launch.take(net, 1)
    exact, _ = cnn_step.exact_step(net.manager, n_batch)
    conv, dense_1, dense_2 = (exact.layers[k].grad_wb for k in (0, 3, 5))
    wanted = dense_1[:-1].ravel(), dense_1[-1], conv.ravel(), dense_2.T.ravel()
    return [relative_error(*pair) for pair in zip(gradients(net), wanted, strict=True)]


@pytest.mark.parametrize("n_batch", [1, 2])
def test_gradients_are_those_in_float64(n_batch):
    assert max(errors(n_batch)) < 1e-6


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("won / 2 * 30 + won % 2", "won / 2 * 30 + 30 + won % 2"), ("7 * 4 - 1 +", "7 * 4 +")],
)
def test_a_mistake_in_the_kernel_is_seen(right, wrong):
    def change(text):
        assert right in text
        return text.replace(right, wrong)

    assert max(errors(2, change=change)) > 1e-2


def test_steps_are_the_librarys_and_the_same_in_portions():
    at_once, in_two, by_hand = (one_launch.load(manager(), 2) for _ in range(3))
    order = np.random.default_rng(5).permutation(39)
    for net in (at_once, in_two):
        cnn_step.begin(net, order)
    one_launch.take(at_once, 5)
    one_launch.take(in_two, 3)
    one_launch.take(in_two, 2)
    assert np.array_equal(state(at_once), state(in_two))
    library = by_hand.manager
    for s in range(5):
        chosen = order[2 * s : 2 * s + 2]
        library.forward(library.x_train[chosen])
        library.backward(library.t_train[chosen])
        library.update()
    one_launch.store(at_once)
    for layer, other in zip(library.layers, at_once.manager.layers, strict=True):
        if layer.wb is not None:
            assert relative_error(other.wb.get(), layer.wb.get()) < 1e-5
            assert relative_error(other.opt.m.get(), layer.opt.m.get()) < 1e-4
            assert other.opt.t == layer.opt.t == 5


@pytest.mark.parametrize(
    ("n_batch", "n_steps", "says"), [(9, 1, "at most"), (2, 0, "one at least")]
)
def test_what_cannot_be_trained_is_refused(n_batch, n_steps, says):
    with pytest.raises(ValueError, match=says):
        one_launch.take(one_launch.load(manager(), n_batch), n_steps)
