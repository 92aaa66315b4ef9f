"""Rollouts: the decisions of a policy in several environments, from which one update learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rlgpt.errors import TrainerError
from rlgpt.rl.imitation import End
from rlgpt.rl.network import ActorCritic, Batch
from rlgpt.rl.policy_env import Observation
from rlgpt.rl.training_stats import TrainingStats
from rlgpt.rl.vector import Vector


@dataclass(frozen=True)
class Rollout:
    """A rollout: T decisions of each of N environments.

    :ivar observations: entries ``[T + 1, N, ...]``; the last row is the first input of the next rollout.
    :ivar actions: flat actions, ``[T, N, action_size]``.
    :ivar rewards: discounted sum of each decision, ``[T, N]``; ``durations`` (primitive steps), ``terminated`` and
        ``ended`` have the same shape.
    :ivar lasts: last observations of the episodes that ended, in the order of ``ended.nonzero()``; None if no episode
        ended.
    :ivar ends: for each environment, the ends of its episodes.
    """

    observations: Batch
    actions: torch.Tensor
    rewards: torch.Tensor
    durations: torch.Tensor
    terminated: torch.Tensor
    ended: torch.Tensor
    lasts: Batch | None
    ends: tuple[tuple[End, ...], ...] = ()

    def of(self, slot: int) -> tuple[Batch, torch.Tensor, tuple[End, ...]]:
        """The decisions of one environment: copies of its observations and actions ``[T, ...]``, and the
        ends of its episodes.
        """
        entries = {key: values[:-1, slot].clone() for key, values in self.observations.items() if key != "duration"}
        return entries, self.actions[:, slot].clone(), self.ends[slot]


def stack(observations: Sequence[Observation]) -> Batch:
    """Stack observations into one batch of tensors.

    :raises TrainerError: an observation contains NaN or an infinity.
    """
    batch = {key: torch.from_numpy(np.stack([o[key] for o in observations])) for key in observations[0]}
    if not bool(torch.isfinite(batch["obs"]).all()):
        raise TrainerError(
            "an observation of the environment contains NaN or infinity; correct its observation or view."
        )
    return batch


class Collector:
    """Runs the policy of ``network`` in the environments of ``vector``. Rollouts may cross the ends of episodes."""

    def __init__(self, vector: Vector, network: ActorCritic, generator: torch.Generator, stats: TrainingStats) -> None:
        self._vector, self._network, self._generator, self._stats = vector, network, generator, stats
        first = vector.reset()
        for _, verdicts in first:
            stats.add_verdicts(verdicts)
        self._current = stack([observation for observation, _ in first])

    @torch.no_grad()
    def collect(self, decisions: int, enough: Callable[[], bool]) -> Rollout:
        """Take at least one and at most ``decisions`` decisions in each environment; stop earlier if
        ``enough()`` is true.
        """
        observations, actions, lasts = [self._current], [], []
        ends: list[list[End]] = [[] for _ in self._current["obs"]]
        figures: list[list[tuple[float, int, bool, bool]]] = []
        for at in range(decisions):
            flat = self._network.distribution(self._current).sample(self._generator)
            transitions = self._vector.step(flat.numpy())
            for slot, t in enumerate(transitions):
                self._stats.add_verdicts(t.verdicts)
                if t.episode is not None:
                    self._stats.add_episode(t.episode, t.usage)
                    ends[slot].append(End(at, bool(t.episode["success"]), float(t.episode["total_reward"])))
                if t.last is not None:
                    lasts.append(t.last)
            self._current = stack([t.observation for t in transitions])
            observations.append(self._current)
            actions.append(flat)
            figures.append([(t.reward, t.duration, t.terminated, t.terminated or t.truncated) for t in transitions])
            if enough():
                break
        rewards, durations, terminated, ended = np.moveaxis(np.array(figures, dtype=np.float64), -1, 0)
        return Rollout(
            {key: torch.stack([o[key] for o in observations]) for key in self._current},
            torch.stack(actions),
            torch.from_numpy(rewards).float(),
            torch.from_numpy(durations),
            torch.from_numpy(terminated).bool(),
            torch.from_numpy(ended).bool(),
            stack(lasts) if lasts else None,
            tuple(map(tuple, ends)),
        )
