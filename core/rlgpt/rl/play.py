"""Plays one episode of an evaluation in an environment. The module ``play`` also records the trace of the episode,
renders its frames, and detects whether the episode is stuck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import gymnasium
import numpy as np

from rlgpt.domain import Decision, Episode, Mode, Task, Trace, Verdict
from rlgpt.domain.changes import by_weight
from rlgpt.errors import ConfigError
from rlgpt.rl.policy_env import PolicyEnv
from rlgpt.rl.policy_lane import Observation, PolicyFormat

TRACED, RECORDED = 60, 240
"""Maximal number of decisions in the trace of an episode, and while it is recorded."""

OnFrame = Callable[[np.ndarray, str], None]
"""A function that is called after each primitive step, with a frame (uint8, height x width x 3) and the name of the
active action. After a reset, the name is "start".
"""

Chooser = Callable[[Observation, np.random.Generator], Any]

STUCK_ROUNDS, STUCK_STEPS, STUCK_SHARE = 5, 25, 0.05
"""An episode of code is stuck after STUCK_ROUNDS rounds of the plan without effect, if these rounds together took at
least STUCK_STEPS primitive steps and the share STUCK_SHARE of the horizon.
"""


@dataclass(frozen=True)
class Acting:
    """A way to act in an episode.

    :ivar chooser: a function that gets the format of the policy's actions. The function ``chooser`` returns another
        function, which chooses each action in one environment.
    :ivar may_stop: whether an episode in which the plan's actions change nothing ends early (:class:`Stuck`).
    """

    mode: Mode
    chooser: Callable[[PolicyFormat], Chooser]
    sharpness: float = 1.0
    may_stop: bool = False


class Played(NamedTuple):
    """The record of one episode of an evaluation.

    :ivar usage: for each action of the policy, the number of decisions for this action.
    :ivar trace: the trace of the episode; None if no trace is recorded.
    """

    episode: Episode
    usage: Mapping[str, int]
    trace: Trace | None
    verdicts: tuple[Verdict, ...]


ASSUMED = 3
"""Number of finished episodes of maximal length that :class:`Limits` adds to the real ones when it estimates the length
of episodes in progress. Short episodes are finished first, so the real ones alone would give too low an estimate.
"""


class Limits:
    """Decides whether an evaluation begins another episode.

    :param steps: number of primitive steps of all episodes after which no further episode begins. If ``steps`` is None,
        the steps are not limited.
    :param failures: maximal number of episodes without success. If ``failures`` is None, the failures are not limited.
    :param longest: maximal number of primitive steps of an episode.
    """

    def __init__(self, steps: int | None, failures: int | None, longest: int) -> None:
        self._steps, self._failures, self._longest = steps, failures, longest
        self._episodes = self._taken = self._failed = 0

    def add(self, episode: Episode) -> None:
        """Count an episode that was played."""
        self._episodes += 1
        self._taken += episode.primitive_steps
        self._failed += not episode.success

    def allow(self, in_progress: Sequence[int] = ()) -> bool:
        """Whether another episode of the evaluation may begin. The first episode of an evaluation may always begin.

        :param in_progress: for each episode that has begun and is not over, its primitive steps so far. Each of these
            episodes is expected to take as many further steps as all episodes have taken for each finished episode,
            and at most ``longest`` steps in total. :data:`ASSUMED` finished episodes of ``longest`` steps are added,
            because short episodes are finished first.
        """
        if not self._episodes and not in_progress:
            return True
        if self._failures is not None and self._failed > self._failures:
            return False
        if self._steps is None:
            return True
        so_far = self._taken + sum(in_progress)
        each = (so_far + ASSUMED * self._longest) / (self._episodes + ASSUMED)
        return so_far + sum(min(each, self._longest - steps) for steps in in_progress) < self._steps


def cut_of(
    last: Mapping[str, Any], limit: int | None, horizon: int, *, stuck: bool
) -> Literal["stuck", "limit"] | None:
    """The reason why the evaluation ended an episode early; None if the environment ended the episode.

    :param last: the info dict of the last decision of the episode, with the key ``terminated``.
    :param limit: maximal number of primitive steps of an episode.
    """
    if stuck:
        return "stuck"
    cut = limit is not None and limit <= last["primitive_steps"] < horizon
    return "limit" if cut and not last["terminated"] else None


def generator_of(seed: int) -> np.random.Generator:
    """The random generator from which a policy draws its samples in the episode with the seed ``seed``."""
    return np.random.default_rng([seed, 0xE7A1])


def play_episode(
    env: PolicyEnv, choose: Chooser, seed: int, camera: Camera | None, stuck: Stuck | None
) -> Iterator[dict[str, Any]]:
    """Play one episode, and yield the info dict of the reset and of every decision. The last info dict of the episode
    has the key ``episode``, unless ``stuck`` (see :class:`Stuck`) ended the episode early.
    """
    rng = generator_of(seed)
    if camera is not None:
        camera.action = "start"
    observation, info = env.reset(seed=seed)
    over = False
    yield info
    while not over:
        action = choose(observation, rng)
        if camera is not None:
            camera.action = env.form.branch(action)
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        yield {**info, "terminated": terminated}
        if not over and stuck is not None and stuck.after(info, env.extended.view):
            return


class Stuck:
    """Detects an episode in which repeating the plan's actions changes nothing.

    A round of the plan has no effect if every action in it was masked, or if the view is the same before and after the
    round. A round of the plan has no effect, either, while its code waits for an event. An episode is stuck only after
    several rounds of the plan without effect that together take a part of the horizon. A round ends when the next
    action is not later in the plan's order than the newest one.
    """

    def __init__(self, horizon: int) -> None:
        self._patience = max(STUCK_STEPS, STUCK_SHARE * horizon)
        self._next: int | None = None
        self._endings: list[str] = []
        self._view: Mapping[str, Any] | None = None
        self._rounds = self._steps = self._steps_of_round = 0

    def after(self, info: Mapping[str, Any], view: Callable[[], Mapping[str, Any]]) -> bool:
        """Whether the episode is stuck after the newest decision.

        :param info: the info dict of the newest decision.
        :param view: a function that returns the view. ``view`` is called once in each round of the plan.
        """
        self._endings.append(info["ended"])
        self._steps_of_round += info["duration"]
        newest, self._next = self._next, int(info["plan"])
        if newest is not None and self._next > newest:
            return False
        before, self._view = self._view, view()
        idle = set(self._endings) == {"masked"} or before == self._view
        self._rounds = self._rounds + 1 if idle else 0
        self._steps = self._steps + self._steps_of_round if idle else 0
        self._endings, self._steps_of_round = [], 0
        return self._rounds >= STUCK_ROUNDS and self._steps >= self._patience


class Recorder:
    """Records the decisions of an episode. Of a long episode, the record has the first decision, the last one, those
    with an error, and those with the largest changes of the view.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[int, Decision]] = []
        self._count = 0

    def add(self, decision: Decision) -> None:
        self._count += 1
        self._kept.append((self._count, decision))
        if len(self._kept) >= RECORDED:
            self._kept = [self._kept[i] for i in _telling([decision for _, decision in self._kept])]

    def trace(self, episode: Episode, task: Task, *, unpaid: tuple[str, ...]) -> Trace:
        """The trace with all decisions that were recorded; :func:`shortened` drops some of them."""
        decisions = tuple(decision for _, decision in self._kept)
        omitted = self._count - len(decisions)
        return Trace(
            seed=episode.seed,
            success=episode.success,
            total_reward=episode.total_reward,
            primitive_steps=episode.primitive_steps,
            decisions=decisions,
            omitted=omitted,
            positions=tuple(number for number, _ in self._kept) if omitted else (),
            has_success=bool(task.success),
            score=episode.score,
            unpaid=unpaid,
            stuck=episode.cut == "stuck",
        )


def shortened(trace: Trace) -> Trace:
    """The trace with at most :data:`TRACED` of its decisions."""
    if len(trace.decisions) <= TRACED:
        return trace
    chosen = _telling(trace.decisions)
    count = len(trace.decisions) + trace.omitted
    return trace.model_copy(
        update={
            "decisions": tuple(trace.decisions[i] for i in chosen),
            "positions": tuple(trace.numbers[i] for i in chosen),
            "omitted": count - len(chosen),
        }
    )


def _telling(decisions: Sequence[Decision]) -> list[int]:
    """The indices of the :data:`TRACED` decisions with the highest priority, in order."""
    return sorted(by_weight([(decision, decision) for decision in decisions])[:TRACED])


class Camera:
    """Renders a frame after each primitive step and passes the frame to ``on_frame``, with the name of the action in
    progress.
    """

    def __init__(self, on_frame: OnFrame) -> None:
        self._on_frame, self.action = on_frame, "start"

    def __call__(self, env: gymnasium.Env[Any, Any], step: int) -> None:
        if step < 0:
            return
        frame = env.render()
        if not isinstance(frame, np.ndarray):
            raise ConfigError(
                f"the environment renders {type(frame).__name__}, not an array of pixels; set video=false."
            )
        self._on_frame(frame, self.action)
