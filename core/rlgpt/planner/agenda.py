"""Decides which sub-goal of a graph is called next."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rlgpt.domain import Call, GoalGraph, SubGoal


class Agenda:
    """The rules for the order in which the sub-goals of a graph are called in one episode. A sub-goal *holds* while its
    predicate is True. A sub-goal that held earlier and does not hold now is called again only if it is standing, or if
    a sub-goal that must still be reached needs it.

    :param able: the names of the sub-goals for which there is code or a policy. A standing sub-goal whose name is not
        in ``able`` is ignored.
    """

    def __init__(self, graph: GoalGraph, able: Collection[str]) -> None:
        self._graph = graph
        self._standing = [node for node in graph.standing if node.name in able]
        self._given_up: set[str] = set()

    def next(self, holds: Mapping[str, bool]) -> SubGoal:
        """The sub-goal that is called now. The first standing sub-goal that does not hold is called next. If all
        standing sub-goals hold, a search begins at the last sub-goal of the graph and follows the needs that do not
        hold. The search ends at a sub-goal whose needs all hold, which is called next.

        :param holds: sub-goal -> whether it holds now.
        """
        for node in self._standing:
            if not holds[node.name] and node.name not in self._given_up:
                return node
        node = self._graph.last
        while missing := [need for need in node.needs if not holds[need]]:
            node = self._graph[missing[0]]
        return node

    def ended(self, call: Call) -> None:
        """Record that a call of a sub-goal has ended. If the call of a standing sub-goal failed, this sub-goal is
        called again only after a call of a sub-goal that is not standing, or after a call that was done or interrupted.
        """
        if self._graph[call.node].standing and call.ended not in ("done", "interrupted"):
            self._given_up.add(call.node)
        else:
            self._given_up.clear()

    def interrupts(self, node: SubGoal, holds: Mapping[str, bool]) -> bool:
        """Whether the call of the sub-goal ``node`` must end now because a standing sub-goal no longer holds."""
        chosen = self.next(holds)
        return chosen.standing and chosen.name != node.name
