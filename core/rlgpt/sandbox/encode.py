"""Encodes views and outcomes as JSON text for a guest. The *view* is the dict that a coded action gets as its
observation; an *outcome* is the dict that a primitive returns to the action.
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
    :raises PluginError: ``value`` contains something other than None, bool, int, float, str, list and dict. This is a
        fault of the plugin, not of the coded action.
    """
    try:
        text = _ENCODER.encode(value)
    except ValueError as error:
        raise Refused(
            "view", f"the view or outcome for {action!r} contains a number that is not finite, or a cycle: {error}"
        ) from None
    except (TypeError, RecursionError) as error:
        raise PluginError(
            f"views and outcomes may contain only None, bool, int, float, str, list and dict: {error}"
        ) from None
    if len(text) > limit:
        raise Refused("view", f"the view or outcome for {action!r} has {len(text)} bytes; the limit is {limit}")
    return text
