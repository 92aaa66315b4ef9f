"""What a task's settings ask for, checked before anything is built of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rlgpt.domain import Task
from rlgpt.errors import ConfigError

from rlgpt_furniture.furniture import FURNITURE
from rlgpt_furniture.tasks import DEFAULTS, RANDOMNESS, furniture_of

CAMERAS = ("front", "wrist")
"""What the setting ``cameras`` adds to the observation."""
LOOSEST = 0.005
"""m: a peg with more room than a part may be off could rest where it does not count."""


@dataclass(frozen=True)
class Settings:
    """The settings of one task.

    :ivar connectors: parts are held by connectors and twisted, instead of pegs in holes.
    :ivar clearance: m between a peg and its hole, all around, 0 to 0.005.
    :ivar by_joints: base actions are joint velocities, instead of motions of the hand.
    :ivar cameras: the observation has ``front`` and ``wrist``.
    """

    furniture: str
    randomness: str
    connectors: bool
    clearance: float
    by_joints: bool
    cameras: bool


def read(task: Task) -> Settings:
    """The settings of ``task``; those that it leaves out are as they are by default.

    :raises ConfigError: one of them has a value that cannot be used.
    """
    own = furniture_of(task.id)
    return Settings(
        furniture=_choice(task, "furniture", FURNITURE if own is None else (own,)),
        randomness=_choice(task, "randomness", RANDOMNESS),
        connectors=_choice(task, "joints", ("peg", "connector")) == "connector",
        clearance=_clearance(task),
        by_joints=_choice(task, "control", ("hand", "joints")) == "joints",
        cameras=_switch(task, "cameras"),
    )


def _value(task: Task, setting: str) -> object:
    return task.settings.get(setting, DEFAULTS.get(setting))


def _choice(task: Task, setting: str, valid: Iterable[str]) -> str:
    value, names = _value(task, setting), tuple(valid)
    if not isinstance(value, str) or value not in names:
        advice = " Its goal is about that: other furniture has tasks of its own." if setting == "furniture" else ""
        raise ConfigError(f"{task.id}: setting {setting} is {value!r}; valid: {', '.join(names)}.{advice}")
    return value


def _clearance(task: Task) -> float:
    value = _value(task, "clearance")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= LOOSEST:
        # a comparison with nan is false, too
        raise ConfigError(f"{task.id}: setting clearance is {value!r}; valid: a number of m from 0 to {LOOSEST}.")
    return float(value)


def _switch(task: Task, setting: str) -> bool:
    value = _value(task, setting)
    if not isinstance(value, bool):
        raise ConfigError(f"{task.id}: setting {setting} is {value!r}; valid: true, false.")
    return value
