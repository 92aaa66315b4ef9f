"""Decides in how many training episodes the coded actions are masked, and whether learning without code is better.

A *base-only episode* is a training episode in which all coded actions are masked. A training compares the newest
base-only episodes with the newest other episodes. If base-only episodes are better, all later episodes are base-only.
The policy of the base-only episodes learns also from the primitive steps of the other episodes
(:mod:`rlgpt.rl.primitive_steps`).

Half of the base-only episodes have a *lead*: in the first primitive steps of such a *mixed episode*, the policy may
choose coded actions. So the policy without code also learns in states that only code reaches at first, as in jump-start
reinforcement learning (Uchendu et al., 2023). Mixed episodes are not compared.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.domain import Score, Value, Verdict, rank
from rlgpt.options import ActionLayout

WINDOW = 20
"""Number of newest episodes of each kind that are compared."""

FEWEST = 5
"""Minimal number of episodes of each kind for a comparison."""

CONFIDENCE = 0.998
"""The coded actions are masked if base-only episodes are better with at least this probability. A training compares
about 25 times, so this probability must be far above 0.95 for a small probability of error of the whole training.
"""

EARLIEST = 0.2
"""Share of the training before which the coded actions are not masked, because the episodes do not show yet what can be
learnt.
"""

RISING, RISING_SHARE = 0.9, 0.5
"""If base-only episodes get better with at least the probability ``RISING``, their share is at least
``RISING_SHARE``.
"""

MOST = 0.8
"""Maximal share of base-only episodes before the comparison is decided."""

MIXED = 0.5
"""Share of mixed episodes among the base-only episodes before the comparison is decided."""


def can_compare(coded: Sequence[str], layout: ActionLayout) -> bool:
    """Whether the policy may choose coded actions, and has a choice without them.

    :param coded: names of the coded actions that the policy may choose.
    """
    base = layout.choices - len(coded)
    return bool(coded) and (base > 1 or (base == 1 and any(head.role == "base" for head in layout.heads)))


@dataclass(frozen=True)
class Masks:
    """The names that are masked in the episodes of a training.

    :ivar names: coded actions that are masked, and coded functions that are not called, in every episode.
    :ivar coded: the coded actions that are masked in base-only episodes in addition.
    :ivar share: share of base-only episodes among all episodes.
    :ivar collects: whether the primitive steps of the other episodes, and of the leads of mixed episodes, are
        collected.
    :ivar longest: maximal number of primitive steps of a lead; 0 if there are no mixed episodes.
    """

    names: tuple[str, ...] = ()
    coded: tuple[str, ...] = ()
    share: float = 0.0
    collects: bool = False
    longest: int = 0

    def is_base_only(self, seed: int) -> bool:
        """Whether the episode with the seed ``seed`` is a base-only episode."""
        return self.share > 0 and bool(np.random.default_rng([seed, 0xBA5E]).random() < self.share)

    def lead(self, seed: int) -> int:
        """Number of primitive steps of the lead of the episode with the seed ``seed``; 0 in other episodes."""
        if not (self.longest and self.is_base_only(seed)):
            return 0
        mixed, length = np.random.default_rng([seed, 0x1EAD]).random(2)
        return int(length * self.longest) if mixed < MIXED else 0

    def of_episode(self, seed: int) -> tuple[str, ...]:
        """The names that are masked from the beginning of the episode with the seed ``seed`` on."""
        return (*self.names, *self.coded) if self.is_base_only(seed) and not self.lead(seed) else self.names


class Phase:
    """Whether the policy may choose coded actions now, in the episodes of one environment.

    :ivar base_only: whether the policy must choose base actions.
    :ivar mixed: whether the episode in progress is a mixed episode.
    """

    def __init__(self) -> None:
        self.base_only = self.mixed = False
        self._left, self._flags = 0, False

    def begin(self, masks: Masks | None, seed: int) -> None:
        """Begin the episode with the seed ``seed``."""
        self._left = 0 if masks is None else masks.lead(seed)
        self._flags = masks is not None and bool(masks.coded)
        self.mixed = self._left > 0
        self.base_only = masks is not None and masks.is_base_only(seed) and not self.mixed

    def add(self, steps: int) -> bool:
        """Add the primitive steps of a decision.

        :returns: whether the lead of a mixed episode ended with this decision.
        """
        self._left -= steps
        ends = self.mixed and not self.base_only and self._left <= 0
        self.base_only |= ends
        return ends

    @property
    def compared(self) -> bool | None:
        """For the comparison of the episode: whether it is a base-only episode; None if it is a mixed episode."""
        return None if self.mixed else self.base_only

    def flagged(self, observation: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """``observation`` with the entry ``base_only``, if there are base-only episodes. After the lead of a mixed
        episode, the network for base-only episodes acts. This network has no coded actions, so their action mask does
        not change: the policy with code learns from the decision that ended the lead, and needs the true mask.
        """
        if not self._flags:
            return dict(observation)
        return {**observation, "base_only": np.array([self.base_only], np.float32)}

    def counted(self, verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
        """The verdicts of a decision that count. Call ``counted`` before :meth:`add`. After the lead of a mixed
        episode, no verdict counts: no decision can choose code there, and verdicts on ``can_start`` in states that code
        never reaches would quarantine good code.
        """
        return () if self.mixed and self.base_only else verdicts


class BaseOnlyState(Value):
    """The part of a checkpoint that belongs to a :class:`BaseOnly`.

    :ivar base_only: for each of the newest base-only episodes, its success and its score or return; larger is better.
    :ivar others: the same for the newest other episodes.
    :ivar lengths: the numbers of primitive steps of the newest other episodes.
    :ivar since: number of primitive steps of the training from which on all coded actions are masked; None if they are
        not.
    """

    base_only: tuple[tuple[float, float], ...] = ()
    others: tuple[tuple[float, float], ...] = ()
    lengths: tuple[int, ...] = ()
    since: int | None = None


class BaseOnly:
    """The comparison of base-only episodes with the other episodes of a training.

    :param coded: names of the coded actions that the policy may choose.
    :param floor: smallest share of base-only episodes in the first half of the training, and as long as these episodes
        get better.
    :param score: the score that the task defines. If the task has no score, episodes with equal success are compared by
        their return.
    :param state: the state in the checkpoint from which the training resumes.
    """

    def __init__(self, coded: Iterable[str], floor: float, score: Score | None, state: BaseOnlyState) -> None:
        self._coded, self._floor, self._score = tuple(coded), floor, score
        self._base_only = deque(state.base_only, WINDOW)
        self._others = deque(state.others, WINDOW)
        self._lengths = deque(state.lengths, WINDOW)
        self.since = state.since

    @property
    def state(self) -> BaseOnlyState:
        return BaseOnlyState(
            base_only=tuple(self._base_only),
            others=tuple(self._others),
            lengths=tuple(self._lengths),
            since=self.since,
        )

    def add(self, episode: Mapping[str, Any]) -> bool:
        """Add a finished episode of the training.

        :param episode: the fields of a :class:`rlgpt.domain.Episode`, and ``base_only`` (:attr:`Phase.compared`).
        :returns: whether the episode counts for the learning curve. Base-only episodes count only after the coded
            actions are masked, and other episodes only before. Mixed episodes never count.
        """
        if episode["base_only"] is None:
            return False
        worth = rank(0, episode["score"], self._score)[1] if self._score is not None else episode["total_reward"]
        if math.isfinite(worth):
            kind = self._base_only if episode["base_only"] else self._others
            kind.append((float(episode["success"]), float(worth)))
            if not episode["base_only"]:
                self._lengths.append(int(episode["primitive_steps"]))
        return bool(episode["base_only"]) == (self.since is not None)

    def decide(self, spent: int, progress: float) -> bool:
        """Mask the coded actions from now on if base-only episodes are better.

        :param spent: number of primitive steps of the training so far.
        :param progress: share of the primitive steps after a parameter search that are spent, from 0 to 1.
        :returns: whether this call masks the coded actions.
        """
        decided = self.since is None and progress >= EARLIEST and self._better() >= CONFIDENCE
        self.since = spent if decided else self.since
        return decided

    @property
    def is_worse(self) -> bool:
        """Whether the newest base-only episodes are worse than the others with the probability ``CONFIDENCE``."""
        return _compared(self._others, self._base_only) >= CONFIDENCE

    def masks(self, names: Iterable[str], progress: float) -> Masks:
        """The masks of the next episodes.

        :param names: the names that are masked in every episode.
        :param progress: share of the primitive steps after a parameter search that are spent, from 0 to 1.
        """
        longest = round(fmean(self._lengths)) if self._lengths and self.since is None else 0
        return Masks(tuple(names), self._coded, self._share(progress), longest=longest)

    def _better(self) -> float:
        """The probability that base-only episodes are better than the others; 0 if there are few of them."""
        return _compared(self._base_only, self._others)

    def _share(self, progress: float) -> float:
        if self.since is not None:
            return 1.0
        half = len(self._base_only) // 2
        earlier, later = _comparable(list(self._base_only)[:half], list(self._base_only)[half:])
        rising = _better(later, earlier) if 2 * half >= FEWEST else 0.0
        least = self._floor if progress < 0.5 or rising > 0.5 else 0.0
        return max(least, RISING_SHARE if rising >= RISING else 0.0, min(MOST, self._better()))


def _compared(ours: Sequence[tuple[float, float]], theirs: Sequence[tuple[float, float]]) -> float:
    """The probability that the episodes ``ours`` are better than ``theirs``; 0 if there are few of either kind."""
    return _better(*_comparable(ours, theirs)) if min(len(ours), len(theirs)) >= FEWEST else 0.0


def _comparable(
    ours: Iterable[tuple[float, float]], theirs: Iterable[tuple[float, float]]
) -> tuple[list[float], list[float]]:
    """One number for each episode: its success if any two successes differ, else its score or return."""
    ours, theirs = list(ours), list(theirs)
    by = 0 if len({success for success, _ in (*ours, *theirs)}) > 1 else 1
    return [episode[by] for episode in ours], [episode[by] for episode in theirs]


def _better(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The probability that the mean of the distribution of ``ours`` is above that of ``theirs``, by a normal
    approximation. If all numbers are equal, the probability is 0, because nothing speaks for ``ours``.
    """
    difference = fmean(ours) - fmean(theirs)
    error = math.sqrt(sum(variance(numbers) / len(numbers) if len(numbers) > 1 else 0.0 for numbers in (ours, theirs)))
    if not error:
        return float(difference > 0)
    return NormalDist().cdf(difference / error)
