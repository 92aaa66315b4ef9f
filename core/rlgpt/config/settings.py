"""Completes the configuration of a run with values of the plugin and the task, and with defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rlgpt.config.components import Component, effective, factory_of
from rlgpt.config.run_config import HyperparameterOverrides, RunConfig
from rlgpt.domain import Task
from rlgpt.domain.validated import validated
from rlgpt.domain.values import Scalar
from rlgpt.errors import MANY, ConfigError, UnknownNameError
from rlgpt.plugin import EnvironmentPlugin, PluginManager
from rlgpt.rl.base import Hyperparameters
from rlgpt.secrets import redact

Setting = Scalar | tuple[Scalar, ...]
"""The type of a task's setting."""


def complete(config: RunConfig, plugin: EnvironmentPlugin, task: Task, manager: PluginManager) -> RunConfig:
    """The configuration ``config`` with a value for every hyperparameter and every setting of the trainer, and with the
    absolute path of the skill library.

    :raises RlgptError: a name or value is not valid.
    """
    config = _with_folder(config)
    config.setup.check(plugin, task)
    learning = hyperparameters(config, plugin, task)
    given = HyperparameterOverrides(**learning.model_dump())
    fixed = config.fixed_hyperparameters
    if fixed is None:
        fixed = tuple(sorted(config.hyperparameters.model_fields_set))
    config = config.model_copy(update={"fixed_hyperparameters": fixed})
    return config.model_copy(update={"hyperparameters": given, "trainer": _trainer(config.trainer, manager)})


def _with_folder(config: RunConfig) -> RunConfig:
    """``config`` with the absolute path of the skill library, because a run may be resumed in another working
    directory.

    :raises ConfigError: the path of the library is a file.
    """
    if config.skills is None:
        return config
    folder = Path(config.skills).resolve()
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"skills={config.skills!r} is a file. Give the path of a folder; a missing folder is made.")
    return config.model_copy(update={"skills": str(folder)})


def task_of(config: RunConfig, manager: PluginManager) -> tuple[EnvironmentPlugin, Task]:
    """The plugin of the run, and its task with the task settings from the configuration.

    :raises ConfigError: no task is given.
    :raises UnknownNameError: no plugin offers a task with this name, or the task does not have one of the given
        settings.
    """
    if not config.task:
        names = list(manager.tasks())
        valid = f"Valid: {', '.join(names) or '(none)'}." if len(names) <= MANY else "`rlgpt tasks` lists them."
        raise ConfigError(f"no task is given: write task=PLUGIN/TASK. {valid}")
    plugin, task = manager.task(config.task)
    return plugin, with_settings(task, config.task_settings)


def with_settings(task: Task, changes: Mapping[str, Any]) -> Task:
    """``task`` with changed settings. A value must have the type of the setting's default; a whole number for a setting
    whose default is a float becomes a float. The plugin checks ranges when it makes an environment.

    :raises UnknownNameError: the task does not have a setting of the given name.
    :raises ConfigError: the value of a setting has another type than the default.
    """
    given: dict[str, Setting] = {}
    for name, value in changes.items():
        if name not in task.settings:
            raise UnknownNameError(f"setting of {task.id}", name, task.settings)
        default = task.settings[name]
        like = _like(default, tuple(value) if isinstance(value, list) else value)
        if like is None:
            shown = list(default) if isinstance(default, tuple) else default
            raise ConfigError(
                f"task_settings.{name} of {task.id} is {value!r}; valid: {_kind(default)}, as in its default {shown!r}."
            )
        given[name] = like
    return Task.model_validate({**task.model_dump(), "settings": {**task.settings, **given}})


def _like(default: Setting, value: Any) -> Setting | None:
    """``value`` with the type of ``default``; None if it has another type. A list may have any length."""
    if isinstance(default, tuple):
        if not isinstance(value, tuple):
            return None
        parts = [_like(default[0] if default else part, part) for part in value]
        return None if None in parts else tuple(part for part in parts if isinstance(part, Scalar))
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value if type(value) is type(default) and isinstance(value, bool | int | float | str) else None


def _kind(default: Setting) -> str:
    if isinstance(default, tuple):
        return f"a list, each part of it {_kind(default[0])}" if default else "a list"
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return names[type(default)]


def hyperparameters(config: RunConfig, plugin: EnvironmentPlugin, task: Task) -> Hyperparameters:
    """The hyperparameters of the training. Those in the configuration have priority over the plugin's recommendations
    for the task, and these have priority over the defaults. The number of environments is reduced to the number that
    the task allows.

    :raises ConfigError: the user's ``num_envs`` is larger than the task allows, or a recommendation of the plugin is
        not valid.
    """
    given = config.hyperparameters.model_dump()
    most = plugin.limits(task).max_envs
    if given.get("num_envs", 0) > most:
        raise ConfigError(
            f"hyperparameters.num_envs={given['num_envs']}: {task.id} allows at most {most} environments."
        )
    chosen = validated(Hyperparameters, {**plugin.trainer_defaults(task), **given}, "hyperparameters")
    return chosen.model_copy(update={"num_envs": min(chosen.num_envs, most)})


def refuse_keys(config: RunConfig) -> None:
    """Check that the configuration contains no secrets, because the run's record stores the configuration.

    :raises ConfigError: a value looks like an API key.
    """
    for name, value in _leaves(config.plain()):
        if isinstance(value, str) and redact(value) != value:
            raise ConfigError(
                f"the value of {name} looks like an API key. Use an environment variable: llm.key_env=NAME."
            )


def _trainer(component: Component, manager: PluginManager) -> Component:
    if component.name == "object":
        return component
    factory = factory_of("trainer", component, manager)
    return component.with_settings(effective("trainer", factory, component.settings))


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    pairs = node.items() if isinstance(node, Mapping) else enumerate(node) if isinstance(node, list | tuple) else None
    if pairs is None:
        yield prefix, node
        return
    for key, value in pairs:
        yield from _leaves(value, f"{prefix}.{key}" if prefix else str(key))
