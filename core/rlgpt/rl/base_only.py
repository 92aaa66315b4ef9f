"""Decides in which training episodes a policy chooses each primitive step, and whether such episodes are better.

There are three kinds of training episodes. In *option episodes*, the policy with code chooses among base actions and
coded actions. In *base-only episodes*, all coded actions are masked. In *override episodes*, the plan's coded actions
run along (:attr:`rlgpt.options.lane.Lane.along`), and at each primitive step the policy takes the step that the code
proposes, or another one in its place, as in residual reinforcement learning (Silver et al., 2018; Johannink et al.,
2019). A training compares the newest episodes of each kind. If base-only or override episodes are better than option
episodes, all later episodes are of the better kind.

The policies of base-only and of override episodes are two networks, which learn also from the primitive steps of the
other episodes (:mod:`rlgpt.rl.primitive_steps`), as from demonstrations.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from statistics import NormalDist, fmean, variance
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rlgpt.domain import Mode, RLSetup, Score, Value, Verdict, rank
from rlgpt.options import ActionLayout

WINDOW = 20
"""Number of newest episodes of each kind that are compared."""

FEWEST = 5
"""Minimal number of episodes of each kind for a comparison."""

CONFIDENCE = 0.95
"""All later episodes are of one kind if they are better than option episodes with at least this probability."""

EARLIEST = 0.2
"""Share of the training before which no kind is chosen for good, because the episodes do not show yet what can be
learnt.
"""

RISING, RISING_SHARE = 0.9, 0.5
"""If the episodes of a kind get better with at least the probability ``RISING``, the share of episodes that are not
option episodes is at least ``RISING_SHARE``.
"""

MOST = 0.8
"""Maximal share of episodes that are not option episodes before the comparison is decided."""

LEAST_OF_BOTH = 0.25
"""Minimal share of each of the two kinds among the base-only and override episodes."""


class Kind(IntEnum):
    """The kind of a training episode, which decides which network acts."""

    OPTIONS = 0
    BASE_ONLY = 1
    OVERRIDE = 2


MODES: Mapping[Kind, Mode] = {Kind.BASE_ONLY: "base_only", Kind.OVERRIDE: "override"}
"""The mode in which the policy of each kind of episodes, other than option episodes, is judged."""


def can_compare(coded: Sequence[str], layout: ActionLayout) -> bool:
    """Whether the policy may choose coded actions, and has a choice without them.

    :param coded: names of the coded actions that the policy may choose.
    """
    base = layout.choices - len(coded)
    return bool(coded) and (base > 1 or (base == 1 and any(head.role == "base" for head in layout.heads)))


def can_override(setup: RLSetup, space: spaces.Space[Any], layout: ActionLayout) -> bool:
    """Whether a policy can override each primitive step of the plan's coded actions: by another base action of a
    Discrete space, or by a correction in a Box (``setup.residual``).

    :param space: the action space of the environment.
    :param layout: the layout of the extended action space.
    """
    if not setup.coded_actions or setup.interrupt_every is None:
        return False
    if isinstance(space, spaces.Discrete):
        return bool(layout.choices - len(setup.coded_actions) == space.n > 1)
    return any(head.role == "residual" for head in layout.heads)


@dataclass(frozen=True)
class Masks:
    """The names that are masked in the episodes of a training, and the kinds of these episodes.

    :ivar names: coded actions that are masked, and coded functions that are not called, in every episode.
    :ivar coded: the coded actions that are masked in base-only episodes in addition.
    :ivar share: share of base-only and override episodes among all episodes.
    :ivar override: share of override episodes among these.
    :ivar along: the parameters of the coded actions in override episodes.
    :ivar collects: the kinds whose networks learn from the primitive steps of other episodes.
    """

    names: tuple[str, ...] = ()
    coded: tuple[str, ...] = ()
    share: float = 0.0
    override: float = 0.0
    along: tuple[float, ...] = ()
    collects: tuple[Kind, ...] = ()

    def kind(self, seed: int) -> Kind:
        """The kind of the episode with the seed ``seed``."""
        alone, over = np.random.default_rng([seed, 0xBA5E]).random(2)
        if alone >= self.share:
            return Kind.OPTIONS
        return Kind.OVERRIDE if over < self.override else Kind.BASE_ONLY

    def of_episode(self, seed: int) -> tuple[str, ...]:
        """The names that are masked in the episode with the seed ``seed``."""
        return (*self.names, *self.coded) if self.kind(seed) is Kind.BASE_ONLY else self.names


class Phase:
    """The kind of the episode in progress of one environment.

    :ivar kind: the kind of the episode.
    :ivar along: the parameters of the coded actions if they run along, shape (P,), else None.
    :ivar collects: the kinds whose networks learn from the primitive steps of the episode. The network of override
        episodes learns from its own episodes as from decisions.
    """

    def __init__(self) -> None:
        self.kind, self.along, self._flags = Kind.OPTIONS, None, False
        self.collects: tuple[Kind, ...] = ()

    along: NDArray[np.float32] | None

    def begin(self, masks: Masks | None, seed: int) -> None:
        """Begin the episode with the seed ``seed``."""
        self._flags = masks is not None and bool(masks.coded)
        self.kind = Kind.OPTIONS if masks is None else masks.kind(seed)
        runs_along = masks is not None and self.kind is Kind.OVERRIDE
        self.along = np.array(masks.along, np.float32) if masks is not None and runs_along else None
        collects = () if masks is None or self.kind is Kind.BASE_ONLY else masks.collects
        self.collects = tuple(kind for kind in collects if kind is not self.kind)

    def counted(self, verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
        """The verdicts of a decision that count. In override episodes, no verdict counts: no decision begins a call
        there, and verdicts on code in states that code never reaches alone would quarantine good code.
        """
        return () if self.kind is Kind.OVERRIDE else verdicts

    def flagged(self, observation: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """``observation`` with the entry ``kind``, if there are other kinds than option episodes."""
        return {**observation, "kind": np.array([self.kind], np.float32)} if self._flags else dict(observation)


class BaseOnlyState(Value):
    """The part of a checkpoint that belongs to a :class:`BaseOnly`.

    :ivar base_only: for each of the newest base-only episodes, its success and its score or return; larger is better.
    :ivar override: the same for the newest override episodes.
    :ivar others: the same for the newest option episodes.
    :ivar since: number of primitive steps of the training from which on all episodes have the kind ``kind``; None if
        they do not.
    :ivar kind: the kind that was better.
    """

    base_only: tuple[tuple[float, float], ...] = ()
    override: tuple[tuple[float, float], ...] = ()
    others: tuple[tuple[float, float], ...] = ()
    since: int | None = None
    kind: Kind = Kind.OPTIONS


class BaseOnly:
    """The comparison of the kinds of episodes of a training.

    :param coded: names of the coded actions that the policy may choose.
    :param kinds: the kinds of episodes that the training can have, other than option episodes; at least one.
    :param floor: smallest share of base-only and override episodes in the first half of the training, and as long as
        these episodes get better.
    :param score: the score that the task defines. If the task has no score, episodes with equal success are compared by
        their return.
    :param state: the state in the checkpoint from which the training resumes.
    """

    def __init__(
        self, coded: Iterable[str], kinds: Iterable[Kind], floor: float, score: Score | None, state: BaseOnlyState
    ) -> None:
        self._coded, self._kinds, self._floor, self._score = tuple(coded), tuple(kinds), floor, score
        played = (state.others, state.base_only, state.override)
        self._episodes = {kind: deque(played[kind], WINDOW) for kind in Kind}
        self.since, self.kind = state.since, state.kind

    @property
    def state(self) -> BaseOnlyState:
        others, base_only, override = (tuple(self._episodes[kind]) for kind in Kind)
        return BaseOnlyState(base_only=base_only, override=override, others=others, since=self.since, kind=self.kind)

    def add(self, episode: Mapping[str, Any]) -> bool:
        """Add a finished episode of the training.

        :param episode: the fields of a :class:`rlgpt.domain.Episode`, and ``kind``.
        :returns: whether the episode counts for the learning curve: whether it is an option episode, or an episode of
            the better kind after the comparison is decided.
        """
        worth = rank(0, episode["score"], self._score)[1] if self._score is not None else episode["total_reward"]
        if math.isfinite(worth):
            self._episodes[episode["kind"]].append((float(episode["success"]), float(worth)))
        return bool(episode["kind"] == self.kind)

    def decide(self, spent: int, progress: float) -> bool:
        """Choose the kind of all later episodes if base-only or override episodes are better than option episodes.

        :param spent: number of primitive steps of the training so far.
        :param progress: share of the primitive steps after a parameter search that are spent, from 0 to 1.
        :returns: whether this call chooses a kind.
        """
        if self.since is not None or progress < EARLIEST:
            return False
        better = [kind for kind in self._kinds if self._better(kind) >= CONFIDENCE]
        if not better:
            return False
        overrides = len(better) > 1 and self._better(Kind.OVERRIDE, Kind.BASE_ONLY) > 0.5
        self.since, self.kind = spent, Kind.OVERRIDE if overrides else better[0]
        return True

    def masks(self, names: Iterable[str], progress: float) -> Masks:
        """The masks of the next episodes.

        :param names: the names that are masked in every episode.
        :param progress: share of the primitive steps after a parameter search that are spent, from 0 to 1.
        """
        return Masks(tuple(names), self._coded, self._share(progress), self._override())

    def _better(self, kind: Kind, than: Kind = Kind.OPTIONS) -> float:
        """The probability that episodes of ``kind`` are better; 0 if there are few of them."""
        ours, theirs = self._episodes[kind], self._episodes[than]
        enough = min(len(ours), len(theirs)) >= FEWEST
        return _better(*_comparable(ours, theirs)) if enough else 0.0

    def _override(self) -> float:
        """The share of override episodes among base-only and override episodes."""
        if self.since is not None:
            return float(self.kind is Kind.OVERRIDE)
        if len(self._kinds) == 1:
            return float(self._kinds[0] is Kind.OVERRIDE)
        better, worse = self._better(Kind.OVERRIDE, Kind.BASE_ONLY), self._better(Kind.BASE_ONLY, Kind.OVERRIDE)
        return min(max(0.5 + (better - worse) / 2, LEAST_OF_BOTH), 1 - LEAST_OF_BOTH)

    def _share(self, progress: float) -> float:
        if self.since is not None:
            return 1.0
        rising = max(self._rising(kind) for kind in self._kinds)
        least = self._floor if progress < 0.5 or rising > 0.5 else 0.0
        better = max(self._better(kind) for kind in self._kinds)
        return max(least, RISING_SHARE if rising >= RISING else 0.0, min(MOST, better))

    def _rising(self, kind: Kind) -> float:
        """The probability that the newer half of the episodes of ``kind`` is better than the older half."""
        episodes = list(self._episodes[kind])
        half = len(episodes) // 2
        earlier, later = _comparable(episodes[:half], episodes[half:])
        return _better(later, earlier) if 2 * half >= FEWEST else 0.0


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
