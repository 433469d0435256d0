"""Chapter 80's LSTM: against a plain LSTM, one sample and one unit at a time; and bad input."""

import math

import numpy as np
import pytest

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers.chapters import lstm_sine as ls
from helpers.chapters.autograd import Adam, Variable, using

cp = pytest.importorskip("cupy")

WINDOWS = {"steps": ls.window_by_steps, "at once": ls.window_at_once}
SIZES = 4, 5, 3  # units, steps, series: all different


@pytest.fixture(params=[np, cp], ids=["numpy", "cupy"])
def xp(request):
    return request.param


@pytest.fixture(params=WINDOWS)
def window(request):
    return WINDOWS[request.param]


def normal(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


def model_of(n_units, xp=np, dtype=np.float64, seed=2):
    model = ls.SineLSTM(n_units, np.random.default_rng(seed), xp, dtype)
    for k, p in enumerate(model.params()):  # no zeros and no ones, as the biases begin with
        p.data += xp.asarray((0.3 * normal(*p.shape, seed=20 + k)).astype(dtype))
    return model


def plain_lstm(params, xs, h, c):
    """One series through the model by the textbook, with Python's numbers (complex ones too)."""
    w1, b1, w_x, w_h, b, w3, b3 = (np.asarray(p).tolist() for p in params)
    n, h, c, out = len(b1), list(h), list(c), []
    from cmath import exp, tanh

    for x in xs:
        a = [x * w1[0][k] + b1[k] for k in range(n)]
        z = list(b)
        for column in range(4 * n):
            for k in range(n):
                z[column] += a[k] * w_x[k][column] + h[k] * w_h[k][column]
        for k in range(n):
            i, f, o = (1 / (1 + exp(-z[k + part * n])) for part in (0, 1, 3))
            c[k] = f * c[k] + i * tanh(z[k + 2 * n])
            h[k] = o * tanh(c[k])
        out.append(sum(h[k] * w3[k][0] for k in range(n)) + b3[0])
    return out, h, c


def plain_error(params, x, t, state):
    """Mean squared error of a window, series by series; complex if the parameters are."""
    total = 0
    for series in range(x.shape[1]):
        out, _, _ = plain_lstm(params, x[:, series], state[0][series], state[1][series])
        total += sum((y - goal) ** 2 for y, goal in zip(out, t[:, series], strict=True))
    return total / x.size


def test_what_comes_out_and_the_state(xp):
    n_units, n_steps, n_batch = SIZES
    model, x, state = model_of(n_units, xp), normal(n_steps, n_batch), normal(2, n_batch, n_units)
    params = [cp.asnumpy(p.data) for p in model.params()]
    model.l2.h, model.l2.c = (Variable(xp.asarray(s)) for s in state)
    y = cp.asnumpy(model.over(xp.asarray(x)).data)
    for k in range(n_batch):
        out, h, c = plain_lstm(params, x[:, k], state[0][k], state[1][k])
        np.testing.assert_allclose(y[:, k], out, rtol=1e-12)
        np.testing.assert_allclose(cp.asnumpy(model.l2.h.data)[k], h, rtol=1e-12)
        np.testing.assert_allclose(cp.asnumpy(model.l2.c.data)[k], c, rtol=1e-12)
    model.l2.h, model.l2.c = (Variable(xp.asarray(s)) for s in state)
    by_steps = [cp.asnumpy(model(xp.asarray(row[:, None])).data)[:, 0] for row in x]
    np.testing.assert_allclose(by_steps, y, rtol=1e-12)


def test_gradients_by_complex_steps(xp, window):
    n_units, n_steps, n_batch = SIZES
    model, state = model_of(n_units, xp), normal(2, n_batch, n_units, seed=3)
    x, t = normal(2, n_steps, n_batch, seed=4)
    model.l2.h, model.l2.c = (Variable(xp.asarray(s)) for s in state)
    error, grads = ls.gradients(model, xp.asarray(x), xp.asarray(t), window=window)
    params = [cp.asnumpy(p.data) for p in model.params()]
    assert float(error) == pytest.approx(plain_error(params, x, t, state), rel=1e-12)
    assert [g.shape for g in grads] == [p.shape for p in params]
    for k, g in enumerate(grads):
        assert isinstance(g, xp.ndarray)
        for index in list(np.ndindex(g.shape))[:: max(1, g.size // 7)]:
            moved = [p.astype(complex) for p in params]
            moved[k][index] += 1e-30j
            expected = plain_error(moved, x, t, state).imag / 1e-30
            assert float(g[index]) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_gradients_for_the_first_state():
    """lstm_window's last two ways back, which training never uses."""
    n_units, n_steps, n_batch = SIZES
    x, g = normal(n_steps, n_batch, 2, seed=5), normal(n_steps, n_batch, n_units, seed=6)
    arrays = [x, normal(2, 4 * n_units), normal(n_units, 4 * n_units), normal(4 * n_units)]
    arrays += list(normal(2, n_batch, n_units, seed=7))
    inputs = [Variable(a) for a in arrays]
    (ls.lstm_window(*inputs, kept={}) * g).sum().backward()

    def number():
        with using(recording=False):
            return float((ls.lstm_window(*inputs, kept={}).data * g).sum())

    for v in inputs:
        for index in list(np.ndindex(v.shape))[:: max(1, v.data.size // 5)]:
            before = v.data[index]
            v.data[index] = before + 1e-6
            above = number()
            v.data[index] = before - 1e-6
            slope = (above - number()) / 2e-6
            v.data[index] = before
            assert v.grad.data[index] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_torch_agrees():
    torch = pytest.importorskip("torch")
    n_units, n_steps, n_batch = SIZES
    model = model_of(n_units)
    layer = torch.nn.LSTM(n_units, n_units).double()
    with torch.no_grad():
        layer.weight_ih_l0.copy_(torch.tensor(model.l2.w_x.data.T.copy()))
        layer.weight_hh_l0.copy_(torch.tensor(model.l2.w_h.data.T.copy()))
        layer.bias_ih_l0.copy_(torch.tensor(model.l2.b.data))
        layer.bias_hh_l0.zero_()
    x = normal(n_steps, n_batch, n_units)
    theirs = layer(torch.tensor(x))[0].detach().numpy()
    np.testing.assert_allclose(model.l2.over(Variable(x)).data, theirs, rtol=1e-12)


def test_windows_follow_each_other_and_training_carries_the_state(xp):
    walk = ls.Walk(ls.sine, 4, 3, np.random.default_rng(0), xp, np.float64)
    (x0, t0), (x1, _) = next(walk), next(walk)
    assert isinstance(x0, xp.ndarray) and x0.shape == t0.shape == (4, 3)
    assert (x0[1:] == t0[:-1]).all() and (x1[0] == t0[-1]).all()
    model = model_of(5, xp)
    ls.gradients(model, x0, t0, window=ls.window_at_once)
    state = [cp.asnumpy(v.data) for v in (model.l2.h, model.l2.c)]
    error, _ = ls.gradients(model, x1, x1, window=ls.window_at_once)
    params = [cp.asnumpy(p.data) for p in model.params()]
    x1 = cp.asnumpy(x1)
    assert float(error) == pytest.approx(plain_error(params, x1, x1, state), rel=1e-12)
    assert abs(float(error) - plain_error(params, x1, x1, np.zeros_like(state))) > 1e-6


def test_sine_has_its_period_and_amplitude():
    k = np.arange(7)
    expected = [0.3 * math.sin(2 * math.pi * j / 11) for j in k]
    np.testing.assert_allclose(ls.sine(k, 11, 0.3), expected, rtol=1e-14)


def test_cut_stops_gradients_and_keeps_values():
    model, x, t = model_of(3), *normal(2, 4, 2)
    ls.window_by_steps(model, x, t)
    before = model.l2.c
    model.l2.cut()
    assert (model.l2.c.data == before.data).all() and model.l2.c.function is None
    assert before.function is not None
    model.l2.reset()
    model.l2.cut()
    assert model.l2.h is None


def test_shares_of_a_batch_add_up(xp, window):
    model, (x, t) = model_of(4, xp), (xp.asarray(a) for a in normal(2, 5, 7))
    found = []
    for part in (slice(0, 2), slice(2, 7), slice(0, 7)):
        model.l2.reset()
        share = x[0, part].size / 7
        error, grads = ls.gradients(model, x[:, part], t[:, part], share, window)
        found.append([cp.asnumpy(g) for g in (error, *grads)])
    for a, b, whole in zip(*found, strict=True):
        np.testing.assert_allclose(a + b, whole, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_flat_model_learns_the_same(xp, dtype):
    plain, flat_model = (model_of(4, xp, dtype) for _ in range(2))
    flat, cut = ls.flatten(flat_model)
    assert flat.dtype == dtype and flat.shape == (sum(p.data.size for p in plain.params()),)
    optimizers = [Adam(m) for m in (plain, flat_model)]
    for seed in range(3):
        x, t = (xp.asarray(a) for a in normal(2, 5, 3, seed=seed).astype(dtype))
        for m, optimizer in zip((plain, flat_model), optimizers, strict=True):
            ls.train_step(m, optimizer, x, t, ls.window_at_once)
    for p, q, view in zip(plain.params(), flat_model.params(), cut(flat), strict=True):
        np.testing.assert_allclose(cp.asnumpy(p.data), cp.asnumpy(q.data), rtol=1e-6)
        assert q.data.dtype == dtype and (view == q.data).all()
    flat[...] = 3  # the parameters are views
    assert all((p.data == 3).all() for p in flat_model.params())


def test_free_run_reads_what_it_said(xp):
    model, start = model_of(3, xp), normal(6, 2)
    said = cp.asnumpy(ls.free_run(model, xp.asarray(start), 4))
    assert said.shape == (4, 2) and model.l2.h is None
    params = [cp.asnumpy(p.data) for p in model.params()]
    for k in range(2):
        series = start[:, k].tolist()
        for step in range(4):
            out, _, _ = plain_lstm(params, series, np.zeros(3), np.zeros(3))
            assert said[step, k] == pytest.approx(out[-1].real, rel=1e-10)
            series.append(out[-1])


def test_errors_name_function_and_shapes(xp):
    model = model_of(3, xp)
    ones = lambda *shape, dtype=np.float64: xp.ones(shape, dtype)  # noqa: E731
    with pytest.raises(ValueError, match=r"gradients: x \(4, 2\) and t \(5, 2\)"):
        ls.gradients(model, ones(4, 2), ones(5, 2))
    with pytest.raises(ValueError, match=r"gradients: x \(4,\)"):
        ls.gradients(model, ones(4), ones(4))
    with pytest.raises(TypeError, match=r"matmul of float32 \(8, 1\) and float64 \(1, 3\)"):
        model.over(ones(4, 2, dtype=np.float32))
    with pytest.raises(ValueError, match=r"lstm of float64 \(4, 2, 5\)"):
        model.l2.over(Variable(ones(4, 2, 5)))
    model.l2.reset()
    model.over(ones(4, 2))
    with pytest.raises(ValueError, match=r"lstm of float64 \(4, 7, 3\)"):
        model.over(ones(4, 7))
    model.l2.reset()
    model.l2.b.data = model.l2.b.data[:1]  # would be broadcast without a word
    with pytest.raises(ValueError, match="lstm of"):
        model.over(ones(4, 2))


def test_nan_is_found_on_demand(xp):
    model, x = model_of(3, xp), xp.asarray(normal(4, 2))
    model.l2.w_h.data[1, 2] = np.nan
    found = pytest.raises(FloatingPointError, match="lstm of float64")
    with using(finite=True), np.errstate(all="ignore"), found:
        ls.gradients(model, x, x, window=ls.window_at_once)


def test_the_way_back_is_taken_once():
    model, x = model_of(3), normal(4, 2)
    error = ls.window_at_once(model, x, x)
    error.backward(keep=True)
    with pytest.raises(RuntimeError, match="used up the gates"):
        error.backward()
