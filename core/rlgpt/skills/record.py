"""Defines the record of a skill, and the events that are stored later. An event is a test of the skill, or a run that
used the skill.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from rlgpt.domain import Mode, Name, Plain, Scalar, Score, TaskId, Value
from rlgpt.plugin.states import EpisodeState
from rlgpt.skills.measure import Measure, is_worse, mean_of, success_of
from rlgpt.skills.needs import Needs

SCHEMA_VERSION: Final = 1
MAX_STARTS = 200
"""Maximal number of episodes in the record of a skill."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
LARGEST = 1e15
"""Largest absolute value of a score in a record. With this limit, means and intervals are finite."""


class SkillId(Value):
    """The id of one version of a skill. The text of an id is ``NAME/VERSION``."""

    name: Name
    version: int = Field(ge=1, le=99_999)

    def __str__(self) -> str:
        return f"{self.name}/{self.version}"


class Start(Value):
    """The record of an episode in which a skill was tested.

    :ivar seed: seed of the episode.
    :ivar state: the saved state in which the episode began. With ``state=None``, the episode began at the task's own
        start.
    :ivar success: whether the episode succeeded.
    :ivar score: the score of the episode; None if the task has no score.
    """

    seed: int = Field(ge=0, lt=1 << 63)
    state: EpisodeState | None = None
    success: bool
    score: float | None = Field(default=None, ge=-LARGEST, le=LARGEST)
    steps: int = Field(ge=0, description="primitive steps")


class Result(Value):
    """The result of a skill in a number of episodes.

    :ivar has_success: whether the task defines success. If not, only the score counts.
    :ivar score: the definition of the task's score; None if the task has no score.
    :ivar starts: the records of the episodes.
    """

    has_success: bool = True
    score: Score | None = None
    starts: tuple[Start, ...] = Field(default=(), max_length=MAX_STARTS)

    @property
    def success(self) -> Measure | None:
        """The success rate of a skill; None if the task defines no success or no episode was played."""
        return success_of([s.success for s in self.starts]) if self.has_success and self.starts else None

    @property
    def mean_score(self) -> Measure | None:
        """The mean score of a skill; None if no episode has a score."""
        scores = [s.score for s in self.starts if s.score is not None]
        return mean_of(scores) if scores else None

    @property
    def level(self) -> float:
        """The success rate, or the mean score if the task defines no success; larger is better. Minus infinity if there
        is neither.
        """
        if self.success is not None:
            return self.success.point
        if self.mean_score is None:
            return -math.inf
        return self.mean_score.point if self.score is None or self.score.maximize else -self.mean_score.point

    @property
    def steps(self) -> float:
        """Mean number of primitive steps of the skill's successful episodes. If no episode succeeded, or if the task
        defines no success, ``steps`` is the mean over all episodes.
        """
        chosen = [s.steps for s in self.starts if s.success or not self.has_success] or [s.steps for s in self.starts]
        return sum(chosen) / max(1, len(chosen))

    def is_worse_than(self, other: Result) -> bool:
        """Whether this result is worse than the result ``other`` and the 95 % confidence intervals do not overlap. The
        comparison uses the success rates, or the mean scores if the task defines no success.
        """
        if self.success is not None and other.success is not None:
            return is_worse(self.success, other.success)
        if self.mean_score is None or other.mean_score is None:
            return other.mean_score is not None
        return is_worse(self.mean_score, other.mean_score, maximize=self.score is None or self.score.maximize)


class SkillRecord(Result):
    """The record of one version of a skill. A record never changes.

    :ivar goal: what the skill achieves, in words.
    :ivar task: the task of the run that made the skill.
    :ivar settings: the settings of the run's task whose values differ from the plugin's defaults.
    :ivar environment: the fields from which an environment without a plugin can be made again; None for the environment
        of a plugin.
    :ivar predicate: name of the coded predicate in the bundle that decides the skill's success. If the name of the
        predicate is empty, the task's own success decides.
    :ivar horizon: maximal number of primitive steps of an episode of the skill; None for the horizon of the task.
    :ivar mode: whether the skill acts by its code or by the policy that is stored with the skill.
    :ivar sharpness: exponent of the policy's probabilities; with the exponent 1, the probabilities do not change.
    :ivar quarantined: names of the coded actions that the policy may not choose, and of the coded functions that are
        not called.
    :ivar plugin: name of the distribution whose plugin the run used.
    :ivar version_of_plugin: version of this distribution.
    :ivar needs: the primitives and keys of the view that the code of the skill uses.
    :ivar made_from: the skills whose coded actions are part of the bundle, unchanged or as new versions.
    :ivar model: the language models that wrote the code.
    :ivar spent_steps: number of primitive steps of the run that made the skill.
    :ivar spent_tokens: tokens of the run that made the skill.
    :ivar seal: a code that proves that this user made the skill (:mod:`rlgpt.files.seal`).
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    id: SkillId
    goal: str = Field(max_length=2_000)
    task: TaskId
    settings: Mapping[str, Scalar | tuple[Scalar, ...]] = Field(default_factory=dict, max_length=100)
    environment: Mapping[str, Plain] | None = None
    predicate: Name | Literal[""] = ""
    horizon: int | None = Field(default=None, ge=1)
    mode: Mode = "code"
    sharpness: Finite = Field(default=1.0, gt=0)
    quarantined: tuple[Name, ...] = Field(default=(), max_length=64)
    plugin: str = Field(max_length=200)
    version_of_plugin: str = Field(max_length=200)
    needs: Needs
    made_from: tuple[SkillId, ...] = Field(default=(), max_length=64)
    created: str = Field(max_length=40, description="UTC, ISO 8601")
    model: str = Field(default="", max_length=400)
    spent_steps: int = Field(default=0, ge=0)
    spent_tokens: int = Field(default=0, ge=0)
    seal: str = Field(default="", max_length=128)

    @model_validator(mode="after")
    def _measured(self) -> Self:
        if not self.has_success and self.score is None:
            raise ValueError("the task of a skill must define success or a score")
        if not self.starts:
            raise ValueError("a skill must have at least one recorded episode")
        return self

    @property
    def sealed_part(self) -> bytes:
        """The fields that the seal covers: ``task``, ``settings`` and ``environment``. A test of the skill makes the
        environment from these fields.
        """
        part = json.loads(self.model_dump_json(include={"task", "settings", "environment"}))
        return json.dumps(part, sort_keys=True).encode()


class SkillTest(Result):
    """The record of a later test of a skill.

    :ivar time: the time of the test, in UTC, in the format of ISO 8601.
    :ivar plugin: name of the distribution whose plugin was installed.
    :ivar version_of_plugin: version of this distribution.
    :ivar failure: the reason why the skill failed the test; empty if the skill passed the test.
    """

    kind: Literal["tested"] = "tested"
    time: str = Field(max_length=40)
    plugin: str = Field(max_length=200)
    version_of_plugin: str = Field(max_length=200)
    failure: str = Field(default="", max_length=600)


class Served(Value):
    """The record of a run that used the skill's code, unchanged or as a new version, and proved its result.

    :ivar time: the time at which the run ended, in UTC, in the format of ISO 8601.
    :ivar run: a text that identifies the run, so that the run is recorded only once.
    :ivar task: the task of the run.
    :ivar success: the success rate of the run.
    :ivar made: the skill that the run added to the skill library.
    """

    kind: Literal["served"] = "served"
    time: str = Field(max_length=40)
    run: str = Field(max_length=100)
    task: TaskId
    success: Finite | None = None
    made: SkillId | None = None


Event = Annotated[SkillTest | Served, Field(discriminator="kind")]
EVENT: TypeAdapter[SkillTest | Served] = TypeAdapter(Event)
