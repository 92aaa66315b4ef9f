"""Validates settings; an error names the setting in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
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
        key = ".".join(str(part) for part in ([where] if where else []) + list(first["loc"]))
        if first["type"] == "extra_forbidden":
            raise UnknownNameError("key", key, [f"{where}.{f}" if where else f for f in model.model_fields]) from error
        raise ConfigError(f"{key}={first['input']!r} cannot be used: {first['msg']}.") from error
