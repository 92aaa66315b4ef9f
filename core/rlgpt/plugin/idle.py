"""The idle action of an environment without a plugin: as the user writes it, and as an action of the space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlgpt.domain import Plain
from rlgpt.errors import ConfigError, UnknownNameError

IDLE = ("noop", "no_op", "nop", "none", "nothing", "do_nothing", "idle", "stay", "wait", "done")
"""Labels of a Discrete's value that does nothing, the most reliable first."""


def idle_action(space: spaces.Space[Any], labels: Sequence[str], said: Any) -> Any:
    """``said`` as an action of ``space``. ``said`` is a label, or an action with lists for arrays and tuples; None
    gives None.

    :param labels: of a Discrete's values.
    :raises UnknownNameError: it is not a label.
    :raises ConfigError: it is no action.
    """
    if said is None:
        return None
    if isinstance(said, str) and isinstance(space, spaces.Discrete):
        if said not in labels:
            raise UnknownNameError("label", said, labels, "idle= takes one of the labels, or an action of the space.")
        return space.start + list(labels).index(said)
    try:
        action = _cast(space, plain_idle(said))
    except (TypeError, ValueError, OverflowError):
        action = None
    if action is None or not space.contains(action):
        raise ConfigError(
            f"idle is {said!r:.120}, no action of {space!s:.200}. Valid: an action of it, or a label of a Discrete's."
        )
    return action


def plain_idle(said: Any) -> Plain:
    """The user's value in a form that a bundle can store: arrays and tuples become lists."""
    if isinstance(said, np.ndarray | np.generic):
        return said.tolist()  # type: ignore[no-any-return]
    if isinstance(said, Mapping):
        return {str(key): plain_idle(part) for key, part in said.items()}
    return [plain_idle(part) for part in said] if isinstance(said, list | tuple) else said


def _cast(space: spaces.Space[Any], said: Any) -> Any:
    """Lists converted to the types of ``space``.

    :raises ValueError: a number does not fit the space, for example 0.9 in a space of integers.
    """
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary) and isinstance(said, list):
        action = np.asarray(said, space.dtype)
        if action.dtype.kind in "biu" and not np.array_equal(action, said):
            raise ValueError(f"{said} are no whole numbers")
        return action
    if isinstance(space, spaces.Tuple) and isinstance(said, list) and len(said) == len(space.spaces):
        return tuple(_cast(sub, part) for sub, part in zip(space.spaces, said, strict=True))
    if isinstance(space, spaces.Dict) and isinstance(said, Mapping) and said.keys() == space.spaces.keys():
        return {key: _cast(sub, said[key]) for key, sub in space.spaces.items()}
    return said
