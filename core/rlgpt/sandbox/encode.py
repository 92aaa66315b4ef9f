"""Encodes views and outcomes for a guest, with numbers as bytes and all other values as JSON. The *view* is the
dict that a coded action gets as its observation. An *outcome* is the dict that a primitive returns to the coded action.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rlgpt.errors import PluginError
from rlgpt.sandbox.checks import Refused
from rlgpt.sandbox.guest import floats

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def encode(value: Any, action: str, limit: int) -> floats.Packed | str:
    """Encode a view or outcome, packed (:mod:`rlgpt.sandbox.guest.floats`) if it has a known form, else as JSON.

    :param action: name of the coded action that receives the value, for messages.
    :param limit: maximal number of bytes of the numbers, and also of the JSON of the other values. A value that exceeds
        the limit in this form is accepted if the whole value as JSON is within the limit.
    :raises Refused: the value for the guest is longer than ``limit``, or a number is not finite (kind ``view``).
    :raises PluginError: ``value`` contains a value that is not plain. This is a fault of the plugin that made the view
        or outcome, not of the coded action.
    """
    packed = floats.pack(value, lambda rest: _encode(rest, action))
    if packed is not None and packed.size <= min(limit, floats.MOST):
        return packed
    return _bounded(_encode(value, action), action, limit)


class ViewParts:
    """Encodes parts of one view for several actions. Each part is encoded only once."""

    def __init__(self, view: Mapping[str, Any]) -> None:
        self._view = view
        self._parts: dict[tuple[str, ...] | None, floats.Packed | str] = {}

    def of(self, keys: tuple[str, ...] | None, action: str, limit: int) -> floats.Packed | str:
        """The part of the view with the given keys, as :func:`encode` encodes it.

        :param keys: the keys of the view that the part contains, in this order. If ``keys`` is None, the part is the
            whole view.
        :raises Refused: :func:`encode` raises the error.
        :raises PluginError: :func:`encode` raises the error.
        """
        part = self._parts.get(keys)
        if part is None:
            view = self._view
            chosen = dict(view) if keys is None else {key: view[key] for key in keys if key in view}
            part = self._parts[keys] = encode(chosen, action, limit)
        return part


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
