"""Where the GPU begins to win: the plot that every chapter has in "When the GPU loses"."""

import numpy as np

from helpers import display


def compare(time, baseline, *, by_turns=False):
    """Return 1 where the Timing `time` is below `baseline`, -1 where it is not, 0 if they disagree.

    The medians decide. With by_turns=True the samples of both were taken by turns, one of each in
    every round, and all rounds must agree. ValueError: their numbers of rounds differ.
    """
    if by_turns:
        if time.samples.shape != baseline.samples.shape:
            raise ValueError(
                f"by turns: {len(time.samples)} and {len(baseline.samples)} samples, not the same"
            )
        won = time.samples < baseline.samples
    else:
        won = np.array([time.median < baseline.median])
    return 1 if won.all() else 0 if won.any() else -1


def first_win(sizes, times, baseline, *, by_turns=False):
    """Return the first of `sizes` from which on `times` is below `baseline` to the end, or None.

    times, baseline: Timings, one for each size; by_turns as in `compare`.
    """
    first = None
    for size, time, base in zip(sizes, times, baseline, strict=True):
        if compare(time, base, by_turns=by_turns) < 1:
            first = None
        elif first is None:
            first = size
    return first


def last_loss(sizes, times, baseline, *, by_turns=False):
    """Return the last of `sizes` at which `times` is not below `baseline`, or None.

    By turns: at which it is not in any round. So the crossing lies between this size and
    `first_win`; in between the rounds disagree.
    """
    last = None
    for size, time, base in zip(sizes, times, baseline, strict=True):
        if compare(time, base, by_turns=by_turns) < 0:
            last = size
    return last


def crossover(sizes, curves, *, baseline, xlabel, ylabel="time (µs)", by_turns=False):
    """Plot time against size on logarithmic axes; print and return where each curve begins to win.

    sizes     numbers, growing
    curves    {name: [Timing for each size]}; medians are drawn as lines, quartiles as bands
    baseline  the name of the curve that the others are compared with
    by_turns  False: medians are compared. True: the samples were taken by turns, one of every curve
              in each round, and a curve wins where it does in every round. Between the last size
              that was lost in every round and the first from which on all are won, the plot is grey
    Returns {name: size} without the baseline: the first size from which on that curve is faster
    than the baseline at all larger sizes, or None where there is none.
    """
    fig, ax = display.figure()
    for name, times in curves.items():
        (line,) = ax.plot(sizes, [1e6 * time.median for time in times], label=name)
        low, high = ([1e6 * getattr(time, end) for time in times] for end in ("low", "high"))
        ax.fill_between(sizes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    wins, verdicts = {}, []
    for name, times in curves.items():
        if name == baseline:
            continue
        pair = sizes, times, curves[baseline]
        wins[name] = first_win(*pair, by_turns=by_turns)
        lost = last_loss(*pair, by_turns=by_turns)
        verdicts.append(_verdict(name, baseline, sizes, wins[name], lost, by_turns))
        if by_turns and lost is not None:
            ax.axvspan(lost, wins[name] or sizes[-1], color="0.92", linewidth=0, zorder=0)
    for size in sorted({size for size in wins.values() if size is not None}):
        ax.axvline(size, color="0.5", linestyle=":", linewidth=1, zorder=0)
    ax.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    # As many labels as stand side by side on the axis.
    marked = sizes[:: 1 + sum(len(f"{size:,}") for size in sizes) // 45]
    ax.set_xticks(marked, [f"{size:,}" for size in marked])
    ticks = _ticks(*ax.get_ylim())
    ax.set_yticks(ticks, [f"{tick:,.10g}" for tick in ticks])
    ax.minorticks_off()
    ax.legend()
    devices = " and ".join(dict.fromkeys(times[0].device for times in curves.values()))
    display.show(fig, alt=f"{ylabel} against {xlabel}, on {devices}. {'; '.join(verdicts)}.")
    for verdict in verdicts:
        print(verdict)
    return wins


def _verdict(name, baseline, sizes, won, lost, by_turns):
    """Say in words from which size on `name` is faster, and by turns also where it never is."""
    if by_turns and lost == sizes[-1]:
        return f"{name} is faster than {baseline} in no round at the largest size, {lost:,}"
    rounds = " in every round" if by_turns else ""
    if won is not None:
        text = f"{name} is faster than {baseline}{rounds} from {won:,} on"
    else:
        text = f"{name} is not faster than {baseline}{rounds} at the largest size, {sizes[-1]:,}"
    if not by_turns or won == sizes[0]:
        return text
    return (
        f"{text}; in no round at {lost:,}"
        if lost is not None
        else f"{text}; in some rounds at every size"
    )


def _ticks(low, high):
    """Return round numbers from low to high: powers of ten if there are four, or denser ones."""
    tens = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), range(1, 10)):
        ticks = np.outer(tens, steps).ravel()
        ticks = ticks[(ticks >= low) & (ticks <= high)]
        if len(ticks) >= 4:
            return ticks
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(low, high)
    return ticks[(ticks >= low) & (ticks <= high)]
