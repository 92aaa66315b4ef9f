"""Finds the environment of a run, which belongs to a plugin's task or has no plugin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rlgpt.agents.build import Agents
from rlgpt.agents.planner import Planner
from rlgpt.config.prepare import ConstantPluginFactory, prepare
from rlgpt.config.run_config import Prepared, RunConfig
from rlgpt.config.settings import task_of
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.llm.base import LLM
from rlgpt.loop import Observer
from rlgpt.plugin import EnvironmentPlugin, PluginManager
from rlgpt.plugin.generic import MakeEnv
from rlgpt.plugin.judged import Success
from rlgpt.plugin.types import Primitive, StateCodec
from rlgpt.rl.base import Trainer


@dataclass(frozen=True)
class Objects:
    """The Python objects that the caller of ``design()`` passed. A configuration cannot contain objects such as
    functions.
    """

    make_env: MakeEnv | None = None
    success: Success | None = None
    primitives: Sequence[Primitive] = ()
    states: StateCodec | None = None
    agents: Agents | None = None
    planner: Planner | None = None
    trainer: Trainer | None = None
    llm: LLM | None = None
    observers: Sequence[Observer] = field(default=())


@dataclass(frozen=True)
class Place:
    """The plugin and the task of a run.

    :ivar factory: the value from which a worker process gets the plugin (see :class:`~rlgpt.rl.base.EnvSpec`).
    :ivar config: the run's configuration. If the environment has no plugin, the field ``environment.prepared`` of the
        configuration is set.
    """

    plugin: EnvironmentPlugin
    task: Task
    factory: Any
    config: RunConfig


def place_of(config: RunConfig, manager: PluginManager, objects: Objects) -> Place:
    """Find the environment that ``config`` names. If the environment has no plugin, one primitive step is taken as a
    test.

    :raises RlgptError: the environment cannot be made or played, its action space cannot be extended, or its success
        cannot be judged.
    """
    if config.environment is None:
        plugin, task = task_of(config, manager)
        return Place(plugin, task, plugin.name, config)
    given = config.environment
    if objects.make_env is None and given.id is None:
        raise ConfigError(
            "a call of design() made this run, and only its caller can make its environment. Repeat the same call "
            "with folder=...; the run's bundle works with rlgpt.extend()."
        )
    if given.prepared is not None and set(given.prepared.world.primitives) != {p.name for p in objects.primitives}:
        names = ", ".join(given.prepared.world.primitives) or "none"
        raise ConfigError(
            f"this run uses primitives that the caller of design() passed ({names}). Repeat the same call with "
            "folder=..."
        )
    success = given.success if objects.success is None else objects.success
    score, metrics, on_record = given.score, given.metrics, given.prepared
    if on_record is not None and success is None and score is None:
        success, score = on_record.world.success, on_record.world.score
    if on_record is not None and not metrics:
        metrics = on_record.world.metrics
    generic, task = prepare(
        objects.make_env or str(given.id),
        given.goal,
        docs=given.docs,
        labels=given.labels,
        observations=given.observations,
        success=success,
        score=score,
        metrics=metrics,
        horizon=given.horizon,
        primitives=objects.primitives,
        idle=given.idle,
        states=objects.states,
        limits=config.sandbox,
        recorded_in=None if on_record is None else config.folder,
    )
    trial = None if on_record is None else on_record.trial
    prepared = Prepared(task=task, docs=generic.knowledge(task), world=generic.world, trial=trial)
    environment = given.model_copy(update={"prepared": prepared, "idle": generic.world.idle})
    return Place(generic, task, ConstantPluginFactory(generic), config.model_copy(update={"environment": environment}))
