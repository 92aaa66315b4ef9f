"""The critic's findings on the newest iteration, made when a next iteration will read them."""

from __future__ import annotations

from rlgpt.agents.base import Brief, History, Outcome
from rlgpt.domain import Critique, Steps
from rlgpt.loop.context import LoopContext, acting
from rlgpt.loop.frames import film
from rlgpt.rl.evaluation import Judge, OnFrame, evaluate_code


def add_critique(ctx: LoopContext, brief: Brief, history: History) -> History:
    """``history`` with a critique of its newest iteration; unchanged where it is empty or has one.

    An iteration is finished without a critique and may be the run's best.

    :raises LLMError: the critic's language model could not be asked, or none of its replies was usable.
    """
    if not history or history[-1].critique is not None:
        return history
    *before, last = history
    folder = f"iterations/{last.index}"
    ctx.observer.stage("critique", iteration=last.index)
    outcome = Outcome(
        plan=last.plan,
        actions=last.actions,
        setup=last.setup,
        code_evaluation=last.code_evaluation,
        training=last.training,
        evaluation=last.evaluation,
    )
    filmed_steps = 0

    def criticise() -> Critique:
        nonlocal filmed_steps
        frames, filmed_steps = _film_first_episode(ctx, outcome, last.index)
        trained = last.training.primitive_steps if last.training else None
        told = brief.model_copy(update={"training_steps": trained})
        return ctx.agents.critic.critique(told, outcome.model_copy(update={"frames": frames}), tuple(before))

    critique = ctx.run.once(f"{folder}/critique", Critique, criticise)
    steps = last.steps + Steps(selection=filmed_steps)
    complete = last.model_copy(update={"critique": critique, "steps": steps})
    ctx.run.rewrite(f"{folder}/iteration", complete)
    return (*before, complete)


def _film_first_episode(ctx: LoopContext, outcome: Outcome, index: int) -> tuple[tuple[str, ...], int]:
    """Frames of the first selection episode, played again for a critic whose model supports vision.

    :returns: the frames, and the primitive steps that were played: they yield no new experience, but they count towards
        the budget.
    """
    if not ctx.agents.critic.supports_vision:
        return (), 0
    spec = ctx.spec(outcome.setup, outcome.actions, outcome.training)
    seeds, count, before = ctx.seeds.selection(1), ctx.book.counting("selection"), ctx.book.total

    def play(on_frame: OnFrame) -> object:
        if outcome.evaluation.mode == "code":
            return evaluate_code(spec, outcome.actions, seeds=seeds, on_frame=on_frame, on_step=count)
        policy = ctx.policy(spec, index, trained=outcome.training is not None)
        with Judge(spec, on_frame=on_frame, on_step=count) as judge:
            return judge.play(acting(policy, outcome.evaluation.mode, outcome.evaluation.sharpness), seeds)

    frames, why_none = film(play)
    if why_none:
        ctx.observer.message(why_none)
    return frames, ctx.book.total - before
