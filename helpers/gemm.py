"""Products by cuBLAS that a CUDA graph can record: CuPy 14 refuses to capture its own."""

import ctypes

import cupy as cp
import numpy as np

import helpers

ROOM = 2**25  # bytes that cuBLAS may work in


def loaded_cublas():
    """Return the cuBLAS that CuPy has loaded, for ctypes; None where there is none."""
    if not helpers.on_gpu:
        return None
    try:
        with open("/proc/self/maps") as maps:
            paths = [line.split()[-1] for line in maps if "libcublas.so" in line]
    except OSError:  # not Linux
        return None
    return ctypes.CDLL(paths[0]) if paths else None


def seen(m):
    """Return of a float32 matrix: is it transposed, its address, elements from row to row.

    ValueError where neither its rows nor its columns lie in one piece.
    """
    flip = m.strides[1] != 4 and m.shape[1] > 1
    rows = m.T if flip else m
    length, step = rows.shape[1], rows.strides[0] // 4
    if rows.shape[0] == 1:
        step = max(step, length)
    if (rows.strides[1] != 4 and length > 1) or step < length:
        raise ValueError(f"Gemm: strides {m.strides} are neither of rows nor of columns")
    return int(flip), ctypes.c_void_p(m.data.ptr), step


class Gemm:
    """c = a @ b, or c += a @ b, for float32 matrices, on a stream of its own.

    The rows or the columns of a and of b lie in one piece, and the rows of c. With cuBLAS's own
    handle on `stream`, so that it can be recorded; by CuPy, where there is none.
    """

    def __init__(self, stream):
        self.cublas, self.stream = loaded_cublas(), stream
        if not self.cublas:
            return
        self.handle, self.room = ctypes.c_void_p(), cp.empty(ROOM, cp.uint8)
        self._call("Create", ctypes.byref(self.handle))
        self._call("SetStream", self.handle, ctypes.c_void_p(stream.ptr))
        place = ctypes.c_void_p(self.room.data.ptr), ctypes.c_size_t(ROOM)
        self._call("SetWorkspace", self.handle, *place)

    def __call__(self, a, b, c, add=False):
        """Multiply a (m, k) and b (k, n) into c (m, n); ValueError, TypeError for bad input."""
        if a.shape[1] != b.shape[0] or c.shape != (a.shape[0], b.shape[1]):
            raise ValueError(f"Gemm: {a.shape} times {b.shape} into {c.shape}")
        if any(m.dtype != np.float32 for m in (a, b, c)):
            raise TypeError(f"Gemm: float32, not {a.dtype}, {b.dtype}, {c.dtype}")
        if self.cublas:
            self._multiply(a, b, c, 1.0 if add else 0.0)
        elif add:
            c += a @ b
        else:
            cp.matmul(a, b, out=c)

    def _call(self, name, *arguments):
        status = getattr(self.cublas, f"cublas{name}_v2")(*arguments)
        if status:
            raise RuntimeError(f"cublas{name} returned {status}")

    def _multiply(self, a, b, c, beta):
        (flip_a, at_a, row_a), (flip_b, at_b, row_b) = seen(a), seen(b)
        flip_c, at_c, row_c = seen(c)
        if flip_c:
            raise ValueError("Gemm: the result is written by rows, not by columns")
        sizes = c.shape[1], c.shape[0], a.shape[1]
        one, beta = (ctypes.byref(ctypes.c_float(v)) for v in (1.0, beta))
        # cuBLAS reads by columns: what it sees is transposed, and (a b)^T = b^T a^T
        matrices = one, at_b, row_b, at_a, row_a, beta, at_c, row_c
        self._call("Sgemm", self.handle, flip_b, flip_a, *sizes, *matrices)


def record(function, stream):
    """Return what function() launches on stream as a graph. Call function() once before."""
    cp.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        try:
            function()
        except BaseException:
            try:
                stream.end_capture()
            except cp.cuda.runtime.CUDARuntimeError:
                pass  # the capture is over either way; the first error is the one to see
            raise
        return stream.end_capture()
