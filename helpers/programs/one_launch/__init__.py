"""Chapter 50's network trained without a launch between steps: an epoch in one.

The blocks stay and hand each other what is needed; epoch.cu says how. It goes on from chapter 57:
cnn_step.py has the arrays, and five pieces of the kernel are that chapter's own.

python -m helpers.programs.one_launch    measure it beside PyTorch
"""

import functools
from pathlib import Path

import cupy as cp
import numpy as np

from helpers.chapters import training_kernels
from helpers.programs import cnn_step

BLOCKS = 70  # all of which must run at once
EPOCH = Path(__file__).with_name("epoch.cu")
PIECES = "pool sums adam head weight_gradient".split()


def n_threads():
    """Return how many threads a block has so that all run at once; 0 where there is no room.

    One of 512 needs nearly all registers of a multiprocessor. Fewer threads take fewer images.
    """
    found = cp.cuda.Device().attributes
    several, threads = found["MultiProcessorCount"], found["MaxThreadsPerMultiProcessor"]
    room = {512: several, 256: several * (threads // 256 // 2), 96: several * (threads // 96)}
    return next((n for n, blocks in room.items() if blocks >= BLOCKS), 0)


def why_not(n_batch=1):
    """Say why a batch of `n_batch` images cannot be trained so here; an empty text if it can."""
    if not cp.cuda.Device().attributes["CooperativeLaunch"]:
        return "this GPU has no cooperative launch"
    if not n_threads():
        return f"{BLOCKS} blocks must run at once, and this GPU has no room for them"
    most = min(cnn_step.ROOM, n_threads() // 32 - 1)  # a warp for each image, and one to spare
    return f"n_batch is {n_batch}: {most} at most" if n_batch > most else ""


def source(n_batch, n_images):
    """Return the CUDA C of the kernel for so many images a batch, and in all."""
    arrays = cnn_step.arrays_of(n_images, n_images // n_batch)
    chapter = [getattr(training_kernels, name) for name in PIECES]
    before = chapter[:3] + [cnn_step.SOFTMAX] + chapter[3:]
    head = f"#define BATCH {n_batch}\n#define THREADS {n_threads()}\n" + cnn_step.COMMON
    head += cnn_step.struct_in_c(arrays) + cnn_step.FETCH + "".join(before)
    return head + EPOCH.read_text(encoding="utf-8")


def load(manager, n_batch=8, change=lambda text: text):
    """Bring the network and the data of `manager` onto the device, and compile the kernel.

    Return cnn_step.load's holder, with `mail` besides. ValueError or TypeError: see why_not and
    cnn_step.check_fits. `change` is applied to the kernel's text, for tests.
    """
    if why_not(n_batch):
        raise ValueError(why_not(n_batch))
    net = cnn_step.load(manager, n_batch, [cnn_step.FETCH])
    text = change(source(n_batch, len(manager.x_train)))
    options = {"options": ("--use_fast_math",), "enable_cooperative_groups": True}
    net.kernel = functools.cache(cp.RawModule(code=text, **options).get_function)
    sums = n_batch * 100
    owners = -(-sums // 16)
    net.mail = cp.zeros(owners * BLOCKS * 16 + sums + 1110 + BLOCKS * 10, cp.uint64)
    return net


def take(net, n_steps):
    """Take `n_steps` steps in one launch, and wait for them; ValueError if there are none."""
    if n_steps < 1:
        raise ValueError(f"n_steps is {n_steps}: one at least")
    net.mail[...] = 0  # no post of an earlier launch
    arguments = net.struct, net.mail, np.int32(net.launched), np.int32(n_steps)
    net.kernel("epoch")((BLOCKS,), (n_threads(),), arguments)
    net.launched += n_steps
    cp.cuda.Device().synchronize()


def store(net):
    """Put weights, and what Adam knows, into the manager's layers: they can train on from there."""
    conv, dense_1, dense_2 = (net.manager.layers[i] for i in (0, 3, 5))
    for name, flat in zip(("wb", "m", "v"), net.held["state"][0], strict=True):
        to = [layer.wb if name == "wb" else getattr(layer.opt, name) for layer in (conv, dense_1)]
        to.append(dense_2.wb if name == "wb" else getattr(dense_2.opt, name))
        to[0][...] = flat[196100:196200].reshape(10, 10)
        to[1][...] = flat[:196100].reshape(1961, 100)
        to[2][...] = flat[196200:197210].reshape(10, 101).T
    for layer in (conv, dense_1, dense_2):
        layer.opt.t = net.launched
