"""Where the GPU begins to win: the plot that every chapter has in "When the GPU loses"."""

from helpers import display


def first_win(sizes, times, baseline):
    """Return the first of `sizes` from which on `times` is below `baseline` to the end, or None.

    times, baseline: Timings, one for each size.
    """
    first = None
    for size, time, base in zip(sizes, times, baseline, strict=True):
        if time.median >= base.median:
            first = None
        elif first is None:
            first = size
    return first


def crossover(sizes, curves, *, baseline, xlabel, ylabel="time (µs)"):
    """Plot time against size on logarithmic axes; print and return where each curve begins to win.

    sizes     numbers, growing
    curves    {name: [Timing for each size]}; medians are drawn as lines, quartiles as bands
    baseline  the name of the curve that the others are compared with
    Returns {name: size} without the baseline: the first size from which on that curve is faster
    than the baseline at all larger sizes, or None where there is none.
    """
    fig, ax = display.figure()
    for name, times in curves.items():
        (line,) = ax.plot(sizes, [1e6 * time.median for time in times], label=name)
        low, high = ([1e6 * getattr(time, end) for time in times] for end in ("low", "high"))
        ax.fill_between(sizes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    wins = {
        name: first_win(sizes, times, curves[baseline])
        for name, times in curves.items()
        if name != baseline
    }
    for size in sorted({size for size in wins.values() if size is not None}):
        ax.axvline(size, color="0.5", linestyle=":", linewidth=1, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    # As many labels as stand side by side on the axis.
    marked = sizes[:: 1 + sum(len(f"{size:,}") for size in sizes) // 45]
    ax.set_xticks(marked, [f"{size:,}" for size in marked])
    ax.minorticks_off()
    ax.legend()
    verdicts = [
        f"{name} is faster than {baseline} from {size:,} on"
        if size is not None
        else f"{name} is not faster than {baseline} at the largest size, {sizes[-1]:,}"
        for name, size in wins.items()
    ]
    devices = " and ".join(dict.fromkeys(times[0].device for times in curves.values()))
    display.show(fig, alt=f"{ylabel} against {xlabel}, on {devices}. {'; '.join(verdicts)}.")
    for verdict in verdicts:
        print(verdict)
    return wins
