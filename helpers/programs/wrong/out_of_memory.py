"""More memory than there is."""

import cupy as cp

# %% wrong
x = cp.zeros((1_000_000, 1_000_000))

# %% mended
rows = 1_000
total = sum(float(cp.zeros((rows, 1_000)).sum()) for _ in range(10))
print(total)
