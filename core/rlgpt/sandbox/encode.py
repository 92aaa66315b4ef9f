"""Encodes views and outcomes as JSON text for a guest. The *view* is what a coded action sees of the environment;
an *outcome* is the dict that a primitive returns to it.
"""

from __future__ import annotations

import json
from typing import Any

from rlgpt.errors import PluginError
from rlgpt.sandbox.checks import Refused

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def encode(value: Any, action: str, limit: int) -> str:
    """``value`` as JSON.

    :param action: name of the coded action that receives the text, for messages.
    :param limit: maximal number of characters of the JSON text.
    :raises Refused: ``view``: the text is longer than ``limit``, or a number is not finite.
    :raises PluginError: ``value`` holds something other than None, bool, int, float, str, list and dict. This is a
        fault of the plugin, not of the coded action.
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
