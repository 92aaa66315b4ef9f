"""Checks the overrides of the command line before Hydra receives them. The error messages give the valid names."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlgpt.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader
    from hydra.core.override_parser.types import Override

    from rlgpt.plugin.manager import PluginManager

IN_DEFAULTS = ("agents", "planner", "trainer", "llm", "executor", "experiment")
"""The groups that ``conf/config.yaml`` names. Hydra needs a ``+`` before an override that adds any other group."""


def parse(text: str) -> Override:
    """Parse one override with Hydra's grammar.

    :raises ConfigError: the text does not follow the grammar.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    if "=" not in text and not text.startswith("~"):
        raise ConfigError(f"cannot read {text!r}: write KEY=VALUE, such as task=PLUGIN/TASK or seed=1.")
    try:
        return OverridesParser.create().parse_override(text)
    except HydraException as error:
        raise ConfigError(
            f"cannot read {text!r}: {first_line(error)}. Write KEY=VALUE; quote a value with spaces or "
            "brackets for Hydra and for the shell, as in 'seed=range(5)'."
        ) from error


def keys_of(overrides: Sequence[str]) -> set[str]:
    """The keys and configuration groups that the overrides of the command line set."""
    return {override.key_or_group for override in map(parse, overrides)}


def experiment_of(overrides: Sequence[str]) -> str:
    """The name in the override ``experiment=NAME``; empty if no override has this form."""
    chosen = [o.value() for o in map(parse, overrides) if o.key_or_group == "experiment"]
    return str(chosen[-1]) if chosen else ""


def search_path(overrides: Sequence[str]) -> list[str]:
    """The folders that the override ``hydra.searchpath=[...]`` lists."""
    values = [o.value() for o in map(parse, overrides) if o.key_or_group == "hydra.searchpath"]
    return [str(folder) for value in values if isinstance(value, list) for folder in value]


def check(
    overrides: Sequence[str], loader: ConfigLoader, manager: PluginManager, *, multirun: bool = False
) -> list[str]:
    """Check the overrides and return them in Hydra's form. Patterns over tasks are expanded.

    :param multirun: whether a key may have several values.
    :raises UnknownNameError: an override names an option that its configuration group does not have, or a task that
        does not exist.
    :raises ConfigError: an override does not have the form ``KEY=VALUE``, or has several values without ``-m``.
    """
    checked = []
    for override in map(parse, overrides):
        if override.is_sweep_override() and not multirun:
            raise ConfigError(f"{override.input_line!r} has several values, each for a separate run. Add -m.")
        checked.append(_checked(override, loader, manager))
    return checked


def is_group(override: Override, loader: ConfigLoader) -> bool:
    """Whether the override chooses an option of a configuration group, as ``trainer=ppo`` does."""
    from hydra.core.object_type import ObjectType

    if override.is_hydra_override() or not loader.get_group_options(override.key_or_group, ObjectType.CONFIG):
        return False
    return override.is_delete() or override.is_sweep_override() or isinstance(override.value(), str | None)


def options_of(loader: ConfigLoader, group: str) -> list[str]:
    """The options of a configuration group. An option of a subgroup is listed as ``SUBGROUP/OPTION``."""
    from hydra.core.object_type import ObjectType

    inner = loader.get_group_options(group, ObjectType.GROUP)
    below = [f"{name}/{option}" for name in inner for option in options_of(loader, f"{group}/{name}")]
    return [*loader.get_group_options(group, ObjectType.CONFIG), *below]


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(". ")


def _checked(override: Override, loader: ConfigLoader, manager: PluginManager) -> str:
    text, key = str(override.input_line), override.key_or_group
    if override.is_hydra_override() or override.is_delete():
        return text
    if is_group(override, loader):
        valid = options_of(loader, key)
        for name in _names(override):
            if name not in valid:
                raise UnknownNameError(key, name, valid, _hint(key))
        return text if key in IN_DEFAULTS or override.is_add() else f"+{text}"
    if key == "task":
        text = _task(override, manager)
    if key == "observers" and not override.is_sweep_override() and isinstance(names := override.value(), list):
        text = f"observers={{{','.join(f'{name}:{{}}' for name in names)}}}"  # Hydra merges no list into a mapping.
    # Hydra adds a key that is missing; RunConfig checks which keys are valid.
    return f"++{text.lstrip('+')}"


def _hint(group: str) -> str:
    return "A model is set by llm.model=PROVIDER/MODEL." if group == "llm" else f"Write {group}=NAME."


def _names(override: Override) -> Iterator[str]:
    """The values that an override lists. For a pattern or an interval, the list of values is empty."""
    from hydra.core.override_parser.types import ValueType

    if override.value_type in (ValueType.CHOICE_SWEEP, ValueType.SIMPLE_CHOICE_SWEEP):
        yield from (text.strip("'\"") for text in override.sweep_string_iterator())
    elif not override.is_sweep_override() and isinstance(override.value(), str):
        yield str(override.value())


def _task(override: Override, manager: PluginManager) -> str:
    from hydra.core.override_parser.types import Glob, ValueType

    if override.value_type == ValueType.GLOB_CHOICE_SWEEP:
        glob = override.value()
        assert isinstance(glob, Glob)
        tasks = manager.tasks()
        names = [t for t in tasks if _matches(t, glob.include) and not _matches(t, glob.exclude)]
        if not names:
            raise UnknownNameError(
                "task", ",".join(glob.include), tasks, "The pattern matches none of them.", "`rlgpt tasks` lists them."
            )
        return f"{override.get_key_element()}={','.join(names)}"
    for name in _names(override):
        if "*" in name:
            raise ConfigError(f"{name!r} is a pattern. Write -m 'task=glob({name})' for one run of each matching task.")
        manager.task(name)
    return str(override.input_line)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)
