"""The graph that a formula of Variables leaves behind, drawn from left to right.

A Variable is anything with `data` (one number), `grad` (such a thing, or None), `function` (with
`name` and `backward`, or None), `inputs` (Variables), `options` and `number`: chapter 70's.
"""

import numpy as np

from helpers import display

SIGNS = {"add": "□ + □", "mul": "□ × □", "scale": "{c:g} □", "power": "□ ^ {c:g}"}
BACK = "#B84300"
BOX = {"boxstyle": "round", "facecolor": "#D3E7F5", "edgecolor": "black"}
LINE = {"color": "0.6", "linewidth": 1.2, "linestyle": "-", "marker": "", "zorder": 1}
CENTRE = {"ha": "center", "va": "center"}


def draw(z, names, alt):
    """Draw the graph of `z`, values above the edges and gradients below; `alt` describes it.

    names   {Variable: its name} for z, for the inputs, and for what else is to be named
    """
    where = _places(z)
    wide = max(x for x, _ in where.values())
    middle = np.mean([y for _, y in where.values()])
    fig, ax = display.figure()
    for v in _made(z):
        for x, gradient in zip(v.inputs, _shares(v), strict=True):
            _edge(ax, where[x], where[v], middle, x.data, gradient)
        text = SIGNS.get(v.function.name, v.function.name).format(**v.options)
        text += f"\n({names[v]})" if v in names and v is not z else ""
        ax.text(*where[v], text, bbox=BOX, zorder=3, fontsize=11, **CENTRE)
    x, y = where[z]
    ax.plot([x, x + 1.3], [y, y], **LINE)
    _note(ax, x + 1.0, y, z.data, None if z.grad is None else z.grad.data)
    ax.text(x + 1.45, y, names[z], fontsize=14, **CENTRE)
    for v, (x, y) in where.items():
        if not v.function:
            ax.text(x - 0.25, y, names[v], fontsize=14, **CENTRE)
    low, high = ax.dataLim.intervaly + [-0.6, 0.6]
    ax.set(xlim=(-0.5, wide + 1.8), ylim=(low, high))
    fig.set_size_inches(min(7.4, 1.1 * wide), 0.9 * (high - low))
    ax.axis("off")
    display.show(fig, alt=alt)


def _made(z):
    """Return the Variables behind z that functions made, the last made first."""
    found, waiting = {}, [z]
    while waiting:
        v = waiting.pop()
        if v.function and v not in found:
            found[v] = None
            waiting.extend(v.inputs)
    return sorted(found, key=lambda v: v.number, reverse=True)


def _places(z):
    """Return {Variable: (x, y)}: inputs on the left, a function right of all that it needs."""
    made, rank, y = _made(z)[::-1], {}, {}
    for x in dict.fromkeys(x for v in made for x in v.inputs if not x.function):
        rank[x], y[x] = 0, -1.4 * len(rank)
    for v in made:
        rank[v] = 1 + max(rank[x] for x in v.inputs)
        y[v] = sum(y[x] for x in v.inputs) / len(v.inputs)
        while any(rank[u] == rank[v] and abs(y[u] - y[v]) < 0.99 for u in y if u is not v):
            y[v] -= 0.2
    return {v: (2.2 * rank[v], y[v]) for v in rank}


def _shares(v):
    """Return what v hands on to each of its inputs, as numbers; None if it has no gradient."""
    if v.grad is None:
        return [None] * len(v.inputs)
    found = v.function.backward(v.grad, v, *v.inputs, **v.options)
    return [g.data for g in (found if isinstance(found, tuple) else (found,))]


def _edge(ax, start, end, middle, value, gradient):
    (x0, y0), (x1, y1) = start, end
    # An edge that passes other functions makes a bow around them.
    bow = (0.16 if y0 > middle else -0.16) * (x1 - x0 - 2.2)
    t = np.linspace(0, 1, 41)
    curve = y0 + t * (y1 - y0) + 4 * bow * t * (1 - t)
    ax.plot(x0 + t * (x1 - x0), curve, **LINE)
    at = 24 if abs(bow) < 0.1 else 16
    _note(ax, x0 + t[at] * (x1 - x0), curve[at], value, gradient)


def _note(ax, x, y, value, gradient):
    ax.text(x, y + 0.06, f"{value:g}", ha="center", va="bottom", fontsize=11)
    if gradient is not None:
        text = f"{gradient:g}"
        ax.text(x, y - 0.06, text, ha="center", va="top", fontsize=11, color=BACK)
