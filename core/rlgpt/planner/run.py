"""Executes a run with a planner. Both loops work on each sub-goal of a graph, and an executor plays the whole graph."""

from __future__ import annotations

from rlgpt.agents.planner import Check
from rlgpt.domain import GoalGraph
from rlgpt.errors import BudgetExceeded, ConfigError, LLMError, TranscriptEnded
from rlgpt.loop import LoopContext, Result
from rlgpt.loop import run as run_loops
from rlgpt.loop.observer import outcome
from rlgpt.loop.run import brief_of
from rlgpt.options import save_bundle
from rlgpt.planner.bundle import bundle_of
from rlgpt.planner.checks import played_faults
from rlgpt.planner.context import PlannedContext
from rlgpt.planner.evidence import evidence_of
from rlgpt.planner.kept import keep, player_of
from rlgpt.planner.records import KEPT, REPORTED, KeptGraph, Playing
from rlgpt.planner.rounds import Rounds
from rlgpt.planner.skills import add_sub_goals
from rlgpt.runs import Report

CHECKED_EPISODES = 3
CHECK_SHARE = 0.005
"""Maximal share of the run's budget for the random primitive steps that check a graph."""


def run(ctx: LoopContext) -> Result:
    """Run the outer and the inner loop on a task, with a planner if ``ctx`` has one, or continue an unfinished run.

    If the planner returns a graph of one sub-goal, the run continues as a run without a planner.

    :raises RlgptError: the run fails for one of the reasons for which :func:`rlgpt.loop.run` fails.
    :raises ConfigError: the task defines no success. A planner needs a task with a success, because the last sub-goal
        of a graph is the task's success.
    """
    if not isinstance(ctx, PlannedContext) or ctx.planner is None:
        return run_loops(ctx)
    if not ctx.task.success:
        raise ConfigError(
            f"{ctx.task.id} defines a score but no success, and a planner needs a success. Set planner=none."
        )
    with ctx.run.lock():
        ctx.run.forget_stop()
        ctx.run.update(status="running", reason="")
        rounds: Rounds | None = None
        try:
            graph = _first_graph(ctx)
            if len(graph.nodes) > 1:
                ctx.observer.begins(ctx.run)
                rounds = Rounds(ctx, graph, lambda g: _faults(ctx, g))
                return _run(ctx, rounds)
        except (BudgetExceeded, TranscriptEnded) as stop:
            ctx.run.update(status="stopped", reason=str(stop))
            return Result((), None, stop)
        except BaseException as fault:
            interrupted = isinstance(fault, KeyboardInterrupt)
            ctx.run.update(
                status="stopped" if interrupted else "failed",
                reason="interrupted" if interrupted else f"{type(fault).__name__}: {fault}"[:2000],
                steps=ctx.run.record.steps if rounds is None else rounds.steps,
            )
            raise
    ctx.observer.message("the planner does not divide the task; the run continues without sub-goals")
    return run_loops(ctx)


def _first_graph(ctx: PlannedContext) -> GoalGraph:
    planner = ctx.planner
    assert planner is not None
    ctx.observer.stage("plan", iteration=0)
    return ctx.run.once("plan/0", GoalGraph, lambda: planner.plan(brief_of(ctx), _check(ctx)))


def _check(ctx: PlannedContext) -> Check:
    return lambda graph: _faults(ctx, graph)


def _faults(ctx: PlannedContext, graph: GoalGraph) -> list[str]:
    return played_faults(
        graph,
        ctx.plugin,
        ctx.task,
        seeds=ctx.seeds.rehearsals(0, CHECKED_EPISODES),
        steps=int(CHECK_SHARE * ctx.settings.budget),
        limits=ctx.sandbox_limits,
        on_step=ctx.book.counting("rehearsal"),
    )


def _run(ctx: PlannedContext, rounds: Rounds) -> Result:
    stopped = rounds.run()
    kept = keep(ctx, rounds)
    ctx.run.update(steps=rounds.steps)
    if kept is None:
        ctx.run.update(status="stopped", reason=str(stopped or "no sub-goal could be worked on"))
        return Result((), None, stopped or LLMError("no sub-goal could be worked on; see the messages of the run."))
    report = _report(ctx, rounds, kept)
    save_bundle(bundle_of(ctx, kept, report, rounds.steps), ctx.run.folder / "bundle")
    add_sub_goals(ctx, kept, rounds)
    ctx.run.update(
        status="stopped" if stopped else "finished",
        reason=str(stopped or ""),
        success_rate=report.evaluation.success_rate,
        score=report.evaluation.mean_score,
    )
    ctx.observer.finished("report", **outcome(report.evaluation))
    return Result((), report, stopped)


def _report(ctx: PlannedContext, rounds: Rounds, kept: KeptGraph) -> Report:
    seeds = ctx.seeds.report(ctx.settings.report_episodes)
    ctx.observer.stage("report", episodes=len(seeds))

    def play() -> Playing:
        with player_of(ctx, kept) as player:
            return Playing(revision=kept.revision, actors=kept.actors, played=player.evaluate(seeds))

    old = ctx.run.stage(REPORTED, Playing)
    if old is not None and (old.revision, old.actors, len(old.played.episodes)) != (
        kept.revision,
        kept.actors,
        len(seeds),
    ):
        ctx.run.forget(REPORTED)
    played = ctx.run.once(REPORTED, Playing, play).played
    evidence = evidence_of(kept.graph, played.episodes, rounds.learnt(kept.graph))
    ctx.run.rewrite(KEPT, kept.model_copy(update={"evidence": evidence}))
    report = Report(iteration=kept.revision, evaluation=played.evaluation)
    ctx.run.rewrite("report", report)
    return report
