"""Chapter 40's Oja rule against ReservoirPy's, which was written independently."""

import numpy as np
import pytest

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers.chapters.oja_reservoir import oja_gpu, oja_loops, oja_rows

nodes = pytest.importorskip("reservoirpy.nodes")
cp = pytest.importorskip("cupy")


def by_reservoirpy(W, states, eta):
    """W after one step of ReservoirPy's rule for each of the states (T, N).

    ReservoirPy lets W learn from a state and the next one. With a leak rate of 0 the next state is
    the same, which is the rule of the chapter; so each state is set, and one time step is fitted.
    """
    n = len(W)
    node = nodes.LocalPlasticityReservoir(
        units=n,
        local_rule="oja",
        eta=eta,
        lr=0.0,
        W=W.copy(),
        Win=np.zeros((n, 1)),
        bias=np.zeros(n),
    )
    node.initialize(np.zeros((1, 1)))
    for state in states:
        node.state = {"out": state.copy(), "internal": state.copy()}
        node.fit(np.zeros((1, 1)))
    return np.asarray(node.W)


def by_gpu(W, x, eta):
    on_device = cp.asarray(W)
    oja_gpu(on_device, cp.asarray(x), eta, cp.empty_like(on_device))
    W[...] = on_device.get()


@pytest.mark.parametrize("rule", [oja_loops, oja_rows, by_gpu], ids=["loops", "rows", "kernel"])
@pytest.mark.parametrize("n", [1, 2, 7, 33])
def test_oja_agrees_with_reservoirpy(rule, n):
    rng = np.random.default_rng(n)
    W = rng.uniform(-1, 1, (n, n))
    states = rng.uniform(-1, 1, (20, n))
    expected = by_reservoirpy(W, states, eta=0.05)
    assert np.abs(expected - W).max() > 1e-3  # it learnt something
    for state in states:
        rule(W, state, 0.05)
    np.testing.assert_allclose(W, expected, rtol=1e-12, atol=1e-14)


def test_the_oracle_would_notice_swapped_neurons():
    rng = np.random.default_rng(3)
    W, x = rng.uniform(-1, 1, (7, 7)), rng.uniform(-1, 1, 7)
    swapped = W + 0.05 * (np.outer(x, x) - x**2 * W)  # the square of the pre neuron
    assert np.abs(swapped - by_reservoirpy(W, x[None], eta=0.05)).max() > 1e-3


def test_reservoirpy_pairs_a_state_with_the_next_one():
    """The chapter says so: the same formula, another timing, and so other weights."""
    rng = np.random.default_rng(5)
    n, lr, eta, drive = 6, 0.3, 0.05, 0.7
    W, win = rng.uniform(-0.4, 0.4, (n, n)), rng.uniform(-1, 1, (n, 1))
    inner = rng.uniform(-1, 1, n)
    out = np.tanh(inner)
    node = nodes.LocalPlasticityReservoir(
        units=n, local_rule="oja", eta=eta, lr=lr, W=W.copy(), Win=win, bias=np.zeros(n)
    )
    node.initialize(np.zeros((1, 1)))
    node.state = {"out": out.copy(), "internal": inner.copy()}
    node.fit(np.full((1, 1), drive))
    after = (1 - lr) * out + lr * (W @ out + win[:, 0] * drive)
    paired = W + eta * after[:, None] * (inner - after[:, None] * W)
    np.testing.assert_allclose(np.asarray(node.W), paired, rtol=1e-12, atol=1e-14)
    same = W.copy()
    oja_rows(same, np.tanh(after), eta)
    assert np.abs(same - paired).max() > 1e-3
