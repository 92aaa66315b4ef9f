"""From a configuration to the objects of a run. Everything that can be wrong is found before a folder is made."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

from rlgpt.agents.build import WITHOUT_LLM, build_agents
from rlgpt.cli.paths import overrides_file
from rlgpt.domain import Task
from rlgpt.domain.validated import validated
from rlgpt.errors import MANY, ConfigError, UnknownNameError
from rlgpt.llm.base import LLM
from rlgpt.llm.build import build_llm
from rlgpt.llm.reporting import ReportingLLM
from rlgpt.llm.settings import LLMSettings
from rlgpt.loop import LoopContext, LoopSettings
from rlgpt.loop.progress import ProgressReporter
from rlgpt.plugin import EnvironmentPlugin, PluginManager
from rlgpt.rl.base import Hyperparameters, Trainer
from rlgpt.runs import Run
from rlgpt.sandbox import SandboxLimits
from rlgpt.secrets import redact


def context(config: Mapping[str, Any], run: Run, watcher: ProgressReporter, manager: PluginManager) -> LoopContext:
    """The objects of a run.

    :param config: plain values, by the keys of ``conf/config.yaml``.
    :raises RlgptError: a name or value that cannot be used; no key for the language model; no transcript to replay.
    """
    plugin, task = manager.task(task_of(config, manager))
    task = with_settings(task, config.get("task_settings") or {})
    settings = validated(LoopSettings, {k: v for k, v in config.items() if k in LoopSettings.model_fields})
    budgets = validated(SandboxLimits, config.get("sandbox") or {}, "sandbox")
    trainer = _trainer(config["trainer"])
    hyperparameters = hyperparameters_of(config, plugin, task)
    kind = config["agents"]["kind"]
    llm = None if kind in WITHOUT_LLM else _llm(config, run.folder, watcher, plugin, task, manager)
    agents = build_agents(
        kind,
        llm,
        plugin,
        task,
        budgets=budgets,
        training_steps=settings.budget // settings.iterations,
        iterations=settings.iterations,
    )
    return LoopContext(
        settings=settings,
        task=task,
        plugin=plugin,
        factory=plugin.name,
        agents=agents,
        trainer=trainer,
        hyperparameters=hyperparameters,
        run=run,
        budgets=budgets,
        observer=watcher,
    )


def task_of(config: Mapping[str, Any], manager: PluginManager) -> str:
    """The task's id.

    :raises ConfigError: none is given.
    """
    task = config.get("task")
    if not task:
        names = list(manager.tasks())
        valid = f"Valid: {', '.join(names) or '(none)'}." if len(names) <= MANY else "`rlgpt tasks` lists them."
        raise ConfigError(f"no task is given: write task=PLUGIN/TASK. {valid}")
    return str(task)


def with_settings(task: Task, changed: Mapping[str, Any]) -> Task:
    """A task with some of its settings changed; whether their values are valid the plugin says when it makes one.

    :raises UnknownNameError: it has no such setting.
    :raises ConfigError: a value is none that a setting can have.
    """
    for name in changed:
        if name not in task.settings:
            raise UnknownNameError(f"setting of {task.id}", name, task.settings)
    said = {name: tuple(value) if isinstance(value, list) else value for name, value in changed.items()}
    try:
        return Task.model_validate({**task.model_dump(), "settings": {**task.settings, **said}})
    except ValidationError as error:
        raise ConfigError(
            f"task_settings={dict(changed)!r}: a value is a number, a text, true, false or a list."
        ) from error


def hyperparameters_of(config: Mapping[str, Any], plugin: EnvironmentPlugin, task: Task) -> Hyperparameters:
    """What the configuration says, else what the plugin advises for the task, else the defaults."""
    said = {k: v for k, v in (config.get("hyperparameters") or {}).items() if v is not None}
    most = plugin.limits(task).max_envs
    if said.get("num_envs", 0) > most:
        raise ConfigError(f"hyperparameters.num_envs={said['num_envs']}: {task.id} bears {most} environments at most.")
    chosen = validated(Hyperparameters, {**plugin.trainer_defaults(task), **said}, "hyperparameters")
    return chosen.model_copy(update={"num_envs": min(chosen.num_envs, most)})


def without_keys(config: Mapping[str, Any]) -> None:
    """The configuration goes into the run's record, so no secret may stand in it.

    :raises ConfigError: a value looks like a key.
    """
    for name, value in _leaves(config):
        if isinstance(value, str) and redact(value) != value:
            raise ConfigError(
                f"{name} holds what looks like a key. Put it into an environment variable: llm.key_env=NAME."
            )


def _settings_of(kind: type[Trainer]) -> type[BaseModel] | None:
    """The pydantic model of a trainer's parameter ``settings``, where it has one: then all keys go in there."""
    hint = get_type_hints(kind.__init__).get("settings")
    options = get_args(hint) or (hint,)
    return next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    pairs = node.items() if isinstance(node, Mapping) else enumerate(node) if isinstance(node, list | tuple) else None
    if pairs is None:
        yield prefix, node
        return
    for key, value in pairs:
        yield from _leaves(value, f"{prefix}.{key}" if prefix else str(key))


def _llm(
    config: Mapping[str, Any],
    folder: Path,
    watcher: ProgressReporter,
    plugin: EnvironmentPlugin,
    task: Task,
    manager: PluginManager,
) -> LLM:
    transcripts = tuple(plugin.transcripts(task))
    recorded = () if transcripts else [t.id for t in manager.tasks().values() if manager.task(t.id)[0].transcripts(t)]
    settings = validated(LLMSettings, config["llm"], "llm")
    llm = build_llm(
        settings, folder=folder, transcripts=transcripts, seed=config["seed"], task=task.id, recorded=recorded
    )
    return ReportingLLM(llm, watcher)


def _trainer(config: Mapping[str, Any]) -> Trainer:
    """The trainer that ``_target_`` names, made with the other keys.

    Only a class of trainers is ever called: a run's record is foreign data, and must not name anything else.
    """
    target = str(config.get("_target_", ""))
    module, _, name = target.rpartition(".")
    if module.startswith("rlgpt.rl.sample_factory") and find_spec("sample_factory") is None:
        raise ConfigError(
            "trainer=sample_factory needs an extra that is not installed. Use trainer=ppo, or install it: "
            f"pip install uv && uv pip install --overrides {overrides_file()} 'rlgpt[sample-factory]'."
        )
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"trainer._target_={target!r} cannot be imported: {error}.") from error
    if not (isinstance(kind, type) and issubclass(kind, Trainer)):
        raise ConfigError(f"trainer._target_={target!r} is no Trainer: name a subclass of rlgpt.rl.base.Trainer.")
    said = {key: value for key, value in config.items() if key != "_target_"}
    if (model := _settings_of(kind)) is not None:
        said = {"settings": validated(model, said, "trainer")}
    try:
        return kind(**said)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"trainer={target}: {' '.join(str(error).split())}") from error
