"""Records of trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from rlgpt.domain.events import Verdict
from rlgpt.domain.values import CodedAction, Value


class CurvePoint(Value):
    """One point of a learning curve. The point has means over the episodes that ended since the previous point.

    :ivar episodes: number of episodes, over all environments, that ended since the previous point of the learning
        curve.
    :ivar success: success rate of the episodes, 0 to 1.
    :ivar total_reward: mean undiscounted return of the episodes since the previous point of the learning curve.
    :ivar usage: for each action of the policy, its share of the decisions, 0 to 1.
    """

    primitive_steps: int = Field(ge=0, description="primitive steps since this training began, in all environments")
    episodes: int = Field(ge=0)
    success: float
    total_reward: float
    decisions: int = Field(description="number of decisions since this training began")
    reward_terms: Mapping[str, float] = Field(
        default_factory=dict, description="mean of each reward term's sum over an episode"
    )
    score: float | None = Field(default=None, description="mean score over the episodes; None if the task has no score")
    metrics: Mapping[str, float] = Field(
        default_factory=dict, description="mean of each metric over the episodes that report it"
    )
    usage: Mapping[str, float] = Field(default_factory=dict)


def _without_prefix(values: Mapping[str, float], prefix: str) -> dict[str, float]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


class SearchRecord(Value):
    """The record of the parameter search with which a training began.

    :ivar episodes: number of finished episodes of the parameter search.
    :ivar successes: number of successful episodes of the parameter search.
    :ivar ended: number of primitive steps of the training when the parameter search ended; None if the training stopped
        before the search ended.
    :ivar found: for each parameter (``action.parameter``), the value with which the policy begins its training, in the
        unit of the parameter. ``found`` is empty if the parameters kept their defaults.
    """

    episodes: int = Field(ge=0, le=10**12)
    successes: int = Field(ge=0, le=10**12)
    ended: int | None = Field(default=None, ge=0)
    found: Mapping[str, float] = Field(default_factory=dict)

    def tuned(self, actions: Sequence[CodedAction]) -> tuple[CodedAction, ...]:
        """The coded actions ``actions`` with the found values as the defaults of their parameters. A parameter for
        which the search found no value keeps its default.
        """
        return tuple(a.with_defaults(_without_prefix(self.found, f"{a.name}.")) for a in actions)


class TrainingRecord(Value):
    """The record of one training.

    :ivar primitive_steps: number of primitive steps of the training in all environments, including steps whose results
        were lost in a kill.
    :ivar seconds: wall-clock time.
    :ivar quarantined: names of the coded actions that were quarantined during the training.
    :ivar base_only: the coded actions that the training masked, because episodes without coded actions were better
        (:mod:`rlgpt.rl.base_only`); empty if they were not better, or if the trainer did not compare.
    :ivar compared: whether the policy of the base-only episodes takes part in the selection. It does so if the training
        had base-only episodes, which begin after a parameter search, and they were not clearly worse than the others at
        the end of the training.
    :ivar search: the record of the parameter search with which the training began; None if the training began without a
        search.
    """

    trainer: str
    primitive_steps: int = Field(ge=0)
    decisions: int = Field(ge=0)
    seconds: float
    curve: tuple[CurvePoint, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    quarantined: tuple[str, ...] = ()
    base_only: tuple[str, ...] = ()
    compared: bool = False
    search: SearchRecord | None = None

    @property
    def masked(self) -> tuple[str, ...]:
        """Names of the coded actions and coded functions that the trained policy does not use."""
        return (*self.quarantined, *(name for name in self.base_only if name not in self.quarantined))
