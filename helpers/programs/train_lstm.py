"""Train chapter 80's LSTM with several processes, each with a GPU and a part of the batch.

    python -m helpers.programs.train_lstm                               one process, the whole batch
    RANK=0 WORLD_SIZE=2 python -m helpers.programs.train_lstm           the first of two processes
    mpirun -n 2 python -m mpi4py -m helpers.programs.train_lstm --way mpi

RANK, WORLD_SIZE and LOCAL_RANK (the number on this machine, RANK if unset) say which process this
is; CUPYX_DISTRIBUTED_HOST and CUPYX_DISTRIBUTED_PORT say where rank 0 is met. Under mpirun MPI
says all of it.
"""

import argparse
import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np

import helpers  # serves cupy where there is none  # noqa: F401  isort: skip
import cupy as cp
from cupyx.distributed import init_process_group

from helpers.chapters.autograd import Adam
from helpers.chapters.lstm_sine import SineLSTM, Walk, flatten, gradients, sine, window_at_once


def part_of(n_batch, rank, size):
    """The series of a batch of n_batch, a slice, that are the part of a rank of size ranks."""
    if n_batch < 1 or n_batch % size:
        fits = [n for n in range(1, n_batch + 1) if n_batch % n == 0]
        raise ValueError(
            f"{size} ranks cannot share {n_batch} series evenly: take a --batch that is a "
            f"multiple of {size}" + (f", or {fits} ranks" if fits else "")
        )
    each = n_batch // size
    return slice(rank * each, (rank + 1) * each)


def place(way):
    """Return rank, number of ranks, and the number that this process has on its own machine."""
    if way == "nccl":
        rank, size = (int(os.environ.get(*pair)) for pair in (("RANK", 0), ("WORLD_SIZE", 1)))
        if not 0 <= rank < size:
            raise ValueError(f"RANK={rank} must be at least 0 and below WORLD_SIZE={size}")
        return rank, size, int(os.environ.get("LOCAL_RANK", rank))
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    started = os.environ.get("PMI_SIZE") or os.environ.get("OMPI_COMM_WORLD_SIZE") or world.size
    if world.size != int(started):
        raise RuntimeError(
            f"mpirun started {started} ranks, but mpi4py found {world.size}: they belong to "
            "different MPIs. Start with the mpirun of the one that mpi4py names: " + MPI.__file__
        )
    return world.rank, world.size, world.Split_type(MPI.COMM_TYPE_SHARED).rank


def use_device(number, rank):
    """Make GPU `number` of this machine the current one."""
    have = cp.cuda.runtime.getDeviceCount()
    if not 0 <= number < have:
        more = "" if helpers.on_gpu else f", or set CUPY_STANDIN_DEVICES={number + 1}"
        raise RuntimeError(
            f"rank {rank} needs device {number}, and this machine has {have}, numbered from 0: "
            f"start at most {have} ranks on it{more}"
        )
    cp.cuda.Device(number).use()


class Nccl:
    """Sums by NCCL, on the GPU's own queue. The ranks meet at rank 0's port, or by MPI."""

    def __init__(self, rank, size, use_mpi):
        self.group = init_process_group(size, rank, use_mpi=use_mpi)
        self.name = "NCCL"

    def sum(self, array):
        """Add up the arrays of all ranks, in place."""
        self.group.all_reduce(array, array)

    def stop(self):
        self.group.stop()  # rank 0's meeting place is a process of its own: it would stay


class Mpi:
    """Sums by MPI, which knows no queues: what is queued must be done before it reads."""

    def __init__(self, gpu_aware):
        from mpi4py import MPI

        self.comm, self.in_place = MPI.COMM_WORLD, MPI.IN_PLACE
        self.aware = mpi_is_gpu_aware() if gpu_aware == "ask" else gpu_aware == "yes"
        self.name = "MPI, GPU-aware" if self.aware else "MPI, by way of the host"

    def sum(self, array):
        """Add up the arrays of all ranks, in place."""
        if self.aware:
            cp.cuda.get_current_stream().synchronize()
            self.comm.Allreduce(self.in_place, array)
        else:
            host = array.get()
            self.comm.Allreduce(self.in_place, host)
            array.set(host)

    def stop(self):
        pass


def mpi_is_gpu_aware():
    """Whether the MPI library says that it takes pointers to GPU memory. MPICH and Open MPI have a
    function for that, outside the standard; an MPI without it is taken to be not aware."""
    from mpi4py import MPI

    ask = getattr(ctypes.CDLL(MPI.__file__), "MPIX_Query_cuda_support", None)
    return ask is not None and ask() == 1


@contextlib.contextmanager
def at_most(seconds, message):
    """End this process with the message if what stands in the block takes longer."""

    def give_up():
        print(message, file=sys.stderr, flush=True)
        for child in multiprocessing.active_children():
            child.kill()
        os._exit(1)  # the main thread waits for another rank, and cannot raise

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def meet(options, rank, size):
    """Wait until all ranks are there; return what sums over them."""
    late = (
        f"rank {rank}: not all of the {size} ranks came within {options.wait:g} s. Start the "
        "others (RANK=1, ...) with the same WORLD_SIZE, host and port, or wait longer by --wait"
    )
    with at_most(options.wait, late):
        ranks = (
            Mpi(options.gpu_aware)
            if options.way == "mpi"
            else Nccl(rank, size, use_mpi=options.way == "mpi+nccl")
        )
        ranks.sum(cp.ones(1))  # the first sum also connects the ranks
        cp.cuda.Device().synchronize()
    return ranks


def prepare(options, rank, size):
    """The model, with the same weights in every rank, and a walk along the rank's own series."""
    rng = np.random.default_rng(options.seed)
    model = SineLSTM(options.units, rng, cp, options.dtype)
    walk = Walk(sine, options.steps, options.batch, rng, cp, options.dtype)
    walk.k = walk.k[:, part_of(options.batch, rank, size)]
    return model, walk


def train(model, walk, cut, rate, ranks, size):
    """Train on one window after another; yield the whole batch's error, an array of one number.
    cut is flatten(model)'s."""
    optimizer = Adam(model, rate=rate)
    for x, t in walk:
        error, parts = gradients(model, x, t, share=1 / size, window=window_at_once)
        total = cp.concatenate([part.ravel() for part in (error, *parts)])
        ranks.sum(total)
        for p, gradient in zip(model.params(), cut(total[1:]), strict=True):
            p.grad.data = gradient
        optimizer.update()
        yield total[:1]


def run(options, ranks, rank, size):
    """Train; rank 0 says how it goes, and saves what came out."""
    model, walk = prepare(options, rank, size)
    weights, cut = flatten(model)
    errors, clock, n = [], [], options.windows
    trained = train(model, walk, cut, options.rate, ranks, size)
    for window, error in zip(range(1, n + 1), trained, strict=False):
        errors.append(error)
        if rank == 0 and window in (1, n // 2, n):
            print(f"window {window} of {n}: error {float(error[0]):.6f}\n", end="", flush=True)
        if [rank, window] == options.lose:
            os.kill(os.getpid(), signal.SIGKILL)
        if window in (1, n):
            cp.cuda.Device().synchronize()
            clock.append(time.perf_counter())
    each = (clock[-1] - clock[0]) / max(1, n - 1)  # the first window compiles, and is not counted
    if rank == 0 and options.save:
        errors = cp.concatenate(errors).get()
        np.savez(options.save, errors=errors, weights=weights.get(), seconds=each, by=ranks.name)


def positive(text):
    """A whole number from the command line, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number, 1 or more")
    return int(text)


def main(arguments=None):
    parser = argparse.ArgumentParser("train_lstm", description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--way", choices=["nccl", "mpi+nccl", "mpi"], default="nccl", help="how ranks meet and sum")
    add("--gpu-aware", choices=["ask", "yes", "no"], default="ask", help="with --way mpi")
    add("--wait", type=float, default=20, help="seconds for all ranks to come")
    add("--batch", type=positive, default=12, help="series, of all ranks together")
    add("--steps", type=positive, default=20, help="steps of a window")
    add("--units", type=positive, default=8, help="units of the LSTM")
    add("--windows", type=positive, default=20, help="how many windows to train")
    add("--rate", type=float, default=0.01, help="Adam's rate")
    add("--dtype", choices=["float32", "float64"], default="float64")
    add("--seed", type=int, default=0)
    add("--save", help="a file.npz for errors, weights, seconds a window")
    add("--lose", type=int, nargs=2, metavar=("RANK", "WINDOW"), help="to rehearse: kill that rank")
    options = parser.parse_args(arguments)

    rank, size, local = place(options.way)
    part_of(options.batch, rank, size)  # bad sizes are refused before anybody waits
    use_device(local, rank)
    ranks = meet(options, rank, size)
    try:
        run(options, ranks, rank, size)
    finally:
        ranks.stop()


if __name__ == "__main__":
    main()
