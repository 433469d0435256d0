"""Errors of the CUDA driver API."""

from __future__ import annotations

from gpuless import missing

_TEXT = {
    1: ("CUDA_ERROR_INVALID_VALUE", "invalid argument"),
    2: ("CUDA_ERROR_OUT_OF_MEMORY", "out of memory"),
    201: ("CUDA_ERROR_INVALID_CONTEXT", "invalid device context"),
    218: ("CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"),
    301: ("CUDA_ERROR_FILE_NOT_FOUND", "file not found"),
    400: ("CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"),
    500: ("CUDA_ERROR_NOT_FOUND", "named symbol not found"),
    700: ("CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"),
    701: ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"),
    720: ("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"),
    801: ("CUDA_ERROR_NOT_SUPPORTED", "operation not supported"),
}


class CUDADriverError(RuntimeError):
    """``CUDADriverError(500)`` reads ``CUDA_ERROR_NOT_FOUND: named symbol not found``."""

    def __init__(self, status: int):
        self.status = status
        super().__init__(": ".join(_TEXT.get(status, ("CUDA_ERROR_UNKNOWN", "unknown error"))))

    def __reduce__(self):
        return type(self), (self.status,)


def get_build_version() -> int:
    """0: the stand-in was not built with CUDA."""
    return 0


def __getattr__(name: str):
    raise missing("cupy.cuda.driver", name)
