"""CUB's own device algorithms, compiled by nvcc on the spot: the peers of chapter 36."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers import device

SOURCE = Path(__file__).with_suffix(".cu")
SECONDS = 300


def seconds(n):
    """Return what CUB takes on `n` float32 numbers, {name: seconds}, and print which CUB it is.

    Names: sum, scan, select (x > 0), histogram_flat, histogram_normal, histogram_constant (256
    bins). Where there is no GPU or no nvcc, where HELPERS_LAUNCH=no forbids to start programs, or
    where nvcc does not take the program, it says so and returns {}: nothing is made up.
    RuntimeError when the program fails.
    """
    if why := refusal():
        print(f"CUB was not run: {why}")
        return {}
    import cupy

    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder, "cub"))
        arch = f"-arch=sm_{cupy.cuda.Device().compute_capability}"
        made = _run([nvcc(), "-O3", "-std=c++17", arch, str(SOURCE), "-o", program])
        if made.returncode:
            last = (made.stdout.strip() or "no message").splitlines()[-1]
            print(f"CUB was not run: nvcc did not compile it: {last}")
            return {}
        done = _run([program, str(n)])
    if done.returncode:
        raise RuntimeError(f"CUB's program failed: {done.stdout.strip()}")
    found = parse(done.stdout)
    version = int(found.pop("version"))
    print(f"CUB {version // 100000}.{version // 100 % 1000}.{version % 100}, compiled by nvcc")
    return found


def parse(text):
    """Return the lines "name number" of `text` as {name: number}; ValueError for other lines."""
    return {name: float(number) for name, number in map(str.split, text.strip().splitlines())}


def nvcc():
    """Return where nvcc is, or None."""
    places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"])
    return shutil.which("nvcc", path=places)


def refusal():
    """Return why CUB is not run here, or None."""
    if not device.on_gpu or device.small_sizes():
        return "it needs a GPU, and arrays of full size"
    if os.environ.get("HELPERS_LAUNCH") == "no":
        return "HELPERS_LAUNCH=no"
    return None if nvcc() else "there is no nvcc (it comes with NVIDIA's CUDA toolkit)"


def _run(command):
    """Run a command and return what came of it, with its errors among its output."""
    print(end="", flush=True)
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )


if __name__ == "__main__":
    for name, took in seconds(int(sys.argv[1]) if len(sys.argv) > 1 else 2**28).items():
        print(f"{name:20} {1e6 * took:.1f} µs")
