"""Measure an LSTM's step with weights on the chip beside PyTorch's; print it as JSON.

python -m helpers.programs.lstm_on_chip    half a minute on a GPU with room for it, and PyTorch
"""

import importlib.util
import json

import cupy as cp
import numpy as np

import helpers
from helpers import gemm, torch_lstm
from helpers.chapters import lstm_kernels
from helpers.chapters.cnn_mnist import relative_error
from helpers.chapters.lstm_sine import SineLSTM, Walk, gradients, sine, window_at_once
from helpers.programs import lstm_on_chip, torch_cnn

UNITS, BATCH, STEPS = 512, 256, 100
ROUNDS = 15


def model_of(n_units):
    """Return the model, always the same one."""
    return SineLSTM(n_units, np.random.default_rng(0), cp)


def exact_gradients(n_units, x, t):
    """Return chapter 80's gradients in float64, from the same numbers, as NumPy arrays."""
    model = SineLSTM(n_units, np.random.default_rng(0), cp, np.float64)
    for p, q in zip(model.params(), model_of(n_units).params(), strict=True):
        p.data[...] = q.data
    found = gradients(model, x.astype("f8"), t.astype("f8"), window=window_at_once)[1]
    return [g.get() for g in found]


def chapters_step(n_units, x, t):
    """Return chapter 85's general step, as `on_chip`: a product of cuBLAS for each step."""
    own = gemm.Gemm(cp.cuda.Stream(non_blocking=True))
    lstm_kernels.gemm = own  # a global of the chapter, whose functions take it from there
    s = lstm_kernels.holder(model_of(n_units), x, t)
    cp.cuda.Device().synchronize()
    take = lstm_on_chip.recorded(lambda: lstm_kernels.run(s, lstm_kernels.GENERAL), own)
    own.stream.synchronize()
    return take, [g.get() for g in s.dw.values()]


def on_chip(n_units, x, t, one_number):
    """Return a function that takes a step, and the gradients of the first."""
    s = lstm_on_chip.load(model_of(n_units), x, t, one_number)
    take = lstm_on_chip.recorded(lambda: lstm_on_chip.step(s), s.gemm)
    s.gemm.stream.synchronize()
    return take, [g.get() for g in s.dw.values()]


def torch_gradients(torch, n_units, x, t):
    """Return the gradients of PyTorch's first step, as ours lie."""
    peer = torch_lstm.TorchStep(torch, model_of(n_units), x, t)
    peer.learn()
    return [q.grad.cpu().numpy().T for q in peer.params]


def compared(n_units, n_batch, n_steps):
    """Return sizes, seconds of a step in each round, and largest relative errors of gradients.

    The ways take turns. PyTorch's are there where it is.
    """
    x, t = next(Walk(sine, n_steps, n_batch, np.random.default_rng(9), cp))
    ways = {"cuBLAS, chapter 85": chapters_step(n_units, x, t)}
    ways["on the chip"] = on_chip(n_units, x, t, False)
    ways["on the chip, one number"] = on_chip(n_units, x, t, True)
    if torch := torch_lstm.load():
        theirs = torch_gradients(torch, n_units, x, t)
        peers = torch_lstm.peers(torch, model_of(n_units), x, t)
        ways |= {name: (take, theirs) for name, take in peers.items()}
    exact = exact_gradients(n_units, x, t)
    errors, rounds = {}, []
    for name, (_, found) in ways.items():
        pairs = zip(found, exact, strict=True)
        errors[name] = float(np.max([relative_error(*pair) for pair in pairs]))
    how = {"clock": "host", "n_warmup": 1, "n_repeat": 3}
    for _ in range(ROUNDS if helpers.on_gpu else 1):
        rounds.append([helpers.measure(take, **how).median for take, _ in ways.values()])
    seconds = np.transpose(rounds).tolist()
    return {
        "units": n_units,
        "batch": n_batch,
        "steps": n_steps,
        "blocks": lstm_on_chip.n_blocks(n_units, n_batch),
        "shared_bytes": lstm_on_chip.shared_bytes(n_units),
        "multiprocessors": cp.cuda.Device().attributes["MultiProcessorCount"],
        "clock_hz": 1000 * cp.cuda.Device().attributes["ClockRate"],
        "gradient_errors": errors,
        "seconds": dict(zip(ways, seconds, strict=True)),
    }


def why_not():
    """Say why it cannot be measured here; an empty text if it can."""
    if not helpers.on_gpu:
        return "times are a GPU's: there is none here"
    cp.ones((2, 2), cp.float32) @ cp.ones((2, 2), cp.float32)  # CuPy loads cuBLAS
    if not gemm.loaded_cublas():
        return "cuBLAS is not found, and without it there are no graphs to compare"
    if importlib.util.find_spec("torch") is None:  # found, not loaded: it brings another cuBLAS
        return "PyTorch is not installed"
    return lstm_on_chip.why_not(UNITS, BATCH)


def measured():
    """Return what the page shows of it: see compared()."""
    return compared(UNITS, BATCH, STEPS) | {"torch": torch_cnn.versions()}


if __name__ == "__main__":
    if why := why_not():
        raise SystemExit(why)
    print(json.dumps(measured(), indent=1))
