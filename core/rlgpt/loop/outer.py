"""The outer loop: plan, write code, learn, evaluate, criticise, plan again (RL-GPT, section 3)."""

from __future__ import annotations

from rlgpt.agents.base import Brief, History
from rlgpt.domain import Evaluation, Iteration, best_of
from rlgpt.errors import BudgetExceeded, LLMError, TranscriptEnded
from rlgpt.loop.context import LoopContext
from rlgpt.loop.critique import add_critique
from rlgpt.loop.observer import outcome
from rlgpt.loop.reserve import max_iterations
from rlgpt.loop.spending import finished_stages, spent
from rlgpt.loop.stages import Stages, steps_of


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
            iteration = ctx.run.once(
                f"iterations/{len(history)}/iteration",
                Iteration,
                lambda: iterate(ctx, brief, history),  # noqa: B023
            )
        except (BudgetExceeded, TranscriptEnded) as stop:
            return history, stop
        history = (*history, iteration)
        best = best_of(history)
        ctx.run.update(steps=spent(history), iterations=len(history), best=best.index)
        ctx.observer.finished("iteration", index=iteration.index, best=best.index, **outcome(iteration.kept))
    return history, None


def iterate(ctx: LoopContext, brief: Brief, history: History) -> Iteration:
    """One iteration, the first without history. The comments name who decides what in the paper."""
    stages = Stages(ctx, brief, history)
    plan = stages.plan()  # slow agent: the sub-actions, each code or RL
    actions, rehearsals = stages.write(plan)  # inner loop: fast agent, critic and environment
    setup = stages.set_up(plan, actions, rehearsals)  # fast agent: reward, observation and action space of the RL
    code = stages.evaluate_code(setup, actions)  # the coded actions alone, in the plan's order
    if ctx.agents.evaluate == "code" or stages.is_solved_by(code):
        training, evaluation = None, code or Evaluation(mode="code", episodes=())
    else:  # PPO on the action space that the coded actions extend
        steps = spent(history) + stages.steps_so_far(steps_of(rehearsals, code))
        training = stages.train(setup, actions, steps) if ctx.agents.train else None
        evaluation = stages.evaluate_policy(setup, actions, training)
    return Iteration(
        index=len(history),
        plan=plan,
        rehearsals=rehearsals,
        actions=actions,
        setup=setup,
        code_evaluation=code,
        training=training,
        evaluation=evaluation,
        steps=stages.steps_so_far(steps_of(rehearsals, code, training, evaluation)),
    )


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
