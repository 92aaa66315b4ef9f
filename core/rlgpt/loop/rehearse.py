"""Rehearses one coded action, which means that the action runs in the environment in several episodes. The result of a
rehearsal contains a trace and the number of primitive steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rlgpt.domain import CodedAction, CodedFunction, Decision, OtherStart, Task, Trace, Verdict
from rlgpt.options import ExtendedEnv, OnStep
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.sandbox import Library, Sandbox

ROUNDS = 3
"""Maximal number of times that the earlier actions are played to reach a state in which the rehearsed action
may start.
"""


class RehearsalResult(NamedTuple):
    """The result of a rehearsal.

    :ivar trace: the trace that agents get. The trace belongs to the first episode with a verdict, or else to the
        episode in which the action took the most primitive steps. The last decision of the trace is the rehearsed
        action.
    :ivar steps: number of primitive steps of all episodes of the rehearsal together.
    :ivar verdict: the verdict on the call of the action, or else the first verdict on its ``can_start``; None if there
        was no verdict.
    :ivar others: the results of the rehearsal in the episodes without a trace.
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
    """Run ``action`` in one episode for each seed, with default parameters, after the actions that come before it in
    the plan.

    If ``action`` may not start after the earlier actions, these actions are played again, at most :data:`ROUNDS` times
    in all, until ``action`` may start. A second episode is played if an earlier action ended the first episode, or if
    ``action`` did not run although it might have started earlier. In the second episode, the earlier actions are played
    only up to the first moment at which ``action`` might have started. If there was no such moment, ``action`` is the
    first action of the second episode.

    :param before: the actions that come before ``action`` in the plan.
    :param seeds: seeds of the rehearsal's episodes. The episodes after the first episode are played only if no verdict
        stopped the action in the first episode.
    :param library: the plugin's library for this task.
    :param functions: coded functions, whose features code may read in the view.
    :param reward_weights: weights of the reward terms that the trace shows. If ``reward_weights`` is None, the trace
        shows the environment's own reward.
    :param on_step: a function that is called at every primitive step.
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
    shown = max(starts, key=_worth_showing)
    others = tuple(_other(s) for s in starts if s is not shown)
    return RehearsalResult(shown.trace, sum(s.steps for s in starts), shown.verdict, others)


class _Start(NamedTuple):
    trace: Trace
    steps: int
    verdict: Verdict | None


def _worth_showing(start: _Start) -> tuple[bool, bool, int]:
    """How much the trace of an episode shows about the action; greater is more."""
    last = start.trace.decisions[-1]
    return start.verdict is not None, last.ended != "masked", last.duration


def _other(start: _Start) -> OtherStart:
    trace, last = start.trace, start.trace.decisions[-1]
    return OtherStart(
        seed=trace.seed,
        ended=last.ended,
        success=trace.success,
        verdict=start.verdict,
        steps=last.duration,
        score=trace.score,
        before=last.before,
        after=last.after,
    )


def _start(env: ExtendedEnv, before: Sequence[CodedAction], action: CodedAction, seed: int) -> _Start:
    """Play one episode with the given seed, or two episodes if they are needed. If ``action`` did not run in the first
    episode, the second episode leads to a moment at which ``action`` might start.
    """
    trace, fallen, moment = _play(env, before, action, seed)
    steps, last = trace.primitive_steps, trace.decisions[-1]
    masked = last.ended == "masked" and last.verdict is None
    if last.action != action.name or (masked and moment is not None):
        trace, more, _ = _play(env, before[: moment or 0], action, seed, rounds=1)
        steps, fallen = steps + trace.primitive_steps, fallen + more
    own = trace.decisions[-1].verdict
    return _Start(trace, steps, own or next((v for v in fallen if v.action == action.name), None))


def _play(
    env: ExtendedEnv, before: Sequence[CodedAction], action: CodedAction, seed: int, rounds: int = ROUNDS
) -> tuple[Trace, list[Verdict], int | None]:
    """Play one episode of the rehearsal.

    In the first round of the plan, ``action`` is chosen after all actions in ``before``. In later rounds of the plan,
    ``action`` is chosen as soon as it may start.

    :returns: the trace, all verdicts (also those on ``can_start``), and a number of actions in ``before``. After this
        number of actions, ``action`` might have started in the first round of the plan; None if it might not have
        started.
    """
    _, info = env.reset(seed=seed)
    fallen, success = list(info.get("verdicts", ())), bool(info.get("success", False))
    decisions: list[Decision] = []
    moment: int | None = None
    over = False
    for number in range(rounds if before else 1):
        for index, played in enumerate((*before, action)):
            ready = _may_start(env, action, info)
            if ready and moment is None and number == 0 and index < len(before):
                moment = index
            chosen = action if ready and number > 0 else played
            _, _, terminated, truncated, info = env.step(env.extension.write(chosen.name))
            decisions.append(info["decision"])
            fallen += info.get("verdicts", ())
            success, over = success or bool(info.get("success", False)), terminated or truncated
            if over or chosen is action:
                break
        last = decisions[-1]
        if over or last.ended != "masked" or last.verdict is not None:
            break
    trace = Trace(
        seed=seed,
        success=success and bool(env.task.success),
        total_reward=sum(d.reward for d in decisions),
        primitive_steps=sum(d.duration for d in decisions),
        decisions=tuple(decisions),
        has_success=bool(env.task.success),
        score=info.get("score"),
        unpaid=env.unpaid,
    )
    return trace, fallen, moment


def _may_start(env: ExtendedEnv, action: CodedAction, info: Mapping[str, Any]) -> bool:
    return bool(info["action_mask"][env.layout.branches.index(action.name)])
