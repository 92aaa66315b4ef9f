"""The trial: a few episodes with random actions and with the idle action before a run. The trial shows whether such
episodes already count as success.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import gymnasium
import numpy as np

from rlgpt.domain import RETURN, Score, Task, Value
from rlgpt.options.measurement import Measurement
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.rules import SuccessRule
from rlgpt.plugin.types import Context

STEPS = 20_000
"""Maximal number of primitive steps of a trial. Episodes beyond this number are cut, and the report of the trial
mentions it.
"""

SECONDS = 20.0
"""Time limit of a trial, in seconds, for slow simulators. After this time, the current episode is cut and no further
episode begins.
"""


FLAGS = 4
UNTOLD = ("success", "is_success", "TimeLimit.truncated")
"""Keys of ``info`` that do not show why an episode ended."""


class TrialEpisode(Value):
    """One episode of the trial.

    :ivar acting: ``random``: samples of the action space; ``idle``: always the idle action.
    :ivar ended: how the episode ended: by the environment, by a time limit, or by the trial.
    :ivar flags: keys of ``info`` that were True at the last step, at most :data:`FLAGS`. These flags may show why the
        episode ended.
    """

    acting: Literal["random", "idle"]
    seed: int
    primitive_steps: int
    ended: Literal["terminated", "truncated", "cut"]
    success: bool
    total_reward: float
    score: float | None = None
    flags: tuple[str, ...] = ()


class Trial(Value):
    """The results of the trial.

    :ivar episodes: the episodes that were played.
    :ivar planned: number of planned episodes of each kind (random, idle).
    :ivar reported: whether the environment reported ``success`` or ``is_success`` at any step.
    :ivar keys: keys of ``info`` that occurred.
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


def try_out(plugin: GenericPlugin, task: Task, count: int, *, clock: Callable[[], float] = time.monotonic) -> Trial:
    """Play ``count`` episodes with random actions and as many with the idle action, on the seeds 0, 1, ..."""
    episodes: list[TrialEpisode] = []
    deadline, left = clock() + SECONDS, STEPS
    each = max(1, STEPS // (2 * count))
    env = plugin.make_env(task, seed=0)
    try:
        for seed in range(count):
            for acting in ("random", "idle"):
                if (now := clock()) < deadline and left > 0:
                    # An episode may use half of the remaining time, so that the idle action is tried even if one
                    # episode takes long.
                    until = now + (deadline - now) / 2
                    episodes.append(_play(plugin, task, env, acting, seed, min(each, left), until, clock))
                    left -= episodes[-1].primitive_steps
        reported, keys = env.get_wrapper_attr("reported"), tuple(sorted(env.get_wrapper_attr("seen")))
    finally:
        env.close()
    return Trial(episodes=tuple(episodes), planned=count, reported=reported, keys=keys)


def _play(
    plugin: GenericPlugin,
    task: Task,
    env: gymnasium.Env[Any, Any],
    acting: Any,
    seed: int,
    steps: int,
    deadline: float,
    clock: Callable[[], float],
) -> TrialEpisode:
    observation, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    measured = Measurement(task)
    measured.reset(info)
    ctx = Context(task, observation, info, 0, np.random.default_rng(seed), plugin.model(env))
    success, total = False, 0.0
    ended: Literal["terminated", "truncated", "cut"] = "cut"
    while ctx.step < steps and (ctx.step % 64 or clock() < deadline):
        action = env.action_space.sample() if acting == "random" else plugin.noop(env.action_space, ctx)
        ctx.observation, reward, terminated, truncated, ctx.info = env.step(action)
        ctx.step += 1
        total += float(reward)
        success = success or bool(ctx.info["success"])
        measured.add(ctx.info, float(reward))
        if terminated or truncated:
            ended = "terminated" if terminated else "truncated"
            break
    told: dict[str, Any] = {}
    measured.report(told)
    return TrialEpisode(
        acting=acting,
        seed=seed,
        primitive_steps=ctx.step,
        ended=ended,
        success=success,
        total_reward=total,
        score=told.get("score"),
        flags=tuple(str(k) for k, v in ctx.info.items() if k not in UNTOLD and v is True)[:FLAGS],
    )


def rule_lines(plugin: GenericPlugin, task: Task, *, chosen: bool, horizon: int | None) -> list[str]:
    """The rules of success and score, and the length of an episode, as lines of text.

    :param chosen: whether the user defined success or score.
    :param horizon: the horizon that the user gave, or None.
    """
    lines = []
    rule = plugin.rule
    if rule is not None:
        text = f"{rule.text}, {rule.when}" if isinstance(rule, SuccessRule) else f"a function: {rule.words}"
        if isinstance(rule, SuccessRule) and rule.text.endswith(rule.when):
            text = rule.text
        source = "" if chosen else " (the environment reports success itself; success= or score= choose otherwise)"
        lines.append(f"success: {text}{source}")
    if (score := task.score) is not None:
        better = "more is better" if score.maximize else "less is better"
        unit = score.unit or next((m.unit for m in task.metrics if m.name == score.metric), "")
        name = "the return of the episode" if score.metric == RETURN else score.metric
        source = "" if chosen else "; the environment reports no success and none was given: success=, score="
        lines.append(f"score: {name}{f' in {unit}' if unit else ''}, {better}{source}")
        threshold = plugin.threshold
        if not chosen and threshold is not None:
            lines.append(
                f"  (it is registered with a reward_threshold of {threshold:g}: success={threshold:g} uses it)"
            )
    if task.metrics:
        told = ", ".join(f"{m.name} ({m.reduce}{f', {m.unit}' if m.unit else ''})" for m in task.metrics)
        lines.append(f"metrics: {told}")
    given = "as given" if horizon else "the environment's own limit" if plugin.has_limit else "assumed, since the "
    if given.startswith("assumed"):
        given += "environment names no limit: horizon= sets another"
    return [*lines, f"horizon: {task.horizon:,} primitive steps ({given})"]


def report(trial: Trial, task: Task, plugin: GenericPlugin) -> list[str]:
    """The trial as lines of text, warnings last."""
    rule = plugin.rule if isinstance(plugin.rule, SuccessRule) else None
    idle, measured = f"idle actions{plugin.idle_words}", tuple(plugin.world.metrics)
    cut = sum(e.ended == "cut" for e in trial.episodes)
    lines = [f"trial of these rules: {trial.primitive_steps:,} primitive steps, which do not count towards the budget"]
    lines += [f"  {_row(trial.of('random'), 'random actions', task)}", f"  {_row(trial.of('idle'), idle, task)}"]
    if cut or len(trial.episodes) < 2 * trial.planned:
        lines.append(
            f"  the trial ended early: {len(trial.episodes)} of {2 * trial.planned} episodes were played, {cut} "
            "of them not to the end"
        )
    return [*lines, *(f"warning: {text}" for text in _warnings(trial, task, rule, idle, measured))]


def _row(episodes: Sequence[TrialEpisode], acting: str, task: Task) -> str:
    if not episodes:
        return f"{acting}: not tried"
    ends = []
    for name, chosen in _causes(episodes, bool(task.success)):
        if chosen:
            flags = Counter(flag for e in chosen for flag in e.flags)
            told = "".join(f", {flag} {n}" for flag, n in flags.items())
            ends.append(f"{len(chosen)} {name} ({_span([e.primitive_steps for e in chosen])} steps{told})")
    parts = [f"{sum(e.success for e in episodes)} of {len(episodes)} succeed"] if task.success else []
    parts += [f"ends: {', '.join(ends)}"]
    if task.score is not None and task.score.metric != RETURN:
        scores = [e.score for e in episodes if e.score is not None]
        parts.append(f"{task.score.metric} {_span(scores)}" if scores else f"{task.score.metric} never reported")
    parts.append(f"return {_span([e.total_reward for e in episodes])}")
    return f"{acting}: {'; '.join(parts)}"


def _causes(episodes: Sequence[TrialEpisode], judged: bool) -> Iterator[tuple[str, list[TrialEpisode]]]:
    """The number of episodes for each cause of their end."""
    if judged:
        yield "goal", [e for e in episodes if e.ended == "terminated" and e.success]
        yield "terminated without success", [e for e in episodes if e.ended == "terminated" and not e.success]
    else:
        yield "terminated by the environment", [e for e in episodes if e.ended == "terminated"]
    yield "time", [e for e in episodes if e.ended == "truncated"]
    yield "cut by the trial", [e for e in episodes if e.ended == "cut"]


def _warnings(trial: Trial, task: Task, rule: SuccessRule | None, idle: str, measured: Sequence[str]) -> Iterator[str]:
    wins = [
        f"{sum(e.success for e in trial.of(acting))} of {len(trial.of(acting))} episodes of {name}"
        for acting, name in (("random", "random actions"), ("idle", idle))
        if any(e.success for e in trial.of(acting))
    ]
    if wins:
        yield (
            f"{' and '.join(wins)} already succeed by this rule. If the rule counts a crash, or an event that "
            "happens by itself, give another rule: success='terminated and not crashed', 'KEY at the end', "
            "'return >= NUMBER', or score=."
        )
    early = [e.primitive_steps for e in trial.episodes if e.ended == "truncated" and e.primitive_steps < task.horizon]
    if early:
        yield (
            f"the environment itself ends episodes for time after {max(early):,} steps, and the horizon is "
            f"{task.horizon:,}: horizon={max(early)} reserves less of the budget for judging."
        )
    if rule is not None and rule.needs_an_end and not any(e.ended == "terminated" for e in trial.episodes):
        yield (
            f"success needs an episode that the environment ends, and none of {len(trial.episodes)} episodes ended "
            f"within {task.horizon:,} steps: success may be impossible. Raise horizon=, or give a success= or score= "
            "that does not need an end."
        )
    read = [*(rule.keys if rule is not None else ()), *measured]
    for key in dict.fromkeys(read):
        if key.partition(".")[0] not in trial.keys and key not in trial.keys:
            yield (
                f"no step of the trial reported info[{key!r}]. Reported: {', '.join(trial.keys) or 'nothing'}. Without "
                "it a condition is false, and a score or metric has no number."
            )
    yield from _score_warnings(trial, task, task.score)


def _score_warnings(trial: Trial, task: Task, score: Score | None) -> Iterator[str]:
    scores = {e.score for e in trial.episodes if e.score is not None}
    if score is not None and len(trial.episodes) > 2 and len(scores) == 1:
        yield (
            f"every episode of the trial has the score {scores.pop():g}: random actions do not change the score, so a "
            "policy has nothing to learn from at first. Code may change it; reward terms or easier starts help."
        )


def _span(numbers: Sequence[float]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,.4g}" if low == high else f"{low:,.4g} to {high:,.4g}"
