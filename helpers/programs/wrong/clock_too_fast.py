"""A clock that is stopped when the launch returns, not when the work is done."""

import time

import cupy as cp

x = cp.ones((4096, 4096), "float32")
x @ x  # the first call is another matter

# %% wrong
start = time.perf_counter()
x @ x
print(f"{time.perf_counter() - start:.6f} s")

# %% mended
start = time.perf_counter()
x @ x
cp.cuda.Device().synchronize()
print(f"{time.perf_counter() - start:.6f} s")
