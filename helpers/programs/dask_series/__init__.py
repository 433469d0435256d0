"""Statistics of series that together are larger than one memory: chunk by chunk, with Dask.

    python -m helpers.programs.dask_series --workers 2 --steps 1000000

Each worker is a process. Where there are GPUs it has one of its own, and its chunks lie there, as
CuPy's arrays; where there is none they are NumPy's.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

import helpers  # serves cupy where there is none  # noqa: F401  isort: skip
import cupy as cp
import dask.array as da
from distributed import Client, LocalCluster, Nanny
from distributed.protocol import dask_deserialize, dask_serialize
from distributed.protocol.numpy import deserialize_numpy_ndarray, serialize_numpy_ndarray

KINDS = {"cupy": cp, "numpy": np}
USUAL = "cupy" if helpers.on_gpu else "numpy"
NAMES = "mean", "standard deviation", "products"


def make_chunk(first, n_steps, n_series, kind=USUAL):
    """Steps `first` to `first + n_steps` of the series, (n_steps, n_series) float64: series j is a
    sine with a period of 50 + j steps, lifted by j / 100."""
    xp = KINDS[kind]
    k = first + xp.arange(n_steps, dtype=np.float64)[:, None]
    j = xp.arange(n_series, dtype=np.float64)
    return 0.8 * xp.sin(2 * np.pi * k / (50 + j)) + j / 100


def series(n_steps, n_series, chunk, kind=USUAL):
    """All steps in chunks of `chunk` steps, (n_steps, n_series): a plan, nothing is made yet."""
    if chunk < 1 or n_steps < chunk or n_steps % chunk:
        raise ValueError(
            f"{n_steps} steps are not a whole number of chunks of {chunk}: take "
            f"{max(1, n_steps // max(chunk, 1)) * chunk} steps, or another chunk"
        )
    return da.arange(0, n_steps, chunk, chunks=1).map_blocks(
        lambda first: make_chunk(int(first[0]), chunk, n_series, kind),
        chunks=((chunk,) * (n_steps // chunk), (n_series,)),
        new_axis=1,
        dtype=np.float64,
        meta=KINDS[kind].empty((0, 0)),
    )


def statistics(x):
    """Mean and standard deviation of each series, and the mean product of each two series:
    (n_series,) twice and (n_series, n_series), for an array of NumPy, CuPy or Dask."""
    return x.mean(axis=0), x.std(axis=0), x.T @ x / len(x)


class OneGpuEach(Nanny):
    """Keeps a worker alive, in a process that sees one GPU: the one with the worker's number."""

    def __init__(self, *arguments, name, **others):
        seen = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        mine = seen[name] if seen[0] else name
        env = {"CUDA_VISIBLE_DEVICES": mine}
        super().__init__(*arguments, name=name, env=env, **others)


@dask_serialize.register(cp.ndarray)
def to_the_host(array):
    """What travels from worker to worker is small here, and may go by way of the host."""
    return serialize_numpy_ndarray(array.get())


@dask_deserialize.register(cp.ndarray)
def to_the_device(header, frames):
    return cp.asarray(deserialize_numpy_ndarray(header, frames))


def peak(kind):
    """Bytes: the most that this process has held on its GPU or, where the chunks are NumPy's,
    altogether (0 where the system does not say it as Linux does)."""
    if kind == "cupy":
        return cp.get_default_memory_pool().total_bytes()  # it keeps what it has once taken
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def own_place():
    """What no two workers may share: the address of the GPU, or else the process."""
    return cp.cuda.Device(0).pci_bus_id if helpers.on_gpu else os.getpid()


def by_dask(n_workers, n_steps, n_series, chunk, kind=USUAL, seconds=120):
    """Return {name: NumPy array} of the statistics, from a cluster of n_workers processes, with
    "peaks", bytes that the chunks took in each worker, and "seconds" without the cluster's start.
    """
    have = cp.cuda.runtime.getDeviceCount()
    if n_workers < 1:
        raise ValueError(f"n_workers must be 1 or more, not {n_workers}")
    if helpers.on_gpu and n_workers > have:
        raise ValueError(f"{n_workers} workers need a GPU each, and there are {have}: take fewer")
    x = series(n_steps, n_series, chunk, kind)
    how = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(worker_class=OneGpuEach, **how) as cluster, Client(cluster) as client:
        client.wait_for_workers(n_workers, timeout=seconds)
        if len(set(client.run(own_place).values())) < n_workers:
            raise RuntimeError(
                "workers share a GPU: they looked for GPUs before they knew their own. Start from "
                "a notebook or by `python -m`, not from a script that imports helpers"
            )
        before = client.run(peak, kind)
        began = time.perf_counter()
        futures = client.compute(statistics(x))
        found = [future.result(timeout=seconds) for future in futures]
        took = time.perf_counter() - began
        peaks = [now - before.get(worker, 0) for worker, now in client.run(peak, kind).items()]
    arrays = [array.get() if isinstance(array, cp.ndarray) else array for array in found]
    return dict(zip(NAMES, arrays, strict=True)) | {"peaks": peaks, "seconds": took}


def main(arguments=None):
    parser = argparse.ArgumentParser("dask_series", description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--workers", type=int, default=2)
    add("--steps", type=int, default=1_000_000)
    add("--series", type=int, default=20)
    add("--chunk", type=int, default=50_000, help="steps of a chunk")
    add("--kind", choices=KINDS, default=USUAL, help="whose arrays the chunks are")
    add("--save", help="a file.npz for the statistics")
    options = parser.parse_args(arguments)
    sizes = options.steps, options.series, options.chunk
    found = by_dask(options.workers, *sizes, options.kind)
    print(f"{options.steps * options.series * 8 / 1e6:,.0f} MB of series, of {options.kind}")
    print("at most in each worker:", *(f"{peak / 1e6:,.0f} MB" for peak in found["peaks"]))
    print(f"{found['seconds']:.2f} s; the mean of all: {found['mean'].mean():.9f}")
    if options.save:
        np.savez(options.save, **found)
