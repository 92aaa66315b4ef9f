"""Validates settings; an error names the setting in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rlgpt.errors import ConfigError, UnknownNameError

M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], values: Mapping[str, Any], where: str = "") -> M:
    """``values`` as an object of ``model``.

    :param where: prefix of the keys in messages.
    :raises UnknownNameError: ``model`` has no such key.
    :raises ConfigError: a value is not valid; the message names its key.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = [str(part) for part in first["loc"]]
        key = ".".join([where, *path] if where else path)
        if first["type"] == "extra_forbidden":
            parents = [where, *path[:-1]] if where else path[:-1]
            valid = [".".join([*parents, name]) for name in _fields(model, path[:-1])]
            raise UnknownNameError("key", key, valid) from error
        if not key:
            raise ConfigError(f"{first['msg'].removeprefix('Value error, ')}.") from error
        raise ConfigError(f"{key}={first['input']!r:.200} cannot be used: {first['msg']}.") from error


def _fields(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """The names of the fields of the model at ``path``; empty if they are unknown."""
    for part in path:
        field = model.model_fields.get(part)
        kinds = () if field is None else (field.annotation, *getattr(field.annotation, "__args__", ()))
        inner = next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]
