"""Chapter 85's peer: the sine's LSTM in PyTorch, whose nn.LSTM is cuDNN's."""

import importlib.util

import helpers


def load():
    """Return torch with TF32 off, or None where there is none that sees a GPU."""
    if importlib.util.find_spec("torch") is None or not helpers.on_gpu:
        return None
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    return torch


class TorchStep:
    """A training step from the weights of `model` on x, t (n_steps, n_batch): MSE, fused Adam.

    learn() does one, eager; after record(), replay() does one from a CUDA graph.
    """

    def __init__(self, torch, model, x, t):
        self.torch, nn, n = torch, torch.nn, model.l2.w_h.shape[0]
        l1, l2, l3 = nn.Linear(1, n).cuda(), nn.LSTM(n, n).cuda(), nn.Linear(n, 1).cuda()
        self.x, self.t = (torch.tensor(a.get()[:, :, None], device="cuda") for a in (x, t))
        self.params = [l1.weight, l1.bias, l2.weight_ih_l0, l2.weight_hh_l0]
        self.params += [l2.bias_ih_l0, l3.weight, l3.bias]
        with torch.no_grad():
            l2.bias_hh_l0.zero_()  # cuDNN has two biases
            for q, p in zip(self.params, model.params(), strict=True):
                q.copy_(torch.tensor(p.data.get().T.copy()))
        every = [q for layer in (l1, l2, l3) for q in layer.parameters()]
        self.adam = torch.optim.Adam(every, fused=True, capturable=True)
        self.run = lambda: l3(l2(l1(self.x))[0])

    def learn(self):
        self.adam.zero_grad(set_to_none=True)
        self.torch.nn.functional.mse_loss(self.run(), self.t).backward()
        self.adam.step()

    def record(self):
        torch, side = self.torch, self.torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.learn()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.learn()
        self.replay = self.graph.replay


def peers(torch, model, x, t):
    """Return {name: callable} of PyTorch's two ways; nothing where there is no torch."""
    if not torch:
        return {}
    eager, graphed = TorchStep(torch, model, x, t), TorchStep(torch, model, x, t)
    graphed.record()
    return {"PyTorch, eager": eager.learn, "PyTorch, graph": graphed.replay}


def show_race(times):
    """Show a table of {name: Timing}: median, spread, and the ratio to each of PyTorch's ways."""
    others, rows = [name for name in times if "PyTorch" in name], []
    for name, t in times.items():
        spread = f"{min(t.samples) / t.median:.2f} to {max(t.samples) / t.median:.2f}"
        ratios = (t.median / times[peer].median for peer in others)
        rows.append((name, f"{1e6 * t.median:.1f}", spread, *ratios))
    headers = ["", "a step, µs", "spread", *(f"to {peer}" for peer in others)]
    helpers.table(rows, headers, floatfmt=".3f")
