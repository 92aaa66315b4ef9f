"""The outer loop: plan, write code, learn, evaluate, criticise, plan again (RL-GPT, section 3)."""

from __future__ import annotations

from rlgpt.agents.base import Brief, History
from rlgpt.domain import Evaluation, Iteration, TrainingRecord, best_of
from rlgpt.errors import BudgetExceeded, LLMError, TranscriptEnded
from rlgpt.loop.allotment import max_iterations
from rlgpt.loop.context import LoopContext
from rlgpt.loop.critique import add_critique
from rlgpt.loop.observer import outcome
from rlgpt.loop.spending import finished_stages, spent
from rlgpt.loop.stages import Stages, steps_of
from rlgpt.rl.starts import Reached


def learn(ctx: LoopContext, brief: Brief) -> tuple[History, LLMError | None]:
    """Iterate until an iteration reaches the target success, or iterations or primitive steps are used up.

    Finished iterations and stages are read from the run's folder and not repeated.

    :returns: the finished iterations, and the error that ended the loop early: the language model's budget is spent,
        or its transcript ended. None where the loop ended by itself.
    :raises LLMError: a language model could not be asked, or none of its replies was usable.
    """
    history: History = ctx.run.iterations()
    while not is_finished(ctx, history):
        try:
            history = add_critique(ctx, brief, history)
            iteration = _stored(ctx, brief, history)
        except (BudgetExceeded, TranscriptEnded) as stop:
            return _learned_at_last(ctx, brief, history), stop
        history = (*history, iteration)
        _tell(ctx, history)
    return history, None


def iterate(ctx: LoopContext, brief: Brief, history: History, *, last: bool | None = None) -> Iteration:
    """One iteration, the first without history. The comments name who decides what in the paper.

    :param last: no iteration comes after this one; None: this follows from the number of iterations.
    """
    last = ctx.allotment.is_last(history) if last is None else last
    stages = Stages(ctx, brief, history)
    plan = stages.plan()  # slow agent: the sub-actions, each code or RL
    actions, rehearsals = stages.write(plan)  # inner loop: fast agent, critic and environment
    setup = stages.set_up(plan, actions, rehearsals)  # fast agent: reward, observation and action space of the RL
    code = stages.evaluate_code(setup, actions, rehearsals)  # the coded actions alone, in the plan's order
    here = stages.steps_so_far(steps_of(rehearsals, code))
    training: TrainingRecord | None = None
    rivals: tuple[Evaluation, ...] = ()
    starts = Reached()
    if ctx.agents.evaluate == "code" or stages.is_solved_by(code):
        evaluation = code or ctx.unplayed()
    elif code is not None and not stages.is_worth_training(code, here, last=last):
        evaluation = code = stages.complete(code, setup, actions, rehearsals)
    else:  # PPO on the action space that the coded actions extend, and a race of code and policy
        if ctx.agents.train:
            starts = stages.reach_starts(setup, actions)
            here = stages.steps_so_far(steps_of(rehearsals, code, starts=starts))
            budget = stages.training_steps(here, with_code=code is not None, last=last)
            training = stages.train(setup, actions, starts, budget)
        here = stages.steps_so_far(steps_of(rehearsals, code, training, starts=starts))
        code, evaluation, rivals = stages.select(setup, actions, training, code, here)
    return Iteration(
        index=len(history),
        plan=plan,
        rehearsals=rehearsals,
        actions=actions,
        setup=setup,
        code_evaluation=code,
        training=training,
        evaluation=evaluation,
        rivals=rivals,
        steps=stages.steps_so_far(steps_of(rehearsals, code, training, (evaluation, *rivals), starts)),
    )


def _stored(ctx: LoopContext, brief: Brief, history: History, *, last: bool | None = None) -> Iteration:
    """The iteration after ``history``: read from disk if it is finished, else run."""
    name = f"iterations/{len(history)}/iteration"
    return ctx.run.once(name, Iteration, lambda: iterate(ctx, brief, history, last=last))


def _learned_at_last(ctx: LoopContext, brief: Brief, history: History) -> History:
    """``history`` with the newest iteration trained after all, if it saved its steps for one that does not come."""
    if not history or not ctx.agents.train or ctx.agents.evaluate == "code":
        return history
    *before, newest = history
    if newest.training is not None or newest.code_evaluation is None or ctx.is_solved(newest.kept):
        return history
    ctx.run.forget(f"iterations/{newest.index}/iteration")
    again = _stored(ctx, brief, tuple(before), last=True)
    if newest.critique is not None:
        again = again.model_copy(update={"critique": newest.critique})
        ctx.run.rewrite(f"iterations/{newest.index}/iteration", again)
    history = (*before, again)
    _tell(ctx, history)
    return history


def _tell(ctx: LoopContext, history: History) -> None:
    best, newest = best_of(history), history[-1]
    ctx.run.update(steps=spent(history), iterations=len(history), best=best.index)
    ctx.book.follow(ctx.run.record.steps)
    ctx.observer.finished("iteration", index=newest.index, best=best.index, **outcome(newest.kept))


def is_finished(ctx: LoopContext, history: History) -> bool:
    """Whether the target is reached, or iterations or primitive steps are used up. A run has at least one iteration."""
    if not history:
        return False
    lost = ctx.book.bill(history, finished_stages(ctx.run, len(history))).lost
    return (
        len(history) >= max_iterations(ctx.settings, ctx.agents)
        or ctx.is_solved(best_of(history).kept)
        or spent(history).total + lost >= ctx.settings.budget
    )
