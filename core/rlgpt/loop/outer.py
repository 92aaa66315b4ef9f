"""The outer loop (RL-GPT, section 3). Each iteration plans, writes code, learns, evaluates and criticises."""

from __future__ import annotations

import contextlib

from rlgpt.agents.base import Brief, History
from rlgpt.domain import Evaluation, Iteration, TrainingRecord, Value, best_of
from rlgpt.errors import BudgetExceeded, LLMError, TranscriptEnded
from rlgpt.loop.allotment import max_iterations
from rlgpt.loop.context import LoopContext
from rlgpt.loop.critique import add_critique
from rlgpt.loop.judging import Judging
from rlgpt.loop.observer import outcome
from rlgpt.loop.plans import planned
from rlgpt.loop.spending import finished_stages, spent, steps_of
from rlgpt.loop.stages import Stages
from rlgpt.rl.starts import Reached


def learn(ctx: LoopContext, brief: Brief) -> tuple[History, LLMError | None]:
    """Run iterations until an iteration reaches the target, or until no iterations or no primitive steps are left.

    Finished iterations and stages are read from the run folder and not repeated.

    :returns: the finished iterations, and the error that ended the outer loop early (None if no error ended it). The
        returned error says that the language model's budget is spent, or that the recording has no further reply.
    :raises LLMError: a request to a language model failed, or none of the replies was usable.
    """
    history = begun(ctx)
    while not is_finished(ctx, history):
        try:
            history = add_critique(ctx, brief, history)
            iteration = _stored(ctx, brief, history)
        except (BudgetExceeded, TranscriptEnded) as stop:
            ended = _ended_with_code(ctx, brief, history)
            return _learned_at_last(ctx, brief, history) if ended is None else ended, stop
        history = (*history, iteration)
        _tell(ctx, history)
    return history, None


def iterate(
    ctx: LoopContext, brief: Brief, history: History, *, last: bool | None = None, learns: bool = True
) -> Iteration:
    """Run one iteration. For the first iteration of a run, ``history`` is empty. The comments in ``iterate`` name the
    agent that decides each step in the paper.

    :param last: whether this is the last iteration. If ``last`` is None, the number of iterations decides whether this
        is the last iteration.
    :param learns: whether the iteration may train a policy. Otherwise, it ends when its code is judged.
    """
    last = ctx.allotment.is_last(history) if last is None else last
    judging = Judging(ctx, history, last)
    # slow agent: sub-actions, each coded or learned; inner loop: fast agent, critic and environment
    stages, plan, written, tried, plans = planned(Stages(ctx, brief, history))
    setup = stages.default_setup(written)  # the plugin's setup, because it is open whether a policy is trained
    spec = ctx.spec(setup, written)
    code = judging.evaluate_code(spec, tried)  # the coded actions alone, in the plan's order
    here = stages.steps_so_far(steps_of(tried, code))
    training: TrainingRecord | None = None
    tuned: Evaluation | None = None
    rivals: tuple[Evaluation, ...] = ()
    starts = Reached()
    if not learns or ctx.agents.evaluate == "code" or judging.is_solved_by(code):
        evaluation = code or ctx.unplayed()
    elif code is not None and not stages.is_worth_training(code, setup, here, last=last):
        evaluation = code = judging.complete(code, spec, tried)
    else:  # PPO on the action space that the coded actions extend, and a race of code, tuned code and policy
        setup = stages.set_up(plan, written, tried, code)  # fast agent: rewards, observations and actions of the RL
        spec = ctx.spec(setup, written)
        if ctx.agents.train:
            starts = stages.reach_starts(spec)
            here = stages.steps_so_far(steps_of(tried, code, starts=starts))
            searches = code is not None and stages.searches(spec)
            compares = ctx.trainer.compares(spec)
            budget = stages.training_steps(
                here, with_code=code is not None, tuned=searches, base_only=compares, last=last
            )
            training = stages.train(spec, starts, budget, code)
        here = stages.steps_so_far(steps_of(tried, code, training, starts=starts))
        code, evaluation, rivals, tuned = judging.select(spec, training, code, here)
    judged = (evaluation, *rivals, *([] if tuned is None else [tuned]))
    return Iteration(
        index=len(history),
        plan=plan,
        rehearsals=tried.actions,
        function_rehearsals=tried.functions,
        actions=written.actions,
        functions=written.functions,
        setup=setup,
        code_evaluation=code,
        training=training,
        tuned_evaluation=tuned,
        evaluation=evaluation,
        rivals=rivals,
        steps=stages.steps_so_far(steps_of(tried, code, training, judged, starts)),
        plans=plans,
    )


class Last(Value):
    """A mark in the folder of an iteration: no later iteration can run, so this iteration is the last one."""


class EndedWithCode(Value):
    """A mark in the folder of an iteration: the replies ended before the setup of its training, so the iteration has
    only its code. A resumed run asks for the setup again.
    """


def begun(ctx: LoopContext) -> History:
    """The iterations that a run, or a resumed run, has finished. An iteration that ended with its code, because the
    replies ended, becomes unfinished again.
    """
    history: History = ctx.run.iterations()
    if history and ctx.run.stage(mark := f"iterations/{history[-1].index}/ended_with_code", EndedWithCode) is not None:
        ctx.run.forget(f"iterations/{history[-1].index}/iteration")
        ctx.run.forget(mark)
        return history[:-1]
    return history


def _ended_with_code(ctx: LoopContext, brief: Brief, history: History) -> History | None:
    """End the unfinished iteration after ``history`` with its code, if its code is judged and only the setup of its
    training needs a reply that there will not be. Returns the changed history; None if there is no such code.
    """
    folder = f"iterations/{len(history)}"
    if ctx.run.stage(f"{folder}/code", Evaluation) is None:
        return None
    ctx.run.once(f"{folder}/ended_with_code", EndedWithCode, EndedWithCode)
    iteration = ctx.run.once(f"{folder}/iteration", Iteration, lambda: iterate(ctx, brief, history, learns=False))
    ctx.observer.message("no training: its setup needs a reply, and there are no further replies; the code is kept")
    history = (*history, iteration)
    _tell(ctx, history)
    return history


def _stored(ctx: LoopContext, brief: Brief, history: History) -> Iteration:
    """The iteration after ``history``. A finished iteration is read from the run folder; an unfinished iteration is run
    now. If the last iteration cannot train because the setup needs a reply that there will not be, it ends as an
    iteration that saves its steps for a later one.
    """
    folder = f"iterations/{len(history)}"
    if ctx.run.stage(f"{folder}/last", Last) is not None:
        with contextlib.suppress(BudgetExceeded, TranscriptEnded):
            return ctx.run.once(f"{folder}/iteration", Iteration, lambda: iterate(ctx, brief, history, last=True))
        ctx.run.forget(f"{folder}/last")
    return ctx.run.once(f"{folder}/iteration", Iteration, lambda: iterate(ctx, brief, history))


def _learned_at_last(ctx: LoopContext, brief: Brief, history: History) -> History:
    """Train in the newest iteration of ``history``, if this iteration saved its steps for a later iteration that will
    not run. Returns the changed history.
    """
    if not history or not ctx.agents.train or ctx.agents.evaluate == "code":
        return history
    *before, newest = history
    if newest.training is not None or newest.code_evaluation is None or ctx.is_solved(newest.kept):
        return history
    folder = f"iterations/{newest.index}"
    ctx.run.once(f"{folder}/last", Last, Last)
    ctx.run.forget(f"{folder}/iteration")
    again = _stored(ctx, brief, tuple(before))
    if newest.critique is not None:
        again = again.model_copy(update={"critique": newest.critique})
        ctx.run.rewrite(f"{folder}/iteration", again)
    history = (*before, again)
    _tell(ctx, history)
    return history


def _tell(ctx: LoopContext, history: History) -> None:
    best, newest = best_of(history), history[-1]
    ctx.run.update(steps=spent(history), iterations=len(history), best=best.index)
    ctx.book.follow(ctx.run.record.steps)
    ctx.observer.finished("iteration", index=newest.index, best=best.index, **outcome(newest.kept))


def is_finished(ctx: LoopContext, history: History) -> bool:
    """Whether the outer loop ends, because the target is reached, or no iterations or no primitive steps are left. A
    run has at least one iteration.
    """
    if not history:
        return False
    lost = ctx.book.bill(history, finished_stages(ctx.run, len(history))).lost
    return (
        len(history) >= max_iterations(ctx.settings, ctx.agents)
        or ctx.is_solved(best_of(history).kept)
        or spent(history).total + lost >= ctx.settings.budget
    )
