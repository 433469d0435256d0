"""Many small networks for ten digits, trained side by side: chapter 62's plumbing.

A setting is (rate, scale, start, seed) and means ten networks, one for each digit. Networks are a
list of three pairs (V, c): the first layer, the pile of hidden ones, the output, with the network
in front: V[..., network, i, o], c[..., network, 1, o], all float32.
"""

from functools import cache

import cupy as cp
import numpy as np

PIXELS = 784
OUTPUT_BIAS = -0.44  # at the slope of 5 an output of 0.1: the share of images that are its digit

activate = cp.ElementwiseKernel(
    "float32 z, float32 c",
    "float32 y",
    "y = 1 / (1 + expf(-5 * (z + c)))",
    "activate",
)
push_of = cp.ElementwiseKernel(
    "float32 d, float32 y, float32 k",
    "float32 g",
    "g = d * y * (1 - y) * k",
    "push_of",
)
adam_step = cp.ElementwiseKernel(
    "float32 g, float32 rate, float32 count",
    "float32 v, float32 m, float32 s",
    """
    m = 0.9f * m + 0.1f * g;
    s = 0.999f * s + 0.001f * g * g;
    float m0 = m / (1 - powf(0.9f, count)), s0 = s / (1 - powf(0.999f, count));
    v += rate * m0 / (sqrtf(s0) + 1e-8f);
    """,
    "adam_step",
)


def signs(n):
    """Return n times +1, then n times -1, float32 (2n,)."""
    return np.where(np.arange(2 * n) < n, 1, -1).astype(np.float32)


@cache
def _magnitudes(ins, outs, seed, layer):
    """Standard normal numbers (10, ins, outs), the same for all settings of a seed."""
    rng = np.random.default_rng([seed, layer])
    return rng.standard_normal((10, ins, outs), np.float32)


def _weights(ins, outs, layer, scale, start, seed):
    """Return (10, ins, outs): `start` is "signed", "free" or "own place"."""
    V = _magnitudes(ins, outs, seed, layer) * np.float32(scale / ins**0.5)
    if start == "free":
        return V
    s_out = signs(outs // 2) if outs > 1 else np.ones(1, np.float32)
    V = np.abs(V) * np.outer(signs(ins // 2), s_out)
    if start == "own place" and ins == outs:
        V = V / 10 + 1.2 * np.eye(ins, dtype=np.float32)
    return V


def make_networks(pairs, depth, settings, output_bias=OUTPUT_BIAS):
    """Return ten networks of `depth` hidden layers for each setting, on the device.

    Biases keep the middle of the inputs, 1/2, in the middle: of `free` layers and of those that
    begin at their own place; to the output `output_bias` is added.
    """
    parts, n = [[], [], []], 2 * pairs
    for _, *what in settings:
        parts[0].append(_weights(2 * PIXELS, n, 0, *what))
        pile = [_weights(n, n, d, *what) for d in range(1, depth)]
        parts[1].append(np.array(pile, np.float32).reshape(depth - 1, 10, n, n))
        parts[2].append(_weights(n, 1, depth, *what))
    _magnitudes.cache_clear()
    V = [cp.asarray(np.concatenate(p, axis=-3)) for p in parts]
    c = [cp.zeros((*v.shape[:-2], 1, v.shape[-1]), cp.float32) for v in V]
    own, free = (
        cp.asarray(np.repeat([s[2] == kind for s in settings], 10).astype(np.float32))
        for kind in ("own place", "free")
    )
    c[1] -= 0.6 * own[:, None, None]
    for k in (1, 2):
        c[k] -= free[:, None, None] * V[k].sum(axis=-2, keepdims=True) / 2
    c[2] += cp.float32(output_bias)
    return list(zip(V, c, strict=True))


def prepared(images):
    """Return uint8 images on the device as float32 from 0 to 1, (1, batch, 2 * 784), all twice."""
    x = images.reshape(-1, PIXELS)
    return cp.concatenate([x, x], axis=1)[None].astype(cp.float32) / 255


def run(networks, x):
    """Return hidden activations (depth, networks, batch, units), outputs (networks, batch, 1)."""
    (V, c), (pile, biases), (W, b) = networks
    X = cp.empty((len(pile) + 1, len(V), x.shape[-2], V.shape[-1]), cp.float32)
    activate(x @ V, c, X[0])
    for d in range(len(pile)):
        activate(X[d] @ pile[d], biases[d], X[d + 1])
    return X, activate(X[-1] @ W, b)


def outputs(networks, images, part=1000):
    """Return what the networks answer to `images` of the device, (networks, images) float32."""
    answers = [
        run(networks, prepared(images[k : k + part]))[1][..., 0]
        for k in range(0, len(images), part)
    ]
    return cp.concatenate(answers, axis=1)


def accuracies(answers, labels):
    """Return for each setting the share of images whose own network is the loudest of its ten.

    answers  as of `outputs`; labels  (images,) on the host
    """
    loudest = answers.reshape(-1, 10, answers.shape[1]).argmax(axis=1).get()
    return (loudest == labels).mean(axis=1)
