"""Measure an epoch in one launch beside PyTorch's best, and store the evidence "one_launch".

python -m helpers.programs.one_launch    a minute on a GPU with room for 70 blocks, and PyTorch
"""

import cupy as cp
import numpy as np

import helpers
from helpers import report
from helpers.chapters.cnn_mnist import LayerManager, build_cnn, mnist_images
from helpers.press import evidence
from helpers.programs import cnn_step, one_launch, torch_cnn

N_BATCH, N_EPOCHS, SEEDS = 8, 5, range(3)
WAYS = "graph", "graph, optimiser compiled"  # of PyTorch's, the quickest in chapter 57
ABOUT = ["helpers/programs/one_launch/*", "helpers/programs/cnn_step.py"]
ABOUT += ["helpers/programs/torch_cnn.py", "helpers/chapters/training_kernels.py"]


def trained(train, test, seed):
    """Return a network after N_EPOCHS, and the seconds of each epoch."""
    net = one_launch.load(build_cnn(LayerManager(train, test, xp=cp, seed=seed)), N_BATCH)
    one_launch.take(net, 1)  # compiled, and the caches filled
    seconds = [cnn_step.time_epoch(net, one_launch.take) for _ in range(N_EPOCHS)]
    one_launch.store(net)
    return net, seconds


def main():
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
    found = {
        "steps": nets[0].steps,
        "threads": one_launch.n_threads(),
        "epoch_seconds": sorted(np.concatenate(seconds).tolist()),
        "test_accuracy_percent": accuracies,
        "two runs are equal": bool((nets[0].held["state"] == again.held["state"]).all()),
        "torch_epoch_seconds": peers,
        "torch": torch_cnn.versions(),
    }
    made = evidence.receipt("python -m helpers.programs.one_launch", report.facts(), ABOUT)
    print(found, evidence.store("one_launch", found, made), sep="\n")


if __name__ == "__main__":
    if why := one_launch.why_not(N_BATCH) or torch_cnn.why_not(True):
        raise SystemExit(why)
    if not helpers.on_gpu:
        raise SystemExit("times are a GPU's: there is none here")
    main()
