"""The order in which the lanes of a warp come to the stretches of a function.

A warp whose lanes went different ways waits where they meet again. Bourdoncle's weak topological
order (1993) has a join behind all its branches, and what follows a loop behind the whole loop: so
the lanes at the least number go first, and meet the others where a GPU's do.
"""

from __future__ import annotations

import sys


def order(edges: list[list[int]]) -> tuple[list[int], list[set[int]]]:
    """The rank of each vertex, and the vertices of each loop, nested ones too.

    Args:
        edges: for each vertex those that may follow it; vertex 0 is the first.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 10 * len(edges) + 1000))
    try:
        return _Order(edges).result()
    finally:
        sys.setrecursionlimit(limit)


class _Order:
    def __init__(self, edges: list[list[int]]):
        self.edges = edges
        self.number = [0.0] * len(edges)  # in order of the visits; infinite when done
        self.stack: list[int] = []
        self.visits = 0
        self.loops: list[set[int]] = []

    def result(self) -> tuple[list[int], list[set[int]]]:
        vertices: list[int] = []
        for start in range(len(self.edges)):
            if self.number[start] == 0:
                found: list[int] = []
                self._visit(start, found)
                vertices += found
        ranks = [0] * len(vertices)
        for rank, vertex in enumerate(vertices):
            ranks[vertex] = rank
        return ranks, self.loops

    def _visit(self, vertex: int, partition: list[int]) -> float:
        """Put what can be reached in front of ``partition``; the least number that leads back."""
        self.stack.append(vertex)
        self.visits += 1
        head = self.number[vertex] = self.visits
        loop = False
        for target in self.edges[vertex]:
            known = self.number[target]
            least = self._visit(target, partition) if known == 0 else known
            if least <= head:
                head, loop = least, True
        if head != self.number[vertex]:
            return head
        self.number[vertex] = float("inf")
        last = self.stack.pop()
        inside = [vertex]
        if loop:
            while last != vertex:
                self.number[last] = 0
                last = self.stack.pop()
            inside = self._component(vertex)
            self.loops.append(set(inside))
        partition[:0] = inside
        return head

    def _component(self, vertex: int) -> list[int]:
        partition: list[int] = []
        for target in self.edges[vertex]:
            if self.number[target] == 0:
                self._visit(target, partition)
        return [vertex, *partition]
