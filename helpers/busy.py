"""Bars for a host that asks and a device that works or waits for it, one part after another."""

from helpers import display

COLOURS = "#0072B2 #E69F00 #009E73 #CC79A7 #56B4E9 #D55E00 #F0E442".split()


def busy_bars(names, asked, done, work, title):
    """Draw when the host had asked for each part, and when the device worked for it.

    asked, done  seconds since the start, (len(names) + 1,) each, the first is 0: when the host was
                 through with asking for each part, and when the device was through with it
    work         seconds that the device works for each part, (len(names),)

    In the device's row a part's work is solid and stands at the end of its time; what is left of
    that is hatched: the device waits to be asked. ValueError where the lengths do not fit.
    """
    if not len(asked) == len(done) == len(work) + 1 == len(names) + 1:
        raise ValueError(f"{len(names)} parts, {len(asked)}, {len(done)} times, {len(work)} works")
    end = max(asked[-1], done[-1])
    scale, unit = (1e6, "µs") if end < 2e-4 else (1e3, "ms")
    fig, ax = display.figure(figsize=(8.2, 2.5))
    for number, name in enumerate(names):
        look = {"color": COLOURS[number % len(COLOURS)]}
        begin, stop = scale * asked[number], scale * asked[number + 1]
        ax.barh(1, stop - begin, 0.6, begin, label=name, **look)
        begin, stop = scale * done[number], scale * done[number + 1]
        solid = min(scale * work[number], stop - begin)
        ax.barh(0, solid, 0.6, stop - solid, **look)
        idle = {"facecolor": "none", "edgecolor": "0.6", "hatch": "////", "linewidth": 0}
        ax.barh(0, stop - begin - solid, 0.6, begin, **idle)
    ax.set_yticks([0, 1], ["the GPU works", "Python asks"])
    ax.set(xlabel=f"time ({unit}); hatched: the GPU waits to be asked", title=title)
    ax.grid(False)
    ax.legend(ncols=4, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.35))
    most = max(range(len(names)), key=lambda number: work[number])
    asking, doing, working = (f"{scale * t:.4g} {unit}" for t in (asked[-1], done[-1], sum(work)))
    display.show(
        fig,
        alt=f"{title}: Python has asked for all of it after {asking}, the GPU is done after "
        f"{doing} and works for {working} of them, longest for {names[most]}.",
    )
