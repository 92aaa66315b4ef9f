"""Plays the trial, which is a few episodes before a run with random actions, with the idle action and with other
constant actions. The trial shows whether episodes without a policy already count as success, and which score they
reach.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import gymnasium
import numpy as np

from rlgpt.domain import Task, Value
from rlgpt.options.measurement import Measurement
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.judged import flags
from rlgpt.plugin.types import Context

STEPS = 20_000
"""Maximal number of primitive steps of a trial. If a trial would need more steps, episodes are cut short, and the
report of the trial says so.
"""

SECONDS = 20.0
"""Time limit of a trial in seconds, as :func:`stopwatch` measures them. The limit is for slow simulators. After this
time, the episode in progress is cut short, and no further episode begins.
"""

CONSTANTS = 8
"""Maximal number of constant actions other than the idle action that a trial plays, with one episode for each."""


class TrialEpisode(Value):
    """One episode of the trial.

    :ivar acting: how actions are chosen in the episode. ``random`` means samples of the action space, ``idle`` means
        always the idle action, and ``constant`` means always the action ``action``.
    :ivar ended: how the episode ended. ``terminated`` means that the environment ended the episode, ``truncated`` means
        a time limit of the environment, and ``cut`` means that the trial ended the episode.
    :ivar flags: the keys of ``info`` that were True at the last step of the episode
        (:func:`rlgpt.plugin.judged.flags`).
    """

    acting: Literal["random", "idle", "constant"]
    seed: int
    primitive_steps: int
    ended: Literal["terminated", "truncated", "cut"]
    success: bool
    total_reward: float
    score: float | None = None
    flags: tuple[str, ...] = ()
    action: str = ""


class Trial(Value):
    """The results of the trial.

    :ivar episodes: the episodes that the trial played.
    :ivar planned: number of planned episodes with random actions, and also of planned episodes with the idle action.
    :ivar reported: whether the environment reported ``success`` or ``is_success`` at any step of the trial.
    :ivar keys: all keys of ``info`` that occurred in the trial.
    """

    episodes: tuple[TrialEpisode, ...]
    planned: int
    reported: bool
    keys: tuple[str, ...]

    @property
    def primitive_steps(self) -> int:
        return sum(e.primitive_steps for e in self.episodes)

    def of(self, acting: str) -> tuple[TrialEpisode, ...]:
        return tuple(e for e in self.episodes if e.acting == acting)


def stopwatch() -> Callable[[], float]:
    """A clock that starts at 0. The clock shows, in seconds, the computing time of this process or a third of the
    elapsed time, whichever is larger. With this clock, a busy machine hardly shortens a trial, and a trial ends even if
    the simulator computes in another process.
    """
    computed, passed = time.process_time(), time.monotonic()
    return lambda: max(time.process_time() - computed, (time.monotonic() - passed) / 3)


def try_out(plugin: GenericPlugin, task: Task, count: int, *, clock: Callable[[], float] | None = None) -> Trial:
    """Play the trial. The trial has ``count`` episodes with random actions and ``count`` episodes with the idle action,
    on the seeds 0, 1, ...

    The trial also has one episode with each of at most :data:`CONSTANTS` other constant actions. The constant actions
    are values of a Discrete space, or the actions of a bounded Box space with one number at one of its bounds. In a Box
    space with more than :data:`CONSTANTS` such actions, none is played.
    """
    clock = clock or stopwatch()
    episodes: list[TrialEpisode] = []
    deadline, left = clock() + SECONDS, STEPS
    each = max(1, STEPS // (2 * count))
    env = plugin.make_env(task, seed=0)
    try:
        constants = [("constant", 0, name, action) for name, action in _constants(plugin, task, env)]
        alike = [(acting, seed, "", None) for seed in range(count) for acting in ("random", "idle")]
        for acting, seed, name, action in (*alike[:2], *constants, *alike[2:]):
            if (now := clock()) < deadline and left > 0:
                # An episode may use half of the remaining time, so that the idle action is tried even if one
                # episode takes long.
                until = now + (deadline - now) / 2
                played = _play(plugin, task, env, acting, seed, min(each, left), until, clock, action)
                episodes.append(played.model_copy(update={"action": name}))
                left -= played.primitive_steps
        reported, keys = env.get_wrapper_attr("reported"), tuple(sorted(env.get_wrapper_attr("seen")))
    finally:
        env.close()
    return Trial(episodes=tuple(episodes), planned=count, reported=reported, keys=keys)


def _constants(plugin: GenericPlugin, task: Task, env: gymnasium.Env[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values of the trial's constant actions, without the idle action."""
    space, labels = env.action_space, list(plugin.labels(task).actions)
    idle = plugin.idle(space)
    if isinstance(space, gymnasium.spaces.Discrete):
        values = [(label, space.start + i) for i, label in enumerate(labels)]
        yield from [(label, value) for label, value in values if value != idle][:CONSTANTS]
    elif isinstance(space, gymnasium.spaces.Box) and space.is_bounded() and 2 * space.low.size <= CONSTANTS:
        for i, label in enumerate(labels):
            for bound in (space.low.flat[i], space.high.flat[i]):
                action = np.array(idle, space.dtype)
                if action.flat[i] != bound:
                    action.flat[i] = bound
                    yield f"{label}={bound:g}", action


def _play(
    plugin: GenericPlugin,
    task: Task,
    env: gymnasium.Env[Any, Any],
    acting: Any,
    seed: int,
    steps: int,
    deadline: float,
    clock: Callable[[], float],
    constant: Any,
) -> TrialEpisode:
    observation, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    measured = Measurement(task)
    measured.reset(info)
    ctx = Context(task, observation, info, 0, np.random.default_rng(seed), plugin.model(env))
    success, total = False, 0.0
    ended: Literal["terminated", "truncated", "cut"] = "cut"
    while ctx.step < steps and (ctx.step % 64 or not ctx.step or clock() < deadline):
        if acting == "random":
            action = env.action_space.sample()
        else:
            action = plugin.noop(env.action_space, ctx) if acting == "idle" else constant
        ctx.observation, reward, terminated, truncated, ctx.info = env.step(action)
        ctx.step += 1
        total += float(reward)
        success = success or bool(ctx.info["success"])
        measured.add(ctx.info, float(reward))
        if terminated or truncated:
            ended = "terminated" if terminated else "truncated"
            break
    report: dict[str, Any] = {}
    measured.report(report)
    return TrialEpisode(
        acting=acting,
        seed=seed,
        primitive_steps=ctx.step,
        ended=ended,
        success=success,
        total_reward=total,
        score=report.get("score"),
        flags=flags(ctx.info),
    )
