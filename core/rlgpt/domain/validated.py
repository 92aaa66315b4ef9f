"""Settings as a model, and what is wrong with them in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rlgpt.errors import ConfigError, UnknownNameError

M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], values: Mapping[str, Any], where: str = "") -> M:
    """The values as ``model``.

    :raises ConfigError: they are not; names the key and what is wrong with it.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in ([where] if where else []) + list(first["loc"]))
        if first["type"] == "extra_forbidden":
            raise UnknownNameError("key", key, [f"{where}.{f}" if where else f for f in model.model_fields]) from error
        raise ConfigError(f"{key}={first['input']!r} cannot be used: {first['msg']}.") from error
