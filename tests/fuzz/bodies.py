"""Random statements in front of an expression: variables, branches, loops, local arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .expressions import CTYPES, Expression, cast, literal, variable
from .grammar import Grammar, Pointer


class Body(Grammar):
    """Statements drawn one after another; each adds a variable to ``scope``.

    ``steps`` do in NumPy, to the dictionary of variables, what ``lines`` say in C.
    """

    def __init__(self, draw, scope: list[Expression], pointers: list[Pointer] | None = None):
        super().__init__(draw, list(scope), pointers)
        self.lines: list[str] = []
        self.steps: list[Callable[[dict], None]] = []

    def add(self, name: str, type_: str, line: str, step: Callable[[dict], None]) -> None:
        self.lines.append(line)
        self.steps.append(step)
        self.scope.append(variable(name, type_))

    def run(self, env: dict) -> dict:
        for step in self.steps:
            step(env)
        return env

    def statements(self, most: int) -> None:
        for _ in range(self.within(0, most)):
            kind = self.pick(self.declaration, self.branch, self.loop, self.local_array)
            kind(f"v{len(self.lines)}")

    def declaration(self, name: str) -> None:
        e = self.expression(2)

        def step(env):
            env[name] = e.value(env)

        self.add(name, e.type, f"const {CTYPES[e.type]} {name} = {e.text};", step)

    def branch(self, name: str) -> None:
        condition, first, then, other = (
            self.condition(1), self.expression(1), self.expression(2), self.expression(1),
        )  # fmt: skip
        type_ = first.type
        then, other = cast(then, type_), cast(other, type_)

        def step(env):
            env[name] = np.where(condition.value(env), then.value(env), other.value(env))

        text = (
            f"{CTYPES[type_]} {name} = {first.text};"
            f" if ({condition.text}) {{ {name} = {then.text}; }} else {name} = {other.text};"
        )
        self.add(name, type_, text, step)

    def loop(self, name: str) -> None:
        """A sum of sorts, with a number of turns that may depend on the data."""
        start, counter = self.expression(1), f"k{len(self.lines)}"
        type_ = start.type
        turns = literal(self.within(1, 5), "i")
        if self.within(0, 1):
            e = cast(self.integer(1), "I")
            turns = Expression(
                "i", f"(int)({e.text} & 3u)", lambda env: (e.value(env) & np.uint32(3)).astype("i")
            )
        inner = Grammar(
            self.draw, [variable(name, type_), variable(counter, "i"), *self.scope], self.pointers
        )
        jump = self.pick("", "break", "continue")
        condition, change = inner.condition(1), cast(inner.expression(2), type_)

        def step(env):
            value, count = start.value(env), turns.value(env)
            running = np.array([True])
            for k in range(int(count.max(initial=0))):
                now = env | {name: value, counter: np.array([k], "i")}
                turn = running & (k < count)
                if jump:
                    skipped = condition.value(now)
                    if jump == "break":
                        running = running & ~(turn & skipped)
                    turn = turn & ~skipped
                value = np.where(turn, change.value(now), value)
            env[name] = value

        text = f"for (int {counter} = 0; {counter} < {turns.text}; ++{counter}) {{ "
        text += f"if ({condition.text}) {jump}; " if jump else ""
        self.add(
            name,
            type_,
            f"{CTYPES[type_]} {name} = {start.text}; {text}{name} = {change.text}; }}",
            step,
        )

    def local_array(self, name: str) -> None:
        """Fill a small array, then read it where the data say."""
        array, counter, length = f"a{name}", f"k{name}", self.within(1, 6)
        inner = Grammar(self.draw, [variable(counter, "i"), *self.scope], self.pointers)
        e, at = inner.expression(2), cast(self.integer(1), "Q")
        ctype = CTYPES[e.type]

        def step(env):
            items = [e.value(env | {counter: np.array([k], "i")}) for k in range(length)]
            index = at.value(env) % np.uint64(length)
            items = np.stack(np.broadcast_arrays(*items, index)[:-1])
            index = np.broadcast_to(index, items.shape[1:]).astype("q")
            env[name] = np.take_along_axis(items, index[None], 0)[0]

        text = (
            f"{ctype} {array}[{length}]; for (int {counter} = 0; {counter} < {length}; ++{counter})"
            f" {array}[{counter}] = {e.text}; const {ctype} {name} = {array}[{at.text} % {length}];"
        )
        self.add(name, e.type, text, step)
