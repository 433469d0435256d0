"""The picture of chapter 57: a training step cut into two kernels."""

from helpers import display

BLUE, ORANGE, GREEN, RED = "#56B4E9", "#E69F00", "#7BC8A4", "#A04000"
BOXES = (  # text, left edge, colour
    ("six image\nrows", 0.0, "0.9"),
    ("convolution\nReLU, pool", 1.5, BLUE),
    ("x W1\n(a share)", 3.0, BLUE),
    ("head\nand back", 5.2, ORANGE),
    ("x^T dh\nAdam", 6.7, GREEN),
    ("dh W1^T\nunpool", 8.2, GREEN),
    ("filter\n(a share)", 9.7, GREEN),
)


def draw_two_kernels():
    """Show which work of a step is in which kernel, and where all blocks meet."""
    from matplotlib.patches import FancyBboxPatch

    fig, ax = display.figure(figsize=(9.0, 3.0))
    style = {"boxstyle": "round,pad=0.06", "edgecolor": "0.3"}
    for text, left, colour in BOXES:
        for row in (0, 1, 2):
            ax.add_patch(FancyBboxPatch((left, row), 1.15, 0.7, facecolor=colour, **style))
            ax.text(left + 0.57, row + 0.35, text, ha="center", va="center", fontsize=8)
    for place, text in ((4.7, "all shares\nof h"), (11.3, "all shares\nof the filters")):
        ax.axvline(place, 0.1, 0.79, color=RED, linestyle="--")
        ax.text(place, 3.1, text, ha="center", fontsize=9, color=RED)
    for left, text in ((2.2, "K1: 70 slices"), (8.0, "K2: 70 slices, and 12 small blocks")):
        ax.text(left, -0.5, text, ha="center", va="top", fontsize=10)
    ax.set(xlim=(-0.2, 12.0), ylim=(-1.0, 4.0))
    ax.axis("off")
    display.show(
        fig,
        alt="The step as two kernels: in 70 slices from image rows to shares of the dense layer; "
        "then in the same slices the head, the dense weights, the gradient of the pooled values "
        "and shares of the filters' gradients. Dashed lines mark the two places where all have to "
        "meet.",
    )
