"""Computes facts about an episode that a single observation does not contain, from all observations and actions of the
episode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rlgpt.errors import StateError
from voxeldojo.spaces import FUNCTIONS

from rlgpt_minecraft.hits import HIT, NO_HIT, hit_after
from rlgpt_minecraft.moves import Action
from rlgpt_minecraft.observation import ParsedObservation
from rlgpt_minecraft.rays import DISTANCE

_ATTACK = FUNCTIONS.index("attack")


class Progress:
    """The progress of an episode. The environment updates the progress at each step and adds the entries of the
    progress to every ``info``. The progress has these entries:

    ``start``      position (x, y, z, m) at the start of the episode
    ``dig_ticks``  consecutive steps with attack on the block that is now under the cross-hair
    ``nearest``    thing -> smallest lidar distance so far, m; 40 if none was seen
    ``dug``        thing -> largest number of consecutive steps with attack on such a thing
    ``most``       item -> largest gain over the count at the start
    ``hit``        the newest loss of life (:mod:`rlgpt_minecraft.hits`)

    :param items: the items whose counts are tracked.
    """

    def __init__(self, obs: ParsedObservation, items: Sequence[str]) -> None:
        self._start = tuple(float(x) for x in obs.position)
        self._had = {item: obs.count(item) for item in items}
        self._labels = {thing.seen_as: thing.name for thing in obs.sought if thing.kind == "block"}
        self._place: tuple[int, int, int] | None = None
        self._ticks = 0
        self._nearest = dict.fromkeys((thing.name for thing in obs.sought), DISTANCE)
        self._dug = dict.fromkeys(self._labels.values(), 0)
        self._most = dict.fromkeys(items, 0)
        self._hit = dict(zip(HIT, NO_HIT, strict=True))
        self._look(obs)

    def update(self, obs: ParsedObservation, action: Action) -> None:
        """Update the progress with MineDojo's action of a step, and with the observation after the step."""
        aim = obs.crosshair
        place = aim.place if aim.block and aim.reach else None
        if int(action[5]) != _ATTACK or place is None:
            self._ticks = 0
        else:
            self._ticks = self._ticks + 1 if place == self._place else 1
            name = self._labels.get(aim.block)
            if name is not None:
                self._dug[name] = max(self._dug[name], self._ticks)
        self._place = place
        self._hit = hit_after(self._hit, obs)
        self._look(obs)

    def _look(self, obs: ParsedObservation) -> None:
        for name, sight in obs.sights.items():
            if sight.visible and sight.distance < self._nearest[name]:
                self._nearest[name] = sight.distance
        for item, had in self._had.items():
            self._most[item] = max(self._most[item], obs.count(item) - had)

    def as_state(self) -> dict[str, object]:
        """Return the complete state of the progress, for :meth:`restore`."""
        return {"had": self._had, "place": self._place, **self.as_info()}

    def check(self, state: object) -> None:
        """Check a state of the progress that others may have made.

        :raises StateError: the state is not a result of :meth:`as_state` for the same task.
        """
        now = self.as_state()
        same = isinstance(state, dict) and state.keys() == now.keys()
        if not (same and isinstance(state, dict) and all(_alike(name, state[name], now[name]) for name in now)):
            raise StateError("the saved progress of the episode is damaged, or of another task.")

    def restore(self, state: Any) -> None:
        """Restore a state from :meth:`as_state` that :meth:`check` accepts."""
        self._had, self._start = dict(state["had"]), state["start"]
        self._place, self._ticks = state["place"], state["dig_ticks"]
        self._nearest, self._dug, self._most = dict(state["nearest"]), dict(state["dug"]), dict(state["most"])
        self._hit = dict(state["hit"])

    def as_info(self) -> dict[str, object]:
        """Return the entries of ``info``."""
        return {
            "start": self._start,
            "dig_ticks": self._ticks,
            "nearest": dict(self._nearest),
            "dug": dict(self._dug),
            "most": dict(self._most),
            "hit": dict(self._hit),
        }


def _alike(name: str, value: object, now: object) -> bool:
    """Return whether ``value`` has the same form as ``now``. An entry of the progress is a finite number, a tuple of as
    many finite numbers as ``now``, or a dict of finite numbers with the keys of ``now``. The entry ``place`` of the
    progress must be None or a tuple of three ints.
    """
    if isinstance(now, dict):
        return isinstance(value, dict) and value.keys() == now.keys() and all(map(_finite, value.values()))
    if name == "place":
        return value is None or (isinstance(value, tuple) and len(value) == 3 and all(type(v) is int for v in value))
    if isinstance(now, tuple):
        return isinstance(value, tuple) and len(value) == len(now) and all(map(_finite, value))
    return _finite(value)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
