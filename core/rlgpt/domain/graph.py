"""A long task as a graph of sub-goals, and the records of the episodes in which such graphs were played."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from rlgpt.domain.evaluations import Evaluation
from rlgpt.domain.functions import CodedPredicate
from rlgpt.domain.values import Name, Value

MAX_SUB_GOALS = 24
"""Maximal number of sub-goals of a graph."""

MAX_CALLS = 200
"""Maximal number of calls in the record of one episode."""


class SubGoal(Value):
    """A sub-goal, which is one node of a graph.

    :ivar goal: a description, for people and prompts, of what is true in the world when the sub-goal is reached.
    :ivar done: source of ``def done(view, memory) -> bool``, which returns True while the sub-goal holds. The predicate
        of a sub-goal reads only the view, because its argument ``memory`` is always empty.
    :ivar needs: names of the sub-goals that must hold when this sub-goal is called.
    :ivar horizon: maximal number of primitive steps of one call of the sub-goal.
    :ivar kind: how the sub-goal is solved. ``code`` means coded actions alone, ``rl`` means a policy over base actions,
        and with ``both`` the two loops decide.
    :ivar standing: whether the sub-goal is standing, which means that it must hold at all times. When a standing
        sub-goal does not hold, the current call ends and the standing sub-goal is called.
    :ivar version: number of revisions of the graph that changed a field of the sub-goal other than ``needs``.
    """

    name: Name
    goal: str = Field(min_length=1, max_length=1000)
    done: str = Field(min_length=1, max_length=4000)
    needs: tuple[Name, ...] = Field(default=(), max_length=8)
    horizon: int = Field(ge=1)
    kind: Literal["code", "rl", "both"] = "both"
    standing: bool = False
    version: int = Field(default=0, ge=0)

    @property
    def predicate(self) -> CodedPredicate:
        return CodedPredicate(name=self.name, doc=self.goal, source=self.done)

    @property
    def label(self) -> str:
        """The name of the sub-goal, followed by its version if the version is not 0. Folders and task ids contain the
        label.
        """
        return f"{self.name}-{self.version}" if self.version else self.name

    def is_same(self, other: SubGoal) -> bool:
        """Whether results of the work on the sub-goal ``other`` are also valid for this sub-goal. Only needs and
        version may differ.
        """
        same = ("name", "goal", "done", "horizon", "kind", "standing")
        return all(getattr(self, field) == getattr(other, field) for field in same)


class GoalGraph(Value):
    """A graph of sub-goals. Each sub-goal of the graph names the sub-goals that it needs. The predicate of the last
    sub-goal of a graph is the task's own success.

    :raises ValueError: two names are equal; a need does not exist, is a standing sub-goal or is the last sub-goal; the
        needs form a circle; the last sub-goal is standing; a standing sub-goal has needs; or a sub-goal that is not
        standing is superfluous, because the last sub-goal does not need it, directly or indirectly. The message names
        the sub-goals.
    """

    thoughts: str = ""
    nodes: tuple[SubGoal, ...] = Field(min_length=1, max_length=MAX_SUB_GOALS)

    @model_validator(mode="after")
    def _valid(self) -> Self:
        if faults := [*self._faults()]:
            raise ValueError("; ".join(faults))
        return self

    def _faults(self) -> Iterator[str]:
        names = [n.name for n in self.nodes]
        if doubles := sorted({n for n in names if names.count(n) > 1}):
            yield f"names of sub-goals must differ; used twice: {', '.join(doubles)}"
            return
        if self.last.standing:
            yield f"{self.last.name}: the last sub-goal is the task's success, so it cannot be standing"
        standing = [n.name for n in self.standing]
        for node in self.nodes:
            for need in node.needs:
                if need not in names:
                    yield f"{node.name}: it needs {need!r}, which is no sub-goal. Valid: {', '.join(names)}"
                elif need in standing:
                    yield f"{node.name}: it needs {need!r}, a standing sub-goal, which every other one needs anyway"
                elif need == self.last.name:
                    yield f"{node.name}: it needs {need!r}, the last sub-goal, which ends the task"
            if node.standing and node.needs:
                yield f"{node.name}: a standing sub-goal needs nothing, because it may be called at any time"
        if all(need in names for node in self.nodes for need in node.needs):
            if circle := self._circle():
                yield f"the needs form a circle: {' needs '.join(circle)}"
            else:
                led = self._before(self.last.name)
                for node in self.nodes:
                    if not (node.standing or node.name in led):
                        yield (
                            f"{node.name}: no other sub-goal needs it and it is not the last one; let one need it, "
                            "make it standing, or leave it out"
                        )

    def _circle(self) -> list[str]:
        """Names of sub-goals that need each other in a circle; the first name is also the last name in the list. Empty
        without a circle.
        """
        finished: set[str] = set()

        def visit(name: str, path: list[str]) -> list[str]:
            if name in path:
                return [*path[path.index(name) :], name]
            for need in () if name in finished else self[name].needs:
                if found := visit(need, [*path, name]):
                    return found
            finished.add(name)
            return []

        return next((found for n in self.nodes if (found := visit(n.name, []))), [])

    def _before(self, name: str) -> set[str]:
        found, todo = set[str](), [name]
        while todo:
            if (current := todo.pop()) not in found:
                found.add(current)
                todo += self[current].needs
        return found

    def __getitem__(self, name: str) -> SubGoal:
        return next(n for n in self.nodes if n.name == name)

    @property
    def last(self) -> SubGoal:
        """The sub-goal that is the task's success."""
        return self.nodes[-1]

    @property
    def standing(self) -> tuple[SubGoal, ...]:
        """The standing sub-goals of the graph; if several do not hold, the first of them is called."""
        return tuple(n for n in self.nodes if n.standing)

    @property
    def in_order(self) -> tuple[SubGoal, ...]:
        """All sub-goals of the graph, in an order in which each sub-goal comes after the sub-goals that it needs. The
        last sub-goal comes last.
        """
        ordered: list[SubGoal] = []

        def visit(node: SubGoal) -> None:
            if node not in ordered:
                for need in node.needs:
                    visit(self[need])
                ordered.append(node)

        for node in sorted(self.nodes, key=lambda n: n is self.last):
            visit(node)
        return tuple(ordered)

    def revised(self, new: GoalGraph) -> GoalGraph:
        """The graph ``new`` with version numbers. Sub-goals that did not change keep their version number; each changed
        sub-goal gets the next version number.
        """
        nodes = []
        for node in new.nodes:
            old = next((n for n in self.nodes if n.name == node.name), None)
            version = 0 if old is None else old.version if node.is_same(old) else old.version + 1
            nodes.append(node.model_copy(update={"version": version}))
        return new.model_copy(update={"nodes": tuple(nodes)})


def part_prefix(whole: str) -> str:
    """The text with which the task ids of all sub-goals of a task begin. The argument ``whole`` is the id of the task
    that the graph divides into sub-goals.
    """
    plugin, _, name = whole.partition("/")
    return f"{plugin}/{name[:36]}."


CallEnd = Literal["done", "horizon", "episode", "stuck", "interrupted"]
"""How a call of a sub-goal ended.

- ``done``: the predicate of the sub-goal became true.
- ``horizon``: the call reached the horizon of the sub-goal.
- ``episode``: the episode ended.
- ``stuck``: the code of the sub-goal was stuck.
- ``interrupted``: a standing sub-goal interrupted the call.
"""


class Call(Value):
    """One call of a sub-goal in an episode.

    :ivar start: number of primitive steps of the episode before the sub-goal was called.
    :ivar holding: names of the sub-goals that held when the call began.
    """

    node: Name
    start: int = Field(ge=0)
    steps: int = Field(ge=0)
    ended: CallEnd
    holding: tuple[Name, ...] = ()


class GraphEpisode(Value):
    """How a graph was played in one episode.

    :ivar calls: the calls of sub-goals in order, at most the first :data:`MAX_CALLS` of the episode.
    :ivar reached: for each sub-goal that was reached, the number of primitive steps from the start of the episode until
        the predicate of the sub-goal was first true.
    :ivar agrees: whether, at the end of the episode, the predicate of the last sub-goal gave the same answer as the
        task's success.
    :ivar view: the plugin's summary, as text, of the last view of a failed episode.
    """

    seed: int
    success: bool
    primitive_steps: int = Field(ge=0)
    calls: tuple[Call, ...] = ()
    reached: Mapping[str, int] = Field(default_factory=dict)
    agrees: bool = True
    view: str = Field(default="", max_length=2000)


class SubGoalFigures(Value):
    """Figures of a sub-goal.

    :ivar calls: number of calls of the sub-goal in the episodes of the whole graph.
    :ivar done: number of calls after which the predicate of the sub-goal was true.
    :ivar steps: number of primitive steps of all calls of the sub-goal.
    :ivar ended: for each way in which a call of a sub-goal can end, the number of calls that ended so.
    :ivar alone: success rate in episodes that play this sub-goal alone; None if the run has not worked on the sub-goal
        yet.
    :ivar iterations: number of finished iterations in which the run worked on the sub-goal.
    :ivar worked: number of primitive steps that the run spent on its iterations for this sub-goal.
    :ivar blocked: number of episodes of the graph in which the sub-goal was never called, because an earlier sub-goal
        failed.
    """

    name: Name
    calls: int = Field(default=0, ge=0)
    done: int = Field(default=0, ge=0)
    steps: int = Field(default=0, ge=0)
    ended: Mapping[CallEnd, int] = Field(default_factory=dict)
    alone: float | None = None
    mode: str = ""
    iterations: int = Field(default=0, ge=0)
    worked: int = Field(default=0, ge=0)
    blocked: int = Field(default=0, ge=0)

    @property
    def failed(self) -> int:
        """Number of calls of the sub-goal after which its predicate was not true. Calls that a standing sub-goal
        interrupted do not count as failed.
        """
        return self.calls - self.done - self.ended.get("interrupted", 0)


class Edge(Value):
    """A finding about a need of a sub-goal, derived from episodes in which the graph was played.

    :ivar kind: ``unneeded`` means that ``node`` names ``need`` among its needs, but ``node`` was reached in episodes in
        which ``need`` had not held before. ``missing`` means that ``node`` does not name ``need`` among its needs, but
        ``node`` was reached only in calls at whose start ``need`` held.
    :ivar count: number of episodes (for ``unneeded``) or of calls (for ``missing``) that show that a need is
        superfluous or missing.
    """

    kind: Literal["unneeded", "missing"]
    need: Name
    node: Name
    count: int = Field(ge=1)


class GraphEvidence(Value):
    """The evidence from played episodes on which a revision of the graph is based.

    :ivar episodes: number of episodes in which the whole graph was played, of which ``successes`` succeeded.
    :ivar furthest: for each sub-goal, the last view, as text, of a failed episode that ended in a call of this
        sub-goal.
    :ivar disagreements: number of episodes at whose end the predicate of the last sub-goal and the task's own success
        differed.
    """

    episodes: int = Field(default=0, ge=0)
    successes: int = Field(default=0, ge=0)
    figures: tuple[SubGoalFigures, ...] = ()
    edges: tuple[Edge, ...] = ()
    furthest: Mapping[str, str] = Field(default_factory=dict)
    disagreements: int = Field(default=0, ge=0)


class GraphEvaluation(Value):
    """Episodes of a whole graph with the task's own start, horizon and success.

    :ivar evaluation: the results of the episodes of the whole graph as an :class:`Evaluation`, for reports. The returns
        of these episodes are sums of the environment's own reward.
    """

    evaluation: Evaluation
    episodes: tuple[GraphEpisode, ...]
