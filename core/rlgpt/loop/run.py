"""A whole run: brief, outer loop, report on fresh seeds, bundle."""

from __future__ import annotations

from dataclasses import dataclass

from rlgpt.agents.base import Brief, History
from rlgpt.agents.brief import make_brief
from rlgpt.agents.deadloop import of_run
from rlgpt.domain import Bundle, Evaluation, Iteration, Provenance, Steps, best_of
from rlgpt.errors import LLMError, RlgptError
from rlgpt.llm.exchange import read_exchanges
from rlgpt.loop.context import LoopContext
from rlgpt.loop.outer import learn
from rlgpt.loop.reserve import warning
from rlgpt.loop.spending import finished_stages, spent
from rlgpt.options import extend, save_bundle
from rlgpt.rl.evaluation import evaluate, evaluate_code
from rlgpt.runs import Report


@dataclass(frozen=True)
class Result:
    """How a run ended.

    :ivar report: of the best iteration; None where none was finished.
    :ivar stopped: why it ended early but cleanly, if it did.
    """

    history: History
    report: Report | None
    stopped: LLMError | None


def run(ctx: LoopContext) -> Result:
    """Do, or go on with, the run in ``ctx.run``. Finished stages are read, not redone."""
    with ctx.run.lock():
        ctx.run.update(status="running", reason="", steps=_billed(ctx))
        try:
            return _run(ctx)
        except BaseException as fault:
            interrupted = isinstance(fault, KeyboardInterrupt)
            ctx.run.update(
                status="stopped" if interrupted else "failed",
                reason="interrupted" if interrupted else f"{type(fault).__name__}: {fault}"[:2000],
                steps=_billed(ctx),
            )
            raise


def _billed(ctx: LoopContext) -> Steps:
    """Everything spent so far; what the record says where a file that tells it cannot be read.

    Such a fault is reported where the file is needed, and must not stand in the place of another.
    """
    try:
        history = ctx.run.iterations()
        return spent(history) + _under_way(ctx, history)
    except RlgptError:
        return ctx.run.record.steps


def _under_way(ctx: LoopContext, history: History) -> Steps:
    """Of the iteration after ``history``, which was stopped before its end; none where it never began."""
    finished = finished_stages(ctx.run, len(history))
    if not finished.training:
        finished += Steps(training=ctx.trainer.spent(ctx.train_folder(len(history))))
    return ctx.book.bill(history, finished)


def _run(ctx: LoopContext) -> Result:
    if not ctx.run.iterations() and (line := warning(ctx.settings, ctx.task, ctx.agents)):
        ctx.observer.message(line)
    history, stopped = learn(ctx, brief_of(ctx))
    steps = spent(history) + _under_way(ctx, history)
    if not history:
        assert stopped is not None
        ctx.run.update(status="stopped", reason=str(stopped), steps=steps)
        return Result(history, None, stopped)
    best = best_of(history)
    ctx.run.update(steps=steps, iterations=len(history), best=best.index)
    ctx.observer.stage("report", iteration=best.index, episodes=ctx.settings.report_episodes)
    report = _reported(ctx, best, history)
    save_bundle(_bundle(ctx, best, report, steps), ctx.run.folder / "bundle")
    ctx.run.update(
        status="stopped" if stopped else "finished",
        reason=str(stopped or ""),
        success_rate=report.sampled.success_rate,
    )
    ctx.observer.finished("report", success=report.sampled.success_rate)
    return Result(history, report, stopped)


def brief_of(ctx: LoopContext) -> Brief:
    """What the agents are told, with the first view of an episode."""
    env = extend(ctx.plugin.make_env(ctx.task, seed=0), plugin=ctx.plugin, task=ctx.task)
    try:
        env.reset(seed=ctx.seeds.rehearsal(0))
        return make_brief(ctx.plugin, ctx.task, start_view=env.view(), limits=ctx.budgets)
    finally:
        env.close()


def _reported(ctx: LoopContext, best: Iteration, history: History) -> Report:
    """The report on ``best``: read where it is there, made anew where the run has gone on or its settings changed."""

    def read() -> Report:
        return ctx.run.once("report", Report, lambda: _report(ctx, best, history))

    report = read()
    seeds = ctx.seeds.report(ctx.settings.report_episodes)
    played = tuple(e.seed for e in report.sampled.episodes)
    known = (best.index, of_run(history).rate)
    if played not in ((), seeds) or (report.iteration, report.dead_loop_rate) != known:
        ctx.run.forget("report")
        report = read()
    return report


def _report(ctx: LoopContext, best: Iteration, history: History) -> Report:
    spec = ctx.kept_spec(best)
    seeds = ctx.seeds.report(ctx.settings.report_episodes)
    rate = of_run(history).rate
    if best.kept.mode == "code":
        sampled = (
            evaluate_code(spec, best.actions, seeds=seeds) if best.actions else Evaluation(mode="code", episodes=())
        )
        return Report(iteration=best.index, mode="code", sampled=sampled, dead_loop_rate=rate)
    policy = ctx.policy(spec, best.index, trained=best.training is not None)
    return Report(
        iteration=best.index,
        mode="policy",
        sampled=evaluate(policy, spec, seeds=seeds, greedy=False),
        greedy=evaluate(policy, spec, seeds=seeds, greedy=True),
        dead_loop_rate=rate,
    )


def _bundle(ctx: LoopContext, best: Iteration, report: Report, steps: Steps) -> Bundle:
    return Bundle(
        actions=best.actions,
        setup=best.setup,
        plan=best.plan,
        tested_on=Provenance(
            task=ctx.task.id,
            versions=ctx.run.record.versions,
            success_rate=report.sampled.success_rate,
            episodes=len(report.sampled.episodes),
            primitive_steps=steps.total,
            model=", ".join(sorted({e.reply.model for e in read_exchanges(ctx.run.folder / "llm.jsonl")})),
        ),
    )
