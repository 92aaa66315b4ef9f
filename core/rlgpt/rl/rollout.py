"""Collects rollouts. A rollout is the decisions of a policy in several environments, from which one update learns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.errors import TrainerError
from rlgpt.rl.imitation import End
from rlgpt.rl.network import Batch, PolicyNetwork
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.primitive_steps import PrimitiveSteps
from rlgpt.rl.vector import Transition, Vector


@dataclass(frozen=True)
class Rollout:
    """A rollout, which is at most T decisions in each of N environments. If an environment has fewer than T decisions,
    its first rows in the rollout are empty. In a rollout of a :class:`Collector`, images are on the device of the
    acting network, and all other tensors are on the CPU.

    :ivar observations: entries of the observations, ``[T + 1, N, ...]``; the last row is the input of the first
        decision of the next rollout.
    :ivar actions: flat actions, ``[T, N, action_size]``.
    :ivar rewards: discounted sum of the rewards of each decision, ``[T, N]``.
    :ivar durations: number of primitive steps of each decision, ``[T, N]``.
    :ivar terminated: whether the decision led to a terminal state, ``[T, N]``.
    :ivar ended: whether the episode ended with the decision, ``[T, N]``.
    :ivar lasts: last observations of the episodes that ended, in the order of ``ended.nonzero()``; None if no episode
        ended.
    :ivar ends: for each environment, the ends of its episodes in the rollout.
    :ivar taken: whether a row of the rollout contains a decision, bool ``[T, N]``. ``taken`` is None if no row is
        empty.
    :ivar primitive: the primitive steps of the decisions for which they were collected.
    """

    observations: Batch
    actions: torch.Tensor
    rewards: torch.Tensor
    durations: torch.Tensor
    terminated: torch.Tensor
    ended: torch.Tensor
    lasts: Batch | None
    ends: tuple[tuple[End, ...], ...] = ()
    taken: torch.Tensor | None = None
    primitive: tuple[PrimitiveSteps, ...] = ()

    def of(self, slot: int) -> tuple[Batch, torch.Tensor, tuple[End, ...]]:
        """The decisions of the environment ``slot``, as copies on the CPU of its observations and actions,
        ``[T, ...]``, and the ends of its episodes.
        """
        actions = self.actions_of(slot)
        begin = len(self.actions) - len(actions)
        entries = {
            key: values[begin:-1, slot].to("cpu", copy=True)
            for key, values in self.observations.items()
            if key != "duration"
        }
        return entries, actions, self.ends[slot]

    def actions_of(self, slot: int) -> torch.Tensor:
        """A copy on the CPU of the actions of the environment ``slot``, ``[T, action_size]``."""
        begin = 0 if self.taken is None else int((~self.taken[:, slot]).sum())
        return self.actions[begin:, slot].to("cpu", copy=True)

    def to(self, device: torch.device) -> Rollout:
        """This rollout on ``device``. Tensors that are on ``device`` already are not copied."""

        def moved(batch: Batch) -> Batch:
            return {key: values.to(device) for key, values in batch.items()}

        return Rollout(
            moved(self.observations),
            self.actions.to(device),
            self.rewards.to(device),
            self.durations.to(device),
            self.terminated.to(device),
            self.ended.to(device),
            None if self.lasts is None else moved(self.lasts),
            self.ends,
            None if self.taken is None else self.taken.to(device),
            self.primitive,
        )

    def rows(self, values: torch.Tensor) -> torch.Tensor:
        """Convert a tensor ``[T, N, ...]`` to ``[decisions, ...]``, without the empty rows of the rollout."""
        return values.flatten(0, 1) if self.taken is None else values[self.taken]

    @property
    def decisions(self) -> int:
        """Number of decisions in the rollout."""
        return self.rewards.numel() if self.taken is None else int(self.taken.sum())


def stack(observations: Sequence[Observation]) -> Batch:
    """Stack the observations of several environments into one batch of tensors.

    :raises TrainerError: an observation contains NaN or an infinity.
    """
    batch = {key: torch.from_numpy(np.stack([o[key] for o in observations])) for key in observations[0]}
    if not bool(torch.isfinite(batch["obs"]).all()):
        raise TrainerError(
            "an observation of the environment contains NaN or infinity; correct its observation or view."
        )
    return batch


Choose = Callable[[Batch, Sequence[int], torch.Generator], torch.Tensor]
"""A function that chooses flat actions ``[B, action_size]``. The arguments of this function are the observations, the
numbers of their environments, and a random generator.
"""


class _Piece(NamedTuple):
    """Decisions that ended at the same moment, at most one of each environment.

    :ivar slots: the numbers of the environments.
    :ivar numbers: for each environment in ``slots``, the number of its decisions since the rollout began.
    :ivar figures: reward, duration, terminated and ended of each decision.
    """

    slots: list[int]
    numbers: list[int]
    observations: Batch
    actions: torch.Tensor
    figures: list[tuple[float, int, bool, bool]]
    lasts: list[Observation]
    primitive: list[PrimitiveSteps]


class EpisodeStats(Protocol):
    """An object to which a :class:`Collector` adds finished episodes, calls of actions, and verdicts."""

    def add_episode(self, episode: Mapping[str, Any], usage: Mapping[str, int]) -> None: ...

    def add_call(self, action: str) -> None: ...

    def add_verdicts(self, verdicts: Iterable[Verdict]) -> None: ...


class Collector:
    """Runs the policy of ``network`` in the environments of ``vector``. A rollout may contain the ends of episodes.

    If environments decide at different times, a rollout has a different number of decisions for each environment. A
    decision that has not ended at the end of a rollout belongs to the next rollout.

    An image is copied to the device of ``network`` once, as bytes, when the environment shows it. The image stays there
    for the choice of the action and for the update.

    :param going: for the number of each environment that is in the middle of a decision, the flat action of this
        decision.
    """

    def __init__(
        self,
        vector: Vector,
        network: PolicyNetwork,
        generator: torch.Generator,
        stats: EpisodeStats,
        going: Mapping[int, NDArray[np.float32]] | None = None,
    ) -> None:
        self._vector, self._network, self._generator, self._stats = vector, network, generator, stats
        first = vector.reset()
        for _, verdicts in first:
            stats.add_verdicts(verdicts)
        self._current = self._stack([observation for observation, _ in first])
        self._chosen = torch.zeros(len(first), network.layout.action_size)
        for slot, flat in (going or {}).items():
            self._chosen[slot] = torch.from_numpy(flat)
        self._ready = [slot for slot in range(len(first)) if slot not in (going or {})]

    @torch.no_grad()
    def collect(self, decisions: int, enough: Callable[[], bool], choose: Choose | None = None) -> Rollout:
        """Collect a rollout. The rollout ends as soon as the environments have taken ``decisions`` decisions on
        average, or when ``enough()`` is true.

        :param choose: a function that chooses the actions instead of the network.
        """
        choose = choose or self._sample
        count = len(self._chosen)
        pieces: list[_Piece] = []
        numbers, ends = [0] * count, [list[End]() for _ in range(count)]
        while sum(numbers) < decisions * count:
            inputs = self._current if len(self._ready) == count else _pick(self._current, self._ready)
            flat = choose(inputs, self._ready, self._generator)
            self._chosen[self._ready] = flat
            arrived = self._vector.exchange(self._ready, flat.numpy())
            pieces.append(self._piece(arrived, numbers, ends))
            if enough():
                break
        return self._rollout(pieces, numbers, ends)

    def _sample(self, inputs: Batch, _: Sequence[int], generator: torch.Generator) -> torch.Tensor:
        return self._network.act(inputs, generator)

    def _stack(self, observations: Sequence[Observation]) -> Batch:
        device = self._network.device
        return {key: v.to(device) if key.startswith("image_") else v for key, v in stack(observations).items()}

    def _piece(self, arrived: Sequence[tuple[int, Transition]], numbers: list[int], ends: list[list[End]]) -> _Piece:
        self._ready = slots = [slot for slot, _ in arrived]
        for slot, t in arrived:
            self._stats.add_verdicts(t.verdicts)
            if t.began is not None:
                self._stats.add_call(t.began)
            if t.episode is not None:
                self._stats.add_episode(t.episode, t.usage)
                success, steps = bool(t.episode["success"]), int(t.episode["primitive_steps"])
                ends[slot].append(End(numbers[slot], success, float(t.episode["total_reward"]), steps))
        decided = [(slot, t) for slot, t in arrived if t.duration]
        chosen = [slot for slot, _ in decided]
        piece = _Piece(
            chosen,
            [numbers[slot] for slot in chosen],
            _pick(self._current, chosen),
            self._chosen[chosen],
            [(t.reward, t.duration, t.terminated, t.terminated or t.truncated) for _, t in decided],
            [t.last for _, t in decided if t.last is not None],
            [t.primitive for _, t in decided if t.primitive is not None],
        )
        for slot in chosen:
            numbers[slot] += 1
        newest = self._stack([t.observation for _, t in arrived])
        if len(slots) == len(numbers):
            self._current = newest
        else:
            self._current = {key: values.clone() for key, values in self._current.items()}
            rows = torch.tensor(slots)
            for key, values in newest.items():
                self._current[key][rows] = values
        return piece

    def _rollout(self, pieces: Sequence[_Piece], numbers: Sequence[int], ends: Sequence[Sequence[End]]) -> Rollout:
        """Arrange the decisions of each environment by their numbers, with empty rows first."""
        steps, count = max(numbers), len(numbers)
        column = torch.tensor([slot for piece in pieces for slot in piece.slots])
        empty = steps - torch.tensor(numbers)
        row = torch.tensor([number for piece in pieces for number in piece.numbers]) + empty[column]

        def arranged(rows: torch.Tensor, more: int = 0) -> torch.Tensor:
            out = rows.new_zeros((steps + more, count, *rows.shape[1:]))
            out[row, column] = rows
            return out

        observations = {}
        for key in self._current:
            observations[key] = arranged(torch.cat([piece.observations[key] for piece in pieces]), 1)
            observations[key][-1] = self._current[key]
        figures = torch.from_numpy(np.array([f for piece in pieces for f in piece.figures], dtype=np.float64))
        rewards, durations, terminated, ended = (arranged(values) for values in figures.unbind(-1))
        lasts = [last for piece in pieces for last in piece.lasts]
        if lasts:  # The rows are in the order of ``ended.nonzero()``.
            over = figures[:, 3].bool()
            order = torch.argsort(row[over] * count + column[over])
            lasts = [lasts[i] for i in order.tolist()]
        return Rollout(
            observations,
            arranged(torch.cat([piece.actions for piece in pieces])),
            rewards.float(),
            durations,
            terminated.bool(),
            ended.bool(),
            self._stack(lasts) if lasts else None,
            tuple(map(tuple, ends)),
            None if min(numbers) == steps else torch.arange(steps)[:, None] >= empty[None],
            tuple(primitive for piece in pieces for primitive in piece.primitive),
        )


def join(parts: Sequence[Rollout]) -> Rollout:
    """Join rollouts of different environments into one rollout. The environments of ``parts[0]`` are first."""
    steps = max(len(part.rewards) for part in parts)

    def joined(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        """Join tensors ``[T, N, ...]`` of different lengths, with empty rows first."""
        longest = max(map(len, tensors))
        padded = [torch.cat([t.new_zeros((longest - len(t), *t.shape[1:])), t]) for t in tensors]
        return torch.cat(padded, dim=1)

    taken = joined([torch.ones_like(p.ended) if p.taken is None else p.taken for p in parts])
    ended = joined([part.ended for part in parts])
    # The last observations are in the order of ``ended.nonzero()``, first of each part, then of the whole rollout.
    firsts = np.cumsum([0, *(part.rewards.shape[1] for part in parts)])
    places = [
        (int(row) + steps - len(part.ended), int(column) + first)
        for part, first in zip(parts, firsts.tolist(), strict=False)
        for row, column in part.ended.nonzero()
    ]
    order = sorted(range(len(places)), key=places.__getitem__)
    lasts = [part.lasts for part in parts if part.lasts is not None]
    return Rollout(
        {key: joined([part.observations[key] for part in parts]) for key in parts[0].observations},
        joined([part.actions for part in parts]),
        joined([part.rewards for part in parts]),
        joined([part.durations for part in parts]),
        joined([part.terminated for part in parts]),
        ended,
        {key: torch.cat([last[key] for last in lasts])[order] for key in lasts[0]} if lasts else None,
        tuple(ends for part in parts for ends in part.ends),
        None if bool(taken.all()) else taken,
        tuple(primitive for part in parts for primitive in part.primitive),
    )


def _pick(batch: Batch, slots: list[int]) -> Batch:
    rows = torch.tensor(slots, dtype=torch.long)
    return {key: values[rows] for key, values in batch.items()}
