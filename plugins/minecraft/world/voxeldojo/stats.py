"""Counts the statistics of the player that MineDojo's tasks read. The statistics are stored in an object of their own,
and not in the state of the world.

The embedded world counts the statistics that ``TOTALS`` names. Every statistic that is not in ``TOTALS`` is always 0,
because the world has no enchanting, trading or riding. The names of statistics come from minecraft.wiki, Statistics
(1.11); Malmo writes them in snake_case.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from voxeldojo.names import ACHIEVEMENTS, ENTITIES, ITEMS, STATS
from voxeldojo.world.items import ID
from voxeldojo.world.items import NAMES as ITEM_NAMES
from voxeldojo.world.mob_kinds import NAMES as MOB_NAMES
from voxeldojo.world.state import World

TOTALS: Final = (
    *("play_one_minute", "time_since_death", "deaths", "damage_taken", "jump", "sneak_time"),
    *("walk_one_cm", "sprint_one_cm", "crouch_one_cm", "swim_one_cm"),
)
"""Names of the counted statistics. Their units, in this order: ticks, ticks, events, tenths of a half heart, events,
ticks, then centimetres.
"""
PLAY, SINCE_DEATH, DEATHS, DAMAGE, JUMP, SNEAK, WALK, SPRINT, CROUCH, SWIM = range(len(TOTALS))


class Statistics:
    """The statistics of one mission.

    :ivar totals: the values of the statistics that ``TOTALS`` names, int64 ``(len(TOTALS),)``.
    :ivar used: how often each item was used to dig, till or hit, was placed, or was eaten, int64 ``(items,)``. As in
        the game, putting on armour is no use: neither ``ItemArmor.onItemRightClick`` (1.10 and 1.12) nor MineDojo's
        action ``equip`` (``EquipCommandsImplementation``, MineDojo 0.1) adds to the statistic.
    """

    def __init__(self) -> None:
        self.totals: NDArray[np.int64] = np.zeros(len(TOTALS), np.int64)
        self.used: NDArray[np.int64] = np.zeros(len(ITEM_NAMES), np.int64)
        self._known, self._used = b"", dict.fromkeys(ITEMS, 0)

    def as_json(self, world: World) -> dict[str, Any]:
        """Return ``stat`` and ``achievement`` of Malmo's JSON, with every name that MineDojo reads."""
        killed = dict(zip(MOB_NAMES, world.kills.tolist(), strict=False))
        stat: dict[str, Any] = {**_NO_STAT, **dict(zip(TOTALS, self.totals.tolist(), strict=True))}
        stat["mob_kills"] = sum(killed.values())
        stat["kill_entity"] = {name: killed.get(name, 0) for name in ENTITIES}
        if (known := self.used.tobytes()) != self._known:
            self._known, self._used = known, dict(zip(ITEMS, self.used[_ORDER].tolist(), strict=True))
        stat["use_item"] = {"minecraft": dict(self._used)}
        return {"stat": stat, "achievement": dict(_NO_ACHIEVEMENT)}


_NO_STAT = dict.fromkeys(STATS, 0)
_NO_ACHIEVEMENT = dict.fromkeys(ACHIEVEMENTS, 0)
_ORDER = np.array([ID[name] for name in ITEMS])
