"""The gate of torch_gate.py held against PyTorch's own: gradcheck, errors, streams and time."""

import functools

import numpy as np
import torch
from torch.nn import functional
from torch.utils import benchmark

from helpers.programs.tools.torch_gate import silu_gate

SIDES = {"large": 16384, "small": 32}  # float32: 1 GiB an array; and where the host decides
SECONDS, SAMPLES = 0.02, 15  # the least that a sample lasts, and how many there are


def plain(x, y):
    return functional.silu(x) * y


def pair(*shape, dtype=torch.float32, seed=3):
    """Return two random tensors on the GPU that want a gradient."""
    torch.manual_seed(seed)
    return [torch.randn(shape, dtype=dtype, device="cuda", requires_grad=True) for _ in range(2)]


def step(function, x, y, dz):
    """Forward and backward; return z and both gradients."""
    z = function(x, y)
    return z.detach(), *torch.autograd.grad(z, (x, y), dz)


def gradients_hold():
    """Say whether gradcheck, in float64, accepts odd, strided, unaligned and empty arrays."""
    x, y = pair(7, 13, dtype=torch.float64)
    cases = [(x, y), (x.T, y.T), (x[:, ::2], y[:, ::2]), (x.view(-1)[1:], y.view(-1)[1:])]
    held = all(torch.autograd.gradcheck(silu_gate, case) for case in cases)
    return held and silu_gate(x[:0], y[:0]).shape == (0, 13)


def largest_error():
    """Return the largest error over the largest number, against PyTorch in float64, on a stream of
    its own and at a length above the 131,072 at which exchanged grid and block would show."""
    x, y = pair(2**20 + 3)
    dz = torch.randn_like(x)
    with torch.cuda.stream(torch.cuda.Stream()) as _:
        torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
        found = step(silu_gate, x, y, dz)
    torch.cuda.synchronize()
    wide = [t.detach().double().requires_grad_() for t in (x, y)]
    wanted = step(plain, *wide, dz.double())
    return max(
        float((a - b).abs().max() / b.abs().max()) for a, b in zip(found, wanted, strict=True)
    )


def refuses():
    """Return the names of the errors for unequal shapes, and for tensors that are not on a GPU."""
    said = []
    for x, y in ((torch.ones(3).cuda(), torch.ones(4).cuda()), (torch.ones(3), torch.ones(3))):
        try:
            silu_gate(x, y)
        except (TypeError, ValueError) as error:
            said.append(type(error).__name__)
    return said


def seconds(call):
    """Return the seconds of a warm `call()`, from an idle GPU to an idle GPU, and their spread."""
    timer = benchmark.Timer("call()", globals={"call": call})
    timer.timeit(10)  # the first calls compile
    calls = max(1, round(SECONDS / timer.timeit(10).mean + 0.5))
    samples = [timer.timeit(calls).mean for _ in range(SAMPLES)]
    low, median, high = map(float, np.quantile(samples, (0.25, 0.5, 0.75)))
    return {"median": median, "low": low, "high": high, "calls": calls}


def measure():
    """Return what was found, and the seconds of forward and backward for each of three ways.

    Large matrices say what the GPU needs, small ones what Python and PyTorch need on the host.
    """
    found = {"gradcheck": gradients_hold(), "error": largest_error(), "refuses": refuses()}
    ways = {"eager": plain, "compiled": torch.compile(plain), "kernels": silu_gate}
    for size, side in SIDES.items():
        x, y = pair(side, side)
        dz = torch.randn_like(x)
        found[size] = {"side": side, "bytes": 8 * x.nbytes}  # arrays moved: forward 3, backward 5
        for name, function in ways.items():
            call = functools.partial(step, function, x, y, dz)
            found[size][name] = seconds(call)
    return found | {"versions": {"PyTorch": torch.__version__}}
