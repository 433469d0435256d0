"""Matrix products by kernels of the reader's own: launched, judged, and timed beside cuBLAS."""

import functools

import cupy as cp
import numpy as np

from helpers import device, display, report
from helpers.timing import format_seconds
from helpers.turns import against_last, by_turns, spread
from helpers.xray import can_xray, xray

# (M, K, N): smaller than any tile, odd, whole tiles, and K beyond every ring of tiles in flight.
SHAPES = (1, 1, 1), (67, 43, 135), (64, 32, 128), (128, 32, 128), (130, 36, 20), (70, 205, 66)
MOST = 2**31 - 2**24  # the kernels count in int, and a tile may reach over the edge


class Product:
    """`A @ B` by a kernel `matmul(A, B, C, M, N, K)` of CUDA C; all matrices are stored by rows.

    It is called as product(A, B), or product(A, B, C) to write into C. The `constants` are macros
    in the source. Of them BM and BN say how many rows and columns of C a block computes, THREADS
    how many threads it has in a line (`block` says it for other shapes), BK how far along K it goes
    at a time, SHARED how many bytes of dynamic shared memory it takes. Two more macros are given:

    EDGES   1 where tiles stick out of the matrices, else 0: then no bounds test is needed
    VEC     how many numbers make 16 bytes where every row begins at a multiple of 16 bytes, else 1

    prepare   a function of A and B that is called before the launch: what it returns takes their
              place; K is then the rows of the second, and what comes after them goes to the kernel
    """

    def __init__(self, source, *, block=None, dtype=np.float32, prepare=None, **constants):
        self.source, self.prepare, self.dtype = source, prepare, np.dtype(dtype)
        self.block = block or (constants["THREADS"],)
        self.constants = constants
        self.kernel = functools.cache(self._compiled)

    def _compiled(self, edges, vec):
        macros = self.constants | {"EDGES": int(edges), "VEC": vec}
        options = ("-std=c++17", *(f"-D{name}={value}" for name, value in macros.items()))
        kernel = cp.RawKernel(self.source, "matmul", options=options)
        if (size := self.constants.get("SHARED", 0)) > 48 * 1024:
            kernel.max_dynamic_shared_size_bytes = size
        return kernel

    def __call__(self, A, B, C=None):
        """Return C = A @ B; A (M, K) and B (K, N) of the product's dtype, strided ones are copied.

        ValueError or TypeError for matrices that do not fit.
        """
        A, B = self._fitting(A, B)
        shape = A.shape[0], B.shape[1]
        C = cp.empty(shape, self.dtype) if C is None else C
        if not (C.flags.c_contiguous and C.shape == shape and C.dtype == self.dtype):
            raise ValueError("C must be an array of rows, of the product's shape and type")
        if not C.size or not A.shape[1]:
            C.fill(0)
        else:
            self.launch(*(self.prepare(A, B) if self.prepare else (A, B)), C=C)
        return C

    def _fitting(self, A, B):
        if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[0]:
            raise ValueError(f"shapes {A.shape} and {B.shape} make no product")
        if A.dtype != self.dtype or B.dtype != self.dtype:
            raise TypeError(f"{A.dtype} and {B.dtype}: this product is for {self.dtype}")
        if max(A.size, B.size, A.shape[0] * B.shape[1]) >= MOST:
            raise ValueError("the kernels count in int: fewer than 2**31 numbers, please")
        return cp.ascontiguousarray(A), cp.ascontiguousarray(B)

    def launch(self, A, B, *more, C):
        """Launch the kernel alone, on what `prepare` made."""
        kernel, *how = self.as_launched(A, B, *more, C=C)
        kernel(*how, shared_mem=self.constants.get("SHARED", 0))

    def as_launched(self, A, B, *more, C):
        """Return the kernel, grid, block and arguments of a launch."""
        (M, N), K = C.shape, B.shape[0]
        bm, bn, bk = (self.constants.get(side, 1) for side in ("BM", "BN", "BK"))
        vec = 16 // A.itemsize
        wide = not (A.shape[1] % vec or N % vec or any(x.data.ptr % 16 for x in (A, B, C)))
        kernel = self.kernel(bool(M % bm or N % bn or K % bk), vec if wide else 1)
        sizes = np.int32(M), np.int32(N), np.int32(K)
        return kernel, (-(-N // bn), -(-M // bm)), self.block, (A, B, C, *sizes, *more)

    def xray(self, M=128, N=128, K=64):
        """X-ray the kernel on matrices of this size, with asynchronous copies if it has any."""
        A, B = cp.ones((M, K), self.dtype), cp.ones((K, N), self.dtype)
        A, B, *more = self.prepare(A, B) if self.prepare else (A, B)
        C, shared = cp.empty((M, N), self.dtype), self.constants.get("SHARED", 0)
        launch = self.asynchronous().as_launched(A, B, *more, C=C)
        return xray(*launch, shared_mem=shared)

    def asynchronous(self):
        """Return the same; where its source knows ASYNC, copies come late on the stand-in, too."""
        if "ASYNC" not in self.source:
            return self
        source = self.source + "\n// ASYNC 1 needs compute capability 8.0\n"
        given = {"block": self.block, "dtype": self.dtype, "prepare": self.prepare}
        return Product(source, **given, **self.constants | {"ASYNC": 1})

    def counts(self, M=128, N=128, K=64):
        """Return (passes, requests) for one warp-FMA, as written: of L1 and of shared memory.

        A warp-FMA is 32 of the M N K multiplications. An asynchronous copy is one request, and its
        passes are those of shared memory. NaN where there is no g++.
        """
        if not can_xray():
            return np.nan, np.nan
        seen, fmas = self.xray(M, N, K), M * N * K / 32
        passes = seen.whole("passes", kind="load") + seen.whole("passes", shared=True)
        requests = seen.whole("requests") + seen.whole("requests", shared=True)
        requests -= seen.whole("requests", kind="copy", shared=True)  # its other end
        return passes / fmas, requests / fmas

    def bounds(self, n, rate=None, each=1):
        """Return {what may bind: seconds at least} for n × n matrices, as chapter 38 has it.

        `rate` are the warp-FMAs that a multiprocessor makes in a cycle (default: its FMA units'),
        `each` those that one instruction makes. The issue slots of copies and of reads are counted,
        those of addresses and loops are not.
        """
        attributes = cp.cuda.Device().attributes
        clock = attributes["ClockRate"] * 1e3 or 1e9  # Hz; the stand-in has none
        cycle = n**3 / 32 / (attributes["MultiProcessorCount"] * clock)
        capability = int(cp.cuda.Device().compute_capability)
        fmas = 2 if capability in (60, 70, 72, 75, 80) else 4
        passes, requests = self.counts()
        return {
            "arithmetic": cycle / (rate or fmas),
            "issue": cycle * (1 / each + requests) / 4,
            "passes": cycle * passes,
        }


def draw(M, K, N, dtype=np.float32, seed=38):
    """Return two CuPy matrices of normal numbers, (M, K) and (K, N)."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((M, K)), rng.standard_normal((K, N))
    return cp.asarray(A.astype(dtype)), cp.asarray(B.astype(dtype))


def relative_error(C, A, B):
    """Return |C - A B| / |A B|, lengths of all elements as one vector; A B by NumPy in float64."""
    exact = A.get().astype(np.float64) @ B.get().astype(np.float64)
    return float(np.linalg.norm(C.get() - exact) / np.linalg.norm(exact))


def agrees(product, limit=1e-6, shapes=SHAPES):
    """Is the product right at all `shapes` (M, K, N), to a relative error of `limit`?

    C holds NaN before; at last A comes as a view that is stored by columns. On the stand-in copies
    that nobody has waited for are an error.
    """
    product = product if device.on_gpu else product.asynchronous()
    errors = []
    for M, K, N in shapes:
        A, B = draw(M, K, N, product.dtype)
        C = product(A, B, cp.full((M, N), np.nan, A.dtype))
        errors.append(relative_error(C, A, B))
    by_columns = cp.asarray(np.ascontiguousarray(A.get().T)).T
    errors.append(relative_error(product(by_columns, B), A, B))
    return all(error < limit for error in errors)  # NaN is not


class Ladder:
    """Products of one size and dtype, each checked and then timed by turns with cuBLAS.

    The matrices are n × n, or n × K and K × n.

    seconds   {name: median}, of the products
    ratios    {name: quartiles of cuBLAS's time over its own, round by round}
    errors    {name: relative error at this size}
    bounds    {name: {what may bind: seconds at least}}
    """

    def __init__(self, n, dtype=np.float32, K=None):
        self.n, self.dtype = n, np.dtype(dtype)
        self.A, self.B = draw(n, K or n, n, dtype)
        if self.dtype == np.float64:
            # As the numbers of a real problem: those drawn may end in zero bits.
            self.A, self.B = self.A * np.pi, self.B * np.pi
        self.exact = self.A.astype(np.float64) @ self.B.astype(np.float64)
        self.C, self.theirs = (cp.empty((n, n), dtype) for _ in range(2))
        self.seconds, self.ratios, self.errors, self.bounds = {}, {}, {}, {}

    def error(self, C):
        """Return the relative error of `C`, as relative_error says, on the device."""
        off = cp.linalg.norm(C - self.exact) / cp.linalg.norm(self.exact)
        return float(off)

    def cublas(self):
        """Multiply by cuBLAS."""
        return cp.matmul(self.A, self.B, out=self.theirs)

    def climb(self, name, product, bounds=None, *, limit=None, least=10):
        """Check `product` at this size, then time it; ValueError where it is wrong.

        The limit of the relative error is 3e-6 in float32 and 1e-13 in float64, if none is given;
        `bounds` are {what may bind: seconds}; `least` rounds are timed.
        """
        limit = limit or (1e-13 if self.dtype == np.float64 else 3e-6)
        self.C.fill(np.nan)
        error = self.error(product(self.A, self.B, self.C))
        if not error < limit:
            raise ValueError(f"{name}: the relative error at n = {self.n} is {error:.1e}")
        seconds = by_turns([lambda: product(self.A, self.B, self.C), self.cublas], least)
        self.errors[name], self.bounds[name] = error, bounds or {}
        self.seconds[name] = float(np.median(seconds[:, 0]))
        self.ratios[name] = against_last(seconds)[0]

    def show(self, *names):
        """Show a table of these rungs (default: all): bound, time, and both against each other."""
        rows = []
        for name in names or self.seconds:
            mine = self.seconds[name]
            known = {what: t for what, t in self.bounds[name].items() if not np.isnan(t)}
            what = max(known, key=known.get, default="")
            told = (format_seconds(known[what]), f"{known[what] / mine:.0%}") if known else ("", "")
            row = name, what, told[0], format_seconds(mine), told[1], spread(self.ratios[name])
            rows.append(row)
        headers = ["rung", "bound by", "at least", "measured", "explained", "of cuBLAS's speed"]
        display.table(rows, headers)

    def headline(self, name, key, label=None):
        """Report a rung's median ratio as the headline `key`."""
        kind = "float64" if self.dtype == np.float64 else "float32 without TF32"
        against = f"cuBLAS, {kind}, n = {self.n}"
        label = label or f"rung {name}"
        report.headline(key, self.ratios[name][1], "of its speed", against=against, label=label)
