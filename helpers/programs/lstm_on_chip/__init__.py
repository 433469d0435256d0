"""Chapter 80's LSTM trained with recurrent weights that stay on the chip for all steps of a window.

loops.cu has the two loops, around.cu what is needed around them; the products for all steps at once
are cuBLAS's. It goes on from chapter 85, whose arrays it takes, but with the units first.

python -m helpers.programs.lstm_on_chip    measure it beside PyTorch
"""

from pathlib import Path

import cupy as cp
import numpy as np

from helpers import flat_adam, gemm, tiles
from helpers.chapters import lstm_kernels

FOLDER = Path(__file__).parent
THREADS = 256


def shared_bytes(n_units):
    """Return the shared memory of a block: its weights, and chunks of what they multiply."""
    return 4 * (64 * n_units + 4 * 64 * 64)


def n_blocks(n_units, n_batch):
    """Return how many blocks wait for each other: one for 16 units of 64 series."""
    return n_units // 16 * (n_batch // 64)


def why_not(n_units, n_batch):
    """Say why an LSTM of this size cannot be trained so here; an empty text if it can."""
    if min(n_units, n_batch) < 64 or n_units % 64 or n_batch % 64:
        return f"{n_units} units and a batch of {n_batch}: both must be multiples of 64"
    found = cp.cuda.Device().attributes
    if not found["CooperativeLaunch"]:
        return "this GPU has no cooperative launch"
    blocks, shared = n_blocks(n_units, n_batch), shared_bytes(n_units)
    if blocks > (several := found["MultiProcessorCount"]):
        return f"{blocks} blocks need a multiprocessor each, and this GPU has {several}"
    if shared > (room := found["MaxSharedMemoryPerBlockOptin"]):
        return f"a block needs {shared:,} bytes of shared memory, and this GPU has {room:,} for it"
    return ""


def source():
    """Return the CUDA C of the two loops, which is compiled with `macros`."""
    return tiles.TILES + (FOLDER / "loops.cu").read_text(encoding="utf-8")


def macros(n_units, n_batch, one_number, **more):
    """Return the options to compile with."""
    sizes = {"UNITS": n_units, "BATCH": n_batch, "ONE_NUMBER": int(one_number)}
    sizes |= {"THREADS": THREADS, "EDGES": 0, "VEC": 4} | more
    return ("-std=c++17", *(f"-D{name}={value}" for name, value in sizes.items()))


def load(model, x, t, one_number=False, change=lambda text: text, **more):
    """Return a holder for training steps of `model` on windows x, t (n_steps, n_batch).

    A float32 SineLSTM on the device; its parameters become views of one array, as `flatten` has it.
    After a step `error` is that before the update, `dw` are the gradients.

    one_number   brackets elsewhere, as chapter 85 has them: for an input of one number a step
    change       is applied to the loops' text, and `more` macros are given, for tests

    ValueError, TypeError: see why_not, and for windows or a model that do not fit.
    """
    if x.shape != t.shape or x.ndim != 2 or not x.size:
        raise ValueError(f"x {x.shape} and t {t.shape} must be (n_steps, n_batch)")
    if any(a.dtype != np.float32 or not isinstance(a, cp.ndarray) for a in (model.l1.w.data, x, t)):
        raise TypeError("the model and its windows must be float32, on the device")
    n, (steps, batch) = model.l2.w_h.shape[0], x.shape
    if why_not(n, batch):
        raise ValueError(why_not(n, batch))
    s = lstm_kernels.holder(model, cp.ascontiguousarray(x), cp.ascontiguousarray(t))
    zeros, s.one_number = lstm_kernels.zeros, one_number
    s.dh = s.d_rows = s.dc = None  # chapter 85's loops have these in memory, ours do not
    s.H, s.C = zeros(2, n, steps + 1, batch)
    s.gates, s.dy = zeros(4 * n, steps, batch), zeros(steps, batch)
    s.dz = s.gates.reshape(4 * n, -1)
    s.a, s.d_a = zeros(2, *((0, 0) if one_number else (n, x.size)))
    s.blocks = n_blocks(n, batch)
    s.swap = zeros(s.blocks, THREADS, 4)
    s.counts = cp.zeros((2, batch // 64 + s.blocks), np.uint32)
    how = {"options": macros(n, batch, one_number, **more)}
    loops = cp.RawModule(code=change(source()), enable_cooperative_groups=True, **how)
    around = cp.RawModule(code=(FOLDER / "around.cu").read_text(encoding="utf-8"), **how)
    s.forward, s.backward = map(loops.get_function, ("forward", "backward"))
    for kernel in (s.forward, s.backward):
        kernel.max_dynamic_shared_size_bytes = shared_bytes(n)
    s.read_out, s.row_sums = map(around.get_function, ("read_out", "row_sums"))
    s.gemm = gemm.Gemm(cp.cuda.Stream(non_blocking=True))
    cp.cuda.Device().synchronize()  # its stream does not wait for what made the arrays
    return s


def step(s):
    """Ask for a training step on the holder's own stream, from a state of zeros."""
    with s.gemm.stream:
        for array in (s.g, s.sums, s.error, s.counts):
            array.fill(0)
        _forward(s)
        _backward(s)
        flat_adam.update(s.g, s.count, s.p, s.m, s.v, s.rate)


def recorded(take, own_gemm):
    """Call take(), then return what does it from a CUDA graph on the stream of `own_gemm`, a Gemm.

    It is take itself where cuBLAS is not to be had but by CuPy, which refuses.
    """
    take()
    if not own_gemm.cublas:
        return take
    graph = gemm.record(take, own_gemm.stream)
    return lambda take=take: graph.launch(own_gemm.stream)  # and what take holds stays


def _launch(s, kernel, *arguments):
    kernel((s.blocks,), (THREADS,), arguments, shared_mem=shared_bytes(s.n))


def _forward(s):
    if s.one_number:
        s.gemm(s.L, s.w["l2.w_x"], s.entered)
    else:
        s.gemm(s.L.T, s.x_and_1, s.a)
        s.gemm(s.w["l2.w_x"].T, s.a, s.dz)
    given = s.w["l2.w_h"], s.entered, s.w["l2.b"], s.x
    _launch(s, s.forward, *given, s.H, s.C, s.gates, s.counts[0], np.int32(s.steps))
    stride, rows = np.uint64((s.steps + 1) * s.batch), s.x.size
    given = s.H[:, 1:], stride, s.w["l3.w"], s.w["l3.b"], s.t
    made = s.dy, s.error, s.dw["l3.b"], np.int32(rows)
    s.read_out((rows // 64,), (256,), (*given, *made))


def _backward(s):
    given = s.w["l2.w_h"], s.w["l3.w"], s.x, s.dy, s.C
    _launch(s, s.backward, *given, s.gates, s.sums, s.swap, s.counts[1], np.int32(s.steps))
    before = s.H.reshape(s.n, -1)[:, : s.x.size]  # h without the last step
    s.gemm(before, s.dz.T, s.dw["l2.w_h"])
    _row_sums(s, s.H[:, 1:], (s.steps + 1) * s.batch, s.dy, s.out_sums)
    s.dw["l3.w"][...] = s.out_sums[0, :, None]
    s.dw["l2.b"][...] = s.sums[1]
    if s.one_number:
        s.gemm(s.L.T, s.sums, s.dw["l2.w_x"])
        s.gemm(s.sums, s.w["l2.w_x"].T, s.dL)
    else:
        s.gemm(s.a, s.dz.T, s.dw["l2.w_x"])
        s.gemm(s.w["l2.w_x"], s.dz, s.d_a)
        _row_sums(s, s.d_a, s.x.size, s.x, s.dL)


def _row_sums(s, matrix, stride, x, sums):
    sizes = np.uint64(stride), x, sums, np.int32(s.x.size)
    s.row_sums((s.n,), (256,), (matrix, *sizes))
