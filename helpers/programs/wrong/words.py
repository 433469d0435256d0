"""CUDA's words for its errors, by their numbers."""

import cupy as cp

# %% wrong
for number in (1, 2, 35, 100, 101, 209, 217, 500, 700, 701, 702, 716):
    print(number, cp.cuda.runtime.CUDARuntimeError(number))
