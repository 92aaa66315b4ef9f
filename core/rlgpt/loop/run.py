"""Executes a run from beginning to end. A run makes the brief, runs the outer loop, plays the episodes of the report,
and writes the bundle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rlgpt.agents.base import Brief, History
from rlgpt.agents.brief import make_brief
from rlgpt.domain import Bundle, Evaluation, Iteration, Provenance, Steps, best_of
from rlgpt.errors import LLMError, RlgptError
from rlgpt.llm.exchange import Exchange, read_exchanges
from rlgpt.loop.context import LoopContext
from rlgpt.loop.observer import outcome
from rlgpt.loop.outer import learn
from rlgpt.loop.report import current_report
from rlgpt.loop.skills import add_skill, with_skills
from rlgpt.loop.spending import finished_stages, spent
from rlgpt.options import extend, save_bundle
from rlgpt.runs import Report


@dataclass(frozen=True)
class Result:
    """The result of a run.

    :ivar history: the finished iterations, oldest first.
    :ivar report: the report on the best iteration; None if no iteration finished.
    :ivar stopped: the error that ended the run early (the language model's budget is spent, or the recording has no
        further reply); None if the run ended normally.
    """

    history: History
    report: Report | None
    stopped: LLMError | None


def run(ctx: LoopContext) -> Result:
    """Run the inner and the outer loop in the folder of ``ctx.run``, or continue an unfinished run there. The results
    of finished stages are read from the run folder, and these stages are not repeated.

    :raises RunError: another process uses the run folder, or a file in it cannot be read.
    :raises LLMError: a request to a language model failed, or none of the replies was usable. A spent budget of the
        language model, or the end of the recording, raises no error, but ends the run (see :attr:`Result.stopped`).
    :raises TrainerError: a training crashed or could not be resumed.
    """
    with ctx.run.lock():
        ctx.run.forget_stop()
        ctx.run.update(status="running", reason="", steps=steps_so_far(ctx))
        try:
            ctx.book.follow(ctx.run.record.steps)
            ctx.observer.begins(ctx.run)
            return _run(ctx)
        except BaseException as fault:
            interrupted = isinstance(fault, KeyboardInterrupt)
            ctx.run.update(
                status="stopped" if interrupted else "failed",
                reason="interrupted" if interrupted else f"{type(fault).__name__}: {fault}"[:2000],
                steps=steps_so_far(ctx),
            )
            raise


def brief_of(ctx: LoopContext) -> Brief:
    """Make the brief of the run's task, with the first view of an episode."""
    count = ctx.book.counting("rehearsal")
    env = extend(ctx.plugin.make_env(ctx.task, seed=0), plugin=ctx.plugin, task=ctx.task, on_step=count)
    try:
        env.reset(seed=ctx.seeds.rehearsal(0))
        view = env.view()
    finally:
        env.close()
    return make_brief(ctx.plugin, ctx.task, start_view=view, limits=ctx.sandbox_limits, library=ctx.library)


def _run(ctx: LoopContext) -> Result:
    if not ctx.run.iterations() and (line := ctx.allotment.note()):
        ctx.observer.message(line)
    brief = with_skills(ctx, brief_of(ctx))
    history, stopped = learn(ctx, brief)
    steps = spent(history) + _unfinished_iteration(ctx, history)
    if not history:
        assert stopped is not None
        ctx.run.update(status="stopped", reason=str(stopped), steps=steps)
        return Result(history, None, stopped)
    best = best_of(history)
    ctx.run.update(steps=steps, iterations=len(history), best=best.index)
    ctx.observer.stage("report", iteration=best.index, episodes=ctx.settings.report_episodes)
    report = current_report(ctx, best, history)
    bundle = _bundle(ctx, best, report, steps)
    save_bundle(bundle, ctx.run.folder / "bundle")
    add_skill(ctx, brief, best, report, bundle, steps)
    ctx.run.update(
        status="stopped" if stopped else "finished",
        reason=str(stopped or ""),
        success_rate=report.evaluation.success_rate if report.evaluation.has_success else None,
        score=report.evaluation.mean_score,
    )
    ctx.observer.finished("report", **outcome(report.evaluation))
    if best.rehearsals and not bundle.actions:
        ctx.observer.message(
            f"no code was kept: no attempt at {', '.join(best.rehearsals)} ran without an error, so the bundle has no "
            "coded actions"
        )
    if (played := steps.total - steps.training) > ctx.settings.budget:
        ctx.observer.message(
            f"the run took {played:,} primitive steps without training, more than its budget={ctx.settings.budget:,}: "
            f"rehearsals took {steps.rehearsal:,} of them, and every episode is played to its end"
        )
    mode = report.evaluation.mode
    kept = {"code": "code", "tuned": "tuned code"}.get(mode, f"{mode} policy")
    ctx.observer.message(
        f"{kept} of iteration {best.index}, tested in "
        f"{len(report.evaluation.episodes)} fresh episodes; bundle: {ctx.run.folder / 'bundle'}; "
        f"page: rlgpt report {ctx.run.folder}"
    )
    return Result(history, report, stopped)


def steps_so_far(ctx: LoopContext) -> Steps:
    """The numbers of primitive steps of the run so far, by purpose.

    If a file with steps cannot be read, the numbers come from the run's record; an error would hide the error that
    ended the run.
    """
    try:
        history = ctx.run.iterations()
        return spent(history) + _unfinished_iteration(ctx, history)
    except RlgptError:
        return ctx.run.record.steps


def _unfinished_iteration(ctx: LoopContext, history: History) -> Steps:
    """The primitive steps of the unfinished iteration after ``history``; zero if this iteration did not begin."""
    finished = finished_stages(ctx.run, len(history))
    if not finished.training:
        finished += Steps(training=ctx.trainer.spent(ctx.train_folder(len(history))))
    return ctx.book.bill(history, finished)


def _bundle(ctx: LoopContext, best: Iteration, report: Report, steps: Steps) -> Bundle:
    evaluation = report.evaluation if best.keeps_code else best.code_evaluation or ctx.unplayed()
    return Bundle(
        actions=best.kept_actions,
        functions=best.functions,
        setup=best.setup,
        plan=best.plan,
        world=ctx.world,
        tested_on=tested_on(ctx, evaluation, steps, read_exchanges(ctx.run.folder / "llm.jsonl")),
    )


def tested_on(ctx: LoopContext, evaluation: Evaluation, steps: Steps, exchanges: Iterable[Exchange]) -> Provenance:
    """The part of a bundle that says in which task and how well its code was tested.

    :param steps: the primitive steps that the code has taken.
    :param exchanges: the requests to language models that it has taken, with their replies.
    """
    return Provenance(
        task=ctx.task.id,
        versions=ctx.run.record.versions,
        success_rate=evaluation.success_rate if evaluation.has_success else None,
        score=evaluation.mean_score,
        episodes=len(evaluation.episodes),
        primitive_steps=steps.total,
        model=", ".join(sorted({e.reply.model for e in exchanges})),
    )
