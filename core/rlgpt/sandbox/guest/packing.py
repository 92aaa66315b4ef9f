"""Converts the memory that coded actions share to values of JSON and back. The guest uses this module to exchange the
memory with the host, and the host uses the module to check the memory.

Lists, and dicts whose keys are text, are not changed by the conversion. Tuples, sets and other dicts become a dict with
the only key ``""``, whose value is ``[KIND, ...]``.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

TAG = ""
LEVELS = 12
"""Maximal number of levels of nested values. Each level needs at most four brackets in JSON."""

_TAKES = "None, bool, int, float, str, and list, tuple, set and dict of these"


class PackingError(TypeError):
    """A value cannot be stored in the shared memory."""


def pack(value: Any, level: int = 0) -> Any:
    """Convert ``value`` to values of JSON.

    :raises PackingError: ``value`` contains an object of a type that the memory cannot store, a number that is not
        finite, or too many nested levels.
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        if not isfinite(value):
            raise PackingError(f"`memory` takes finite numbers, got {value}")
        return value
    if level == LEVELS:
        raise PackingError(f"`memory` holds values within values more than {LEVELS} deep, or a value within itself")
    if kind is list:
        return [pack(item, level + 1) for item in value]
    if kind is tuple:
        return {TAG: ["tuple", *(pack(item, level + 1) for item in value)]}
    if kind is set:
        return {TAG: ["set", *sorted((pack(item, level + 1) for item in value), key=repr)]}
    if kind is dict:
        if all(type(key) is str for key in value) and TAG not in value:
            return {key: pack(item, level + 1) for key, item in value.items()}
        return {TAG: ["dict", *([pack(key, level + 1), pack(item, level + 1)] for key, item in value.items())]}
    raise PackingError(f"`memory` takes {_TAKES}, got {kind.__name__}")


def unpack(packed: Any) -> Any:
    """Convert a result of :func:`pack` back to the original value.

    :raises PackingError: ``packed`` is not a possible result of :func:`pack`.
    """
    if type(packed) is list:
        return [unpack(item) for item in packed]
    if type(packed) is not dict:
        return packed
    if TAG not in packed:
        return {key: unpack(item) for key, item in packed.items()}
    try:
        ((kind, *items),) = packed.values()
        if kind == "dict":
            return {unpack(key): unpack(item) for key, item in items}
        return {"tuple": tuple, "set": set}[kind](map(unpack, items))
    except (KeyError, TypeError, ValueError):
        raise PackingError("this is no packed memory") from None
