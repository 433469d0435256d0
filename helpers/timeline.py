"""A timeline: what the host asks for, statement by statement, and when the device does it."""

import ast
import contextlib
import inspect
import sys
import textwrap
import time
from typing import NamedTuple

from helpers import device, display

BUSY_SIDE = 4096  # of the matrices whose product keeps the device busy
COLOURS = {"host": "#0072B2", "host, waiting": "#D55E00", "device": "#999999"}


class Step(NamedTuple):
    """A statement of the function: its text, and when it ran, in seconds since the start."""

    text: str
    asked: float  # when the host began with it
    back: float  # when the host was through with it
    begun: float  # when the device got to it
    finished: float  # when the device was through with it
    waits: bool  # whether the host waits in it for the device; never so on the stand-in


def timeline(function, *arguments, widest=40):
    """Draw `function(*arguments)` as two rows of bars, the host's and the device's; return Steps.

    Each of its outermost statements is a bar in either row, named by its first line, of at most
    `widest` characters. The device's is from when it could begin until it was through, idle times
    included. Three calls: one is a warm-up, one is drawn, and in the third the device is kept busy
    before each statement, so that those in which the host waits are late.
    """
    _marks(function, arguments)
    steps = _steps(function, arguments)
    _draw(steps, widest)
    return steps


def _draw(steps, widest):
    end = 1e3 * max(max(step.back, step.finished) for step in steps)
    fig, ax = display.figure(figsize=(6.6, 1.1 + 0.3 * len(steps)))
    for row, step in enumerate(steps):
        for who, top, begin, stop in (
            ("host, waiting" if step.waits else "host", row - 0.4, step.asked, step.back),
            ("device", row, step.begun, step.finished),
        ):
            bar = 1e3 * begin, 1e3 * max(stop - begin, 0)
            ax.broken_barh([bar], (top, 0.4), color=COLOURS[who])
    for who, colour in COLOURS.items():
        ax.broken_barh([], (0, 0), color=colour, label=who)
    ax.set_yticks(range(len(steps)), [step.text[:widest] for step in steps])
    ax.tick_params(axis="y", labelsize=8, labelfontfamily="monospace")
    ax.set(xlim=(0, end), ylim=(len(steps) - 0.4, -0.6), xlabel="time (ms)")
    ax.legend(loc="upper right", fontsize=8)
    waits = "; ".join(step.text[:widest] for step in steps if step.waits) or "none of them"
    display.show(
        fig,
        alt=f"{len(steps)} statements in {end:.3g} ms on {device.device_name()}, each with the "
        f"host's time above the device's; the host waits in: {waits}.",
    )


def _steps(function, arguments):
    import cupy

    device.synchronise()
    marks = _marks(function, arguments)
    start, zero = marks[0][2], marks[0][3]  # nothing is before them in the queue
    since = [cupy.cuda.get_elapsed_time(zero, mark[3]) / 1e3 for mark in marks]
    late = _late(function, arguments) if device.on_gpu else set()
    return [
        Step(text, asked - start, after[1] - start, begun, finished, number in late)
        for (number, _, asked, _, text), after, begun, finished in zip(
            marks, marks[1:], since, since[1:], strict=False
        )
    ]


def _late(function, arguments):
    """Return the numbers of the statements that keep the host while the device is busy."""
    import cupy

    with cupy.cuda.using_allocator(cupy.cuda.MemoryPool().malloc):
        a = cupy.ones((BUSY_SIDE, BUSY_SIDE), cupy.float32)
        b = cupy.empty_like(a)

    def busy():
        cupy.matmul(a, a, out=b)

    seconds = []
    for _ in range(2):
        device.synchronise()
        start = time.perf_counter()
        busy()
        device.synchronise()
        seconds.append(time.perf_counter() - start)
    marks = _marks(function, arguments, busy)
    return {
        mark[0]
        for mark, after in zip(marks, marks[1:], strict=False)
        if after[1] - mark[2] > 0.8 * seconds[-1]
    }


def _marks(function, arguments, before=None):
    """Call the function; return (number, time, time, event, text) of each statement, and the end.

    The times are when the statement before was through and, after a call of `before`, when this one
    began; the event stands between them and the statement.
    """
    import cupy

    lines, first = inspect.getsourcelines(function)
    body = ast.parse(textwrap.dedent("".join(lines))).body[0].body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # its docstring
    starts = [statement.lineno for statement in body]
    marks = []

    def note(number, text=""):
        through = time.perf_counter()
        if before is not None:
            before()
        event = cupy.cuda.Event()
        event.record()
        marks.append((number, through, time.perf_counter(), event, text))

    def within(frame, what, argument):
        number = sum(start <= frame.f_lineno - first + 1 for start in starts) - 1
        if what == "line" and number >= 0 and (not marks or marks[-1][0] != number):
            note(number, lines[starts[number] - 1].strip())
        return within

    def entered(frame, what, argument):
        return within if frame.f_code is function.__code__ else None

    with contextlib.ExitStack() as stack:
        stack.callback(sys.settrace, sys.gettrace())
        sys.settrace(entered)
        function(*arguments)
    note(len(starts))
    device.synchronise()
    return marks
