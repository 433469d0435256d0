"""Generated from notebooks/40_oja_reservoir.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

from itertools import cycle

import numpy as np
import cupy as cp


def oja_loops(W, x, eta):
    """W (N, N) learns, in place, from the states x (N,), by Oja's rule."""
    for post in range(len(x)):
        for pre in range(len(x)):
            change = x[post] * x[pre] - x[post] ** 2 * W[post, pre]
            W[post, pre] += eta * change


def oja_rows(W, x, eta):
    """The same, one row of W after another."""
    for post in range(len(x)):
        W[post] += eta * (x[post] * x - x[post] ** 2 * W[post])


def oja_matrix(W, x, eta):
    """The same, all of W at once."""
    W += eta * (np.outer(x, x) - (x**2)[:, None] * W)


oja_kernel = cp.ElementwiseKernel(
    "raw float64 W, raw float64 x, int64 n, float64 eta",
    "raw float64 dW",
    """
    long long row = i / n;  // post
    long long col = i % n;  // pre
    dW[i] = eta * (x[row] * x[col] - x[row] * x[row] * W[i]);
    """,
    "oja",
)


def oja_gpu(W, x, eta, dW):
    """The same with CuPy arrays; dW (N, N) is room for the change."""
    n = len(x)
    W += oja_kernel(W, x, n, eta, dW, size=n * n)


def run_numpy(W, win, u, eta, keep=1.0, gain=1.0, learn=oja_rows):
    """Drive a plastic reservoir of N neurons with u (T,); W (N, N), win (N,).

    It starts from 0; a step sets x to keep * x + gain * tanh(W x + win u), and
    then W learns from x.
    Returns the last W and the last x.
    """
    W, x = W.copy(), np.zeros(len(W))
    for drive in u:
        x = keep * x + gain * np.tanh(W @ x + win * drive)
        learn(W, x, eta)
    return W, x


def run_cupy(W, win, u, eta, keep=1.0, gain=1.0):
    """The same with CuPy arrays: an operation for each part of the formula."""
    W, x, dW = W.copy(), cp.zeros(len(W)), cp.empty_like(W)
    for t in range(len(u)):
        x = keep * x + gain * cp.tanh(W @ x + win * u[t])
        oja_gpu(W, x, eta, dW)
    return W, x


def source_reservoir(n, steps, seed):
    """Return W (n, n), win (n,) and u (steps,) as the source draws them."""
    rng = np.random.default_rng(seed)
    W, win = rng.uniform(-1, 1, (n, n)), rng.uniform(-1, 1, n)
    return W, win, rng.standard_normal(steps)


def to_device(arrays):
    """Return the NumPy arrays as CuPy arrays, in a list."""
    return [cp.asarray(array) for array in arrays]


def spectral_radius(W):
    """Largest magnitude of the eigenvalues of W (..., n, n), a NumPy array."""
    return np.abs(np.linalg.eigvals(W)).max(-1)


def make_reservoir(n, steps, seed, radius=0.9, input_scale=0.5):
    """Like source_reservoir, scaled to a spectral radius; win is smaller."""
    W, win, u = source_reservoir(n, steps, seed)
    return W * (radius / spectral_radius(W)), win * input_scale, u


KEEP, GAIN = 0.7, 0.3  # the leaky integrator


def narma10(u):
    y = np.zeros((*u.shape[:-1], u.shape[-1] + 1))  # u[..., t] -> y[..., t]
    for t in range(9, u.shape[-1]):
        past = y[..., t - 9 : t + 1].sum(-1)
        y[..., t + 1] = 0.3 * y[..., t] + 0.05 * y[..., t] * past + 0.1
        y[..., t + 1] += 1.5 * u[..., t - 9] * u[..., t]
    return y[..., 1:]  # the target at t, when u[..., t] has just been seen


def experiments(seeds, n_units, steps):
    cases = [make_reservoir(n_units, 0, seed, 0.9, 0.1) for seed in seeds]
    W, win = (np.array(part) for part in list(zip(*cases))[:2])
    draw = [np.random.default_rng([seed, 10]) for seed in seeds]
    u = np.array([rng.uniform(0, 0.5, steps) for rng in draw])
    with np.errstate(over="ignore", invalid="ignore"):
        target = narma10(u)
    good = np.isfinite(target).all(1)
    # W[s, i, j], win[s, i], u[s, t], target[s, t]
    return W[good], win[good], u[good], target[good]


def nrmse(target, answer):
    return np.sqrt(((target - answer) ** 2).mean() / target.var())


def ridge(features, target, penalties):
    # features[t, f], target[t] -> readout weights[p, f], a row for each penalty
    U, s, Vt = np.linalg.svd(features, full_matrices=False)
    shift = penalties[:, None] * (s**2).mean()
    return (U.T @ target) * s / (s**2 + shift) @ Vt


def score(states, target, ends):
    # of one series: states[t, i], target[t] -> error of validation, of test
    features = np.column_stack([np.ones(len(states)), states])
    start, trained, chosen, end = ends
    train, both = slice(start, trained), slice(start, chosen)
    valid, test = slice(trained, chosen), slice(chosen, end)
    penalties = 10.0 ** np.arange(-20, 1)
    weights = ridge(features[train], target[train], penalties)
    errors = [nrmse(target[valid], features[valid] @ w) for w in weights]
    best = penalties[[np.argmin(errors)]]
    (w,) = ridge(features[both], target[both], best)
    return min(errors), nrmse(target[test], features[test] @ w)


def score_all(states, targets, ends):
    # states[s, t, i], targets[s, t] -> validation error[s], test error[s]
    return np.array([score(*one, ends) for one in zip(states, targets)]).T
