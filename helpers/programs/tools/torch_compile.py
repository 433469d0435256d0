"""The four jobs with torch.compile, which fuses what is written with operations on whole arrays."""

import torch

from helpers.programs.tools import torch_eager

CANNOT = (
    "It cannot be steered: it chooses kernels and tiles, recompiles for shapes it has not seen, "
    "and its first call is the longest."
)
versions, put, get, wait = (
    getattr(torch_eager, name) for name in ("versions", "put", "get", "wait")
)


@torch.compile
def add_twice(x, y, out):
    return out.copy_(x + 2 * y)


@torch.compile
def stencil(x, weights, out):
    rows, columns = x.shape
    wide = torch.nn.functional.pad(x, (1, 1, 1, 1))
    total = 0
    for m in range(3):
        for n in range(3):
            total = total + weights[m, n] * wide[m : m + rows, n : n + columns]
    return out.copy_(total)


@torch.compile
def softmax(x, out):
    return out.copy_(torch.softmax(x, dim=1))


@torch.compile
def dense(a, b, bias, out):
    return torch.relu(torch.addmm(bias, a, b))
