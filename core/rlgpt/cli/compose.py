"""Converts the configuration that Hydra composes into a ``RunConfig``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from rlgpt.cli.overrides import first_line, is_group, parse
from rlgpt.config.components import Component
from rlgpt.config.run_config import RunConfig
from rlgpt.domain.validated import validated
from rlgpt.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from hydra.core.config_loader import ConfigLoader

CONFIG = "config"


def compose(loader: ConfigLoader, overrides: Sequence[str]) -> Any:
    """Compose Hydra's configuration for one run.

    :raises ConfigError: Hydra refuses an override.
    """
    from hydra.types import RunMode

    try:
        return loader.load_configuration(CONFIG, list(overrides), run_mode=RunMode.RUN)
    except hydra_errors() as error:
        raise ConfigError(explain(error)) from error


def plain(config: Any) -> dict[str, Any]:
    """The values of a composed configuration, without Hydra's own section.

    :raises ConfigError: an interpolation cannot be resolved.
    """
    from omegaconf import OmegaConf, open_dict

    config = config.copy()
    with open_dict(config):
        config.pop("hydra", None)
    try:
        values = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except hydra_errors() as error:
        raise ConfigError(explain(error)) from error
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


def run_config(values: Mapping[str, Any]) -> RunConfig:
    """Validate the values of a composed configuration.

    :raises UnknownNameError: a key of the configuration does not exist; the message gives similar keys from all groups.
    :raises ConfigError: a value is not valid.
    """
    for key in values:
        if key not in RunConfig.model_fields:
            raise UnknownNameError(
                "override",
                key,
                keys(RunConfig),
                listed="the flag --cfg of `rlgpt train` and `rlgpt design` prints them.",
            )
    return validated(RunConfig, values)


def changed(config: RunConfig, loader: ConfigLoader, overrides: Sequence[str], checked: Sequence[str]) -> RunConfig:
    """Apply overrides to ``config``. An override such as ``trainer=NAME`` replaces the whole configuration group. Only
    ``llm.budget``, which limits the spending of the whole run, stays if ``llm`` is replaced.

    Hydra evaluates only the overridden keys, and does not resolve interpolations in ``config``.

    :param checked: the overrides in the form that :func:`rlgpt.cli.overrides.check` returns.
    :raises RlgptError: a key or a value is not valid.
    """
    values, new = config.plain(), plain(compose(loader, checked))
    chosen = [override.key_or_group for override in map(parse, overrides)]
    if "llm.model" in chosen and not {"llm", "llm.kind"} & {*chosen}:
        values["llm"]["kind"] = None
    for override in sorted(map(parse, overrides), key=lambda o: not is_group(o, loader)):
        path = override.key_or_group.split(".")
        if override.is_hydra_override() or path == ["experiment"]:
            raise ConfigError(
                f"{override.input_line!r} is only for new runs. An existing run accepts single keys, KEY=VALUE."
            )
        if is_group(override, loader):
            kept = {"budget": values["llm"]["budget"]} if path == ["llm"] else {}
            values[path[0]] = {**new[path[0]], **kept}
        elif override.is_delete():
            _at(values, path[:-1]).pop(path[-1], None)
        else:
            _at(values, path[:-1])[path[-1]] = _at(new, path[:-1])[path[-1]]
    return run_config(values)


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """The names of all settings of ``model``. The names of nested settings have dots."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel) and not issubclass(kind, Component):
            yield from keys(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def explain(error: BaseException) -> str:
    """A message for an error of Hydra or OmegaConf, with the first line of the innermost cause, and with the
    configuration's key.
    """
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    key = getattr(cause, "full_key", None)
    hint = "The flag --cfg of `rlgpt train` and `rlgpt design` prints every key and its value."
    return f"{first_line(cause)}{f' (key {key!r})' if key else ''}. {hint}"


def hydra_errors() -> tuple[type[Exception], ...]:
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    return HydraException, OmegaConfBaseException


def _at(node: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """The nested mapping at ``path``. A missing mapping is created."""
    for key in path:
        if not isinstance(node.get(key), dict):
            node[key] = {}
        node = node[key]
    return node
