"""What is covered and what is not, in words: the tables that pages and messages show."""

from __future__ import annotations

from gpuless.engine import coverage

COVERED = {
    "Arrays": "creation, views and strides, indexing, broadcasting, in-place operators, CuPy's "
    "dtypes, refusal of NumPy arrays and lists, pickling, NumPy's dispatch protocols",
    "Functions": "ufuncs, reductions, manipulation, sorting, searching, statistics, einsum, "
    "linalg, cublas, fft, polynomials, random (its own streams of numbers), vectorize, memoize",
    "Tests": "cupy.testing: assertions, arrays to test with, loops over dtypes, comparisons with "
    "NumPy, parameterize",
    "Your own kernels": "RawKernel, RawModule, ElementwiseKernel, ReductionKernel, fuse and "
    "cupyx.jit with cooperative groups, compiled as C++ and run block by block",
    "Inside kernels": coverage.in_kernels(),
    "Device": "logical devices, streams, events, graph capture, memory pools and their hooks, "
    "textures, surfaces, NCCL and cupyx.distributed between them, cupyx.profiler.benchmark, "
    "cupyx.scatter_add, pinned memory, DLPack (as memory of the CPU), cupy_backends.cuda.api",
    "SciPy's": "cupyx.scipy.fft and fftpack with their plans, linalg, ndimage, signal, sparse "
    "matrices and their solvers, spatial.distance, special and stats, by SciPy itself",
}
NOT_COVERED = {
    "Speed": "nothing that is timed here says anything about a GPU",
    "Data races": "threads run one after another, so a race, or a forgotten wait for a copy, may "
    "give the right answer; gpuless.xray finds races",
    "Asynchrony": "a launch returns when the work is done; of all work only copies between pinned "
    "memory and an array on a stream are late",
    "Libraries": "cupyx.scipy.interpolate, of .sparse arrays of one dimension; cupyx.jit.cub and "
    ".thrust; of cupy.cublas sbmv, syrk and batched_gesv",
    "Inside kernels": coverage.not_in_kernels(),
    "Types": "structured dtypes, datetime, bfloat16, subclasses of cupy.ndarray",
    "Interchange": "of DLPack what does not lie on the device, and capsules",
}
