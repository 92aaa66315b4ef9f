"""Vectors of environments that begin at a position instead of the start of their first episode. To reach its position,
an environment repeats the episode in progress; the repeated steps are not counted.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.base_only import Masks
from rlgpt.rl.lanes import LaneVector
from rlgpt.rl.policy_env import on_error
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.position import Position, Progress
from rlgpt.rl.vector import Slot, Transition, Vector


class PositionedVector(Vector):
    """A vector whose environments begin at positions. :meth:`reset` may be called before each rollout. It returns the
    newest observation of each environment, and begins an episode only in an environment without one.
    """

    @property
    @abstractmethod
    def moments(self) -> list[tuple[int, int, int]]:
        """The field :attr:`Position.moment` of each environment now."""

    @property
    @abstractmethod
    def progress(self) -> tuple[Progress, ...]:
        """The field :attr:`Position.progress` of each environment now."""

    @property
    @abstractmethod
    def steps(self) -> tuple[int, ...]:
        """For each environment, the number of primitive steps since :meth:`reset`, and of the first reset."""

    @property
    @abstractmethod
    def reached(self) -> tuple[tuple[EpisodeState, ...], ...]:
        """The field :attr:`Position.reached` of each environment now."""


def positioned(spec: EnvSpec, seeds: Sequence[int], positions: Sequence[Position]) -> PositionedVector:
    """Make the environments of a recipe, each at its position. They are the lanes of one batch simulator if possible,
    and else separate environments.

    :param seeds: one seed for each environment.
    :raises TrainerError: an environment does not repeat its episode.
    """
    lanes = LaneVector.at(spec, seeds, positions)
    return _Separate(spec, seeds, positions) if lanes is None else _Lanes(*lanes, positions)


class _Lanes(PositionedVector):
    def __init__(self, lanes: LaneVector, newest: list[Observation], positions: Sequence[Position]) -> None:
        self._vector, self._newest, self._begun = lanes, newest, [position.begun for position in positions]
        self._decisions = [len(position.actions) for position in positions]
        actions = {i: position.progress.action for i, position in enumerate(positions)}
        self._going = {i: action for i, action in actions.items() if action is not None}
        self._at_reset = list(lanes.taken)

    @property
    def moments(self) -> list[tuple[int, int, int]]:
        return list(zip(self._begun, self._decisions, self._vector.episode_steps, strict=True))

    @property
    def progress(self) -> tuple[Progress, ...]:
        return tuple(Progress(steps, self._going.get(i)) for i, steps in enumerate(self._vector.episode_steps))

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(now - then for now, then in zip(self._vector.taken, self._at_reset, strict=True))

    @property
    def reached(self) -> tuple[tuple[EpisodeState, ...], ...]:
        return ((),) * len(self._begun)

    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        self._at_reset = list(self._vector.taken)
        if self._newest:
            return [(newest, ()) for newest in self._newest]
        first = self._vector.reset()
        self._newest, self._begun = [observation for observation, _ in first], [1] * len(first)
        return first

    def exchange(self, slots: Sequence[int], actions: NDArray[np.float32]) -> list[tuple[int, Transition]]:
        self._going.update(zip(slots, actions.copy(), strict=True))
        arrived = self._vector.exchange(slots, actions)
        for slot, transition in arrived:
            del self._going[slot]
            self._newest[slot] = transition.observation
            over = transition.last is not None
            self._begun[slot] += over
            self._decisions[slot] = 0 if over else self._decisions[slot] + 1
        return arrived

    def mask(self, masks: Masks) -> None:
        self._vector.mask(masks)

    def close(self) -> None:
        self._vector.close()


class _Separate(PositionedVector):
    def __init__(self, spec: EnvSpec, seeds: Sequence[int], positions: Sequence[Position]) -> None:
        self._envs: list[_SeparateEnv] = []
        with on_error(self.close):
            for seed, position in zip(seeds, positions, strict=True):
                self._envs.append(_SeparateEnv(spec, seed))
                self._envs[-1].begin(position)

    @property
    def moments(self) -> list[tuple[int, int, int]]:
        return [env.moment for env in self._envs]

    @property
    def progress(self) -> tuple[Progress, ...]:
        return tuple(Progress(env.moment[-1]) for env in self._envs)

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(env.steps for env in self._envs)

    @property
    def reached(self) -> tuple[tuple[EpisodeState, ...], ...]:
        return tuple(env.reached for env in self._envs)

    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        return [env.observe() for env in self._envs]

    def exchange(self, slots: Sequence[int], actions: NDArray[np.float32]) -> list[tuple[int, Transition]]:
        return [(slot, self._envs[slot].step(flat)) for slot, flat in zip(slots, actions, strict=True)]

    def mask(self, masks: Masks) -> None:
        for env in self._envs:
            env.mask(masks)

    def close(self) -> None:
        for env in self._envs:
            env.env.close()


class _SeparateEnv:
    """One separate environment."""

    def __init__(self, spec: EnvSpec, seed: int) -> None:
        self.steps, self._slot = 0, Slot(spec, seed, self._count)
        self.env = self._slot.env

    def begin(self, position: Position) -> None:
        """Bring the new environment to ``position``."""
        self._begun, self._decisions, self.reached = position.begun, len(position.actions), position.reached
        self._newest: Observation | None = self._repeated(position) if position.begun else None

    @property
    def moment(self) -> tuple[int, int, int]:
        """The field :attr:`Position.moment`."""
        return self._begun, self._decisions, self.env.extended.lane.primitive_steps

    def mask(self, masks: Masks) -> None:
        self._slot.masks = masks

    def observe(self) -> tuple[Observation, tuple[Verdict, ...]]:
        self.steps = 0
        if self._newest is not None:
            return self._newest, ()
        self._newest, verdicts = self._slot.reset()
        self._begun = 1
        return self._newest, verdicts

    def step(self, flat: NDArray[np.float32]) -> Transition:
        transition = self._slot.step(flat)
        self._decisions += 1
        if transition.last is not None:
            self._begun, self._decisions, self.reached = self._begun + 1, 0, self.env.reached
        self._newest = transition.observation
        return transition

    def _repeated(self, position: Position) -> Observation:
        """Repeat the episode in progress until ``position``, and return the newest observation.

        :raises TrainerError: the episode is not the same as before.
        """
        self._slot.masks = position.masks
        self.env.restore_reached(position.reached)
        next(itertools.islice(self._slot.seeds, position.begun - 1, position.begun - 1), None)
        newest, _ = self._slot.reset()
        over = False
        for flat in position.actions_to_repeat():
            transition = self._slot.step(flat)
            newest, over = transition.observation, over or transition.last is not None
        position.check(None if over else newest["obs"])
        return newest

    def _count(self, _: Any, step: int) -> None:
        self.steps += bool(step)
