"""The planner divides a long task into a graph of sub-goals, and revises the graph after episodes were played."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from rlgpt.agents.asking import Asker
from rlgpt.agents.base import Brief
from rlgpt.agents.replies import Thoughts
from rlgpt.agents.text import shorten, source_block
from rlgpt.domain import GoalGraph, GraphEvidence, Name, Plain, SubGoal, Value
from rlgpt.domain.graph import MAX_SUB_GOALS
from rlgpt.errors import ConfigError
from rlgpt.llm.base import LLM, RequestKey
from rlgpt.sandbox import Library, SandboxLimits, lint

Check = Callable[[GoalGraph], Sequence[str]]
"""A function that plays episodes to test the predicates of a graph. It returns messages for a language model about the
faults of the graph.
"""

MOST_VIEW = 1_200
"""Maximal number of characters of one view in a prompt."""


class Planner(ABC):
    """Writes and revises graphs of sub-goals."""

    @abstractmethod
    def plan(self, brief: Brief, check: Check) -> GoalGraph:
        """Write the first graph of a run.

        :param brief: what the planner gets to know about the task.
        :param check: a function that returns the faults of a graph of sub-goals, in words.
        :returns: a graph without faults. A graph with only one sub-goal means that the task is not divided.
        :raises rlgpt.errors.LLMError: the model returned no usable graph of sub-goals, and the request has no retry
            left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """

    @abstractmethod
    def revise(self, brief: Brief, graph: GoalGraph, evidence: GraphEvidence, check: Check, revision: int) -> GoalGraph:
        """Write the next graph. The returned graph is equal to ``graph`` if the planner changes nothing.

        :param brief: what the planner gets to know about the task.
        :param graph: the newest graph of the run.
        :param evidence: figures and findings from episodes that were played with ``graph``.
        :param check: a function that returns the faults of a graph of sub-goals, in words.
        :param revision: number of the revision, from 1.
        :returns: a graph without faults.
        :raises rlgpt.errors.LLMError: the model returned no usable graph of sub-goals, and the request has no retry
            left.
        :raises rlgpt.errors.BudgetExceeded: the run's budget for language models is spent.
        """


class FixedPlanner(Planner):
    """A planner that always returns the same graph of sub-goals.

    :param library: the library of the task, by which lint checks the predicates; None for predicates without a check.
    """

    def __init__(self, graph: GoalGraph, library: Library | None = None, limits: SandboxLimits | None = None) -> None:
        self._graph, self._library, self._limits = graph, library, limits or SandboxLimits()

    def plan(self, brief: Brief, check: Check) -> GoalGraph:
        """:raises ConfigError: the graph has a fault."""
        static = [] if self._library is None else graph_faults(self._graph, brief, self._library, self._limits)
        if faults := static or list(check(self._graph)):
            raise ConfigError(f"the graph of sub-goals cannot be used: {'; '.join(faults)}")
        return self._graph

    def revise(self, brief: Brief, graph: GoalGraph, evidence: GraphEvidence, check: Check, revision: int) -> GoalGraph:
        return graph


class SubGoalReply(Value):
    name: Name = Field(description="what then holds, such as key_held; a sub-goal that stays keeps its name")
    goal: str = Field(min_length=1, max_length=1000, description="one sentence: what is true when it is reached")
    needs: tuple[Name, ...] = Field(default=(), max_length=8, description="sub-goals that must hold when it is called")
    horizon: int = Field(ge=1, description="primitive steps of one call")
    kind: Literal["code", "rl", "both"] = "both"
    standing: bool = Field(default=False, description="whether it must hold at all times")


class GraphReply(Value):
    """The planner's reply."""

    thoughts: Thoughts
    sub_goals: Annotated[tuple[SubGoalReply, ...], Field(min_length=1, max_length=MAX_SUB_GOALS)]
    source: str = Field(default="", description="all predicates, each begun by `# sub-goal: NAME`")

    def graph(self) -> GoalGraph:
        """:raises ValueError: the predicate of a sub-goal is missing, or the graph has a fault."""
        sources = split_predicates(self.source)
        names = [s.name for s in self.sub_goals]
        if missing := [n for n in names if n not in sources]:
            raise ValueError(
                f"{', '.join(missing)}: the predicate is missing. Begin each one by a line `# sub-goal: NAME` in the "
                "Python block"
            )
        if unknown := [n for n in sources if n not in names]:
            raise ValueError(f"{', '.join(unknown)}: there is a predicate, but no sub-goal of this name")
        nodes = (SubGoal(**s.model_dump(), done=sources[s.name]) for s in self.sub_goals)
        return GoalGraph(thoughts=self.thoughts, nodes=tuple(nodes))


_SECTION = re.compile(r"^#+ *sub-?goal: *`?([a-z][a-z0-9_]*)`?.*$", re.MULTILINE)


def split_predicates(source: str) -> dict[str, str]:
    """Split a block of code with the predicates of several sub-goals. A comment line with the word ``sub-goal`` and the
    name of the sub-goal precedes each predicate.

    :returns: a dict from the name of each sub-goal to the source of its predicate.
    """
    pieces = _SECTION.split(source)
    return {name: text.strip("\n") + "\n" for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}


class LLMPlanner(Planner):
    """The planner with a language model.

    :param library: the library of the task, which says which keys of the view the predicate of a sub-goal may read.
    :param most: maximal number of sub-goals.
    :param repairs: maximal number of further requests to the model if a graph has faults.
    :param prompts: the folder with the user's own prompts (see :class:`~rlgpt.agents.prompt.Prompt`); None if the user
        has none.
    """

    def __init__(
        self,
        llm: LLM,
        library: Library,
        limits: SandboxLimits,
        *,
        most: int = 12,
        repairs: int = 3,
        prompts: Path | None = None,
    ) -> None:
        self._ask = Asker(llm, "planner", prompts)
        self._library, self._limits, self._most, self._repairs = library, limits, most, repairs

    def plan(self, brief: Brief, check: Check) -> GoalGraph:
        return self._reply(brief, check, 0, "There is none yet: this is the first graph.", "", {})

    def revise(self, brief: Brief, graph: GoalGraph, evidence: GraphEvidence, check: Check, revision: int) -> GoalGraph:
        measured: dict[str, Plain] = {"success": round(evidence.successes / max(1, evidence.episodes), 3)}
        return self._reply(brief, check, revision, render_graph(graph), render_evidence(evidence), measured)

    def _reply(
        self, brief: Brief, check: Check, revision: int, graph: str, evidence: str, measured: dict[str, Plain]
    ) -> GoalGraph:
        return self._ask(
            brief,
            RequestKey(task=brief.task.id, iteration=revision, role="planner"),
            ("evidence", "role", "reply"),
            {"graph": graph, "evidence": evidence, "most": str(self._most)},
            GraphReply,
            value=GraphReply.graph,
            faults=lambda replied: (
                graph_faults(replied, brief, self._library, self._limits, self._most) or list(check(replied))
            ),
            measured=measured,
            code="every predicate",
            retries=self._repairs,
        )


def graph_faults(
    graph: GoalGraph, brief: Brief, library: Library, limits: SandboxLimits, most: int = MAX_SUB_GOALS
) -> list[str]:
    """The faults of a graph of sub-goals that can be found without playing episodes. The number of sub-goals in the
    graph must not exceed the maximum. Lint must accept each predicate of the graph, and a predicate must not use its
    memory. The horizon of a sub-goal must not exceed the task's horizon.
    """
    return list(_faults(graph, brief, library, limits, most))


def _faults(graph: GoalGraph, brief: Brief, library: Library, limits: SandboxLimits, most: int) -> Iterator[str]:
    if len(graph.nodes) > most:
        yield f"there are {len(graph.nodes)} sub-goals; at most {most} are taken"
    for node in graph.nodes:
        for verdict in lint(node.predicate, library, limits):
            yield f"{node.name}: {f'line {verdict.line}: ' if verdict.line else ''}{verdict.message}"
        if len(re.findall(r"\bmemory\b", node.done)) > 1:
            yield f"{node.name}: its predicate uses `memory`, which stays empty; it must read only the view"
        if node.horizon > brief.task.horizon:
            yield f"{node.name}: its horizon is {node.horizon}; an episode of the task has {brief.task.horizon} steps"


def render_graph(graph: GoalGraph) -> str:
    """The graph as text."""
    parts = []
    for node in graph.nodes:
        facts = [f"kind {node.kind}", f"horizon {node.horizon}"]
        facts += [f"needs {', '.join(node.needs)}"] if node.needs else []
        facts += ["standing"] if node.standing else []
        parts.append(f"## {node.name}\n{node.goal} ({'; '.join(facts)})\n{source_block(node.done)}")
    return "\n\n".join(parts)


def render_evidence(evidence: GraphEvidence) -> str:
    """The evidence as text. The views in it are shortened."""
    lines = [
        "# What happened with it",
        f"The executor played {evidence.episodes} episodes of the task; {evidence.successes} succeeded.",
    ]
    for f in evidence.figures:
        alone = "nothing was learnt for it yet" if f.alone is None else f"alone it succeeds in {f.alone:.0%} ({f.mode})"
        ends = ", ".join(f"{n} {end}" for end, n in f.ended.items())
        called = f"called {f.calls} times, done {f.done} ({ends}), {f.steps:,} steps" if f.calls else "never called"
        blocked = f"; not called in {f.blocked} episodes, because something before it failed" if f.blocked else ""
        worked = f"{f.iterations} iteration{'s' * (f.iterations != 1)}, {f.worked:,} steps of work"
        lines.append(f"- `{f.name}`: {alone}; {called}{blocked}; {worked}")
    for edge in evidence.edges:
        if edge.kind == "unneeded":
            lines.append(f"- `{edge.node}` held without its need `{edge.need}` before, in {edge.count} episodes")
        else:
            lines.append(f"- `{edge.node}` was only done where `{edge.need}` held, in {edge.count} calls; no need yet")
    if evidence.disagreements:
        lines.append(f"- the last predicate and the success disagreed at the end of {evidence.disagreements} episodes")
    for name, view in evidence.furthest.items():
        lines.append(
            f"\nThe view at the end of an episode that failed in `{name}`:\n{shorten(view, MOST_VIEW, 'view')}"
        )
    return "\n".join(lines)
