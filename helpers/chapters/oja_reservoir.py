"""Generated from notebooks/40_oja_reservoir.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp


def oja_loops(W, x, eta):
    """Let W (N, N) learn, in place, from the states x (N,) by Oja's rule; float64."""
    for post in range(len(x)):
        for pre in range(len(x)):
            W[post, pre] += eta * (x[post] * x[pre] - x[post] ** 2 * W[post, pre])


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
    """Drive a plastic reservoir with the inputs u (T,) from state 0; W (N, N), win (N,).

    A step sets x to keep * x + gain * tanh(W x + win u); then W learns from x.
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
    """Return W (n, n), win (n,) and the input u (steps,) as the source draws them."""
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
    """Like source_reservoir, with W of the given spectral radius and a smaller win."""
    W, win, u = source_reservoir(n, steps, seed)
    return W * (radius / spectral_radius(W)), win * input_scale, u


KEEP, GAIN = 0.7, 0.3  # the leaky integrator
