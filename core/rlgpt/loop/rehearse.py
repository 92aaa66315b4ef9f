"""A rehearsal: one coded action is tried in the environment, in several episodes. The result contains a trace and the
number of primitive steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rlgpt.domain import CodedAction, CodedFunction, Decision, OtherStart, Task, Trace, Verdict
from rlgpt.options import ExtendedEnv, OnStep
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.sandbox import Library, Sandbox

ROUNDS = 3
"""How many times the earlier actions are played until the rehearsed action may start."""


class RehearsalResult(NamedTuple):
    """The outcome of a rehearsal.

    :ivar trace: the trace that agents see: of the first episode in which the action ran, else of the first episode. The
        last decision of the trace is the rehearsed action.
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

    If ``action`` may not start, the earlier actions are played again, :data:`ROUNDS` times in all, until it may. If it
    still has not run, or an earlier action ends the episode, a second episode plays the earlier actions up to the first
    moment at which it might have started, and then ``action``; none of them where there was no such moment.

    :param seeds: seeds of the episodes. The episodes after the first are played only if the action ran in the first one
        without a verdict, or could not start.
    :param library: the plugin's library for this task.
    :param functions: coded functions; code reads their features in the view.
    :param reward_weights: weights of the reward terms that the trace shows; None: the environment's own reward.
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
    others = tuple(_other(s) for s in starts if s is not shown)
    return RehearsalResult(shown.trace, sum(s.steps for s in starts), shown.verdict, others)


class _Start(NamedTuple):
    trace: Trace
    steps: int
    verdict: Verdict | None


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
    """The episodes of one seed. If ``action`` did not run in the first, a second one goes to a moment of the first at
    which it might start.
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
    """Play one episode.

    In the first round ``action`` follows all of ``before``; in the next ones it is chosen as soon as it may start.

    :returns: the trace; all verdicts, those on ``can_start`` included; after how many of ``before`` the action might
        first have started in the first round, or None.
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
        success=success,
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
