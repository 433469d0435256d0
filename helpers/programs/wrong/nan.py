"""A logarithm of a negative number, three lines before anybody looks."""

import cupy as cp

x = cp.array([4.0, 1.0, -1e-9, 9.0])

# %% wrong
y = cp.log(x)
print((y * 2).sum())

# %% mended
print("not finite:", cp.flatnonzero(~cp.isfinite(y := cp.log(cp.maximum(x, 1e-12)))))
print((y * 2).sum())
