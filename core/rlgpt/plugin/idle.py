"""Converts the idle action that a user gives for an environment without a plugin to an action of the action space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlgpt.domain import Plain
from rlgpt.errors import ConfigError, UnknownNameError

IDLE = ("noop", "no_op", "nop", "none", "nothing", "do_nothing", "idle", "stay", "wait", "done")
"""Labels that usually belong to a value of a Discrete without effect. The most reliable label is first."""


def idle_action(space: spaces.Space[Any], labels: Sequence[str], given: Any) -> Any:
    """Convert the user's idle action to an action of the action space ``space``.

    :param labels: labels of the values of a Discrete action space.
    :param given: the idle action as a label, or as an action in which lists may stand for arrays and tuples. The result
        for None is None.
    :raises UnknownNameError: ``given`` is a text that is not a label.
    :raises ConfigError: ``given`` is not an action of the space.
    """
    if given is None:
        return None
    if isinstance(given, str) and isinstance(space, spaces.Discrete):
        if given not in labels:
            raise UnknownNameError(
                "label", given, labels, "The idle action must be one of the labels, or an action of the space."
            )
        return space.start + list(labels).index(given)
    try:
        action = _cast(space, plain_idle(given))
    except (TypeError, ValueError, OverflowError):
        action = None
    if action is None or not space.contains(action):
        raise ConfigError(
            f"idle is {given!r:.120}, not an action of {space!s:.200}. Valid: an action of this space, or a label."
        )
    return action


def plain_idle(given: Any) -> Plain:
    """Convert the user's idle action to a form that a bundle can store, in which arrays and tuples become lists."""
    if isinstance(given, np.ndarray | np.generic):
        return given.tolist()  # type: ignore[no-any-return]
    if isinstance(given, Mapping):
        return {str(key): plain_idle(part) for key, part in given.items()}
    return [plain_idle(part) for part in given] if isinstance(given, list | tuple) else given


def _cast(space: spaces.Space[Any], given: Any) -> Any:
    """Convert an action that is written with lists to an action of ``space``, with arrays and tuples.

    :raises ValueError: a number does not fit the action space, for example 0.9 in a space of integers.
    """
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary) and isinstance(given, list):
        action = np.asarray(given, space.dtype)
        if action.dtype.kind in "biu" and not np.array_equal(action, given):
            raise ValueError(f"the numbers of {given} must be integers")
        return action
    if isinstance(space, spaces.Tuple) and isinstance(given, list) and len(given) == len(space.spaces):
        return tuple(_cast(sub, part) for sub, part in zip(space.spaces, given, strict=True))
    if isinstance(space, spaces.Dict) and isinstance(given, Mapping) and given.keys() == space.spaces.keys():
        return {key: _cast(sub, given[key]) for key, sub in space.spaces.items()}
    return given
