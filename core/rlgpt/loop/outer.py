"""The outer loop: plan, code, learn, judge, revise.

The page reads like the method (RL-GPT, section 3): the slow agent plans, the fast agent codes and sets up the learning,
PPO learns with the coded actions, the critic judges, and what it says is the next plan's history.
"""

from __future__ import annotations

from pathlib import Path

from rlgpt.agents.base import Brief, History, Outcome
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    Critique,
    Evaluation,
    Iteration,
    Rehearsal,
    RLSetup,
    Steps,
    TrainingRecord,
    best_of,
)
from rlgpt.errors import BudgetExceeded, LLMError, TranscriptEnded
from rlgpt.loop.context import LoopContext
from rlgpt.loop.frames import shots
from rlgpt.loop.inner import write_actions
from rlgpt.loop.reserve import reserve, turns_of
from rlgpt.loop.spending import finished_stages, spent
from rlgpt.rl.evaluation import OnFrame, evaluate, evaluate_code


def learn(ctx: LoopContext, brief: Brief) -> tuple[History, LLMError | None]:
    """Iterate until the target, the budget or the last iteration.

    :returns: the finished iterations, and why it stopped early (a budget of the language model, the end of a
        transcript), if it did.
    """
    history: History = ctx.run.iterations()
    while _goes_on(ctx, history):
        try:
            history = _advised(ctx, brief, history)
            iteration = ctx.run.once(
                f"iterations/{len(history)}/iteration",
                Iteration,
                lambda: _iterate(ctx, brief, history),  # noqa: B023
            )
        except (BudgetExceeded, TranscriptEnded) as stop:
            return history, stop
        history = (*history, iteration)
        best = best_of(history)
        ctx.run.update(steps=spent(history), iterations=len(history), best=best.index)
        ctx.observer.finished("iteration", index=iteration.index, success=iteration.success_rate, best=best.index)
    return history, None


def _goes_on(ctx: LoopContext, history: History) -> bool:
    if not history:
        return True
    lost = ctx.book.bill(history, finished_stages(ctx.run, len(history))).lost
    return (
        len(history) < turns_of(ctx.settings, ctx.agents)
        and best_of(history).success_rate < ctx.settings.target_success
        and spent(history).total + lost < ctx.settings.budget
    )


def _iterate(ctx: LoopContext, brief: Brief, history: History) -> Iteration:
    here = f"iterations/{len(history)}"
    ctx.observer.stage("plan", iteration=len(history))
    plan = ctx.run.once(f"{here}/plan", ActionPlan, lambda: ctx.agents.slow.plan(brief, history))
    actions, rehearsals = write_actions(ctx, brief, plan, history)
    ctx.observer.stage("setup", iteration=len(history))
    setup = ctx.run.once(
        f"{here}/setup",
        RLSetup,
        lambda: ctx.agents.fast.setup(brief, plan, actions=actions, history=history, rehearsals=rehearsals),
    )
    code = _try_code(ctx, here, setup, actions, len(history))
    solved = code is not None and code.success_rate >= ctx.settings.target_success
    finished = Steps(rehearsal=_rehearsed(rehearsals), code=code.primitive_steps if code else 0)
    steps = spent(history) + ctx.book.bill(history, finished)
    training = None
    if ctx.agents.evaluate == "code":
        evaluation = code or Evaluation(mode="code", episodes=())
    elif code is not None and solved:
        ctx.observer.message("the plan's code alone reaches the target: no steps are spent on learning")
        evaluation = code
    else:
        training = _train(ctx, here, setup, actions, history, steps) if ctx.agents.train else None
        evaluation = _select(ctx, here, setup, actions, training, len(history))
    finished = finished + Steps(
        training=training.primitive_steps if training else 0,
        selection=evaluation.primitive_steps if evaluation is not code else 0,
    )
    return Iteration(
        index=len(history),
        plan=plan,
        rehearsals=rehearsals,
        actions=actions,
        setup=setup,
        code_evaluation=code,
        training=training,
        evaluation=evaluation,
        steps=ctx.book.bill(history, finished),
    )


def _try_code(
    ctx: LoopContext, here: str, setup: RLSetup, actions: tuple[CodedAction, ...], index: int
) -> Evaluation | None:
    untrained = ctx.agents.evaluate == "policy" and not ctx.agents.train
    if not actions or not ctx.agents.rehearse or untrained:
        return None
    ctx.observer.stage("code", iteration=index)
    seeds = ctx.seeds.selection(ctx.settings.selection_episodes)

    def judge() -> Evaluation:
        spec, count = ctx.spec(setup, actions), ctx.book.counting("code")
        return evaluate_code(spec, actions, seeds=seeds, traces=ctx.settings.traces, on_step=count)

    evaluation = ctx.run.once(f"{here}/code", Evaluation, judge)
    ctx.observer.finished("code", success=evaluation.success_rate)
    return evaluation


def _train(
    ctx: LoopContext, here: str, setup: RLSetup, actions: tuple[CodedAction, ...], history: History, before: Steps
) -> TrainingRecord:
    share = _share(ctx, before, len(history))
    ctx.observer.stage("train", iteration=len(history), budget=share)
    return ctx.run.once(
        f"{here}/training",
        TrainingRecord,
        lambda: ctx.trainer.train(
            ctx.spec(setup, actions),
            budget=share,
            seed=ctx.seeds.training(len(history)),
            folder=ctx.train_folder(len(history)),
            hyperparameters=ctx.hyperparameters,
            progress=lambda point: ctx.observer.training(point, share),
            warm_start=_warm_start(ctx, setup, history),
        ),
    )


def _share(ctx: LoopContext, before: Steps, index: int) -> int:
    """This iteration's part of what is left, after putting by what judging can cost at most."""
    turns = turns_of(ctx.settings, ctx.agents) - index
    reserved_steps = reserve(ctx.settings, ctx.task, ctx.agents, turns)
    return max(1, (ctx.settings.budget - before.total - reserved_steps) // turns)


def _warm_start(ctx: LoopContext, setup: RLSetup, history: History) -> Path | None:
    """The newest policy that sees the same observation and keeps the same base actions."""
    for past in reversed(history):
        alike = (past.setup.observation_keys, past.setup.base_actions) == (setup.observation_keys, setup.base_actions)
        if past.training is not None and alike:
            return ctx.train_folder(past.index)
    return None


def _select(
    ctx: LoopContext,
    here: str,
    setup: RLSetup,
    actions: tuple[CodedAction, ...],
    training: TrainingRecord | None,
    index: int,
) -> Evaluation:
    spec = ctx.spec(setup, actions, training)
    ctx.observer.stage("select", episodes=ctx.settings.selection_episodes)

    def judge() -> Evaluation:
        policy = ctx.policy(spec, index, trained=training is not None)
        seeds = ctx.seeds.selection(ctx.settings.selection_episodes)
        count = ctx.book.counting("selection")
        return evaluate(policy, spec, seeds=seeds, greedy=False, traces=ctx.settings.traces, on_step=count)

    evaluation = ctx.run.once(f"{here}/evaluation", Evaluation, judge)
    ctx.observer.finished("select", success=evaluation.success_rate)
    return evaluation


def _advised(ctx: LoopContext, brief: Brief, history: History) -> History:
    """``history`` with the critic's word on its newest iteration.

    It is asked for when there is a next iteration to read it. An iteration is finished, and may be the best, without.
    """
    if not history or history[-1].critique is not None:
        return history
    *before, last = history
    here = f"iterations/{last.index}"
    ctx.observer.stage("critique", iteration=last.index)
    outcome = Outcome(
        plan=last.plan,
        actions=last.actions,
        setup=last.setup,
        code_evaluation=last.code_evaluation,
        training=last.training,
        evaluation=last.evaluation,
    )
    looking = 0

    def judge() -> Critique:
        nonlocal looking
        frames, looking = _frames(ctx, outcome, last.index)
        return ctx.agents.critic.critique(brief, outcome.model_copy(update={"frames": frames}), tuple(before))

    critique = ctx.run.once(f"{here}/critique", Critique, judge)
    steps = last.steps + Steps(selection=looking)
    whole = last.model_copy(update={"critique": critique, "steps": steps})
    ctx.run.rewrite(f"{here}/iteration", whole)
    return (*before, whole)


def _frames(ctx: LoopContext, outcome: Outcome, index: int) -> tuple[tuple[str, ...], int]:
    """Frames of the first selection episode played again, for a critic with eyes.

    :returns: the frames, and the primitive steps it took: no new experience, but they count.
    """
    if not ctx.agents.critic.supports_vision:
        return (), 0
    spec = ctx.spec(outcome.setup, outcome.actions, outcome.training)
    seeds, count, before = ctx.seeds.selection(1), ctx.book.counting("selection"), ctx.book.total

    def play(on_frame: OnFrame) -> object:
        if outcome.evaluation.mode == "code":
            return evaluate_code(spec, outcome.actions, seeds=seeds, on_frame=on_frame, on_step=count)
        policy = ctx.policy(spec, index, trained=outcome.training is not None)
        return evaluate(policy, spec, seeds=seeds, greedy=False, on_frame=on_frame, on_step=count)

    frames, why_none = shots(play)
    if why_none:
        ctx.observer.message(why_none)
    return frames, ctx.book.total - before


def _rehearsed(rehearsals: dict[str, tuple[Rehearsal, ...]]) -> int:
    return sum(r.steps for tried in rehearsals.values() for r in tried)
