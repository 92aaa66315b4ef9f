"""Encodes views and outcomes as JSON text for a guest. The *view* is the dict that a coded action gets as its
observation; an *outcome* is the dict that a primitive returns to the action.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
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
    return _bounded(_encode(value, action), action, limit)


class ViewTexts:
    """Encodes one view, or parts of it, for several actions. Each value is encoded once.

    :raises PluginError: see :func:`encode`; every method may raise it.
    """

    def __init__(self, view: Mapping[str, Any]) -> None:
        self._view, self._whole = view, ""
        self._parts: dict[str, str] = {}

    def of(self, keys: Collection[str] | None, action: str, limit: int) -> str:
        """The view as JSON, with these keys alone, in its own order; None: all.

        :raises Refused: see :func:`encode`.
        """
        if keys is None:
            self._whole = self._whole or _encode(self._view, action)
            return _bounded(self._whole, action, limit)
        chosen = [key for key in self._view if key in keys]
        for key in chosen:
            if key not in self._parts:
                self._parts[key] = f"{_encode(key, action)}:{_encode(self._view[key], action)}"
        return _bounded("{" + ",".join([self._parts[key] for key in chosen]) + "}", action, limit)


def _encode(value: Any, action: str) -> str:
    try:
        return _ENCODER.encode(value)
    except ValueError as error:
        raise Refused(
            "view", f"the view or outcome for {action!r} contains a number that is not finite, or a cycle: {error}"
        ) from None
    except (TypeError, RecursionError) as error:
        raise PluginError(
            f"views and outcomes may contain only None, bool, int, float, str, list and dict: {error}"
        ) from None


def _bounded(text: str, action: str, limit: int) -> str:
    if len(text) > limit:
        raise Refused("view", f"the view or outcome for {action!r} has {len(text)} bytes; at most {limit} are allowed")
    return text
