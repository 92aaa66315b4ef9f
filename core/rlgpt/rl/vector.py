"""Vectors of environments for trainings. The modules :mod:`rlgpt.rl.lanes` and :mod:`rlgpt.rl.worker_vector` have
further vectors.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.options import OnStep
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.base_only import Masks, Phase
from rlgpt.rl.policy_env import PolicyEnv, build, on_error, training_seeds
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.primitive_steps import PrimitiveLog, PrimitiveSteps
from rlgpt.rl.step_counter import StepCounter


@dataclass(frozen=True)
class Transition:
    """The result of one decision in one environment.

    :ivar observation: input of the next decision. If the masks name coded actions for base-only episodes
        (:mod:`rlgpt.rl.base_only`), the entry ``base_only``, float32 ``(1,)``, is 1 if coded actions are masked for
        such an episode, and else 0. If the episode ended with the decision, ``observation`` is the first observation of
        the next episode.
    :ivar reward: the discounted reward ``sum_{i<k} gamma^i r_i`` over the k primitive steps of the decision.
    :ivar duration: k, the number of primitive steps.
    :ivar last: the last observation of the episode if the episode ended with the decision, else None.
    :ivar episode: the fields of a :class:`rlgpt.domain.Episode`, and ``base_only``, if the episode ended with the
        decision, else None.
    :ivar terminated: whether the environment ended the episode with this decision.
    :ivar truncated: whether a time limit ended the episode with this decision.
    :ivar usage: for each action, the number of decisions for this action in the episode that ended; empty if no episode
        ended.
    :ivar verdicts: verdicts on code in this decision and in the reset after the decision.
    :ivar began: the name of the action whose call began in the decision; None if the action in progress went on.
    :ivar primitive: the primitive steps of the decision if the masks say that they are collected, else None.
    """

    observation: Observation
    reward: float
    duration: int
    terminated: bool
    truncated: bool
    last: Observation | None
    episode: dict[str, Any] | None
    usage: dict[str, int]
    verdicts: tuple[Verdict, ...]
    began: str | None
    primitive: PrimitiveSteps | None = None


class Slot:
    """One environment that is reset automatically at the end of an episode.

    :param on_step: a function that counts the primitive steps of the environment.
    :ivar seeds: the seeds of the episodes that have not begun yet.
    :ivar masks: the masks of the episodes that have not begun yet; None if they are those of the recipe.
    """

    def __init__(self, spec: EnvSpec, seed: int, on_step: OnStep) -> None:
        self.env: PolicyEnv = build(spec, seed=seed, on_step=on_step)
        self.seeds = training_seeds(seed)
        self.masks: Masks | None = None
        self._phase = Phase()
        self._primitive = PrimitiveLog(self.env.form, self.env.extended.lane, self.env.gamma)

    def reset(self) -> tuple[Observation, tuple[Verdict, ...]]:
        seed = next(self.seeds)
        if self.masks is not None:
            self.env.quarantine(self.masks.of_episode(seed))
        self._phase.begin(self.masks, seed)
        observation, info = self.env.reset(seed=seed)
        self._primitive.begin(self.masks is not None and self.masks.collects and not self._phase.base_only)
        return self._phase.flagged(observation), info.get("verdicts", ())

    def step(self, flat: NDArray[np.float32]) -> Transition:
        action = self.env.layout.to_space(flat)
        observation, reward, terminated, truncated, info = self.env.step(action)
        verdicts, last, episode = self._phase.counted(info.get("verdicts", ())), None, None
        lead_ended = self._phase.add(int(info["duration"]))
        observation = self._phase.flagged(observation)
        primitive = self._primitive.take(terminated)
        if lead_ended:
            self._primitive.begin(collects=False)
        if terminated or truncated:
            last, episode = observation, {**info["episode"], "base_only": self._phase.compared}
            observation, fallen = self.reset()
            verdicts += fallen
        duration, usage, began = int(info["duration"]), info.get("usage", {}), info["began"]
        return Transition(
            observation, reward, duration, terminated, truncated, last, episode, usage, verdicts, began, primitive
        )


class Vector(ABC):
    """A vector of N environments of one recipe, numbered from 0. A vector is a context manager; at the end of the
    ``with`` block, the vector closes its environments.
    """

    @abstractmethod
    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        """Begin an episode in each environment.

        :returns: for each environment, the first observation (an observation of a
            :class:`~rlgpt.rl.policy_env.PolicyEnv`) and the verdicts on code in the reset.
        :raises TrainerError: an environment raised an exception in a worker process, or a worker process died.
        """

    @abstractmethod
    def exchange(self, slots: Sequence[int], actions: NDArray[np.float32]) -> list[tuple[int, Transition]]:
        """Give environments their next actions, and take primitive steps until at least one decision is over.

        :param slots: the numbers of the environments that get their next action. The numbers in ``slots`` are those
            that the last call of ``exchange`` returned; in the first call, ``slots`` contains all environments.
        :param actions: flat actions, one row for each number in ``slots``, shape (slots, layout.action_size).
        :returns: the number of each environment whose decision is over, with the result of the decision.
        :raises TrainerError: an environment raised an exception in a worker process, or a worker process died.
        """

    @abstractmethod
    def mask(self, masks: Masks) -> None:
        """From the next episode of each environment on, mask exactly the names of ``masks``.

        :raises UnknownNameError: a name belongs to neither a coded action nor a coded function.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the environments of the vector and end its worker processes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class LocalVector(Vector):
    """A vector whose environments are in this process and take their decisions one after another.

    :param seeds: one seed for each environment.
    :param step_file: the file in which a :class:`~rlgpt.rl.step_counter.StepCounter` counts primitive steps.
    :param first: the cell of ``step_file`` in which the steps of the first environment are counted; the next
        environments count in the next cells.
    """

    def __init__(self, spec: EnvSpec, seeds: Sequence[int], step_file: Path, *, first: int = 0) -> None:
        self._steps = StepCounter(step_file, first + len(seeds))
        self._slots: list[Slot] = []
        with on_error(self.close):
            for cell, seed in enumerate(seeds, first):
                self._slots.append(Slot(spec, seed, self._steps.counting(cell)))

    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        return [slot.reset() for slot in self._slots]

    def exchange(self, slots: Sequence[int], actions: NDArray[np.float32]) -> list[tuple[int, Transition]]:
        return [(slot, self._slots[slot].step(flat)) for slot, flat in zip(slots, actions, strict=True)]

    def mask(self, masks: Masks) -> None:
        for slot in self._slots:
            slot.masks = masks

    def close(self) -> None:
        for slot in self._slots:
            slot.env.close()
        self._steps.__exit__(None, None, None)


def with_quarantined(spec: EnvSpec, names: Iterable[str]) -> EnvSpec:
    """Make a copy of the recipe ``spec`` in which the coded actions in ``names`` are masked in addition."""
    return dataclasses.replace(spec, quarantined=tuple(dict.fromkeys((*spec.quarantined, *names))))
