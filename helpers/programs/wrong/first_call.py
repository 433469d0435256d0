"""The first call of a kernel, which compiles it, beside the second."""

import time

import cupy as cp

x = cp.ones(1000)
cube = cp.ElementwiseKernel("float64 x", "float64 y", "y = x * x * x", "cube")

# %% wrong
for call in ("first", "second"):
    start = time.perf_counter()
    cube(x)
    cp.cuda.Device().synchronize()
    print(f"{call}: {time.perf_counter() - start:.6f} s")
