"""Defines the parsed observation, which views, reward terms and primitives use.

The parser reads only the observation of a backend, and has no access to the world.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from voxeldojo.names import CRAFTS
from voxeldojo.world.constants import BLOCK_REACH, ENTITY_REACH, EYE_HEIGHT

from rlgpt_minecraft.crafts import possible
from rlgpt_minecraft.ground import Ground
from rlgpt_minecraft.rays import CENTRE, DISTANCE, Array, bearing, directions, elevation
from rlgpt_minecraft.things import Thing, things

OTHER_LOGS = "log2"
"""The game's name for the logs of acacia and dark oak."""

SAME = 1.5
"""Distance in m. If rays hit entities with the same name, hits at most this much farther away than the nearest hit
belong to the same entity.
"""


@dataclass(frozen=True)
class Sighting:
    """The nearest thing with one name.

    :ivar visible: whether the observation shows a thing with the name of the sighting. If no such thing is visible,
        distance, bearing and elevation are those of a thing 40 m ahead.
    :ivar distance: the distance in metres of the thing from the player's eyes.
    :ivar bearing: the direction of the thing, in degrees to the right of the player's heading.
    :ivar elevation: the direction of the thing in degrees above the horizontal.
    """

    visible: bool = False
    distance: float = DISTANCE
    bearing: float = 0.0
    elevation: float = 0.0
    aimed: bool = False
    """Whether the thing is under the cross-hair and within reach."""
    hits: Array = field(default_factory=lambda: np.zeros((0, 3)), compare=False, repr=False)
    """Unit vectors of the rays that hit the thing: float64 ``(n, 3)``."""


NOTHING = Sighting()


Place = tuple[int, int, int]


@dataclass(frozen=True)
class Crosshair:
    """The target under the cross-hair. ``block`` and ``entity`` are MineDojo's names, or empty. ``distance`` is in
    metres.
    """

    block: str
    entity: str
    distance: float
    reach: bool
    place: Place
    """World coordinates of the block under the cross-hair."""


@dataclass
class ParsedObservation:
    """One parsed observation. In a parsed observation, angles are in degrees and lengths in metres."""

    observation: Mapping[str, Any]
    sought: Sequence[Thing]
    position: Array = field(init=False)
    yaw: float = field(init=False)
    pitch: float = field(init=False)

    def __post_init__(self) -> None:
        location = self.observation["location_stats"]
        self.position = np.asarray(location["pos"], np.float64)
        self.yaw, self.pitch = float(location["yaw"].item()), float(location["pitch"].item())

    @cached_property
    def directions(self) -> Array:
        return directions(self.yaw, self.pitch)

    @cached_property
    def ground(self) -> Ground:
        return Ground(self.observation["voxels"], self.position, self.yaw)

    @cached_property
    def crosshair(self) -> Crosshair:
        rays = self.observation["rays"]
        entity, block = str(rays["entity_name"][CENTRE]), str(rays["block_name"][CENTRE])
        near, far = float(rays["entity_distance"][CENTRE]), float(rays["block_distance"][CENTRE])
        x, y, z = (int(rays[f"traced_block_{axis}"][CENTRE]) for axis in "xyz")
        entity, block = "" if entity == "null" else entity, "" if block == "air" else block
        if entity:
            return Crosshair("", entity, near, near <= ENTITY_REACH, (x, y, z))
        distance = min(far, DISTANCE) if block else DISTANCE
        reach = bool(block) and far <= BLOCK_REACH and not rays["is_liquid"][CENTRE]
        return Crosshair(block, "", distance, bool(reach), (x, y, z))

    @cached_property
    def sights(self) -> dict[str, Sighting]:
        """The nearest thing of each name. A thing is searched first among the hits of the rays, and then among the
        voxels around the player.
        """
        found = self._by_ray()
        for thing in self.sought:
            if thing.name not in found:
                found[thing.name] = self._beside(thing) if thing.kind == "block" else NOTHING
        return found

    def _by_ray(self) -> dict[str, Sighting]:
        rays = self.observation["rays"]
        blocks, entities = rays["block_name"], rays["entity_name"]
        no_entity = entities == "null"
        alone, found = bool(no_entity.all()), {}
        for thing in self.sought:
            if thing.kind == "entity" and alone:
                continue
            hit = entities == thing.seen_as if thing.kind == "entity" else (blocks == thing.seen_as) & no_entity
            which = np.flatnonzero(hit)
            if len(which):
                found[thing.name] = self._nearest(thing.kind, which)
        return found

    def _nearest(self, kind: str, which: NDArray[np.int64]) -> Sighting:
        """Return the nearest thing, among the things that the rays with the indices ``which`` hit. The direction of a
        thing is the mean direction of the rays that hit the thing.
        """
        rays = self.observation["rays"]
        away = rays["entity_distance" if kind == "entity" else "block_distance"][which]
        first = int(np.argmin(away))
        if kind == "entity":
            same = away <= away[first] + SAME
        else:
            places = np.stack([rays[f"traced_block_{axis}"][which] for axis in "xyz"])
            same = (places == places[:, first : first + 1]).all(axis=0)
        hits = self.directions[which[same]]
        middle = hits.mean(axis=0)
        aimed = bool((which[same] == CENTRE).any()) and self.crosshair.reach
        distance = min(float(away[first]), DISTANCE)
        return Sighting(True, distance, bearing(middle, self.yaw), elevation(middle), aimed, hits)

    def _beside(self, thing: Thing) -> Sighting:
        places = self.ground.blocks(thing.seen_as)
        if not len(places):
            return NOTHING
        offsets = places + 0.5 - self.position - np.array([0.0, EYE_HEIGHT, 0.0])
        lengths = np.sqrt((offsets**2).sum(axis=1))
        nearest = int(np.argmin(lengths))
        offset = offsets[nearest]
        hits = offset[None] / lengths[nearest]
        return Sighting(
            True, max(0.0, float(lengths[nearest]) - 0.5), bearing(offset, self.yaw), elevation(offset), hits=hits
        )

    @cached_property
    def inventory(self) -> dict[str, int]:
        """The count of each item in the inventory. In the keys, the words of an item's name are joined by
        underscores.
        """
        slots = self.observation["inventory"]
        counts: dict[str, int] = {}
        for name, quantity in zip(slots["name"].tolist(), slots["quantity"].tolist(), strict=True):
            if name != "air" and quantity > 0:
                item = name.replace(" ", "_")
                counts[item] = counts.get(item, 0) + int(quantity)
        return counts

    def count(self, item: str) -> int:
        """Return how many of an item the inventory contains. Logs of acacia and dark oak, which the game calls
        ``log2``, count as logs.
        """
        return self.inventory.get(item, 0) + (self.inventory.get(OTHER_LOGS, 0) if item == "log" else 0)

    def possible(self, item: str) -> bool:
        """Return whether the player can make an item now (:func:`rlgpt_minecraft.crafts.possible`)."""
        tools, counts = self.observation["nearby_tools"], self.inventory
        mask = bool(self.observation["masks"]["craft_smelt"][CRAFTS.index(item)])
        return bool(possible(item, mask, lambda name: counts.get(name, 0), lambda tool: bool(tools[tool])))

    def aimed(self, thing: str) -> bool:
        """Return whether a thing is under the cross-hair and within reach."""
        return self.sights[thing].aimed

    @property
    def life(self) -> float:
        """The life of the player in half hearts, 0 to 20."""
        return float(self.observation["life_stats"]["life"].item())

    def slot(self, item: str) -> int | None:
        """Return the first inventory slot that holds an item, or None if no slot holds the item."""
        names = self.observation["inventory"]["name"].tolist()
        spaced = item.replace("_", " ")
        return names.index(spaced) if spaced in names else None

    def place(self, sight: Sighting) -> Array:
        """Return the world coordinates x, y, z (in m) of a visible thing, computed from its direction and distance."""
        a, b = math.radians(self.yaw + sight.bearing), math.radians(sight.elevation)
        way = np.array([-math.sin(a) * math.cos(b), math.sin(b), math.cos(a) * math.cos(b)])
        place: Array = self.position + np.array([0.0, EYE_HEIGHT, 0.0]) + sight.distance * way
        return place

    @property
    def hand(self) -> str:
        """The item in the main hand, or "air" if the hand is empty. The words of the held item's name are joined by
        underscores.
        """
        return str(self.observation["equipment"]["name"][0]).replace(" ", "_")

    @property
    def look_elevation(self) -> float:
        """The elevation of the view direction in degrees, positive upwards. (The pitch of the game has the opposite
        sign and is positive downwards.)
        """
        return 0.0 - self.pitch


class ObservationReader:
    """Parses the observations of one task and caches the newest parsed observation.

    :param sought: the names of the things to look for.
    """

    def __init__(self, sought: Sequence[str]) -> None:
        self.sought = things(sought)
        self._seen: ParsedObservation | None = None

    def read(self, observation: Mapping[str, Any]) -> ParsedObservation:
        if self._seen is None or self._seen.observation is not observation:
            self._seen = ParsedObservation(observation, self.sought)
        return self._seen
