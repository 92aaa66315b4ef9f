"""Validates settings. The error message about invalid settings has one sentence for each invalid setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rlgpt.errors import ConfigError, RlgptError, UnknownNameError

M = TypeVar("M", bound=BaseModel)

_SHOWN = 8
"""Maximal number of faults that a message names. Further faults are only counted."""


def validated(model: type[M], values: Mapping[str, Any], where: str = "") -> M:
    """Validate the settings ``values`` and return them as an object of the pydantic class ``model``.

    :param where: prefix of the keys in messages.
    :raises UnknownNameError: one key in ``values`` is not a field of ``model``, and ``values`` has no other fault.
    :raises ConfigError: some values are not valid, or several keys are not fields of ``model``. The message of the
        error names the invalid keys.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        found = error.errors(include_url=False)
        faults = [_fault(model, each, where) for each in found[:_SHOWN]]
        if len(found) == 1:
            raise faults[0] from error
        more = f" And {len(found) - _SHOWN} more." if len(found) > _SHOWN else ""
        raise ConfigError(" ".join(map(str, faults)) + more) from error


def _fault(model: type[BaseModel], error: ErrorDetails, where: str) -> RlgptError:
    path = [str(part) for part in error["loc"]]
    key = ".".join([where, *path] if where else path)
    if error["type"] == "extra_forbidden":
        parents = [where, *path[:-1]] if where else path[:-1]
        valid = [".".join([*parents, name]) for name in _fields(model, path[:-1])]
        return UnknownNameError("key", key, valid)
    if not key:
        return ConfigError(f"{error['msg'].removeprefix('Value error, ')}.")
    return ConfigError(f"{key}={error['input']!r:.200} cannot be used: {error['msg']}.")


def _fields(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """The names of the fields of the pydantic model at the position ``path``; empty if the names are unknown."""
    for part in path:
        field = model.model_fields.get(part)
        kinds = () if field is None else (field.annotation, *getattr(field.annotation, "__args__", ()))
        inner = next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]
