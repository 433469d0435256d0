"""What the book runs on, and how large its problems are there."""

import ctypes
import importlib.util
import os
import platform
import sys
from pathlib import Path

import gpuless

STANDIN_NAME = "CPU stand-in, no GPU"

#: True when `cupy` is the real one and a GPU answers.
on_gpu = (
    not gpuless.is_active()
    and gpuless.gpu_count() > 0
    and importlib.util.find_spec("cupy") is not None
)

#: True while `make record` runs the chapter: hidden cells then hold claims about speed to account.
recording = on_gpu and os.environ.get("HELPERS_RECORDING") == "1"


def pick(*, gpu, cpu):
    """Return `gpu` on a GPU and `cpu` without one; HELPERS_SIZES=cpu asks for `cpu` everywhere."""
    return gpu if on_gpu and not small_sizes() else cpu


def small_sizes():
    """Say whether HELPERS_SIZES=cpu asks for small problems, each run once.

    ValueError for any other value.
    """
    value = os.environ.get("HELPERS_SIZES", "")
    if value not in ("", "cpu"):
        raise ValueError(f"HELPERS_SIZES must be unset or cpu, not {value!r}")
    return value == "cpu"


def logical_devices(count):
    """Return how many of ``count`` devices there are to use, 1 or more.

    On a machine with GPUs that is ``count`` or, where there are fewer, the number of GPUs; nothing
    is changed. The stand-in has ``count`` logical devices from now on, in this process and in those
    it starts; RuntimeError if an array lives on a device that would vanish.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"count must be a whole number of devices, 1 or more, not {count!r}")
    import cupy

    if gpuless.is_active():
        cupy.cuda._ownership.set_device_count(count)
    return min(count, cupy.cuda.runtime.getDeviceCount())


def description():
    """Return one line on the device, driver, CUDA and CuPy, or on why the stand-in is in use."""
    if on_gpu:
        import cupy

        driver, cuda = driver_version(), cuda_version()
        return f"{device_name()}, driver {driver}, CUDA {cuda}, CuPy {cupy.__version__}"
    if gpuless.gpu_count() == 0:
        why = "No GPU was found"
    elif os.environ.get("CUPY_STANDIN") == "always":
        why = "CUPY_STANDIN=always"
    else:
        why = "CuPy is not installed"
    if gpuless.is_active():
        return (
            f"{why}: `cupy` is the book's stand-in on the CPU. "
            "Results are real, timings say nothing about a GPU."
        )
    return f"{why}, and CUPY_STANDIN=never: `import cupy` speaks for itself."


def device_name():
    """Return the name of the current device: the GPU's, or "CPU stand-in, no GPU"."""
    if not on_gpu:
        return STANDIN_NAME
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return properties["name"].decode()


def cpu_name():
    """Return the CPU's name as the operating system gives it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def driver_version():
    """Return the NVIDIA driver's version, for example "580.95.05", or "unknown"."""
    text = ctypes.create_string_buffer(96)
    try:
        nvml = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
        good = nvml.nvmlInit_v2() == 0 and nvml.nvmlSystemGetDriverVersion(text, len(text)) == 0
    except OSError:
        good = False
    return text.value.decode() if good else "unknown"


def cuda_version():
    """Return the version of the CUDA runtime that CuPy uses, for example "13.0"."""
    import cupy

    version = cupy.cuda.runtime.runtimeGetVersion()
    return f"{version // 1000}.{version % 1000 // 10}"


def nvrtc_version():
    """Return the version of NVRTC, which compiles CuPy's kernels, for example "13.0"."""
    import cupy

    return ".".join(map(str, cupy.cuda.nvrtc.getVersion()))


def synchronise():
    """Wait until the current device has done all the work it was given."""
    import cupy

    cupy.cuda.Device().synchronize()
