"""Statistics of a training, with points of the learning curve, verdicts, and quarantined actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from rlgpt.domain import CurvePoint, Value, Verdict
from rlgpt.options.violations import QUARANTINE_AFTER, is_violation, to_quarantine
from rlgpt.rl.base_only import BaseOnly

KEPT_VERDICTS = 50
"""Maximal number of verdicts in a record. Verdicts that led to a quarantine are stored in addition, because they
explain the quarantine.
"""


class TrainingStatsState(Value):
    """The statistics of a training that a checkpoint stores."""

    curve: tuple[CurvePoint, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    violations: Mapping[str, int] = {}
    calls: Mapping[str, int] = {}
    quarantined: tuple[str, ...] = ()


def keep(verdicts: list[Verdict], verdict: Verdict) -> None:
    """Append ``verdict`` to ``verdicts`` if the list has room, or if the list contains fewer than three verdicts on the
    same coded action. A coded action with many verdicts can therefore not displace the verdicts on other actions.
    """
    if len(verdicts) < KEPT_VERDICTS or sum(v.action == verdict.action for v in verdicts) < QUARANTINE_AFTER:
        verdicts.append(verdict)


def worth_keeping(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts among ``verdicts`` that a record stores. :func:`keep` decides for each verdict whether it is
    stored.
    """
    found: list[Verdict] = []
    for verdict in verdicts:
        keep(found, verdict)
    return tuple(found)


class TrainingStats:
    """Collects the statistics of a training while it runs.

    :param state: the statistics in the checkpoint from which the training resumes.
    :ivar base_only: the comparison of base-only episodes with the others, which decides which episodes count for the
        learning curve; None if all episodes count.
    """

    def __init__(self, state: TrainingStatsState) -> None:
        self.curve, self.verdicts = list(state.curve), list(state.verdicts)
        self.violations: Counter[str] = Counter(state.violations)
        self.calls: Counter[str] = Counter(state.calls)
        self.quarantined = list(state.quarantined)
        self._episodes: list[Mapping[str, Any]] = []
        self._usage: Counter[str] = Counter()
        self.base_only: BaseOnly | None = None

    def state(self) -> TrainingStatsState:
        return TrainingStatsState(
            curve=tuple(self.curve),
            verdicts=tuple(self.verdicts),
            violations=dict(self.violations),
            calls=dict(self.calls),
            quarantined=tuple(self.quarantined),
        )

    def add_episode(self, episode: Mapping[str, Any], usage: Mapping[str, int]) -> None:
        """Add a finished episode.

        :param episode: the fields of a :class:`rlgpt.domain.Episode`, and ``base_only``.
        :param usage: for each action, the number of decisions for this action in the episode.
        """
        if self.base_only is not None and not self.base_only.add(episode):
            return
        self._episodes.append(episode)
        self._usage.update(usage)

    def add_call(self, action: str) -> None:
        """Count a call of ``action`` that has begun."""
        self.calls[action] += 1

    def add_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            keep(self.verdicts, verdict)
            if is_violation(verdict):
                self.violations[verdict.action] += 1

    def close_point(self, *, primitive_steps: int, decisions: int) -> CurvePoint | None:
        """The point of the learning curve for the episodes since the last point; None if no episode has ended since
        then.
        """
        if not self._episodes:
            return None
        count = len(self._episodes)
        terms: Counter[str] = Counter()
        for episode in self._episodes:
            for name, value in episode["reward_terms"].items():
                terms[name] += value
        scores = [float(e["score"]) for e in self._episodes if e.get("score") is not None]
        point = CurvePoint(
            primitive_steps=primitive_steps,
            episodes=count,
            success=sum(bool(e["success"]) for e in self._episodes) / count,
            total_reward=sum(float(e["total_reward"]) for e in self._episodes) / count,
            decisions=decisions,
            reward_terms={name: value / count for name, value in terms.items()},
            score=sum(scores) / len(scores) if scores else None,
            metrics=_means([e.get("metrics", {}) for e in self._episodes]),
            usage={name: n / self._usage.total() for name, n in sorted(self._usage.items())},
        )
        self.curve.append(point)
        self._episodes.clear()
        self._usage.clear()
        return point

    def close_segment(self) -> bool:
        """Quarantine the coded actions and functions with too many violations. A coded action leaves the quarantine if
        episodes that end later show that few of its calls had a violation.

        :returns: whether the quarantine has changed.
        """
        before, self.quarantined = self.quarantined, list(to_quarantine(self.violations, self.calls))
        return self.quarantined != before


def _means(numbers: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """For each key of the dicts ``numbers``, the mean of its values over the episodes whose dict has the key."""
    names = dict.fromkeys(name for one in numbers for name in one)
    return {name: fmean(one[name] for one in numbers if name in one) for name in names}
