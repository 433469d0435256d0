"""Where the ranks of one communicator meet, and what is said of those who do not come."""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Sequence

from cupy.cuda._nccl.calls import Call, NcclError, failure, patience, results


class Meeting:
    """One collective call of all ranks, or one send and its recv.

    ``seats`` are those that must come: ranks, or the words send and recv.
    """

    def __init__(self, call: Call, rank: int, size: int):
        if call.kind in ("send", "recv"):
            source, target = (rank, call.peer) if call.kind == "send" else (call.peer, rank)
            self.seats = {"send": source, "recv": target}
        else:
            self.seats = {number: number for number in range(size)}
        self.brought: dict = {}
        self.results: dict[int, bytes] | None = None
        self.error: tuple[int, str] | None = None

    def absent(self) -> list[int]:
        return [rank for seat, rank in self.seats.items() if seat not in self.brought]

    def bring(self, rank: int, call: Call, data: bytes, new_id: Callable[[], bytes]) -> None:
        """Take a seat; where it was the last one, work out what everybody gets."""
        if self.error:
            return
        for other, _ in self.brought.values():
            if not call.like(other):
                others = [self.seats[seat] for seat in self.brought]
                wanted = f"Rank {rank} calls {call}, rank {others[0]} calls {other}"
                remedy = "all ranks must make the same calls, in one order. A GPU would hang"
                self.error = 5, f"{wanted}: {remedy}, or mix them"
                return
        self.brought[call.kind if call.kind in self.seats else rank] = call, data
        if len(self.brought) == len(self.seats):
            try:
                if "send" in self.seats:
                    self.results = {self.seats["recv"]: self.brought["send"][1]}
                else:
                    self.results = results(self.brought, new_id)
            except NcclError as error:
                self.error = error.status, error.__notes__[0]


class Hub:
    """The meetings of one communicator. ``rank`` and ``size`` are numbers of ranks."""

    def __init__(self, new_id: Callable[[], bytes]):
        self.size = 0  # until the first rank says it
        self._new_id = new_id
        self._condition = threading.Condition()
        self._meetings: dict[tuple, Meeting] = {}
        self._counts: collections.Counter = collections.Counter()
        self._gone: dict[int, str] = {}
        self.local: set[int] = set()  # ranks of this process
        self.remote: set[int] = set()  # ranks of other processes that are there
        self.moved = time.monotonic()  # when something was last brought

    def post(self, rank: int, calls: Sequence[tuple[Call, bytes]]) -> list[tuple[Meeting, Call]]:
        """Bring the data of some calls; ``wait`` gives the results."""
        with self._condition:
            posted = []
            for call, data in calls:
                meeting = self._meeting(rank, call)
                meeting.bring(rank, call, data, self._new_id)
                posted.append((meeting, call))
            self.moved = time.monotonic()
            self._condition.notify_all()
            return posted

    def _meeting(self, rank: int, call: Call) -> Meeting:
        if call.kind == "join":
            if self._counts["join", rank]:
                raise failure(5, f"There is a rank {rank} already; each rank joins once")
            self.size = self.size or call.count
        if call.kind in ("send", "recv"):
            pair = (rank, call.peer) if call.kind == "send" else (call.peer, rank)
            key, counter = ("pair", *pair), (call.kind, *pair)
        elif call.kind == "join":
            key, counter = ("join",), ("join", rank)
        else:
            key, counter = ("all",), ("all", rank)
        key += (self._counts[counter],)
        self._counts[counter] += 1
        meeting = self._meetings.get(key)
        if meeting is None:
            meeting = self._meetings[key] = Meeting(call, rank, self.size)
        if len(meeting.brought) + 1 == len(meeting.seats):
            del self._meetings[key]  # this one is the last to come
        return meeting

    def wait(
        self, rank: int, posted: Sequence[tuple[Meeting, Call]], alone: Callable[[], bool]
    ) -> list[bytes]:
        """What the rank gets of each call; NcclError where others do not come or do not agree.

        ``alone()`` says whether no other thread of this process could still bring something.
        """
        deadline = time.monotonic() + patience()
        second = time.monotonic() + 1.0
        with self._condition:
            for meeting, call in posted:
                while meeting.results is None and meeting.error is None:
                    absent = meeting.absent()
                    gone = [r for r in absent if r in self._gone]
                    now = time.monotonic()
                    if gone:
                        why = self._gone[gone[0]]
                        meeting.error = 6, f"Rank {gone[0]} is missing from {call}: {why}"
                    elif now > deadline:
                        meeting.error = 6, self._late(absent, call)
                    elif now > second and self.local.issuperset(absent) and alone():
                        meeting.error = 5, self._alone(absent, call)
                    else:
                        self._condition.wait(min(1.0, deadline - now + 0.001))
                if meeting.error:
                    self._condition.notify_all()
                    raise failure(*meeting.error)
            return [meeting.results.get(rank, b"") for meeting, _ in posted]

    def _late(self, absent: list[int], call: Call) -> str:
        return (
            f"{_names(absent)} never joined {call} within {patience():g} s. Has the process or "
            "thread ended, or does it wait elsewhere? (CUPY_STANDIN_TIMEOUT sets the seconds.) A "
            "GPU would wait for ever"
        )

    def _alone(self, absent: list[int], call: Call) -> str:
        return (
            f"{_names(absent)} never joined {call}, and no other thread could: this one waits. "
            "Where one thread works for several ranks, put the calls of all of them between "
            "cupy.cuda.nccl.groupStart() and groupEnd(). A GPU would hang"
        )

    def leave(self, rank: int, why: str) -> None:
        """Say that a rank will bring nothing more."""
        with self._condition:
            self._gone.setdefault(rank, why)
            self.remote.discard(rank)
            self._condition.notify_all()

    def is_empty(self) -> bool:
        """Whether every rank has come and gone."""
        return 0 < self.size == len(self._gone)

    def is_full(self) -> bool:
        """Whether every rank has come."""
        return 0 < self.size == sum(1 for key in self._counts if key[0] == "join")


def _names(ranks: list[int]) -> str:
    text = [str(rank) for rank in sorted(set(ranks))]
    if len(text) == 1:
        return f"Rank {text[0]}"
    return f"Ranks {', '.join(text[:-1])} and {text[-1]}"
