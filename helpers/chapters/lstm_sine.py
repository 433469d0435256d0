"""Generated from notebooks/80_lstm_sine.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp

from helpers.chapters.autograd import (
    Adam,
    Chain,
    Function,
    Linear,
    Link,
    Parameter,
)
from helpers.chapters.autograd import (
    Variable,
    matmul,
    mean_squared_error,
    reshape,
)
from helpers.chapters.autograd import sigmoid, tanh, using


def sine(k, period=50.0, amplitude=0.8):
    """amplitude * sin(2 pi k / period) at steps k, float64, of k's shape."""
    return amplitude * np.sin(2 * np.pi * np.asarray(k) / period)


class Walk:
    """Walk along series(k), k steps, at n_batch places: next() gives x and
    t, (n_steps, n_batch) arrays of dtype and xp; t is x one step later."""

    def __init__(self, series, n_steps, n_batch, rng, xp=np, dtype=np.float32):
        self.series, self.xp, self.dtype = series, xp, dtype
        self.k = np.arange(n_steps + 1)[:, None] + rng.integers(
            0, 1000, n_batch
        )

    def __iter__(self):
        return self

    def __next__(self):
        values = self.xp.asarray(self.series(self.k).astype(self.dtype))
        self.k += len(self.k) - 1
        return values[:-1], values[1:]


class LSTM(Link):
    """Called with x (N, n_in) it moves on by a step and returns h (N, n_units).
    w_x (n_in, 4U), w_h (U, 4U), b (4U): in, forget, fresh, out side by side."""

    def __init__(self, n_in, n_units, rng, xp=np, dtype=np.float32):
        w_x, w_h = (
            rng.standard_normal((n, 4 * n_units)) / n**0.5
            for n in (n_in, n_units)
        )
        b = np.repeat([0.0, 1.0, 0.0, 0.0], n_units)  # at first, forget little
        move = lambda array: Parameter(xp.asarray(array.astype(dtype)))
        self.w_x, self.w_h, self.b = map(move, (w_x, w_h, b))
        self.reset()

    def reset(self):
        self.h = self.c = None

    def start(self, n_batch):
        if self.h is None:
            shape = n_batch, self.w_h.shape[0]
            zeros = self.b.xp.zeros(shape, self.b.dtype)
            self.h, self.c = Variable(zeros), Variable(zeros)

    def cut(self):
        """Keep the state, but not how it was made: gradients end here."""
        if self.h is not None:
            self.h, self.c = Variable(self.h.data), Variable(self.c.data)


def one_step(self, x):
    """Move on by one step, in small Functions."""
    n_units = self.w_h.shape[0]
    self.start(len(x.data))
    z = matmul(x, self.w_x) + matmul(self.h, self.w_h) + self.b
    i, f, g, o = (z[:, k * n_units : (k + 1) * n_units] for k in range(4))
    self.c = sigmoid(f) * self.c + sigmoid(i) * tanh(g)
    self.h = sigmoid(o) * tanh(self.c)
    return self.h


LSTM.__call__ = one_step


class SineLSTM(Chain):
    """Linear(1, U), LSTM(U, U), Linear(U, 1): x (N, 1) becomes (N, 1)."""

    def __init__(self, n_units, rng, xp=np, dtype=np.float32):
        self.l1 = Linear(1, n_units, rng, xp, dtype)
        self.l2 = LSTM(n_units, n_units, rng, xp, dtype)
        self.l3 = Linear(n_units, 1, rng, xp, dtype)

    def __call__(self, x):
        return self.l3(self.l2(self.l1(x)))


def window_by_steps(model, x, t):
    """Mean squared error of a window x, t (n_steps, n_batch), step by step."""
    error = 0.0
    for x_now, t_now in zip(x, t):
        y = model(Variable(x_now[:, None]))
        error = mean_squared_error(y, t_now[:, None]) + error
    return error / len(x)


cell_forward = cp.ElementwiseKernel(
    "T c_before, raw T b, int32 n_units",
    "T c, T h, raw T gates",
    """
    const int u = i % n_units;
    const ptrdiff_t at = (i - u) * 4 + u;  // series * 4 * n_units + u
    T in = sigmoid(gates[at] + b[u]);
    T forget = sigmoid(gates[at + n_units] + b[u + n_units]);
    T fresh = tanh(gates[at + 2 * n_units] + b[u + 2 * n_units]);
    T out = sigmoid(gates[at + 3 * n_units] + b[u + 3 * n_units]);
    c = forget * c_before + in * fresh;
    h = out * tanh(c);
    gates[at] = in, gates[at + n_units] = forget;
    gates[at + 2 * n_units] = fresh, gates[at + 3 * n_units] = out;
    """,
    "cell_forward",
    preamble="""
    template <typename S>
    __device__ S sigmoid(S x) { return 1 / (1 + exp(-x)); }
    """,
)


# @title Solution 80.2
cell_backward = cp.ElementwiseKernel(
    "T c_before, T c, T dh, int32 n_units",
    "T dc, raw T gates",
    """
    const int u = i % n_units;
    const ptrdiff_t at = (i - u) * 4 + u;
    T in = gates[at], forget = gates[at + n_units];
    T fresh = gates[at + 2 * n_units], out = gates[at + 3 * n_units];
    T bent = tanh(c), now = dc + dh * out * (1 - bent * bent);
    gates[at] = now * fresh * in * (1 - in);
    gates[at + n_units] = now * c_before * forget * (1 - forget);
    gates[at + 2 * n_units] = now * in * (1 - fresh * fresh);
    gates[at + 3 * n_units] = dh * bent * out * (1 - out);
    dc = now * forget;
    """,
    "cell_backward",
)


def cell_forward_numpy(c_before, b, n_units, c, h, gates):
    gates += b
    i, f, g, o = np.split(gates, 4, axis=1)
    for gate in (i, f, o):
        gate[...] = 0.5 + 0.5 * np.tanh(0.5 * gate)
    g[...] = np.tanh(g)
    c[...] = f * c_before + i * g
    h[...] = o * np.tanh(c)


def cell_backward_numpy(c_before, c, dh, n_units, dc, gates):
    i, f, g, o = np.split(gates, 4, axis=1)
    bent = np.tanh(c)
    dc += dh * o * (1 - bent * bent)
    parts = dc * g * i * (1 - i), dc * c_before * f * (1 - f)
    g[...] = dc * i * (1 - g * g)
    o[...] = dh * bent * o * (1 - o)
    dc *= f
    i[...], f[...] = parts


def check_shapes(x, w_x, w_h, b, h, c):
    n, n_units = x.shape[-1], w_h.shape[0]
    state = x.shape[1:-1] + (n_units,)
    weights = (n, 4 * n_units), (n_units, 4 * n_units), (4 * n_units,)
    given = w_x.shape, w_h.shape, b.shape, h.shape, c.shape
    if x.ndim != 3 or given != (*weights, state, state):
        raise ValueError(
            "x (steps, N, n), w_x (n, 4U), w_h (U, 4U), b (4U), h and c (N, U)"
        )


def window_forward(xp, x, w_x, w_h, b, h, c, kept):
    check_shapes(x, w_x, w_h, b, h, c)
    gates = (x.reshape(-1, x.shape[-1]) @ w_x).reshape(*x.shape[:2], -1)
    H, C = xp.empty((2, len(x) + 1, *h.shape), x.dtype)
    H[0], C[0] = h, c
    cell = cell_forward if xp is cp else cell_forward_numpy
    for t in range(len(x)):
        gates[t] += H[t] @ w_h
        cell(C[t], b, len(w_h), C[t + 1], H[t + 1], gates[t])
    kept.update(gates=gates, H=H, C=C)
    return H[1:]


def window_backward(g, y, x, w_x, w_h, b, h, c, kept):
    if "gates" not in kept:
        raise RuntimeError("lstm: the way back has used up the gates")
    gates, H, C = kept.pop("gates"), kept["H"], kept["C"]
    dh, dc = g.data.copy(), y.xp.zeros_like(c.data)
    cell = cell_backward if y.xp is cp else cell_backward_numpy
    for t in reversed(range(len(gates))):
        if t + 1 < len(gates):
            dh[t] += gates[t + 1] @ w_h.data.T
        cell(C[t], C[t + 1], dh[t], w_h.shape[0], dc, gates[t])
    dz = gates.reshape(-1, gates.shape[-1])
    dx = (dz @ w_x.data.T).reshape(x.shape)
    rows_of = lambda a: a.reshape(len(dz), -1)
    weights = rows_of(x.data).T @ dz, rows_of(H[:-1]).T @ dz, dz.sum(axis=0)
    return tuple(map(Variable, (dx, *weights, gates[0] @ w_h.data.T, dc)))


lstm_window = Function("lstm", window_forward, window_backward)


def lstm_over(self, x):
    """h of a window x (n_steps, N, n_in), by one Function: (n_steps, N, U).
    Gradients stop where the window begins."""
    self.start(x.shape[1])
    self.cut()
    kept = {}
    inputs = x, self.w_x, self.w_h, self.b, self.h, self.c
    y = lstm_window(*inputs, kept=kept)
    self.h, self.c = Variable(kept["H"][-1]), Variable(kept["C"][-1])
    return y


def sine_over(self, x):
    """What comes out for a window x (n_steps, N): (n_steps, N)."""
    rows = self.l1(reshape(Variable(x), shape=(x.size, 1)))
    h = self.l2.over(reshape(rows, shape=(*x.shape, rows.shape[1])))
    return reshape(self.l3(reshape(h, shape=rows.shape)), shape=x.shape)


LSTM.over, SineLSTM.over = lstm_over, sine_over


def window_at_once(model, x, t):
    """Mean squared error of a window x, t (n_steps, n_batch), at once."""
    return mean_squared_error(model.over(x), t)


def gradients(model, x, t, share=1.0, window=window_by_steps):
    """Error and gradients, times share, of a window x, t (n_steps, n_batch).
    Returns an array of one number, and a list like params()."""
    if x.shape != t.shape or x.ndim != 2:
        raise ValueError(
            f"gradients: x {x.shape} and t {t.shape} must be (n_steps, n_batch)"
        )
    model.cleargrads()
    error = window(model, x, t) * share
    error.backward()
    model.l2.cut()
    return error.data, [p.grad.data for p in model.params()]


def train_step(model, optimizer, x, t, window=window_by_steps):
    """Forward, backward, update. Returns the error before the update."""
    error, _ = gradients(model, x, t, window=window)
    optimizer.update()
    return error


# @title For chapters 85 and 90: all parameters in one array
def flatten(model):
    """Move all parameters into one array, in the order of params(); they become
    views of it. Returns it, and a function that cuts an array of its size into
    views of their shapes."""
    shapes = [p.shape for p in model.params()]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    xp = model.l1.w.xp

    def cut(flat):
        return [
            part.reshape(s)
            for part, s in zip(xp.split(flat, ends[:-1].tolist()), shapes)
        ]

    flat = xp.concatenate([p.data.ravel() for p in model.params()])
    for p, view in zip(model.params(), cut(flat)):
        p.data = view
    return flat, cut


def free_run(model, start, n_free):
    """It reads start (n_warm, N), then its own predictions: (n_free, N)."""
    model.l2.reset()
    said = []
    with using(recording=False):
        x = model.over(start).data[-1:]
        for _ in range(n_free):
            said.append(x)
            x = model.over(x).data
    model.l2.reset()
    return model.l1.w.xp.concatenate(said)
