"""Parses Malmo's mission XML. The parser of missions understands every element that MineDojo writes, and some other
elements of Malmo.

The format of missions is that of ``MissionInit.xsd`` and its includes in MineDojo 0.1, and of the template
``sim/mc_meta/minedojo_mission.xml.j2``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree.ElementTree import Element

from pydantic import ValidationError

from voxeldojo.malmo import drawing, flat
from voxeldojo.malmo.errors import MissionError
from voxeldojo.malmo.markup import parse
from voxeldojo.mission import Mission
from voxeldojo.names import BIOMES

TICK: Final = 50
"""Length of a tick in milliseconds."""
DAY: Final = 24_000
_BIOME: Final = {number: name for name, number in BIOMES.items()}

OPENED: Final = frozenset(
    (
        *("MissionInit", "Mission", "ServerSection", "ServerInitialConditions", "ServerHandlers", "Time"),
        *(
            "AgentSection",
            "AgentStart",
            "AgentHandlers",
            "Inventory",
            "ObservationFromGrid",
            "ObservationFromRichLidar",
        ),
    )
)
"""Elements that only contain other elements."""
NEEDLESS: Final = frozenset(
    (
        *("About", "ModSettings", "Name", "ExperimentUID", "ClientRole", "ClientAgentConnection", "LowLevelInputs"),
        *("FileBasedPerformanceProducer", "PauseCommand", "ObservationFromDamage", "ObservationFromFullInventory"),
        *("ObservationFromFullStats", "ObservationFromEquippedItem", "ObservationFromNearbyTools", "ChatCommands"),
        *("CameraCommands", "SimpleCraftCommands", "NearbyCraftCommands", "NearbySmeltCommands", "EquipCommands"),
        *("HumanLevelCommands", "PlaceCommands", "InventoryCommands", "ServerQuitWhenAnyAgentFinishes"),
    )
)
"""Elements without effect: the JSON is always complete, and every command is always enabled."""


@dataclass
class MissionRequest:
    """The content of a mission's XML.

    :ivar known: the fields of ``Mission`` that the XML sets.
    :ivar seed: the seed of the terrain as text; an empty text allows any seed.
    :ivar new_land: whether the terrain must differ from the terrain of the last mission.
    :ivar chat_commands: the server commands that run before the mission begins.
    :ivar ticks: the maximal length of the mission in ticks.
    :ivar ends_on_death: whether the player's death ends the mission.
    :ivar goal_items: items (name, quantity); the mission ends when the player has one of these items.
    :ivar unknown: the names of the XML elements that are ignored.
    """

    known: dict[str, Any] = field(default_factory=dict)
    seed: str = ""
    new_land: bool = False
    chat_commands: list[str] = field(default_factory=list)
    ticks: int | None = None
    ends_on_death: bool = False
    goal_items: list[tuple[str, int]] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    agents: int = 0

    def mission(self, seed: int) -> Mission:
        """Return the mission, with the terrain of the seed ``seed``.

        :raises MissionError: a value is out of its range.
        """
        try:
            return Mission(**self.known, seed=seed)
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
            raise MissionError(f"the mission cannot be played: {problems[:500]}") from error


def read(data: bytes) -> MissionRequest:
    """Parse a mission.

    :raises MissionError: the data is not the XML of a mission, or voxeldojo cannot play the mission.
    """
    request, root = MissionRequest(), parse(data)
    if root.tag != "MissionInit":
        raise MissionError(f"a mission begins with <MissionInit>, not with <{root.tag[:40]}>")
    _read(root, request)
    if request.agents != 1:
        raise MissionError(f"a mission of {request.agents} players; this world supports one player")
    if "image_size" not in request.known:
        raise MissionError("the mission has no <VideoProducer>; the reply to each step needs a picture")
    return request


def _read(element: Element, request: MissionRequest) -> None:
    if element.tag == "AgentSection":
        request.agents += 1
    if element.tag in OPENED:
        for part in element:
            _read(part, request)
    elif element.tag in READERS:
        try:
            READERS[element.tag](element, request)
        except ValueError as error:
            raise MissionError(f"<{element.tag}>: {error}") from error
    elif element.tag not in NEEDLESS:
        request.unknown.add(element.tag[:60])


def _text(element: Element) -> str:
    return (element.text or "").strip()


def _flag(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError(f"{text[:40]!r} is neither true nor false")
    return text in ("true", "1")


def _integer(text: str) -> int:
    if len(text) > 18:
        raise ValueError(f"{text[:40]!r}... is too long for a number")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]!r} is not finite")
    return value


def _slot(element: Element, request: MissionRequest) -> None:
    stack = {
        "slot": _integer(element.get("slot", "")),
        "name": element.get("type", "").removeprefix("minecraft:"),
        "quantity": _integer(element.get("quantity", "1")),
        "variant": _integer(element.get("metadata", "0")),
    }
    request.known["inventory"] = (*request.known.get("inventory", ()), stack)


def _placement(element: Element, request: MissionRequest) -> None:
    request.known["start"] = {key: _number(element.get(key, "0")) for key in ("x", "y", "z", "yaw", "pitch")}


def _video(element: Element, request: MissionRequest) -> None:
    if _flag(element.get("want_depth", "false")):
        raise MissionError("this world does not render depth; remove want_depth")
    sizes = {part.tag: _integer(_text(part)) for part in element}
    request.known["image_size"] = (sizes.get("Height", 0), sizes.get("Width", 0))


def _grid(element: Element, request: MissionRequest) -> None:
    if element.get("name") != "voxels":
        request.unknown.add(f"Grid {element.get('name', '')[:40]}")
        return
    request.known["voxels"] = {axis + end.tag: _integer(end.get(axis, "")) for end in element for axis in "xyz"}


def _ray(element: Element, request: MissionRequest) -> None:
    ray = tuple(_number(element.get(key, "0")) for key in ("pitch", "yaw", "distance"))
    request.known.setdefault("rays", []).append(ray)


def _land(element: Element, request: MissionRequest) -> None:
    request.seed, request.new_land = element.get("seed", "").strip()[:200], _flag(element.get("forceReset", "false"))
    if "biome" in element.attrib:
        request.known["biome"] = _named(_integer(element.get("biome", "")))


def _level(element: Element, request: MissionRequest) -> None:
    _land(element, request)
    request.known["layers"], biome = flat.layers(element.get("generatorString", ""))
    request.known["biome"] = _named(biome)


def _named(biome: int) -> str:
    if biome not in _BIOME:
        raise ValueError(f"no biome has the number {biome}")
    return _BIOME[biome]


def _file(element: Element, request: MissionRequest) -> None:
    raise MissionError("worlds are not read from files; use a world from a seed, of one biome, or a flat world")


def _draw(element: Element, request: MissionRequest) -> None:
    chat_commands, unknown = drawing.commands(element)
    request.chat_commands += chat_commands
    request.unknown |= unknown


def _time_up(element: Element, request: MissionRequest) -> None:
    if "timeLimitMs" in element.attrib:
        limit = max(int(_number(element.get("timeLimitMs", ""))) // TICK, 1)
        request.ticks = limit if request.ticks is None else min(request.ticks, limit)
    if _flag(element.get("quitWhenAnyDead", "false").lower()):
        request.ends_on_death = True


def _possessing(element: Element, request: MissionRequest) -> None:
    for item in element.iter("Item"):
        names = item.get("type", "").split()
        request.goal_items += [(name.removeprefix("minecraft:"), _integer(item.get("amount", "1"))) for name in names]


def _simple(
    key: str, convert: Callable[[str], Any], attribute: str | None = None
) -> Callable[[Element, MissionRequest], None]:
    def reader(element: Element, request: MissionRequest) -> None:
        text = _text(element) if attribute is None else element.get(attribute, "")
        request.known[key] = convert(text)

    return reader


def _ends_on_death(element: Element, request: MissionRequest) -> None:
    request.ends_on_death = True


READERS: Final[dict[str, Callable[[Element, MissionRequest], None]]] = {
    "StartTime": _simple("time", lambda text: _integer(text) % DAY),
    "AllowPassageOfTime": _simple("time_passes", _flag),
    "AllowSpawning": _simple("mobs_spawn", _flag),
    "Weather": _simple("weather", str),
    "BreakSpeedMultiplier": _simple("break_speed", _number),
    "StartingHealth": _simple("health", _number, "health"),
    "StartingFood": _simple("food", _integer, "food"),
    "InventoryObject": _slot,
    "Placement": _placement,
    "VideoProducer": _video,
    "Grid": _grid,
    "RayOffset": _ray,
    "DefaultWorldGenerator": _land,
    "BiomeGenerator": _land,
    "FlatWorldGenerator": _level,
    "FileWorldGenerator": _file,
    "DrawingDecorator": _draw,
    "ServerQuitFromTimeUp": _time_up,
    "AgentQuitFromTimeUp": _time_up,
    "AgentQuitFromDeath": _ends_on_death,
    "AgentQuitFromPossessingItem": _possessing,
}
"""Element -> function that reads it."""
