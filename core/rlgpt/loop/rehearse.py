"""The rehearsal of one coded action in the environment, from several starts: what happened, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rlgpt.domain import CodedAction, Decision, OtherStart, Task, Trace, Verdict
from rlgpt.options import ExtendedEnv, OnStep
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.sandbox import Library, Sandbox

ROUNDS = 3
"""Times that the earlier actions are played until the rehearsed one may start."""


class RehearsalResult(NamedTuple):
    """The outcome of a rehearsal.

    :ivar trace: the episode that is shown; its last decision is the rehearsed action. It is the first episode in which
        the action ran, else the first episode.
    :ivar steps: primitive steps of all episodes.
    :ivar verdict: the verdict on the action's call, else the first one on its ``can_start``; None where there is none.
    :ivar others: the other starts.
    """

    trace: Trace
    steps: int
    verdict: Verdict | None
    others: tuple[OtherStart, ...] = ()


def rehearse(
    plugin: EnvironmentPlugin,
    task: Task,
    before: Sequence[CodedAction],
    action: CodedAction,
    *,
    seeds: Sequence[int],
    sandbox: Sandbox,
    library: Library,
    on_step: OnStep | None = None,
) -> RehearsalResult:
    """Run ``action`` once with default parameters, after the actions that the plan puts before it.

    Where it may not start, the earlier actions are played again, :data:`ROUNDS` times in all. Where an earlier action
    ends the episode, ``action`` runs alone in a second episode.

    :param seeds: of the starts. Those after the first are played only where the action ran there without a verdict, or
        could not start.
    :param library: the plugin's for this task.
    :param on_step: called at every primitive step.
    """
    env = ExtendedEnv(
        plugin.make_env(task, seed=seeds[0]),
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
    starts: list[_Start] = []
    try:
        for seed in seeds:
            starts.append(_start(env, before, action, seed))
            if len(starts) == 1 and starts[0].verdict is not None:
                break
    finally:
        env.close()
    shown = next((s for s in starts if s.trace.decisions[-1].ended != "masked"), starts[0])
    others = tuple(
        OtherStart(seed=s.trace.seed, ended=s.trace.decisions[-1].ended, success=s.trace.success, verdict=s.verdict)
        for s in starts
        if s is not shown
    )
    return RehearsalResult(shown.trace, sum(s.steps for s in starts), shown.verdict, others)


class _Start(NamedTuple):
    trace: Trace
    steps: int
    verdict: Verdict | None


def _start(env: ExtendedEnv, before: Sequence[CodedAction], action: CodedAction, seed: int) -> _Start:
    trace, fallen = _play(env, before, action, seed)
    steps = trace.primitive_steps
    if trace.decisions[-1].action != action.name:
        trace, more = _play(env, (), action, seed)
        steps, fallen = steps + trace.primitive_steps, fallen + more
    own = trace.decisions[-1].verdict
    return _Start(trace, steps, own or next((v for v in fallen if v.action == action.name), None))


def _play(
    env: ExtendedEnv, before: Sequence[CodedAction], action: CodedAction, seed: int
) -> tuple[Trace, list[Verdict]]:
    """Play one episode. Returns its trace and all its verdicts, those on ``can_start`` included."""
    _, info = env.reset(seed=seed)
    fallen, success = list(info.get("verdicts", ())), bool(info.get("success", False))
    decisions: list[Decision] = []
    over = False
    for _ in range(ROUNDS if before else 1):
        for played in (*before, action):
            _, _, terminated, truncated, info = env.step(env.extension.write(played.name))
            decisions.append(info["decision"])
            fallen += info.get("verdicts", ())
            success, over = success or bool(info.get("success", False)), terminated or truncated
            if over:
                break
        if over or decisions[-1].ended != "masked" or decisions[-1].verdict is not None:
            break
    trace = Trace(
        seed=seed,
        success=success,
        total_reward=sum(d.reward for d in decisions),
        primitive_steps=sum(d.duration for d in decisions),
        decisions=tuple(decisions),
    )
    return trace, fallen
