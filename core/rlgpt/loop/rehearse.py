"""The rehearsal of one coded action in the environment: what happened, step by step, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CodedAction, Decision, Task, Trace, Verdict
from rlgpt.options import ExtendedEnv, extend
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.rl.watch import OnStep, Watch
from rlgpt.sandbox import Sandbox


def rehearse(
    plugin: EnvironmentPlugin,
    task: Task,
    before: Sequence[CodedAction],
    action: CodedAction,
    *,
    seed: int,
    sandbox: Sandbox,
    on_step: OnStep | None = None,
) -> tuple[Trace, int]:
    """Run ``action`` once, after the actions the plan puts before it, parameters at their defaults.

    Where an earlier action already ends the episode, ``action`` is tried alone from a fresh start.

    :param on_step: sees every primitive step, for those who count them.
    :returns: the trace with ``action`` at its end, and the primitive steps spent, the other try's included.
    """
    base = Watch(plugin.make_env(task, seed=seed), on_step=on_step)
    env = extend(base, (*before, action), plugin=plugin, task=task, trace=True, sandbox=sandbox)
    try:
        trace = _play(env, (*before, action), seed)
        if trace.decisions[-1].action == action.name:
            return trace, trace.primitive_steps
        alone = _play(env, (action,), seed)
        return alone, trace.primitive_steps + alone.primitive_steps
    finally:
        env.close()


def exercised(trace: Trace) -> bool:
    """Whether the action at the trace's end could start at all."""
    return trace.decisions[-1].ended != "masked"


def _play(env: ExtendedEnv, actions: Sequence[CodedAction], seed: int) -> Trace:
    env.reset(seed=seed)
    decisions: list[Decision] = []
    success = False
    for action in actions:
        _, _, terminated, truncated, info = env.step(env.extension.write(action.name))
        decisions.append(info["decision"])
        success = success or bool(info.get("success", False))
        if terminated or truncated:
            break
    return Trace(
        seed=seed,
        success=success,
        total_reward=sum(d.reward for d in decisions),
        primitive_steps=sum(d.duration for d in decisions),
        decisions=tuple(decisions),
    )


def verdict_of(trace: Trace, action: CodedAction) -> Verdict | None:
    """The verdict on ``action`` in ``trace``, if one fell."""
    return next((d.verdict for d in reversed(trace.decisions) if d.action == action.name and d.verdict), None)
