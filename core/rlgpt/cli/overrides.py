"""Checks what was written on the command line before Hydra sees it, so that every mistake names the valid choices."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlgpt.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader
    from hydra.core.override_parser.types import Override

    from rlgpt.plugin.manager import PluginManager

CONFIG = "config"
OPEN = "task_settings."
"""Keys that begin so are a task's own: which there are is said when the task is known."""


def check(
    overrides: Sequence[str],
    loader: ConfigLoader,
    manager: PluginManager,
    *,
    multirun: bool,
    base: Mapping[str, Any] | None = None,
) -> list[str]:
    """The overrides, checked; globs over tasks stand expanded.

    :param manager: knows the valid values of ``task``.
    :param multirun: whether a key may be given several values.
    :param base: the configuration that is changed; default: that of ``conf/``.
    :raises UnknownNameError: a key, the value of a group, or a task that does not exist.
    :raises ConfigError: not of the form ``KEY=VALUE``; or several values without ``-m``.
    """
    parsed = [parse(text) for text in overrides]
    _groups(parsed, loader)
    _keys(parsed, loader, base)
    checked = [_task(o, manager) if o.key_or_group == "task" and not o.is_delete() else _text(o) for o in parsed]
    if not multirun:
        for text in checked:
            if parse(text).is_sweep_override():
                raise ConfigError(f"{text!r} gives several values, which make several runs. Add -m.")
    return checked


def parse(text: str) -> Override:
    """One override by Hydra's grammar.

    :raises ConfigError: it is not of that grammar.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    if "=" not in text and not text.startswith("~"):
        raise ConfigError(f"cannot read {text!r}: write KEY=VALUE, such as task=PLUGIN/TASK or seed=1.")
    try:
        return OverridesParser.create().parse_override(text)
    except HydraException as error:
        raise ConfigError(
            f"cannot read {text!r}: {_first_line(error)}. Write KEY=VALUE; quote a value that holds spaces or "
            "brackets for Hydra and for the shell, as in 'seed=range(5)'."
        ) from error


def compose(loader: ConfigLoader, overrides: Sequence[str]) -> Any:
    """The configuration as ``rlgpt train`` would use it.

    :raises ConfigError: Hydra refuses, in one sentence (a text where a number belongs, say).
    """
    from hydra.errors import HydraException
    from hydra.types import RunMode
    from omegaconf.errors import OmegaConfBaseException

    try:
        return loader.load_configuration(CONFIG, list(overrides), run_mode=RunMode.RUN)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(explain(error)) from error


def explain(error: BaseException) -> str:
    """What Hydra or OmegaConf says, without the internals: the innermost cause's first line, and the key."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    key = getattr(cause, "full_key", None)
    return (
        f"{_first_line(cause)}{f' (key {key!r})' if key else ''}. `rlgpt train --cfg` prints every key and its value."
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(". ")


def _groups(parsed: Sequence[Override], loader: ConfigLoader) -> None:
    from hydra.core.object_type import ObjectType

    for override in parsed:
        group = override.key_or_group
        valid = loader.get_group_options(group, ObjectType.CONFIG)
        if not valid or override.is_hydra_override() or override.is_delete():
            continue
        for value in _values(override):
            if value not in valid:
                raise UnknownNameError(group, value, valid, f"Write {group}=NAME.")


def _keys(parsed: Sequence[Override], loader: ConfigLoader, base: Mapping[str, Any] | None) -> None:
    from hydra.core.object_type import ObjectType

    def of_group(override: Override) -> bool:
        return bool(loader.get_group_options(override.key_or_group, ObjectType.CONFIG))

    groups = [o for o in parsed if of_group(o) and not o.is_hydra_override() and not o.is_delete()]
    chosen = [f"{o.get_key_element()}={name}" for o in groups for name in list(_values(o))[:1]]
    config = compose(loader, chosen)
    if base is not None:
        from omegaconf import OmegaConf

        taken = {o.key_or_group for o in groups}
        config = OmegaConf.create({**base, **{key: config[key] for key in taken}})
    for override in parsed:
        key = override.key_or_group
        if of_group(override) or override.is_hydra_override() or override.is_add() or key.startswith(OPEN):
            continue
        if not _holds(config, key):
            keys = {k for k in _flat(config) if not k.startswith("hydra.") and not k.endswith("._target_")}
            keys |= {g for g in loader.list_groups("") if not g.startswith("hydra")}
            raise UnknownNameError("override", key, keys, f"To add a key that is not there, write +{key}=...")


def _holds(config: Any, key: str) -> bool:
    node = config
    for part in key.split("."):
        try:
            if part not in node:
                return False
            node = node._get_node(part)
        except TypeError:
            return False
    return True


def _flat(config: Any, prefix: str = "") -> Iterator[str]:
    from omegaconf import DictConfig

    for key in config:
        node = config._get_node(key)
        name = f"{prefix}{key}"
        if isinstance(node, DictConfig) and not node._is_none() and not node._is_missing() and len(node):
            yield from _flat(node, f"{name}.")
        else:
            yield name


def _values(override: Override) -> Iterator[str]:
    """The names an override chooses among; none where only Hydra can tell (a glob over a group, an interval)."""
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
        names = [t for t in tasks if _any(t, glob.include) and not _any(t, glob.exclude)]
        if not names:
            raise UnknownNameError(
                "task", ",".join(glob.include), tasks, "The pattern matches none of them.", "`rlgpt tasks` lists them."
            )
        return f"{override.get_key_element()}={','.join(names)}"
    for name in _values(override):
        if "*" in name:
            raise ConfigError(
                f"{name!r} is a pattern. Write -m 'task=glob({name})' for one run of each task it matches."
            )
        manager.task(name)
    return _text(override)


def _any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def _text(override: Override) -> str:
    assert override.input_line is not None
    opens = override.key_or_group.startswith(OPEN) and not (override.is_add() or override.is_delete())
    return f"++{override.input_line}" if opens else override.input_line
