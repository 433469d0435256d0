"""Generated from notebooks/90_many_gpus.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp
from cupy.cuda import nccl

from helpers import many
from helpers.chapters.autograd import Adam, Variable
from helpers.chapters.lstm_sine import SineLSTM, Walk, gradients, sine
from helpers.chapters.lstm_sine import window_at_once


def split(n_batch, n_parts):
    """n_parts slices of n_batch series, whose lengths differ by one at most."""
    if not 1 <= n_parts <= n_batch:
        raise ValueError(f"{n_batch} series for {n_parts} ranks")
    ends = [n_batch * k // n_parts for k in range(n_parts + 1)]
    return [slice(a, b) for a, b in zip(ends, ends[1:])]


class Place:
    """Where a rank works: `with place:` makes its device and stream current."""

    def __init__(self, number):
        self.device = cp.cuda.Device(number)
        with self.device:
            self.stream = cp.cuda.Stream(non_blocking=True)
            self.side = cp.cuda.Stream(non_blocking=True)  # chapter 95's

    def __enter__(self):
        self.device.__enter__()
        self.stream.__enter__()
        return self

    def __exit__(self, *error):
        self.stream.__exit__(*error)
        self.device.__exit__(*error)


KINDS = {np.dtype("f4"): "NCCL_FLOAT32", np.dtype("f8"): "NCCL_FLOAT64"}


class Group:
    """Sums over ranks: by NCCL, or by copies where ranks share a device."""

    def __init__(self, places):
        self.places, self.comms = places, None
        numbers = [place.device.id for place in places]
        if nccl.available and 1 < len(numbers) == len(set(numbers)):
            self.comms = nccl.NcclCommunicator.initAll(numbers)

    def sum(self, arrays, stream="stream"):
        """arrays[rank] is a list; its k-th becomes the sum of all k-th."""
        many.check_sums(arrays)
        if len(self.places) == 1:
            return  # one rank has the sum, and waits for nobody
        if self.comms is None:
            return many.sum_by_copies(self.places, arrays)
        nccl.groupStart()
        for comm, place, mine in zip(self.comms, self.places, arrays):
            on = getattr(place, stream).ptr
            for a in mine:
                kind = getattr(nccl, KINDS[a.dtype])
                here = a.data.ptr, a.data.ptr  # from, to
                comm.allReduce(*here, a.size, kind, nccl.NCCL_SUM, on)
        nccl.groupEnd()


class Replica:
    """A model and an optimizer at a place; make() builds all models alike."""

    def __init__(self, place, make, rate=0.01):
        self.place = place
        with place:
            self.model = make()
            self.optimizer = Adam(self.model, rate)


def step(replicas, group, x, t):
    """A training step on x, t (n_steps, N) of the host: each rank's error."""
    summed = []
    for replica, part in zip(replicas, split(x.shape[1], len(replicas))):
        with replica.place:  # 1: its part; forward and backward
            mine = cp.asarray(x[:, part]), cp.asarray(t[:, part])
            share = mine[0].size / x.size
            error, grads = gradients(
                replica.model, *mine, share, window_at_once
            )
            summed.append([error, *grads])
    group.sum(summed)  # 2: all-reduce
    for replica in replicas:
        with replica.place:
            replica.optimizer.update()  # 3: the same update
    return [mine[0] for mine in summed]
