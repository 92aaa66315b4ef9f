"""Decides which sub-goal of a graph is called next."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rlgpt.domain import Call, GoalGraph, SubGoal


class Agenda:
    """The order of the calls in one episode. It depends only on which sub-goals hold, so that a sub-goal that is lost
    is reached again if, and only if, something still needs it.

    :param able: the sub-goals that can be played. A standing one that cannot is ignored.
    """

    def __init__(self, graph: GoalGraph, able: Collection[str]) -> None:
        self._graph = graph
        self._standing = [node for node in graph.standing if node.name in able]
        self._given_up: set[str] = set()

    def next(self, holds: Mapping[str, bool]) -> SubGoal:
        """The sub-goal to call: the first standing one that does not hold; else the last sub-goal, or what it needs and
        does not hold, and so on for the needs of that.
        """
        for node in self._standing:
            if not holds[node.name] and node.name not in self._given_up:
                return node
        node = self._graph.last
        while missing := [need for need in node.needs if not holds[need]]:
            node = self._graph[missing[0]]
        return node

    def ended(self, call: Call) -> None:
        """A call is over. A standing sub-goal that could not be reached waits until another call is over."""
        if self._graph[call.node].standing and call.ended not in ("done", "interrupted"):
            self._given_up.add(call.node)
        else:
            self._given_up.clear()

    def interrupts(self, node: SubGoal, holds: Mapping[str, bool]) -> bool:
        """Whether a standing sub-goal ends the call of ``node`` now."""
        chosen = self.next(holds)
        return chosen.standing and chosen.name != node.name
