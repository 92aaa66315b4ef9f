"""Evaluates a policy, or code alone, with the task's own horizon, reset and success."""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Literal

import gymnasium
import numpy as np

from rlgpt.domain import CodedAction, Decision, Episode, Evaluation, Trace, Verdict
from rlgpt.errors import ConfigError
from rlgpt.options import OnStep
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.policy_env import Observation, PolicyEnv, build
from rlgpt.rl.training_stats import worth_keeping

TRACE_HEAD, TRACE_TAIL = 30, 30
"""Decisions that a trace keeps of a longer episode's beginning and end."""

OnFrame = Callable[[np.ndarray, str], None]
"""Called with a frame (uint8, height x width x 3) and the active action's name: after a reset ("start"), then after
every primitive step."""

Chooser = Callable[[Observation, np.random.Generator], Any]


def evaluate(
    policy: Policy,
    spec: EnvSpec,
    *,
    seeds: Sequence[int],
    greedy: bool,
    traces: int = 0,
    on_frame: OnFrame | None = None,
    on_step: OnStep | None = None,
) -> Evaluation:
    """Play one episode for each seed.

    An episode is a success where any primitive step of it had ``info["success"]``. Each depends on its own seed alone,
    so that the same seeds give the same evaluation, in any order. Rewards are the plugin's default terms, undiscounted.

    :param greedy: the most likely branch and the means, instead of samples.
    :param traces: number of episodes with a trace: failures and successes alternate, the first of each.
    :param on_frame: receives frames; if it is set, the environment renders ``rgb_array``.
    :param on_step: called at every primitive step.
    """
    mode: Literal["greedy", "sampled"] = "greedy" if greedy else "sampled"

    def chooser(env: PolicyEnv) -> Chooser:
        return lambda observation, rng: policy.act(observation, greedy=greedy, rng=rng)

    return _judge(spec, mode, chooser, seeds, traces, on_frame, on_step)


def evaluate_code(
    spec: EnvSpec,
    actions: Sequence[CodedAction],
    *,
    seeds: Sequence[int],
    traces: int = 0,
    on_frame: OnFrame | None = None,
    on_step: OnStep | None = None,
) -> Evaluation:
    """Play the plan's coded actions in order, parameters at their defaults, without any policy.

    After the last the sequence begins again, until the episode ends. An action that may not start costs one no-op; then
    it is the next action's turn. The RLSetup of ``spec`` has no effect on the actions here.

    :raises ConfigError: there are no actions.
    """
    if not actions:
        raise ConfigError("code alone needs at least one coded action; the plan has none.")
    names = tuple(a.name for a in actions)
    setup = spec.setup.model_copy(update={"coded_actions": names, "base_actions": None})
    spec = dataclasses.replace(spec, setup=setup, actions=tuple(actions))

    def chooser(env: PolicyEnv) -> Chooser:
        sequence = [env.coded(name) for name in names]
        turn = _Turns(len(sequence))
        return lambda observation, rng: sequence[turn.next(fresh=observation["duration"][0] == 0)]

    return _judge(spec, "code", chooser, seeds, traces, on_frame, on_step)


class _Turns:
    """0, 1, ... n - 1, 0, ...; from 0 again in a fresh episode."""

    def __init__(self, count: int) -> None:
        self._count, self._at = count, 0

    def next(self, *, fresh: bool) -> int:
        self._at = 0 if fresh else (self._at + 1) % self._count
        return self._at


def _judge(
    spec: EnvSpec,
    mode: Literal["sampled", "greedy", "code"],
    chooser: Callable[[PolicyEnv], Chooser],
    seeds: Sequence[int],
    traces: int,
    on_frame: OnFrame | None,
    on_step: OnStep | None,
) -> Evaluation:
    camera = _Camera(on_frame) if on_frame is not None else None
    env = build(
        spec,
        seed=0,
        evaluation=True,
        trace=traces > 0,
        render_mode="rgb_array" if camera is not None else None,
        on_step=_both(on_step, camera),
    )
    episodes, kept, verdicts = [], [], list[Verdict]()
    usage: Counter[str] = Counter()
    try:
        choose = chooser(env)
        for seed in seeds:
            recorder = _Recorder() if traces else None
            for info in _episode(env, choose, seed, camera):
                verdicts += info.get("verdicts", ())
                if recorder is not None and "decision" in info:
                    recorder.add(info["decision"])
            episodes.append(Episode(**info["episode"]))
            usage.update(info["usage"])
            if recorder is not None:
                kept.append(recorder.trace(episodes[-1]))
    finally:
        env.close()
    return Evaluation(
        mode=mode,
        episodes=tuple(episodes),
        usage={name: count / usage.total() for name, count in sorted(usage.items())},
        traces=_both_kinds(kept, traces),
        verdicts=worth_keeping(verdicts),
    )


def _both(one: OnStep | None, other: OnStep | None) -> OnStep | None:
    if one is None or other is None:
        return one or other

    def both(env: gymnasium.Env[Any, Any], step: int) -> None:
        one(env, step)
        other(env, step)

    return both


def _both_kinds(traces: Sequence[Trace], count: int) -> tuple[Trace, ...]:
    """At most ``count`` traces, in the order of play: failures and successes alternate as long as there are both."""
    failures = [t for t in traces if not t.success]
    successes = [t for t in traces if t.success]
    turns = [t for pair in zip_longest(failures, successes) for t in pair if t is not None]
    chosen = turns[:count]
    return tuple(t for t in traces if t in chosen)


def _episode(env: PolicyEnv, choose: Chooser, seed: int, camera: _Camera | None) -> Iterator[dict[str, Any]]:
    """The info of the reset and of every decision; the last one has ``episode``."""
    rng = np.random.default_rng([seed, 0xE7A1])
    if camera is not None:
        camera.action = "start"
    observation, info = env.reset(seed=seed)
    over = False
    yield info
    while not over:
        action = choose(observation, rng)
        if camera is not None:
            camera.action = env.branch(action)
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        yield info


class _Recorder:
    """Keeps the beginning and the end of an episode."""

    def __init__(self) -> None:
        self._head: list[Decision] = []
        self._tail: deque[Decision] = deque(maxlen=TRACE_TAIL)
        self._count = 0

    def add(self, decision: Decision) -> None:
        self._count += 1
        if len(self._head) < TRACE_HEAD:
            self._head.append(decision)
        else:
            self._tail.append(decision)

    def trace(self, episode: Episode) -> Trace:
        decisions = (*self._head, *self._tail)
        return Trace(
            seed=episode.seed,
            success=episode.success,
            total_reward=episode.total_reward,
            primitive_steps=episode.primitive_steps,
            decisions=decisions,
            omitted=self._count - len(decisions),
        )


class _Camera:
    """Passes on the frame of each primitive step, with the name of the active action."""

    def __init__(self, on_frame: OnFrame) -> None:
        self._on_frame, self.action = on_frame, "start"

    def __call__(self, env: gymnasium.Env[Any, Any], step: int) -> None:
        frame = env.render()
        if not isinstance(frame, np.ndarray):
            raise ConfigError(f"the environment renders {type(frame).__name__}, no rgb_array frame; ask for no video.")
        self._on_frame(frame, self.action)
