"""The rehearsal of one coded action in the environment: what happened, step by step, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rlgpt.domain import CodedAction, Decision, Task, Trace, Verdict
from rlgpt.options import ExtendedEnv, OnStep
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.sandbox import Library, Sandbox


class RehearsalResult(NamedTuple):
    """The outcome of a rehearsal.

    :ivar trace: the episode; its last decision is the rehearsed action.
    :ivar steps: primitive steps, those of an episode that ended too early included.
    :ivar verdict: the verdict on the action's call, else the first one on its ``can_start``; None where there is none.
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
    library: Library,
    on_step: OnStep | None = None,
) -> RehearsalResult:
    """Run ``action`` once with default parameters, after the actions that the plan puts before it.

    Where an earlier action ends the episode, ``action`` runs alone in a second episode.

    :param library: the plugin's for this task.
    :param on_step: called at every primitive step.
    """
    env = ExtendedEnv(
        plugin.make_env(task, seed=seed),
        (*before, action),
        plugin=plugin,
        task=task,
        gamma=1.0,
        base_actions=None,
        reward_weights=None,
        sandbox=sandbox,
        quarantined=(),
        horizon=None,
        trace=True,
        library=library,
        on_step=on_step,
    )
    try:
        trace, fallen = _play(env, (*before, action), seed)
        steps = trace.primitive_steps
        if trace.decisions[-1].action != action.name:
            trace, more = _play(env, (action,), seed)
            steps, fallen = steps + trace.primitive_steps, fallen + more
        own = trace.decisions[-1].verdict
        return RehearsalResult(trace, steps, own or next((v for v in fallen if v.action == action.name), None))
    finally:
        env.close()


def _play(env: ExtendedEnv, actions: Sequence[CodedAction], seed: int) -> tuple[Trace, list[Verdict]]:
    """Play one episode of ``actions``. Returns its trace and all its verdicts, those on ``can_start`` included."""
    _, info = env.reset(seed=seed)
    fallen, success = list(info.get("verdicts", ())), bool(info.get("success", False))
    decisions: list[Decision] = []
    for action in actions:
        _, _, terminated, truncated, info = env.step(env.extension.write(action.name))
        decisions.append(info["decision"])
        fallen += info.get("verdicts", ())
        success = success or bool(info.get("success", False))
        if terminated or truncated:
            break
    trace = Trace(
        seed=seed,
        success=success,
        total_reward=sum(d.reward for d in decisions),
        primitive_steps=sum(d.duration for d in decisions),
        decisions=tuple(decisions),
    )
    return trace, fallen
