"""Asks the critic for findings on the newest iteration, if a further iteration follows."""

from __future__ import annotations

from rlgpt.agents.base import Brief, History, Outcome
from rlgpt.domain import Critique, Iteration, Steps
from rlgpt.loop.code import Code, Tried
from rlgpt.loop.context import LoopContext
from rlgpt.loop.frames import film
from rlgpt.rl.acting import by_policy
from rlgpt.rl.evaluation import Judge, evaluate_code
from rlgpt.rl.play import OnFrame


def add_critique(ctx: LoopContext, brief: Brief, history: History) -> History:
    """Add the critic's findings on the newest iteration to ``history``. If the history is empty or has findings on its
    newest iteration already, the history is returned unchanged.

    An iteration without a critique counts as finished, and may be the best iteration of the run.

    :raises LLMError: a request to the critic's language model failed, or none of its replies was usable.
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
        rehearsals=last.rehearsals,
        tuned_evaluation=last.tuned_evaluation,
    )
    filmed_steps = 0

    def criticise() -> Critique:
        nonlocal filmed_steps
        frames, filmed_steps = _film_first_episode(ctx, last)
        remarks = Tried(functions=last.function_rehearsals).remarks
        current = brief.model_copy(update={"functions": last.functions, "remarks": remarks})
        return ctx.agents.critic.critique(current, outcome.model_copy(update={"frames": frames}), tuple(before))

    critique = ctx.run.once(f"{folder}/critique", Critique, criticise)
    steps = last.steps + Steps(selection=filmed_steps)
    complete = last.model_copy(update={"critique": critique, "steps": steps})
    ctx.run.rewrite(f"{folder}/iteration", complete)
    return (*before, complete)


def _film_first_episode(ctx: LoopContext, last: Iteration) -> tuple[tuple[str, ...], int]:
    """Play the first selection episode again and render its frames, if the critic's model accepts images.

    :returns: the rendered frames, and the number of primitive steps of the episode. The steps of the repeated episode
        count towards the budget, although they produce no new result.
    """
    if not ctx.agents.critic.supports_vision:
        return (), 0
    evaluation = last.evaluation
    spec = ctx.spec(last.setup, Code(last.actions, last.functions), last.masked)
    seeds, count, before = ctx.seeds.selection(1), ctx.book.counting("selection"), ctx.book.total

    def play(on_frame: OnFrame) -> object:
        if evaluation.mode == "code":
            return evaluate_code(spec, last.actions, seeds=seeds, on_frame=on_frame, on_step=count)
        policy = ctx.policy(spec, last.index, trained=last.training is not None)
        with Judge(spec, on_frame=on_frame, on_step=count) as judge:
            return judge.play(by_policy(policy, evaluation.mode, evaluation.sharpness), seeds)

    frames, why_none = film(play)
    if why_none:
        ctx.observer.message(why_none)
    return frames, ctx.book.total - before
