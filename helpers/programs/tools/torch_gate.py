"""A RawKernel inside PyTorch: the kernels of gate.py as an operation with a gradient."""

import cupy as cp
import torch
from torch.autograd.function import once_differentiable

from helpers.programs.tools import gate


def on_torch_stream(name, *tensors):
    """Launch a kernel of gate.py on tensors, in the stream that PyTorch is in."""
    if not tensors[0].numel():
        return
    device = tensors[0].device.index
    stream = torch.cuda.current_stream(device).cuda_stream
    with cp.cuda.Device(device), cp.cuda.ExternalStream(stream):
        gate.launch(name, *(cp.asarray(tensor.detach()) for tensor in tensors))


class SiluGate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        if x.shape != y.shape or x.dtype != y.dtype or x.device != y.device:
            raise ValueError("x and y must have one shape, one dtype and one device")
        if not x.is_cuda or x.dtype not in (torch.float32, torch.float64):
            raise TypeError(f"float32 or float64 on a GPU, please, not {x.dtype} on {x.device}")
        x, y = x.contiguous(), y.contiguous()
        z = torch.empty_like(x)
        on_torch_stream("forward", x, y, z)
        ctx.save_for_backward(x, y)  # not ctx.x = x: changes would go unseen
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, dz):
        x, y = ctx.saved_tensors
        dx, dy = torch.empty_like(x), torch.empty_like(y)
        on_torch_stream("backward", x, y, dz.contiguous(), dx, dy)
        return dx, dy


silu_gate = SiluGate.apply
