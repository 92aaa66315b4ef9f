"""The configuration of a run. The commands ``train``, ``design``, ``evaluate`` and ``resume`` and the sweeps use the
class RunConfig.

All defaults of the configuration are in this module and in the pydantic models that it imports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Self

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from rlgpt.agents.setup_overrides import SetupOverrides
from rlgpt.config.components import Component
from rlgpt.config.measures import read_measures
from rlgpt.config.trial import Trial
from rlgpt.domain import Metric, Plain, Score, Task, Value, World
from rlgpt.errors import ConfigError
from rlgpt.llm.settings import LLMSettings
from rlgpt.loop import LoopSettings
from rlgpt.planner.context import PlannerSettings
from rlgpt.plugin.defaults import with_meanings
from rlgpt.plugin.rules import parse_rule
from rlgpt.rl.base import Hyperparameters
from rlgpt.sandbox import SandboxLimits

Names = Mapping[str, str | Mapping[str, str] | tuple[str, ...]] | tuple[str, ...] | None


class Prepared(Value):
    """The properties of an environment without a plugin. rlgpt determines them when the run begins, and they do not
    change afterwards.

    :ivar docs: the expert knowledge about the environment that prompts contain.
    :ivar trial: the results of the trial before the run; None if no trial was played.
    """

    task: Task
    docs: str
    world: World
    trial: Trial | None = None


class EnvironmentConfig(Value):
    """An environment without a plugin. :func:`rlgpt.design` documents the fields.

    :ivar id: the environment's id in gymnasium; None if the caller of ``design()`` passed a function that makes the
        environment.
    :ivar prepared: properties of the environment that rlgpt sets when the run begins.
    """

    id: str | None = Field(
        default=None, description="the environment's id in gymnasium; MODULE:ENV_ID imports a module first"
    )
    goal: str = Field(description="the goal of the task, as one sentence")
    docs: str | None = Field(default=None, description="expert knowledge about the environment")
    labels: Names = Field(default=None, description="names of the action's parts")
    observations: Names = Field(default=None, description="names of the observation's numbers")
    success: float | str | None = Field(
        default=None, description="the return that counts as success, or a rule ('terminated and not crashed')"
    )
    score: Score | None = Field(default=None, description="'return', or a key of info ('-KEY' if less is better)")
    metrics: Mapping[str, Metric] = Field(
        default_factory=dict, description="for each key of info: the metric that is recorded"
    )
    trial: int = Field(
        default=3,
        ge=0,
        le=100,
        description="number of trial episodes with random actions, and of those with the idle action; 0: no trial",
    )
    horizon: int | None = Field(
        default=None, ge=1, description="maximal number of primitive steps of an episode; null: the environment's limit"
    )
    idle: Plain = Field(default=None, description="the action that does nothing: a label, or an action of the space")
    prepared: Prepared | None = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        if isinstance(data.get("success"), bool):
            parse_rule(data["success"])
        if data.get("prepared") is None:
            _refuse_file_name(data.get("docs"))
        for named in (data.get("labels"), data.get("observations")):
            with_meanings(named or {})
        score, metrics = read_measures(data.get("score"), data.get("metrics"))
        return {**data, "score": score, "metrics": metrics}


def _refuse_file_name(docs: Any) -> None:
    """:raises ConfigError: ``docs`` looks like the name of a file, and not like a description."""
    if isinstance(docs, PurePath) or (isinstance(docs, str) and re.fullmatch(r"\S+\.(md|txt|rst)", docs.strip())):
        raise ConfigError(
            f"docs is {str(docs)!r:.200}, the name of a file. Give its text: docs=pathlib.Path({str(docs)!r:.200})"
            ".read_text(). (On the command line, --docs takes the name of a file.)"
        )


class AgentsConfig(Component):
    """The choice of the team of agents.

    :ivar prompts: a folder whose files replace the prompts with the same names.
    """

    name: str | None = "slow_fast_critic"
    prompts: str | None = Field(default=None, description="a folder whose files replace prompts of the same names")


class PlannerConfig(Component):
    """The user's choice of the planner, which divides a long task into sub-goals, with its limits
    (:class:`PlannerSettings`).

    :ivar file: a JSON file with the graph of sub-goals, in the format of the file ``plan/0.json`` in a run folder. If
        the user gives a file with a graph, no language model writes the graph.
    """

    name: str | None = "none"
    file: str | None = Field(default=None, description="a JSON file with the graph of sub-goals")
    sub_goals: int = Field(default=12, ge=1, le=24, description="maximal number of sub-goals of a graph")
    revisions: int = Field(default=1, ge=0, description="maximal number of revisions of the graph from evidence")
    repairs: int = Field(default=3, ge=0, description="maximal number of repairs of one graph that has faults")
    visits: int = Field(default=3, ge=1, description="maximal number of times that the run works on one sub-goal")

    @property
    def planning(self) -> PlannerSettings:
        return PlannerSettings(**{name: getattr(self, name) for name in PlannerSettings.model_fields})


class HyperparameterOverrides(Hyperparameters):
    """The hyperparameters that the user sets. A hyperparameter that the user does not set has the value that the plugin
    recommends for the task, or the default.
    """

    @model_serializer(mode="wrap")
    def _only_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if key in self.model_fields_set}


class RunConfig(LoopSettings):
    """All settings of a run. A ``RunConfig`` is frozen, and an unknown key in a configuration is an error."""

    task: str | None = Field(default=None, description="PLUGIN/TASK; `rlgpt tasks` lists them")
    task_settings: Mapping[str, Any] = Field(default_factory=dict, description="changed settings of the task")
    environment: EnvironmentConfig | None = Field(
        default=None, description="an environment in place of a task; see rlgpt design"
    )
    folder: str | None = Field(default=None, description="folder of the run; null: a new folder under runs/")
    skills: str | None = Field(
        default=None, description="folder of a library of skills, which the run offers to its agents and extends"
    )
    video: bool = Field(
        default=True, description="whether to film one episode of the best iteration, if frames can be rendered"
    )
    setup: SetupOverrides = Field(default=SetupOverrides(), description="fields of the RL setup that the user fixes")
    hyperparameters: HyperparameterOverrides = Field(
        default=HyperparameterOverrides(), description="settings of the learning; --cfg shows them if a task is given"
    )
    fixed_hyperparameters: tuple[str, ...] | None = Field(
        default=None,
        description="hyperparameters that the user set, which no RL setup changes; set when the run begins",
    )
    agents: AgentsConfig = Field(default=AgentsConfig(), description="the team of agents")
    planner: PlannerConfig = Field(default=PlannerConfig(), description="the planner, which divides a long task")
    trainer: Component = Field(
        default=Component(name="ppo"), description="trainer of the policy; --cfg shows its settings if a task is given"
    )
    llm: LLMSettings = Field(default=LLMSettings(), description="the language model; `llm.kind=replay` needs none")
    sandbox: SandboxLimits = Field(default=SandboxLimits(), description="limits of coded actions")
    observers: Mapping[str, Component | None] = Field(
        default={"progress": Component(), "jsonl": Component()},
        description="for each name: {} or {_target_: ...}; null turns an observer off",
    )
    executor: Component = Field(
        default=Component(name="in_process"),
        description="runs the jobs of a sweep; the rehearsals, rollouts, plans' and reports' episodes of a run",
    )

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, data: Any) -> Any:
        """Remove the hyperparameters with the value null, because null means that the user does not set them."""
        given = data.get("hyperparameters") if isinstance(data, Mapping) else None
        if not isinstance(given, Mapping):
            return data
        return {**data, "hyperparameters": {k: v for k, v in given.items() if v is not None}}

    @field_validator("observers", mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            return value
        return {name: {} for name in value} if isinstance(value, Sequence) and not isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_environment(self) -> Self:
        if self.task is not None and self.environment is not None:
            raise ValueError("a run has a task or an environment, not both: remove one of them")
        return self

    @property
    def loop(self) -> LoopSettings:
        return LoopSettings(**{name: getattr(self, name) for name in LoopSettings.model_fields})

    def plain(self) -> dict[str, Any]:
        """The configuration as JSON values. ``RunConfig(**config.plain())`` equals the configuration.

        If the settings of the planner are the defaults, the result has no key ``planner``, as in records of earlier
        versions of rlgpt.
        """
        plain = self.model_dump(mode="json", by_alias=True)
        if self.planner == PlannerConfig():
            del plain["planner"]
        return plain
