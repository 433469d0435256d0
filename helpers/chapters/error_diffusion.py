"""Generated from notebooks/60_error_diffusion.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp


SLOPE = 5


def signs(n):
    """The signs of a layer of n pairs: n times +1, then n times -1."""
    return np.where(np.arange(2 * n) < n, 1.0, -1.0)


def signs_on_device(n):
    return cp.where(cp.arange(2 * n) < n, 1.0, -1.0)


def sigmoid(z):
    return 1 / (1 + np.exp(-SLOPE * z))


def start_network(sizes, scale, rng):
    """[(V, c), ...]: from sizes[0] pairs of inputs to one + unit."""
    network = []
    for n, m in zip(sizes, sizes[1:]):
        V = scale * np.abs(rng.standard_normal((2 * n, 2 * m)))
        V *= np.outer(signs(n), signs(m))
        network.append((V, np.zeros(2 * m)))
    V = scale * np.abs(rng.standard_normal((2 * sizes[-1], 1)))
    return network + [(V * signs(sizes[-1])[:, None], np.zeros(1))]


def forward(network, x):
    """What all units give for samples x (batch, n): a list, inputs first."""
    outputs = [np.concatenate([x, x], axis=1)]
    for V, c in network:
        outputs.append(sigmoid(outputs[-1] @ V + c))
    return outputs


def steps_of_gradient(network, outputs, error):
    """What backpropagation adds to each V: minus d mean(error**2) / 2 / dV."""
    steps, back = [], error[:, None]
    arrays = zip(network[::-1], outputs[-2::-1], outputs[::-1])
    for (V, _), x, y in arrays:
        push = back * SLOPE * y * (1 - y)
        steps.append(x.T @ push / len(x))
        back = push @ V.T
    return steps[::-1]


def steps_of_diffusion(network, outputs, error):
    steps = []
    for (_, c), x, y in zip(network, outputs, outputs[1:]):
        s = signs(len(c) // 2) if len(c) > 1 else 1.0
        steps.append(x.T @ (error[:, None] * s * y * (1 - y)) / len(x))
    return steps


def learn_at_once(layers, X, error, rate):
    """layers (depth, 2n + 1, 2n), X (depth + 1, batch, 2n); in place."""
    xp = cp.get_array_module(X)
    s = xp.asarray(signs(X.shape[2] // 2))
    push = rate / len(error) * error[:, None] * s * X[1:] * (1 - X[1:])
    layers[:, :-1] += xp.matmul(X[:-1].swapaxes(1, 2), push)
    layers[:, -1] += push.sum(axis=1)


def unsaturated(X):
    return float(((X > 1e-3) & (X < 1 - 1e-3)).mean())


def start_layers(kind, depth, seed):
    """Layers (65, 64), one after the other, of one kind of start."""
    rng, s = np.random.default_rng(seed), signs(32)
    for _ in range(depth):
        V, c = rng.standard_normal((64, 64)), np.zeros(64)
        if kind == "post":
            V, c = np.abs(V) * np.outer(s, s), rng.uniform(0, 1, 64) * s
        elif kind == "small":
            V = 0.3 / 8 * np.abs(V) * np.outer(s, s)
        elif kind == "small, signs by chance":
            V = 0.3 / 8 * V
        elif kind == "own place":
            V, c = 1.2 * np.eye(64), np.full(64, -0.6)
        yield np.vstack([V, c])


def deep_network(depth, seed, kind="small"):
    """First layer (1569, 64), hidden ones (depth, 65, 64), output (65,)."""
    rng, s, post = np.random.default_rng(seed), signs(32), kind == "post"
    V = np.abs(rng.standard_normal((1568, 64))) * np.outer(signs(784), s)
    V *= 1 if post else 0.3 / 1568**0.5
    first = np.vstack([V, rng.uniform(0, 1, 64) * s * post])
    layers = np.array(list(start_layers(kind, depth, seed)))
    rng = np.random.default_rng(seed)
    last = np.append(np.abs(rng.standard_normal(64)) * s, rng.uniform())
    return first, layers, last * (1 if post else 0.04)


def squash(z):
    return 1 / (1 + cp.get_array_module(z).exp(-SLOPE * z))


def forward_deep(network, x):
    """X (depth + 1, batch, 64) and the outputs (batch,) for x (batch, n)."""
    first, layers, last = network
    xp = cp.get_array_module(x)
    X = xp.empty((len(layers) + 1, len(x), 64))
    X[0] = squash(x @ first[:-1] + first[-1])
    for d, layer in enumerate(layers):
        X[d + 1] = squash(X[d] @ layer[:-1] + layer[-1])
    return X, squash(X[-1] @ last[:-1] + last[-1])
