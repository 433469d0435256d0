"""Generated from notebooks/85_lstm_kernels.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import cupy as cp

from helpers import gemm as own_gemm
from helpers import flat_adam, lstm_checks, torch_lstm
from helpers.chapters.autograd import Adam
from helpers.chapters.cnn_mnist import relative_error
from helpers.chapters.lstm_sine import (
    SineLSTM,
    Walk,
    cell_backward,
    cell_forward,
)
from helpers.chapters.lstm_sine import flatten, gradients, sine, train_step
from helpers.chapters.lstm_sine import window_at_once


def zeros(*shape):
    return cp.zeros(shape, np.float32)


def holder(model, x, t, rate=1e-3):
    """The arrays of a step for x, t (n_steps, n_batch); the state is zeros."""
    s = SimpleNamespace(x=x.copy(), t=t.copy(), rate=rate)
    s.steps, s.batch = x.shape
    s.n, rows = model.l2.w_h.shape[0], x.size
    s.p, cut = flatten(model)
    s.g, s.m, s.v = zeros(3, s.p.size)
    s.w, s.dw = (dict(zip(lstm_checks.NAMES, cut(flat))) for flat in (s.p, s.g))
    s.L, s.dL = (flat[: 2 * s.n].reshape(2, s.n) for flat in (s.p, s.g))
    s.x_and_1 = cp.stack([s.x.ravel(), cp.ones(rows, np.float32)])
    s.gates, s.dh = (
        zeros(s.steps, s.batch, 4 * s.n),
        zeros(s.steps, s.batch, s.n),
    )
    s.dz, s.d_rows = s.gates.reshape(rows, -1), s.dh.reshape(rows, -1)
    s.H, s.C = zeros(2, s.steps + 1, s.batch, s.n)  # the first: before step 0
    s.a, s.dy, s.dc = zeros(rows, s.n), zeros(rows, 1), zeros(s.batch, s.n)
    s.sums, s.entered = zeros(2, 2, 4 * s.n)
    s.out_sums, s.error = zeros(2, s.n), zeros(1)
    s.count = cp.zeros(1, np.int64), *cp.zeros((2, 1), np.float64)
    return s
