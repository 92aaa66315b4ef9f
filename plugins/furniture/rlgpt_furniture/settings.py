"""Reads the settings of a task, and checks them before anything is built from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rlgpt.domain import Task
from rlgpt.errors import ConfigError

from rlgpt_furniture.furniture import FURNITURE
from rlgpt_furniture.tasks import DEFAULTS, RANDOMNESS, furniture_of

CAMERAS = ("front", "wrist")
"""Keys that the setting ``cameras`` adds to the observation."""
MAX_CLEARANCE = 0.005
"""Largest clearance, m. With more clearance than the tolerance of a joint, a peg could be in its hole although its
joint is not made.
"""

MAX_TAG_ERROR = 0.02
"""Largest tag error, m. With a larger error, a hand that aims at a leg closes beside the leg."""


@dataclass(frozen=True)
class Settings:
    """The settings of one task.

    :ivar connectors: whether connectors hold the parts, which must then be twisted; if False, pegs go into holes.
    :ivar clearance: the distance between a peg and its hole on all sides, 0 to 0.005 m.
    :ivar by_joints: whether base actions are joint velocities; if False, base actions are motions of the hand.
    :ivar tag_error: the largest horizontal error of the observed position of a part, 0 to 0.02 m.
    :ivar cameras: whether the observation has the images ``front`` and ``wrist``.
    """

    furniture: str
    randomness: str
    connectors: bool
    clearance: float
    by_joints: bool
    cameras: bool
    tag_error: float


def read_settings(task: Task) -> Settings:
    """Return the settings of ``task``; a missing setting has its default value.

    :raises ConfigError: a setting has an invalid value.
    """
    own = furniture_of(task.id)
    return Settings(
        furniture=_choice(task, "furniture", FURNITURE if own is None else (own,)),
        randomness=_choice(task, "randomness", RANDOMNESS),
        connectors=_choice(task, "joints", ("peg", "connector")) == "connector",
        clearance=_metres(task, "clearance", MAX_CLEARANCE),
        by_joints=_choice(task, "control", ("hand", "joints")) == "joints",
        cameras=_switch(task, "cameras"),
        tag_error=_metres(task, "tag_error", MAX_TAG_ERROR),
    )


def _value(task: Task, setting: str) -> object:
    return task.settings.get(setting, DEFAULTS.get(setting))


def _choice(task: Task, setting: str, valid: Iterable[str]) -> str:
    value, names = _value(task, setting), tuple(valid)
    if not isinstance(value, str) or value not in names:
        advice = " Its goal is about that: other furniture has tasks of its own." if setting == "furniture" else ""
        raise ConfigError(f"{task.id}: setting {setting} is {value!r}; valid: {', '.join(names)}.{advice}")
    return value


def _metres(task: Task, setting: str, high: float) -> float:
    value = _value(task, setting)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= high:
        # This is also true for NaN.
        raise ConfigError(f"{task.id}: setting {setting} is {value!r}; valid: a number of m from 0 to {high}.")
    return float(value)


def _switch(task: Task, setting: str) -> bool:
    value = _value(task, setting)
    if not isinstance(value, bool):
        raise ConfigError(f"{task.id}: setting {setting} is {value!r}; valid: true, false.")
    return value
