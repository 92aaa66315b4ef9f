"""Plays the episodes of a run's report: fresh episodes with the kept code or policy of the best iteration."""

from __future__ import annotations

from collections.abc import Iterator

from rlgpt.agents.base import History
from rlgpt.agents.deadloop import of_run
from rlgpt.domain import Evaluation, Iteration
from rlgpt.loop.context import LoopContext
from rlgpt.rl.evaluation import together
from rlgpt.runs import Report

PART = 50
"""Maximal number of episodes of a part. The run folder gets the result of each part when its episodes are over, so a
run that is stopped in its report repeats at most one part.
"""


def current_report(ctx: LoopContext, best: Iteration, history: History) -> Report:
    """The report on the iteration ``best``. A stored report is used if it fits ``best``, ``history`` and the report's
    seeds.
    """

    def stored_or_new() -> Report:
        return ctx.run.once("report", Report, lambda: _report(ctx, best, history))

    report = stored_or_new()
    seeds = ctx.seeds.report(ctx.settings.report_episodes)
    expected = (best.index, of_run(history).rate, best.kept.mode)
    found = (report.iteration, report.dead_loop_rate, report.evaluation.mode)
    if not _is_of(report.evaluation, seeds) or found != expected:
        ctx.run.forget("report")
        report = stored_or_new()
    return report


def _report(ctx: LoopContext, best: Iteration, history: History) -> Report:
    evaluation = together(list(_parts(ctx, best)), traces=0)
    return Report(iteration=best.index, evaluation=evaluation, dead_loop_rate=of_run(history).rate)


def _parts(ctx: LoopContext, best: Iteration) -> Iterator[Evaluation]:
    """Play the episodes of the report in parts. The parts that the run folder already has are read from there."""
    every = ctx.seeds.report(ctx.settings.report_episodes)
    for start in range(0, len(every), PART):
        seeds = every[start : start + PART]

        def play(seeds: tuple[int, ...] = seeds) -> Evaluation:
            return ctx.evaluate_kept(best, seeds=seeds)

        name = f"iterations/{best.index}/report/{best.kept.mode}_{start:04}"
        if not _is_of(part := ctx.run.once(name, Evaluation, play), seeds):
            ctx.run.forget(name)
            part = ctx.run.once(name, Evaluation, play)
        yield part
        if (played := start + len(seeds)) < len(every):
            ctx.observer.message(f"report: {played} of {len(every)} episodes")


def _is_of(evaluation: Evaluation, seeds: tuple[int, ...]) -> bool:
    """Whether ``evaluation`` has one episode for each of ``seeds``, or no episodes because there is no code to play."""
    return tuple(e.seed for e in evaluation.episodes) in ((), seeds)
