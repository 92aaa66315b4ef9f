"""Evaluates a policy, or coded actions without a policy, with the task's own horizon, reset and success."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gymnasium

from rlgpt.domain import CodedAction, Episode, Evaluation, Mode, Score, Trace, Verdict
from rlgpt.domain.evaluations import quality
from rlgpt.options import OnStep
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.acting import by_code, by_policy, code_spec
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.lane_player import LEAST_EPISODES, LanePlayer
from rlgpt.rl.play import Acting, Camera, Limits, OnFrame, Played, Recorder, Stuck, cut_of, play_episode, shortened
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

    An episode is a success if ``info["success"]`` was true at any of its primitive steps. An episode depends only on
    its seed, so the same seeds give the same evaluation in any order. The reward of an evaluation is the sum of the
    plugin's default reward terms with their default weights, without discount.

    :param greedy: whether to take the most likely branch and the means of the Gaussians instead of samples.
    :param sharpness: sharpness of the samples (:meth:`rlgpt.rl.base.Policy.act`).
    :param traces: number of episodes whose traces are stored, which are the worst episode, the best one, the second
        worst one, and so on.
    :param on_frame: a function that gets each frame. If ``on_frame`` is given, the environment renders ``rgb_array``.
    :param on_step: a function that is called at every primitive step.
    """
    mode: Mode = "greedy" if greedy else "sampled" if sharpness == 1 else "sharpened"
    with Judge(spec, traces=traces, on_frame=on_frame, on_step=on_step) as judge:
        return judge.play(by_policy(policy, mode, sharpness), seeds)


def evaluate_code(
    spec: EnvSpec,
    actions: Sequence[CodedAction],
    *,
    seeds: Sequence[int],
    mode: Mode = "code",
    traces: int = 0,
    on_frame: OnFrame | None = None,
    on_step: OnStep | None = None,
) -> Evaluation:
    """Play the plan's coded actions in order, with default parameters and without a policy.

    After the last coded action of the plan, the sequence begins again, until the episode ends. A coded action that may
    not start is skipped. If no coded action may start, the next one in the order takes one idle step. All coded actions
    in ``actions`` are played, whatever the RLSetup of ``spec`` says.

    :param mode: the mode that the evaluation records, ``code`` or ``tuned``.
    :raises ConfigError: there are no actions.
    """
    with Judge(code_spec(spec, actions), traces=traces, on_frame=on_frame, on_step=on_step) as judge:
        return judge.play(by_code(actions, mode=mode), seeds)


class Judge:
    """Plays episodes of one recipe. If the plugin has a batch simulator, several episodes are played side by side in
    its lanes, with the same results (:mod:`rlgpt.rl.lane_player`). A judge makes its environment when the environment
    is needed for the first time.

    :param traces: maximal number of traces that each :meth:`play` stores.
    :param limit: maximal number of primitive steps of an episode, if this number is below the task's horizon.
    :param on_step: a function that is called at every primitive step. If the episodes are played in lanes, the first
        argument of ``on_step`` is the batch simulator.
    :param begin: for the seeds of some episodes, the saved state in which the episode begins. Episodes whose seed is
        not in ``begin`` start at the task's own start.
    :param keep_open: whether the environment stays open after :meth:`play`.
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
        keep_open: bool = True,
    ) -> None:
        self._spec, self._traces, self._limit, self._on_step = spec, traces, limit, on_step
        self._keep_open = keep_open
        self._begin = begin or {}
        self._camera = Camera(on_frame) if on_frame is not None else None
        self._env: PolicyEnv | None = None
        self._lanes: LanePlayer | None = None
        self._has_lanes = self._camera is None and not self._begin

    def play(
        self, acting: Acting, seeds: Sequence[int], *, steps: int | None = None, failures: int | None = None
    ) -> Evaluation:
        """Play one episode for each seed. The first episode is always played.

        :param steps: number of primitive steps of all episodes after which no further episode begins.
        :param failures: maximal number of episodes without success. When more than ``failures`` episodes have no
            success, no further episode begins.
        """
        horizon = self._spec.task.horizon
        limits = Limits(steps, failures, longest=horizon if self._limit is None else min(horizon, self._limit))
        lanes = self._open_lanes() if len(seeds) >= LEAST_EPISODES else None
        played = list(self._play(acting, seeds, limits) if lanes is None else lanes.play(acting, seeds, limits))
        if not self._keep_open:
            self._close()
        usage: Counter[str] = Counter()
        for one in played:
            usage.update(one.usage)
        return Evaluation(
            mode=acting.mode,
            sharpness=acting.sharpness,
            has_success=bool(self._spec.task.success),
            score=self._spec.task.score,
            episodes=tuple(one.episode for one in played),
            usage=_shares(usage),
            traces=tuple(
                shortened(trace)
                for trace in _extremes([one.trace for one in played if one.trace], self._traces, self._spec.task.score)
            ),
            verdicts=worth_keeping([verdict for one in played for verdict in one.verdicts]),
        )

    def _play(self, acting: Acting, seeds: Sequence[int], limits: Limits) -> Iterator[Played]:
        """Play the episodes one after another."""
        env = self._open()
        choose = acting.chooser(env.form)
        for seed in seeds:
            if not limits.allow():
                return
            verdicts: list[Verdict] = []
            recorder = Recorder() if self._traces else None
            stuck = Stuck(env.task.horizon) if acting.may_stop else None
            for info in play_episode(env, choose, seed, self._camera, stuck):
                verdicts += info.get("verdicts", ())
                if recorder is not None and "decision" in info:
                    recorder.add(info["decision"])
            cut = cut_of(info, self._limit, env.task.horizon, stuck="episode" not in info)
            episode = Episode(**env.figures(), cut=cut)
            limits.add(episode)
            yield Played(
                episode,
                dict(env.usage),
                None if recorder is None else recorder.trace(episode, env.task, unpaid=env.extended.unpaid),
                tuple(verdicts),
            )

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

    def _open_lanes(self) -> LanePlayer | None:
        if self._lanes is None and self._has_lanes:
            self._lanes = LanePlayer.open(self._spec, trace=self._traces > 0, limit=self._limit, on_step=self._on_step)
            self._has_lanes = self._lanes is not None
        return self._lanes

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        for opened in (self._env, self._lanes):
            if opened is not None:
                opened.close()
        self._env = self._lanes = None


def together(parts: Sequence[Evaluation], traces: int) -> Evaluation:
    """Merge several evaluations of the same mode into one evaluation.

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
            "traces": _extremes([t for part in parts for t in part.traces], traces, parts[0].score),
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


def _extremes(traces: Sequence[Trace], count: int, score: Score | None) -> tuple[Trace, ...]:
    """Choose at most ``count`` traces, which are those of the worst and of the best episodes, alternately. The chosen
    traces have the order in which their episodes were played.
    """

    order = sorted(range(len(traces)), key=lambda i: quality(traces[i], score))
    worst, best = order[: -(-count // 2)], order[-(count // 2) :] if count > 1 else []
    return tuple(traces[i] for i in sorted({*worst, *best}))
