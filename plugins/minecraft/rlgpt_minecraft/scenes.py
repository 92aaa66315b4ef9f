"""The observations of several environments at one moment, and one environment's observation among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from voxeldojo.batch import Seen
from voxeldojo.delta import delta
from voxeldojo.names import INVENTORY
from voxeldojo.observe import clipped, observe
from voxeldojo.scalars import FLOATS, ScalarObservation
from voxeldojo.world import lidar, voxels
from voxeldojo.world.items import ID as ITEM_ID
from voxeldojo.world.items import NAMES as ITEM_NAMES

from rlgpt_minecraft.ground import Ground
from rlgpt_minecraft.observation import (
    NOTHING,
    OTHER_LOGS,
    SAME,
    Crosshair,
    ObservationReader,
    ParsedObservation,
    Sighting,
)
from rlgpt_minecraft.rays import RAYS, Array, bearing, elevation
from rlgpt_minecraft.scene_kernel import FOLLOWED, PLACE, SIGHT, read_scenes
from rlgpt_minecraft.things import Thing, things

Mask = NDArray[np.bool_]
_RAYS = np.array(RAYS)
_POSITION = slice(FLOATS.index("x"), FLOATS.index("z") + 1)
_YAW, _PITCH, _LIFE = (FLOATS.index(name) for name in ("yaw", "pitch", "life"))
_KEYS = (
    *("inventory", "equipment", "life_stats", "location_stats", "nearby_tools", "damage_source", "masks"),
    *("delta_inv", "voxels", "rays"),
)


class Scene(NamedTuple):
    """The observations of all environments, and what the kernel found in them. Each array has one row for each
    environment (see ``scene_kernel.read_scenes``).
    """

    seen: Seen
    numbers: NDArray[np.float32]
    bits: NDArray[np.int64]
    sights: NDArray[Any]
    here: NDArray[Any]
    things: tuple[Thing, ...]


class SceneReader:
    """Reads the observations of a batch, and follows the progress of its episodes.

    :param sought: the names of the things to look for.
    :ivar nearest, dug: for each environment and each sought thing, the entries ``nearest`` (m) and ``dug`` (steps) of
        the progress (see ``progress.Progress``), ``(environments, things)``. Columns of ``dug`` for things that are not
        blocks stay 0.
    """

    def __init__(self, sought: Sequence[str], count: int) -> None:
        self.things = things(sought)
        self._is_entity = np.array([thing.kind == "entity" for thing in self.things], np.bool_)
        self._of_block = _bits(voxels.NAMES, self.things, "block")
        self._of_entity = _bits(lidar.ENTITIES, self.things, "entity")
        self._followed = np.zeros(count, FOLLOWED)
        self.nearest, self.dug = np.zeros((count, len(self.things))), np.zeros((count, len(self.things)), np.int64)
        self._scene: Scene | None = None

    @property
    def ticks(self) -> NDArray[np.int64]:
        """The entry ``dig_ticks`` of the progress (see ``progress.Progress``) of each environment."""
        ticks: NDArray[np.int64] = self._followed["ticks"]
        return ticks

    def read(self, seen: Seen, reading: Mask, begun: Mask, attacks: Mask) -> Scene:
        """Read the observations of the environments for which ``reading`` is True.

        :param begun: whether an episode has just begun.
        :param attacks: whether the last action attacked.
        """
        count, last = len(reading), self._scene
        if last is None or reading.all():
            bits = np.zeros((count, len(RAYS)), np.int64)
            sights, here = np.zeros((count, len(self.things)), SIGHT), np.zeros(count, PLACE)
        else:
            bits, sights, here = last.bits.copy(), last.sights.copy(), last.here.copy()
        numbers = clipped(seen.scalars)
        read_scenes(
            *(reading, begun, attacks, numbers, seen.found, seen.distances, seen.places, seen.ids),
            *(self._of_block, self._of_entity, self._is_entity, bits, sights, here),
            *(self._followed, self.nearest, self.dug),
        )
        self._scene = Scene(seen, numbers, bits, sights, here, self.things)
        return self._scene


def counts_of(items: Sequence[str], counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many of each item each inventory contains, int64 ``(environments, items)``. Logs are counted as in
    ``ParsedObservation.count``.

    :param counts: the quantity of each of the game's items, ``(environments, all items)``.
    """
    found = counts[:, [ITEM_ID[item] for item in items]].astype(np.int64)
    if "log" in items:
        found[:, items.index("log")] += counts[:, ITEM_ID[OTHER_LOGS]].astype(np.int64)
    return found


def _bits(names: NDArray[np.str_], sought: Sequence[Thing], kind: str) -> NDArray[np.int64]:
    """Return a number for each name. Bit i is set if the name is that of thing i and the thing is of this kind."""
    found = np.zeros(len(names), np.int64)
    for bit, thing in enumerate(sought):
        found |= np.where((names == thing.seen_as) & (thing.kind == kind), 1 << bit, 0)
    return found


class LaneObservation(Mapping[str, Any]):
    """MineDojo's observation of one environment. Its parts are made when they are first read.

    :ivar scene, lane: the observations of all environments, and the number of this environment.
    """

    __slots__ = ("__dict__", "lane", "scene")

    def __init__(self, scene: Scene, lane: int) -> None:
        self.scene, self.lane = scene, lane

    def __getitem__(self, key: str) -> Any:
        if key in ("rays", "voxels", "delta_inv"):
            return getattr(self, f"_{key}")
        return self._scalars[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    @cached_property
    def parsed(self) -> ParsedObservation:
        return LaneParsed(self, self.scene.things)

    @cached_property
    def _scalars(self) -> dict[str, Any]:
        arrays: Any = self.scene.seen.scalars
        return observe(ScalarObservation(*(array[self.lane] for array in arrays)))

    @cached_property
    def _rays(self) -> dict[str, Any]:
        seen = self.scene.seen
        return lidar.as_observation(_RAYS, seen.found[self.lane], seen.distances[self.lane], seen.places[self.lane])

    @cached_property
    def _voxels(self) -> dict[str, Any]:
        seen = self.scene.seen
        return voxels.as_observation(seen.ids[self.lane], seen.metas[self.lane], seen.cosines[self.lane])

    @cached_property
    def _delta_inv(self) -> dict[str, Any]:
        seen, lane = self.scene.seen, self.lane
        craft = int(seen.crafts[lane])
        counts = seen.before[lane], seen.scalars.counts[lane]
        return delta(*counts, craft if craft >= 0 else None, bool(seen.could[lane]))


class LaneParsed(ParsedObservation):
    """A parsed observation that reads the numbers of the kernel instead of MineDojo's texts."""

    observation: LaneObservation

    def __post_init__(self) -> None:
        self._scene, self._lane = self.observation.scene, self.observation.lane
        numbers = self._scene.numbers[self._lane]
        self.position = np.asarray(numbers[_POSITION], np.float64)
        self.yaw, self.pitch = float(numbers[_YAW]), float(numbers[_PITCH])

    @cached_property
    def ground(self) -> Ground:
        return Ground(self.observation["voxels"], self.position, self.yaw)

    @cached_property
    def crosshair(self) -> Crosshair:
        here = self._scene.here[self._lane]
        block, entity = int(here["block"]), int(here["entity"])
        return Crosshair(
            str(voxels.NAMES[block]) if block else "",
            str(lidar.ENTITIES[entity]) if entity else "",
            float(here["distance"]),
            bool(here["reach"]),
            (int(here["x"]), int(here["y"]), int(here["z"])),
        )

    @cached_property
    def sights(self) -> Mapping[str, Sighting]:  # type: ignore[override]
        return _Sights(self)

    def aimed(self, thing: str) -> bool:
        names = [each.name for each in self.sought]
        return bool(self._scene.sights["aimed"][self._lane, names.index(thing)])

    @cached_property
    def life(self) -> float:
        return float(self._scene.numbers[self._lane, _LIFE])

    @cached_property
    def inventory(self) -> dict[str, int]:
        scalars = self._scene.seen.scalars
        counts: dict[str, int] = {}
        slots = zip(scalars.kinds[self._lane, 0].tolist(), scalars.amounts[self._lane, 0].tolist(), strict=True)
        for item, quantity in list(slots)[:INVENTORY]:
            if item and quantity > 0:
                counts[ITEM_NAMES[item]] = counts.get(ITEM_NAMES[item], 0) + int(quantity)
        return counts

    @property
    def hand(self) -> str:
        return ITEM_NAMES[int(self._scene.seen.scalars.kinds[self._lane, 0, 0])]

    def sighting(self, index: int) -> Sighting:
        """Return the nearest thing of the kind with this index."""
        sight = self._scene.sights[self._lane, index]
        if not sight["visible"]:
            return NOTHING
        vector: Array = np.array([sight["x"], sight["y"], sight["z"]])
        hits = vector[None] / sight["length"] if sight["beside"] else self._hits(index)
        turns = bearing(vector, self.yaw), elevation(vector)
        return Sighting(True, float(sight["distance"]), *turns, bool(sight["aimed"]), hits)

    def _hits(self, index: int) -> Array:
        """Return the unit vectors of the rays that hit the nearest thing of a kind."""
        seen, lane, entity = self._scene.seen, self._lane, self.sought[index].kind == "entity"
        which = np.flatnonzero(self._scene.bits[lane] & (1 << index))
        away = seen.distances[lane, which, int(entity)].astype(np.float32)
        first = int(np.argmin(away))
        places = seen.places[lane, which]
        same = away <= away[first] + SAME if entity else (places == places[first]).all(axis=1)
        hits: Array = self.directions[which[same]]
        return hits


class _Sights(Mapping[str, Sighting]):
    """The nearest thing of each name. Each is made when it is first read."""

    def __init__(self, parsed: LaneParsed) -> None:
        self._parsed, self._found = parsed, dict[str, Sighting]()
        self._index = {thing.name: i for i, thing in enumerate(parsed.sought)}

    def __getitem__(self, name: str) -> Sighting:
        if name not in self._found:
            self._found[name] = self._parsed.sighting(self._index[name])
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)


class LaneReader(ObservationReader):
    """The model of one environment of a vector (see ``EnvironmentPlugin.lane_model``)."""

    def read(self, observation: Mapping[str, Any]) -> ParsedObservation:
        return observation.parsed if isinstance(observation, LaneObservation) else super().read(observation)
