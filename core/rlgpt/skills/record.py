"""The record of a skill, and the events that are added to it later: tests, and runs that used the skill."""

from __future__ import annotations

import json
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
"""Largest magnitude of a score in a record, so that means and intervals are finite."""


class SkillId(Value):
    """One version of a skill: ``NAME/VERSION``."""

    name: Name
    version: int = Field(ge=1, le=99_999)

    def __str__(self) -> str:
        return f"{self.name}/{self.version}"


class Start(Value):
    """An episode in which a skill was tested.

    :ivar seed: seed of the episode.
    :ivar state: the state in which the episode began; None: the task's own start with this seed.
    :ivar success, score: the result of the episode.
    """

    seed: int = Field(ge=0, lt=1 << 63)
    state: EpisodeState | None = None
    success: bool
    score: float | None = Field(default=None, ge=-LARGEST, le=LARGEST)
    steps: int = Field(ge=0, description="primitive steps")


class Result(Value):
    """The result of a skill in some episodes.

    :ivar has_success: whether the task defines success; False: only the score counts.
    :ivar score: the definition of the task's score; None if the task has no score.
    :ivar starts: the episodes.
    """

    has_success: bool = True
    score: Score | None = None
    starts: tuple[Start, ...] = Field(default=(), max_length=MAX_STARTS)

    @property
    def success(self) -> Measure | None:
        """The success rate; None if the task defines no success or no episode was played."""
        return success_of([s.success for s in self.starts]) if self.has_success and self.starts else None

    @property
    def mean_score(self) -> Measure | None:
        """The mean score; None if no episode has a score."""
        scores = [s.score for s in self.starts if s.score is not None]
        return mean_of(scores) if scores else None

    @property
    def steps(self) -> float:
        """Mean number of primitive steps of the successful episodes. If no episode succeeded, or if the task defines no
        success, this is the mean over all episodes.
        """
        chosen = [s.steps for s in self.starts if s.success or not self.has_success] or [s.steps for s in self.starts]
        return sum(chosen) / max(1, len(chosen))

    def is_worse_than(self, other: Result) -> bool:
        """Whether this result is worse and the 95 % intervals do not overlap. The success rates are compared, or the
        scores if there is no success rate.
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
    :ivar settings: settings of this task that differ from the plugin's defaults.
    :ivar environment: for an environment without a plugin, the fields from which it can be made again; else None.
    :ivar predicate: the coded predicate of the bundle that decides success; empty: the task's own success.
    :ivar mode: how the skill acts: by its code, or by the policy that is stored with it.
    :ivar sharpness: exponent of the policy's probabilities; 1 leaves them as they are.
    :ivar quarantined: names of actions that the policy may not choose, because their code failed during training.
    :ivar plugin, version_of_plugin: name and version of the distribution whose plugin the run used.
    :ivar needs: the primitives and keys of the view that the code uses.
    :ivar made_from: the skills whose actions are part of the bundle, unchanged or as new versions.
    :ivar model: the language models that wrote the code.
    :ivar spent_steps, spent_tokens: primitive steps and tokens of the run that made the skill.
    :ivar seal: proves that this user made the skill (:mod:`rlgpt.files.seal`).
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    id: SkillId
    goal: str = Field(max_length=2_000)
    task: TaskId
    settings: Mapping[str, Scalar | tuple[Scalar, ...]] = Field(default_factory=dict, max_length=100)
    environment: Mapping[str, Plain] | None = None
    predicate: Name | Literal[""] = ""
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
        """The fields from which a test of the skill makes the environment: task, settings and environment. The seal
        covers them.
        """
        part = json.loads(self.model_dump_json(include={"task", "settings", "environment"}))
        return json.dumps(part, sort_keys=True).encode()


class SkillTest(Result):
    """A later test of a skill.

    :ivar time: UTC, ISO 8601.
    :ivar plugin, version_of_plugin: name and version of the distribution whose plugin was installed.
    :ivar failure: why the test failed; empty if it passed.
    """

    kind: Literal["tested"] = "tested"
    time: str = Field(max_length=40)
    plugin: str = Field(max_length=200)
    version_of_plugin: str = Field(max_length=200)
    failure: str = Field(default="", max_length=600)


class Served(Value):
    """A run that used the skill's code, unchanged or as a new version, and proved its result.

    :ivar time: UTC, ISO 8601.
    :ivar run: identifies the run, so that it is recorded only once.
    :ivar task: the task of the run.
    :ivar success: the success rate of the run.
    :ivar made: the skill that the run added.
    """

    kind: Literal["served"] = "served"
    time: str = Field(max_length=40)
    run: str = Field(max_length=100)
    task: TaskId
    success: Finite | None = None
    made: SkillId | None = None


Event = Annotated[SkillTest | Served, Field(discriminator="kind")]
EVENT: TypeAdapter[SkillTest | Served] = TypeAdapter(Event)
