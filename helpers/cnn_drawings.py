"""Drawings for the chapters on a convolutional network: its stages, windows, maps and digits."""

import numpy as np

from helpers import display

LIGHT, DARK, ORANGE = "#D3E7F5", "#97C8E8", "#F0B78A"


def stages():
    """Show the network of chapters 50 and 52 as boxes, each as large as what it gives out."""
    from matplotlib.patches import Rectangle

    fig, ax = display.figure(figsize=(7.4, 2.5))
    left = 0
    for name, n_maps, size in (("image", 1, 28), ("10 filters", 10, 28), ("pooled", 10, 14)):
        for k in reversed(range(n_maps)):
            corner = left + 0.9 * k, 0.9 * k - size / 2
            ax.add_patch(Rectangle(corner, size, size, facecolor=LIGHT, edgecolor="black"))
        text = f"{name}\n{n_maps} × {size} × {size}"
        ax.text(left + size / 2, -23, text, ha="center", va="top")
        left += size + 22
    for name, n in (("dense", 100), ("dense", 10), ("softmax", 10)):
        ax.add_patch(Rectangle((left, -n / 4), 4, n / 2, facecolor=DARK, edgecolor="black"))
        ax.text(left + 2, -27, f"{name}\n{n}", ha="center", va="top")
        left += 24
    ax.set(xlim=(-3, left), ylim=(-36, 27), aspect="equal")
    ax.axis("off")
    display.show(
        fig,
        alt="The network as boxes: an image of 28 x 28, ten maps of 28 x 28, ten pooled maps of "
        "14 x 14, then 100 numbers, 10 numbers, and 10 probabilities.",
    )


def windows_in_columns():
    """Show a 4 x 4 image, and its four 3 x 3 windows as the columns of a matrix."""
    from matplotlib.patches import Rectangle

    fig, (image, cols) = display.figure(1, 2, figsize=(7.2, 3.6))
    for k in range(16):
        image.text(k % 4 + 0.5, k // 4 + 0.5, k, ha="center", va="center", fontsize=13)
    colours = [DARK, "white", "white", ORANGE]
    for place, colour in enumerate(colours):
        row, column = divmod(place, 2)
        if colour != "white":
            inset = 0.06 * row
            box = Rectangle((column + inset, row + inset), 3 - 2 * inset, 3 - 2 * inset)
            box.set(facecolor="none", edgecolor=colour, linewidth=5)
            image.add_patch(box)
        for k in range(9):
            value = 4 * (row + k // 3) + column + k % 3
            cols.add_patch(Rectangle((place, k), 1, 1, facecolor=colour, edgecolor="0.6"))
            cols.text(place + 0.5, k + 0.5, value, ha="center", va="center")
    for ax, height, title in (
        (image, 4, "x: an image"),
        (cols, 9, "cols: a window a column"),
    ):
        ax.set(xlim=(-0.1, 4.1), ylim=(height + 0.1, -0.1), title=title)
        ax.set_aspect("equal" if ax is image else 0.42)
        ax.axis("off")
    display.show(
        fig,
        alt="Left a 4 x 4 image with its pixels numbered 0 to 15 and two 3 x 3 windows marked; "
        "right a matrix of 9 x 4, in which the nine pixels of each of the four windows stand in a "
        "column.",
    )


def digits(images, titles, *, rows=1, alt):
    """Show `images` (N, 28, 28) in `rows` rows, each under its title; `alt` is the figure's."""
    columns = -(-len(images) // rows)
    lines = 1 + max(title.count("\n") for title in titles)
    size = 7.4, rows * (7.4 / columns + 0.25 * lines)
    fig, axes = display.figure(rows, columns, figsize=size, squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, image, title in zip(axes.flat, images, titles, strict=False):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        ax.set_title(title, loc="center", fontsize=10)
    display.show(fig, alt=alt)


def _map(ax, values, title="", largest=None):
    largest = largest or np.abs(values).max()
    ax.imshow(values, cmap="PuOr", vmin=-largest, vmax=largest)
    ax.set_title(title, loc="center")
    ax.axis("off")


def filters_and_maps(image, filters, maps):
    """Show `image` (28, 28), and under each of the named `filters` {name: (3, 3)} its map."""
    width = 1 + len(filters)
    fig, axes = display.figure(2, width, figsize=(7.4, 2.6), height_ratios=(1, 2))
    for k, (name, weights) in enumerate(filters.items(), 1):
        _map(axes[0, k], weights, largest=0.7)
        _map(axes[1, k], maps[k - 1], name, 1.5)
    axes[0, 0].axis("off")
    axes[1, 0].imshow(image, cmap="gray_r")
    axes[1, 0].axis("off")
    display.show(
        fig,
        alt=f"The digit and its maps under filters called {', '.join(filters)}: in the first, "
        "horizontal strokes are positive on one side and negative on the other.",
    )


def pooled(maps, chosen, out):
    """Show a map (28, 28) with the pixel that was chosen in each 2 x 2 window, and what is left.

    chosen   (14, 14) integers 0 to 3: which pixel of its window, row by row
    out      (14, 14): the pixels that were chosen
    """
    places = np.arange(14)
    rows, columns = 2 * places[:, None] + chosen // 2, 2 * places + chosen % 2
    seen = out > 0
    fig, (left, right) = display.figure(1, 2, figsize=(7.2, 3.6))
    left.imshow(maps, cmap="Purples")
    left.scatter(columns[seen], rows[seen], s=7, color="#D55E00")
    lines = np.arange(-0.5, 28, 2)
    left.set(xticks=lines, yticks=lines, title="28 × 28, and the choice")
    left.grid(color="0.8", linewidth=0.5)
    left.set_axisbelow(False)
    left.tick_params(labelbottom=False, labelleft=False, length=0)
    right.imshow(out, cmap="Purples")
    right.set(title="14 × 14")
    right.axis("off")
    display.show(
        fig,
        alt=f"Left a map of 28 x 28 with a grid of 2 x 2 windows: in {seen.sum()} of 196 windows a "
        "dot marks the largest pixel. Right the pooled map of 14 x 14, in which the strokes are "
        "still to be seen.",
    )


def training(errors, accuracies):
    """Show how a network learnt.

    errors      [(step, mean error since the last one)]
    accuracies  [(of training images, of test images)], shares that are read rightly, by epoch
    """
    steps, values = zip(*errors, strict=True)
    missed = 100 - 100 * np.array(accuracies)
    epochs = range(1, len(missed) + 1)
    fig, (left, right) = display.figure(1, 2, figsize=(7.4, 3.4))
    left.plot(steps, values, marker="")
    left.set(yscale="log", xlabel="step", ylabel="error in training (log scale)")
    for k, name in enumerate(["training", "test"]):
        right.plot(epochs, missed[:, k], label=name)
    right.set(xlabel="epoch", ylabel="images wrong (%)", ylim=(0, None), xticks=epochs)
    right.legend()
    display.show(
        fig,
        alt=f"Left the error in training falls from {values[0]:.2f} to {values[-1]:.3f}; right "
        f"the share of wrong images falls to {missed[-1, 0]:.1f} % in training and "
        f"{missed[-1, 1]:.1f} % in the test.",
    )


def learnt(filters, maps):
    """Show ten learnt `filters` (10, 3, 3), and the `maps` (10, 28, 28) they make of a digit."""
    fig, axes = display.figure(2, 10, figsize=(7.4, 1.8))
    for k in range(10):
        _map(axes[0, k], filters[k], largest=np.abs(filters).max())
        _map(axes[1, k], maps[k], largest=maps.max())
    for row, name in zip(axes, ("filters", "after ReLU"), strict=True):
        row[0].set_title(name, loc="left")
    live = int((maps.reshape(10, -1).max(axis=1) > 0).sum())
    display.show(
        fig,
        alt="Two rows of ten: the learnt filters of 3 x 3, and the maps of the digit after ReLU; "
        f"{live} of the ten maps are not empty.",
    )
