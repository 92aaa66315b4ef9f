"""The rehearsal of one coded action in the environment: what happened, step by step, and what it cost."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

from rlgpt.domain import CodedAction, Decision, Task, Trace, Verdict
from rlgpt.options import BrokenActionWarning, ExtendedEnv, extend
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.rl.monitor import OnStep, StepMonitor
from rlgpt.sandbox import Sandbox


class RehearsalResult(NamedTuple):
    """What came of a rehearsal.

    :ivar trace: with the action at its end.
    :ivar steps: the primitive steps spent, those of a first try included.
    :ivar verdict: on the action, if one fell: on its call, or on its ``can_start`` at any moment.
    """

    trace: Trace
    steps: int
    verdict: Verdict | None


def rehearse(
    plugin: EnvironmentPlugin,
    task: Task,
    before: Sequence[CodedAction],
    action: CodedAction,
    *,
    seed: int,
    sandbox: Sandbox,
    on_step: OnStep | None = None,
) -> RehearsalResult:
    """Run ``action`` once, after the actions the plan puts before it, parameters at their defaults.

    Where an earlier action already ends the episode, ``action`` is tried alone from a fresh start.

    :param on_step: sees every primitive step, for those who count them.
    """
    base = StepMonitor(plugin.make_env(task, seed=seed), on_step=on_step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BrokenActionWarning)  # its call tells the same, to the one who mends it
        env = extend(base, (*before, action), plugin=plugin, task=task, trace=True, sandbox=sandbox, quarantined=())
    try:
        trace, fallen = _play(env, base, (*before, action), seed)
        steps = trace.primitive_steps
        if trace.decisions[-1].action != action.name:
            trace, more = _play(env, base, (action,), seed)
            steps, fallen = steps + trace.primitive_steps, fallen + more
        own = trace.decisions[-1].verdict
        return RehearsalResult(trace, steps, own or next((v for v in fallen if v.action == action.name), None))
    finally:
        env.close()


def _play(
    env: ExtendedEnv, base: StepMonitor, actions: Sequence[CodedAction], seed: int
) -> tuple[Trace, list[Verdict]]:
    """One episode of ``actions``, and every verdict that fell in it, those on a ``can_start`` between calls too.

    Success is ``base``'s to tell: a decision's info has the last primitive step's only.
    """
    _, info = env.reset(seed=seed)
    fallen = list(info.get("verdicts", ()))
    decisions: list[Decision] = []
    for action in actions:
        _, _, terminated, truncated, info = env.step(env.extension.write(action.name))
        decisions.append(info["decision"])
        fallen += info.get("verdicts", ())
        if terminated or truncated:
            break
    trace = Trace(
        seed=seed,
        success=base.success,
        total_reward=sum(d.reward for d in decisions),
        primitive_steps=sum(d.duration for d in decisions),
        decisions=tuple(decisions),
    )
    return trace, fallen
