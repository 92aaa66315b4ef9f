"""The objects that a run with a planner works with, and the objects for its work on one sub-goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pydantic import Field

from rlgpt.agents.build import Agents
from rlgpt.agents.planner import Planner
from rlgpt.domain import GoalGraph, Steps, SubGoal, Value, best_of
from rlgpt.errors import RunError
from rlgpt.loop import LoopContext
from rlgpt.planner.player import Actor, PlayedWay
from rlgpt.planner.records import NODES, Starts
from rlgpt.planner.sub_task import Part, PartFactory, PartPlugin, task_of
from rlgpt.runs import Run


class PlannerSettings(Value):
    """The settings ``planner.NAME`` of a run with a planner."""

    sub_goals: int = Field(default=12, ge=1, le=24, description="maximal number of sub-goals of a graph")
    revisions: int = Field(default=1, ge=0, description="maximal number of revisions of the graph from evidence")
    repairs: int = Field(default=3, ge=0, description="maximal number of repairs of one graph that has faults")
    visits: int = Field(default=3, ge=1, description="maximal number of times that one sub-goal is worked on")


@dataclass(frozen=True)
class PlannedContext(LoopContext):
    """A :class:`~rlgpt.loop.LoopContext` with a planner, for a run that divides its task into sub-goals.

    :ivar planner: writes and revises the graph. If ``planner`` is None, the task is not divided into sub-goals.
    :ivar teams: for kinds of sub-goals (``code``, ``rl``, ``both``), the agents that work on sub-goals of this kind.
        For a missing kind, the agents of the run do this work.
    """

    planner: Planner | None = None
    planning: PlannerSettings = field(default_factory=PlannerSettings)
    teams: Mapping[str, Agents] = field(default_factory=dict)


def planned(
    ctx: LoopContext,
    planner: Planner | None = None,
    planning: PlannerSettings | None = None,
    teams: Mapping[str, Agents] | None = None,
) -> PlannedContext:
    """The context ``ctx`` with a planner. If ``planner`` is None, the new context can still play the graph that a run
    has kept.
    """
    own = {f.name: getattr(ctx, f.name) for f in fields(LoopContext)}
    return PlannedContext(**own, planner=planner, planning=planning or PlannerSettings(), teams=teams or {})


class PartRun(Run):
    """The run of a sub-goal, stored in a subfolder of the run of the whole task. The run of a sub-goal stops when
    somebody requests a stop of the whole run.

    :ivar whole: the run of the whole task.
    :ivar tell: a function that is called with the steps of the sub-goal's run whenever they are updated.
    """

    whole: Run
    tell: Callable[[Steps], None] | None = None

    @classmethod
    def within(cls, whole: Run, node: SubGoal, task: str) -> PartRun:
        folder = whole.files.subfolder(f"{NODES}/{node.label}")
        if not Run.exists(folder):
            folder.mkdir(parents=True, exist_ok=True)
            Run.create(folder, task=task, seed=whole.record.seed, config={})
        run = cls(folder, Run.open(folder).record)
        run.whole = whole
        if run.record.task != task:
            raise RunError(f"{folder} contains a run of {run.record.task}, not of {task}. Start a new run.")
        return run

    @property
    def stop_requested(self) -> bool:
        return self.whole.stop_requested

    def forget_stop(self) -> None:
        self.whole.forget_stop()

    def update(self, **changes: Any) -> None:
        super().update(**changes)
        if self.tell is not None and "steps" in changes:
            self.tell(self.record.steps)


def part_context(
    ctx: PlannedContext, graph: GoalGraph, node: SubGoal, starts: Starts, way: PlayedWay | None, **settings: Any
) -> LoopContext:
    """The context in which both loops work on one sub-goal.

    :param starts: the states in which the sub-goal's episodes begin.
    :param way: an object that plays from the start of the task to a start of the sub-goal. ``way`` is None if the
        environment can restore states.
    :param settings: the fields of :class:`~rlgpt.loop.LoopSettings` whose values for the sub-goal differ from those of
        the whole run.
    """
    task = task_of(ctx.task, graph, node)
    done = None if node.name == graph.last.name else node.predicate
    part = Part(ctx.task, done, starts.own, starts.states, way)
    return LoopContext(
        settings=ctx.settings.model_copy(update=settings),
        task=task,
        plugin=PartPlugin(ctx.plugin, part),
        factory=PartFactory(ctx.factory, part),
        agents=ctx.teams.get(node.kind, ctx.agents),
        trainer=ctx.trainer,
        hyperparameters=ctx.hyperparameters,
        run=PartRun.within(ctx.run, node, task.id),
        library=ctx.library,
        sandbox_limits=ctx.sandbox_limits,
        observer=ctx.observer,
        world=ctx.world,
        fixed_hyperparameters=ctx.fixed_hyperparameters,
        skills=ctx.skills,
        executor=ctx.executor,
    )


def actor_of(ctx: LoopContext, iteration: int | None = None) -> tuple[int, Actor] | None:
    """The actor (code or policy) that plays the sub-goal of the context ``ctx``, and the index of the iteration that
    made this actor.

    :param iteration: index of an iteration of the sub-goal's run. If ``iteration`` is None, the best iteration is used.
    :returns: the index and the actor; None if no iteration of the sub-goal is finished, or if the iteration acts by
        code and has no coded actions.
    """
    history = ctx.run.iterations()
    if not history:
        return None
    best = best_of(history) if iteration is None else history[iteration]
    spec, kept = ctx.kept_spec(best), best.kept
    if kept.is_code:
        return (best.index, Actor(spec, "code")) if best.actions else None
    policy = ctx.policy(spec, best.index, trained=best.training is not None)
    return best.index, Actor(spec, kept.mode, policy, kept.sharpness)
