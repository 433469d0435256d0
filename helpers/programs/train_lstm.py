"""Train chapter 80's LSTM with several processes, each with a GPU and a part of the batch.

    python -m helpers.programs.train_lstm                               one process, the whole batch
    RANK=0 WORLD_SIZE=2 python -m helpers.programs.train_lstm           the first of two processes
    mpirun -n 2 python -m mpi4py -m helpers.programs.train_lstm --way mpi

RANK, WORLD_SIZE and LOCAL_RANK (the number on this machine, RANK if unset) say which process this
is; CUPYX_DISTRIBUTED_HOST and CUPYX_DISTRIBUTED_PORT say where rank 0 is met. Under mpirun MPI
says all of it. A process that sees one GPU only, by CUDA_VISIBLE_DEVICES, takes that one; with
--way mpi several ranks may share a GPU.

With --checkpoint FOLDER every rank writes there what its training depends on, and with --resume
the same command goes on from it.
"""

import argparse
import contextlib
import ctypes
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

import helpers  # serves cupy where there is none  # noqa: F401  isort: skip
import cupy as cp
from cupyx.distributed import init_process_group

from helpers.chapters.autograd import Adam, Variable
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


def use_device(number, rank, shared=False):
    """Make GPU `number` of this machine the current one; if `shared`, ranks take them by turns."""
    have = cp.cuda.runtime.getDeviceCount()
    only = os.environ.get("CUDA_VISIBLE_DEVICES", ",").strip()
    if have == 1 and only and "," not in only and number >= 0:
        number = 0  # this process was bound to a GPU of its own, which has the number 0 here
    if shared and number >= 0:
        number %= have
    if not 0 <= number < have:
        more = "" if helpers.on_gpu else f", or set CUPY_STANDIN_DEVICES={number + 1}"
        raise RuntimeError(
            f"rank {rank} needs device {number}, and this machine has {have}, numbered from 0: "
            f"start at most {have} ranks on it, or let them share it by --way mpi{more}"
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


def train(model, optimizer, walk, cut, ranks, size):
    """Train on one window after another; yield the whole batch's error, an array of one number.
    cut is flatten(model)'s."""
    for x, t in walk:
        error, parts = gradients(model, x, t, share=1 / size, window=window_at_once)
        total = cp.concatenate([part.ravel() for part in (error, *parts)])
        ranks.sum(total)
        for p, gradient in zip(model.params(), cut(total[1:]), strict=True):
            p.grad.data = gradient
        optimizer.update()
        yield total[:1]


class Checkpoints:
    """Files in a folder, one of each rank for a window, from which a training goes on."""

    def __init__(self, options, rank, size):
        self.folder, self.every = Path(options.checkpoint), options.every
        self.rank, self.size = rank, size
        sizes = options.batch, options.steps, options.units, options.rate, options.dtype
        self.what = f"batch, steps, units, rate, dtype: {sizes}, seed {options.seed}"

    def path(self, window, rank):
        return self.folder / f"window{window:08}.rank{rank}of{self.size}.npz"

    def write(self, window, arrays):
        """Write this rank's file whole or not at all; keep it and the one before, for a rank that
        is killed while it writes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"rank{self.rank}.part"
        with part.open("wb") as file:
            np.savez(file, what=self.what, **arrays)
        part.replace(self.path(window, self.rank))
        self.path(window - 2 * self.every, self.rank).unlink(missing_ok=True)

    def newest(self):
        """Return the newest window that all ranks have written, and this rank's arrays; or (0, {}).

        ValueError: the folder is another training's, or another number of ranks wrote it.
        """
        found = {
            re.fullmatch(r"window(\d+)\.rank\d+of(\d+)\.npz", p.name): p
            for p in self.folder.glob("window*.npz")
        }
        sizes = {int(name[2]) for name in found if name}
        if sizes - {self.size}:
            raise ValueError(
                f"{self.folder} was written by {sizes} ranks, and each has the state of its own "
                f"series: start as many, not {self.size}"
            )
        for window in sorted({int(name[1]) for name in found if name}, reverse=True):
            if all(self.path(window, rank).exists() for rank in range(self.size)):
                with np.load(self.path(window, self.rank)) as saved:
                    arrays = dict(saved)
                if (what := str(arrays.pop("what"))) != self.what:
                    raise ValueError(f"{self.folder} has {what}; asked for is {self.what}")
                return window, arrays
        return 0, {}


def pack(model, optimizer, walk):
    """What the training depends on, as {name: NumPy array}. h, c and k are the rank's own."""
    found = {"updates": optimizer.t, "k": walk.k}
    found |= {"h": model.l2.h.data.get(), "c": model.l2.c.data.get()}
    for n, p in enumerate(model.params()):
        mean, square = optimizer.means[p]
        found |= {f"p{n}": p.data.get(), f"mean{n}": mean.get(), f"square{n}": square.get()}
    return found


def unpack(arrays, model, optimizer, walk):
    """Put back what pack() took."""
    optimizer.t, walk.k = int(arrays["updates"]), arrays["k"]
    model.l2.h, model.l2.c = (Variable(cp.asarray(arrays[name])) for name in "hc")
    for n, p in enumerate(model.params()):
        p.data[...] = cp.asarray(arrays[f"p{n}"])
        optimizer.means[p] = tuple(cp.asarray(arrays[f"{name}{n}"]) for name in ("mean", "square"))


def run(options, ranks, rank, size):
    """Train; rank 0 says how it goes, and saves what came out."""
    model, walk = prepare(options, rank, size)
    optimizer = Adam(model, rate=options.rate)
    weights, cut = flatten(model)
    errors, clock, n, done = [], [], options.windows, 0
    files = Checkpoints(options, rank, size) if options.checkpoint else None
    if options.resume:
        done, arrays = files.newest()
        if done:
            errors = [cp.asarray(arrays.pop("errors"))]
            unpack(arrays, model, optimizer, walk)
        if rank == 0:
            print(f"goes on after window {done}\n", end="", flush=True)
    trained = train(model, optimizer, walk, cut, ranks, size)
    for window, error in zip(range(done + 1, n + 1), trained, strict=False):
        errors.append(error)
        if rank == 0 and window in (1, n // 2, n):
            print(f"window {window} of {n}: error {float(error[0]):.6f}\n", end="", flush=True)
        if [rank, window] == options.lose:
            os.kill(os.getpid(), signal.SIGKILL)
        if files and window % files.every == 0:
            said = {"errors": cp.concatenate(errors).get()}
            files.write(window, pack(model, optimizer, walk) | said)
        if window in (done + 1, n):
            cp.cuda.Device().synchronize()
            clock.append(time.perf_counter())
    each = 0.0  # the first window compiles, and is not counted
    if len(clock) > 1:
        each = (clock[-1] - clock[0]) / (n - done - 1)
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
    add("--checkpoint", metavar="FOLDER", help="where all ranks write what they depend on")
    add("--every", type=positive, default=2, help="windows from one checkpoint to the next")
    add("--resume", action="store_true", help="go on from the newest checkpoint, if there is one")
    add("--lose", type=int, nargs=2, metavar=("RANK", "WINDOW"), help="to rehearse: kill that rank")
    options = parser.parse_args(arguments)
    if options.resume and not options.checkpoint:
        parser.error("--resume goes on from a --checkpoint FOLDER")

    rank, size, local = place(options.way)
    part_of(options.batch, rank, size)  # bad sizes are refused before anybody waits
    use_device(local, rank, shared=options.way == "mpi")
    ranks = meet(options, rank, size)
    try:
        run(options, ranks, rank, size)
    finally:
        ranks.stop()


if __name__ == "__main__":
    main()
