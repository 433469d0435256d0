"""Measure an epoch in one launch beside PyTorch's best, and print what was found as JSON.

python -m helpers.programs.one_launch    a minute on a GPU with room for 70 blocks, and PyTorch
"""

import json

import cupy as cp
import numpy as np

import helpers
from helpers.chapters.cnn_mnist import LayerManager, build_cnn, mnist_images
from helpers.programs import cnn_step, one_launch, torch_cnn

N_BATCH, N_EPOCHS, SEEDS = 8, 5, range(3)
WAYS = "graph", "graph, optimiser compiled"  # of PyTorch's, the quickest in chapter 57


def trained(train, test, seed):
    """Return a network after N_EPOCHS, and the seconds of each epoch."""
    net = one_launch.load(build_cnn(LayerManager(train, test, xp=cp, seed=seed)), N_BATCH)
    one_launch.take(net, 1)  # compiled, and the caches filled
    seconds = [cnn_step.time_epoch(net, one_launch.take) for _ in range(N_EPOCHS)]
    one_launch.store(net)
    return net, seconds


def measured():
    """Return what the page shows of it: seconds, accuracies, versions."""
    train, test = mnist_images()
    nets, seconds = zip(*(trained(train, test, seed) for seed in SEEDS), strict=True)
    again, _ = trained(train, test, SEEDS[0])
    accuracies = [
        100 * net.manager.accuracy(net.manager.x_test, net.manager.t_test) for net in nets
    ]
    peers = {}
    for way in WAYS:
        run = torch_cnn.Run(train, N_BATCH, compiled=torch_cnn.WAYS[way])
        run.epoch(100)
        peers[way] = [run.epoch() * run.n_steps for _ in range(N_EPOCHS)]
    return {
        "steps": nets[0].steps,
        "threads": one_launch.n_threads(),
        "epoch_seconds": sorted(np.concatenate(seconds).tolist()),
        "test_accuracy_percent": accuracies,
        "two runs are equal": bool((nets[0].held["state"] == again.held["state"]).all()),
        "torch_epoch_seconds": peers,
        "torch": torch_cnn.versions(),
    }


def why_not():
    """Say why it cannot be measured here; an empty text if it can."""
    if not helpers.on_gpu:
        return "times are a GPU's: there is none here"
    return one_launch.why_not(N_BATCH) or torch_cnn.why_not(True)


if __name__ == "__main__":
    if why := why_not():
        raise SystemExit(why)
    print(json.dumps(measured(), indent=1))
