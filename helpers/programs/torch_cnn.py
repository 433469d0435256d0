"""The peer of chapter 57: the same network, batch and Adam in PyTorch, as fast as it gets there.

A step is replayed from a CUDA graph that fetches its own batch. What may be compiled by
torch.compile is the optimiser (with the learning rate in a tensor), the network, or both.
Products are in full float32: TF32 is off.
"""

import importlib.util
import os
import shutil
import warnings

import numpy as np

from helpers.chapters.cnn_mnist import Network, build_cnn

#: name -> what is compiled; None: no graph either
WAYS = {
    "eager": None,
    "graph": (),
    "graph, network compiled": ("network",),
    "graph, optimiser compiled": ("optimiser",),
    "graph, both compiled": ("network", "optimiser"),
}
STEPS = 20  # of a graph


def why_not(compiled=False):
    """Say why PyTorch cannot be tried here, or compile; an empty text if it can."""
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is not installed"
    import torch

    if not torch.cuda.is_available():
        return "PyTorch finds no GPU"
    if compiled and importlib.util.find_spec("triton") is None:
        return "Triton is not installed"
    tools = os.environ.get("CC", "cc"), "gcc", "clang"
    return "there is no C compiler" if compiled and not any(map(shutil.which, tools)) else ""


def versions():
    """Return the versions of PyTorch, cuDNN and Triton in a line."""
    import torch

    said = f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"
    if importlib.util.find_spec("triton") is None:
        return said
    import triton

    return f"{said}, Triton {triton.__version__}"


class Run:
    """One network that trains, with chapter 50's first weights of `seed`.

    train      images (N, 1, 28, 28) float32 and labels (N,), NumPy arrays
    compiled   of "network" and "optimiser", what torch.compile compiles; None: no graph
    """

    def __init__(self, train, n_batch, seed=0, compiled=()):
        import torch
        from torch import nn

        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self.x = torch.tensor(train[0], device="cuda")
        self.t = torch.tensor(train[1].astype("i8"), device="cuda")
        layers = [nn.Conv2d(1, 10, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
        layers += [nn.Linear(1960, 100), nn.ReLU(), nn.Linear(100, 10)]
        self.network = nn.Sequential(*layers).cuda()
        like = build_cnn(Network((1, 28, 28), seed=seed)).layers
        with torch.no_grad():
            for theirs, ours in ((0, 0), (4, 3), (6, 5)):
                part, layer = layers[theirs], like[ours]
                weight = torch.tensor(np.ascontiguousarray(layer.w.T))
                part.weight.copy_(weight.reshape(part.weight.shape))
                part.bias.copy_(torch.tensor(np.array(layer.b)))
        tuned = "optimiser" in (compiled or ())
        rate = torch.tensor(1e-3, device="cuda") if tuned else 1e-3
        kind = {"foreach": True} if tuned else {"fused": True}
        parameters = self.network.parameters()
        self.adam = torch.optim.Adam(parameters, lr=rate, capturable=True, **kind)
        torch._dynamo.reset()
        self.error, self.move = self.error_of, self.adam.step
        if "network" in (compiled or ()):
            self.error = torch.compile(self.error_of)
        if tuned:
            self.move = torch.compile(self.adam.step)
        n_rows = len(self.x) // n_batch
        self.chosen = torch.zeros((STEPS, n_batch), dtype=torch.int64, device="cuda")
        self.n_steps, self.n_batch = n_rows, n_batch
        self.graph = None
        if compiled is not None:
            self.record()

    def error_of(self, x, t):
        return self.torch.nn.functional.cross_entropy(self.network(x), t)

    def learn(self, chosen):
        """Take one step with the images numbered `chosen`, a tensor (n_batch,)."""
        self.adam.zero_grad(set_to_none=False)
        self.error(self.x[chosen], self.t[chosen]).backward()
        self.move()

    def record(self):
        torch = self.torch
        weights = {name: w.clone() for name, w in self.network.state_dict().items()}
        with warnings.catch_warnings():  # the compiler's advice to use TF32, which is off
            warnings.filterwarnings("ignore", message="TensorFloat32", category=UserWarning)
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(5):
                    self.learn(self.chosen[0])
            torch.cuda.current_stream().wait_stream(side)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for row in self.chosen:
                    self.learn(row)
        self.graph = graph
        self.network.load_state_dict(weights)  # what was learnt while recording is undone
        for state in self.adam.state.values():
            for value in state.values():
                value.zero_()

    def epoch(self, n_steps=None):
        """Train for an epoch, or n_steps; return the seconds of a step, by CUDA events."""
        torch = self.torch
        n_steps = (n_steps or self.n_steps) // STEPS * STEPS
        order = torch.randperm(len(self.x), device="cuda")[: n_steps * self.n_batch]
        order = order.reshape(-1, STEPS, self.n_batch)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        for rows in order:
            if self.graph is not None:
                self.chosen.copy_(rows)
                self.graph.replay()
            else:
                for row in rows:
                    self.learn(row)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3 / n_steps

    def accuracy(self, test):
        """Return which share of the test images is read as labelled, in percent."""
        torch = self.torch
        with torch.no_grad():
            said = self.network(torch.tensor(test[0], device="cuda")).argmax(1)
        return 100 * float((said.cpu().numpy() == test[1]).mean())

    def profile(self, n_replays=5):
        """Return (name, kernels a step, µs a step) of the kernels of the graph, longest first."""
        torch = self.torch
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as found:
            for _ in range(n_replays):
                self.graph.replay()
            torch.cuda.synchronize()
        n = n_replays * STEPS
        rows = [
            (event.key, event.count / n, event.self_device_time_total / n)
            for event in found.key_averages()
        ]
        return sorted((row for row in rows if row[2] > 0), key=lambda row: -row[2])


def _short(kernel):
    """Return the name of a kernel without its template's and function's arguments."""
    return kernel.removeprefix("void ").replace("(anonymous namespace)::", "").split("<")[0]


def profile_of(train, n_batch, way, n_rows=4):
    """Return how many kernels a step has, and (kernel, times, µs a step) of the longest."""
    rows = Run(train, n_batch, compiled=WAYS[way]).profile()
    top = [(_short(name), f"{count:g}", f"{us:.1f}") for name, count, us in rows[:n_rows]]
    return sum(row[1] for row in rows), top


def seconds_of_all(train, n_batch, n_epochs=5):
    """Return {way: seconds a step, (n_epochs,)}, and {way: why it could not be tried}.

    An eager "epoch" is 400 steps. The ways are those of WAYS.
    """
    took, untried = {}, {}
    for name, compiled in WAYS.items():
        if said := why_not(bool(compiled)):
            untried[name] = said
            continue
        try:
            run = Run(train, n_batch, compiled=compiled)
            n_steps = 400 if compiled is None else None
            run.epoch(100)
            took[name] = np.array([run.epoch(n_steps) for _ in range(n_epochs)])
        except Exception as error:  # what a compiler raises can be anything
            said = str(error).strip().split("\n")[0]
            untried[name] = f"{type(error).__name__}: {said[:200]}"
    return took, untried
