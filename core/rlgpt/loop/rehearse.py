"""A rehearsal: one coded action is tried in the environment, in several episodes. It reports what happened and the
steps it took.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rlgpt.domain import CodedAction, CodedFunction, Decision, OtherStart, Task, Trace, Verdict
from rlgpt.options import ExtendedEnv, OnStep
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.sandbox import Library, Sandbox

ROUNDS = 3
"""How many times the earlier actions are played until the rehearsed action may start."""


class RehearsalResult(NamedTuple):
    """The outcome of a rehearsal.

    :ivar trace: the episode that agents are shown: the first one in which the action ran, else the first one. Its last
        decision is the rehearsed action.
    :ivar steps: number of primitive steps of all episodes.
    :ivar verdict: the verdict on the action's call, else the first verdict on its ``can_start``, else None.
    :ivar others: the results of the other episodes.
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
    functions: Sequence[CodedFunction] = (),
    reward_weights: Mapping[str, float] | None = None,
    on_step: OnStep | None = None,
    render_mode: str | None = None,
) -> RehearsalResult:
    """Run ``action`` once with default parameters, after the actions that the plan puts before it.

    If ``action`` may not start, the earlier actions are played again, :data:`ROUNDS` times in all. If an earlier action
    ends the episode, ``action`` runs alone in a second episode.

    :param seeds: of the starts. Those after the first are played only where the action ran there without a verdict, or
        could not start.
    :param library: the plugin's for this task.
    :param functions: whose features code reads in the view.
    :param reward_weights: of the terms that the trace shows; None: the environment's own reward.
    :param on_step: called at every primitive step.
    """
    env = ExtendedEnv(
        plugin.make_env(task, seed=seeds[0], render_mode=render_mode),
        (*before, action),
        plugin=plugin,
        task=task,
        gamma=1.0,
        base_actions=None,
        reward_weights=reward_weights,
        sandbox=sandbox,
        quarantined=(),
        horizon=None,
        trace=True,
        library=library,
        on_step=on_step,
        functions=functions,
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
