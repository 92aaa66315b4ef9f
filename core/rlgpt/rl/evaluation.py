"""Evaluates a policy, or coded actions without a policy, with the task's own horizon, reset and success."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import gymnasium

from rlgpt.domain import CodedAction, Episode, Evaluation, Mode, Trace, Verdict
from rlgpt.errors import ConfigError
from rlgpt.options import OnStep
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.play import Camera, Chooser, OnFrame, Recorder, Stuck, play_episode
from rlgpt.rl.policy_env import PolicyEnv, build
from rlgpt.rl.training_stats import worth_keeping


def evaluate(
    policy: Policy,
    spec: EnvSpec,
    *,
    seeds: Sequence[int],
    greedy: bool,
    sharpness: float = 1.0,
    traces: int = 0,
    on_frame: OnFrame | None = None,
    on_step: OnStep | None = None,
) -> Evaluation:
    """Play one episode for each seed.

    An episode is a success if any of its primitive steps had ``info["success"]``. An episode depends only on its seed,
    so the same seeds give the same evaluation in any order. Rewards are the plugin's default reward terms,
    undiscounted.

    :param greedy: take the most likely branch and the means instead of samples.
    :param sharpness: sharpness of the samples, see :meth:`rlgpt.rl.base.Policy.act`.
    :param traces: number of episodes with a trace: the first failure, the first success, the second failure, and so on.
    :param on_frame: receives frames. If it is not None, the environment renders ``rgb_array``.
    :param on_step: called at every primitive step.
    """
    with Judge(spec, traces=traces, on_frame=on_frame, on_step=on_step) as judge:
        return judge.play(by_policy(policy, greedy=greedy, sharpness=sharpness), seeds)


def evaluate_code(
    spec: EnvSpec,
    actions: Sequence[CodedAction],
    *,
    seeds: Sequence[int],
    traces: int = 0,
    on_frame: OnFrame | None = None,
    on_step: OnStep | None = None,
) -> Evaluation:
    """Play the plan's coded actions in order, with default parameters and without a policy.

    After the last action the sequence begins again, until the episode ends. An action that may not start costs one idle
    step, and the next action follows. The RLSetup of ``spec`` does not change the actions here.

    :raises ConfigError: there are no actions.
    """
    with Judge(code_spec(spec, actions), traces=traces, on_frame=on_frame, on_step=on_step) as judge:
        return judge.play(by_code(actions), seeds)


@dataclass(frozen=True)
class Acting:
    """A way to act in an episode.

    :ivar chooser: called with an environment, returns the function that chooses each action.
    :ivar sequence: number of actions in a round. After each round the episode is checked for being stuck; 0: it is
        never checked.
    """

    mode: Mode
    chooser: Callable[[PolicyEnv], Chooser]
    sharpness: float = 1.0
    sequence: int = 0


def by_policy(policy: Policy, *, greedy: bool = False, sharpness: float = 1.0) -> Acting:
    """The way to act that uses samples, sharpened samples or the most likely choices of ``policy``."""

    def chooser(env: PolicyEnv) -> Chooser:
        return lambda observation, rng: policy.act(observation, greedy=greedy, rng=rng, sharpness=sharpness)

    mode: Mode = "greedy" if greedy else "sampled" if sharpness == 1 else "sharpened"
    return Acting(mode, chooser, 1.0 if greedy else sharpness)


def by_code(actions: Sequence[CodedAction], *, may_stop: bool = False) -> Acting:
    """The way to act that plays the plan's coded actions in order, again and again.

    :param may_stop: end a stuck episode: every action was masked or the view did not change in
        :data:`~rlgpt.rl.play.STUCK_ROUNDS` successive rounds.
    """
    names = tuple(a.name for a in actions)

    def chooser(env: PolicyEnv) -> Chooser:
        sequence = [env.coded(name) for name in names]
        turn = _Turns(len(sequence))
        return lambda observation, rng: sequence[turn.next(fresh=observation["duration"][0] == 0)]

    return Acting("code", chooser, sequence=len(names) if may_stop else 0)


def code_spec(spec: EnvSpec, actions: Sequence[CodedAction]) -> EnvSpec:
    """The recipe of the environment in which ``actions`` play without a policy.

    :raises ConfigError: there are no actions.
    """
    if not actions:
        raise ConfigError("code alone needs at least one coded action; the plan has none.")
    alone = {"base_actions": None, "interrupt_every": None, "residual": 0.0, "plan_prior": 0.0}
    setup = spec.setup.model_copy(update={"coded_actions": tuple(a.name for a in actions), **alone})
    return dataclasses.replace(spec, setup=setup, actions=tuple(actions))


class _Turns:
    """Chooses the numbers 0, 1, ... n - 1, 0, ... in turn, and begins with 0 in each episode."""

    def __init__(self, count: int) -> None:
        self._count, self._at = count, 0

    def next(self, *, fresh: bool) -> int:
        self._at = 0 if fresh else (self._at + 1) % self._count
        return self._at


class Judge:
    """Plays episodes in one environment. The environment is made when the first episode begins.

    :param traces: maximal number of traces that each :meth:`play` stores.
    :param limit: maximal number of primitive steps of an episode, if it is less than the task's horizon.
    :param begin: seed of an episode -> the saved state in which it begins, instead of the task's own start.
    """

    def __init__(
        self,
        spec: EnvSpec,
        *,
        traces: int = 0,
        limit: int | None = None,
        on_frame: OnFrame | None = None,
        on_step: OnStep | None = None,
        begin: Mapping[int, EpisodeState] | None = None,
    ) -> None:
        self._spec, self._traces, self._limit, self._on_step = spec, traces, limit, on_step
        self._begin = begin or {}
        self._camera = Camera(on_frame) if on_frame is not None else None
        self._env: PolicyEnv | None = None

    def play(
        self, acting: Acting, seeds: Iterable[int], *, steps: int | None = None, failures: int | None = None
    ) -> Evaluation:
        """Play one episode for each seed. The first episode is always played.

        :param steps: primitive steps after which no further episode begins.
        :param failures: maximal number of episodes without success; after one more, no further episode begins.
        """
        env = self._open()
        choose = acting.chooser(env)
        episodes, kept, verdicts = list[Episode](), list[Trace](), list[Verdict]()
        usage: Counter[str] = Counter()
        for seed in seeds:
            if episodes and (
                (steps is not None and sum(e.primitive_steps for e in episodes) >= steps)
                or (failures is not None and sum(not e.success for e in episodes) > failures)
            ):
                break
            recorder = Recorder() if self._traces else None
            stuck = Stuck(acting.sequence, env.task.horizon) if acting.sequence else None
            for info in play_episode(env, choose, seed, self._camera, stuck):
                verdicts += info.get("verdicts", ())
                if recorder is not None and "decision" in info:
                    recorder.add(info["decision"])
            episodes.append(Episode(**env.figures(), cut=self._cut(env, info)))
            usage.update(env.usage)
            if recorder is not None:
                kept.append(
                    recorder.trace(episodes[-1], has_success=bool(env.task.success), unpaid=env.extended.unpaid)
                )
        return Evaluation(
            mode=acting.mode,
            sharpness=acting.sharpness,
            has_success=bool(self._spec.task.success),
            score=self._spec.task.score,
            episodes=tuple(episodes),
            usage=_shares(usage),
            traces=_both_kinds(kept, self._traces),
            verdicts=worth_keeping(verdicts),
        )

    def _cut(self, env: PolicyEnv, last: Mapping[str, Any]) -> Literal["stuck", "limit"] | None:
        if "episode" not in last:
            return "stuck"
        cut = self._limit is not None and self._limit <= last["primitive_steps"] < env.task.horizon
        return "limit" if cut and not last["terminated"] else None

    def _open(self) -> PolicyEnv:
        if self._env is None:
            self._env = build(
                self._spec,
                seed=0,
                evaluation=True,
                trace=self._traces > 0,
                limit=self._limit,
                render_mode="rgb_array" if self._camera is not None else None,
                on_step=_both(self._on_step, self._camera),
                begin=self._begin,
            )
        return self._env

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        if self._env is not None:
            self._env.close()


def together(parts: Sequence[Evaluation], traces: int) -> Evaluation:
    """Merge ``parts``, which have the same mode, into one evaluation.

    :param parts: at least one evaluation.
    :param traces: maximal number of traces that are kept.
    """
    usage: Counter[str] = Counter()
    for part in parts:
        decisions = sum(e.decisions for e in part.episodes)
        usage.update({name: round(share * decisions) for name, share in part.usage.items()})
    return parts[0].model_copy(
        update={
            "episodes": tuple(e for part in parts for e in part.episodes),
            "usage": _shares(usage),
            "traces": _both_kinds([t for part in parts for t in part.traces], traces),
            "verdicts": worth_keeping([v for part in parts for v in part.verdicts]),
        }
    )


def _shares(usage: Counter[str]) -> dict[str, float]:
    return {name: count / usage.total() for name, count in sorted(usage.items())}


def _both(one: OnStep | None, other: OnStep | None) -> OnStep | None:
    if one is None or other is None:
        return one or other

    def both(env: gymnasium.Env[Any, Any], step: int) -> None:
        one(env, step)
        other(env, step)

    return both


def _both_kinds(traces: Sequence[Trace], count: int) -> tuple[Trace, ...]:
    """Choose at most ``count`` traces: failures and successes in turn, as long as there are both. The traces are
    returned in the order in which their episodes were played.
    """
    failures = [t for t in traces if not t.success]
    successes = [t for t in traces if t.success]
    turns = [t for pair in zip_longest(failures, successes) for t in pair if t is not None]
    chosen = turns[:count]
    return tuple(t for t in traces if t in chosen)
