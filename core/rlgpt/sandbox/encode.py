"""Views and outcomes as the JSON text that crosses into a guest."""

from __future__ import annotations

import json
from typing import Any

from rlgpt.errors import PluginError
from rlgpt.sandbox.checks import Refused

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def encode(value: Any, action: str, limit: int) -> str:
    """``value`` as JSON.

    :param action: the name of the coded action that gets it, for messages.
    :param limit: characters of the JSON text, at most.
    :raises Refused: ``view``, where it is longer than ``limit`` or holds a number that is not finite.
    :raises PluginError: it is not plain: a fault of the plugin, not of the coded action.
    """
    try:
        text = _ENCODER.encode(value)
    except ValueError as error:
        raise Refused("view", f"what {action!r} should be given is not finite or not a tree: {error}") from None
    except (TypeError, RecursionError) as error:
        raise PluginError(
            f"views and outcomes hold None, bool, int, float, str, list and dict alone: {error}"
        ) from None
    if len(text) > limit:
        raise Refused("view", f"what {action!r} asked for has {len(text)} bytes; at most {limit} are handed over")
    return text
