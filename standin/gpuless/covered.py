"""What is covered and what is not, in words: the tables that pages and messages show."""

from __future__ import annotations

from gpuless.engine import coverage

COVERED = {
    "Arrays": "creation, views and strides, indexing, broadcasting, in-place operators, CuPy's "
    "dtypes, refusal of NumPy arrays and lists, pickling, NumPy's dispatch protocols",
    "Functions": "ufuncs, reductions, manipulation, sorting, searching, statistics, einsum, "
    "linalg, cublas, fft, random (its own streams of numbers), vectorize, of testing the four "
    "assertions for arrays",
    "Your own kernels": "RawKernel, RawModule, ElementwiseKernel, ReductionKernel, fuse and "
    "cupyx.jit with cooperative groups, compiled as C++ and run block by block",
    "Inside kernels": coverage.in_kernels(),
    "Device": "logical devices, streams, events, graph capture, memory pools, "
    "NCCL and cupyx.distributed between them, cupyx.profiler.benchmark, cupyx.scatter_add, "
    "pinned memory, DLPack (as memory of the CPU)",
    "SciPy's": "cupyx.scipy.fft and fftpack with their plans, linalg, ndimage, signal, sparse "
    "matrices, spatial.distance, special and stats, by SciPy itself",
}
NOT_COVERED = {
    "Speed": "nothing that is timed here says anything about a GPU",
    "Data races": "threads run one after another, so a race, or a forgotten wait for a copy, may "
    "give the right answer; gpuless.xray finds races",
    "Asynchrony": "a launch returns when the work is done; of all work only copies between pinned "
    "memory and an array on a stream are late",
    "Libraries": "cupyx.scipy.interpolate, of .sparse the solvers (.linalg), graphs (.csgraph) and "
    "arrays of one dimension; cupyx.jit.cub and .thrust, textures; of cupy.cublas sbmv, syrk and "
    "batched_gesv",
    "Inside kernels": coverage.not_in_kernels(),
    "Types": "structured dtypes, datetime, bfloat16, subclasses of cupy.ndarray",
    "Functions": "poly1d, cupy.polynomial, the rest of cupy.testing",
    "Interchange": "of DLPack what does not lie on the device, and capsules",
}
