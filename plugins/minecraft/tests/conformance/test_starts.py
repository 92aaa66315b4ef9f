"""The plugin's tasks start like MineDojo's tasks. The tests compare the XML that MineDojo writes for both.

For the plugin's task, the options of ``backend.mission_options`` are used. So one comparison covers the embedded world,
``backend=minedojo`` and MineDojo's own task.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from rlgpt_minecraft.tasks import SPECS
from voxeldojo.malmo.mission import read
from voxeldojo.names import BIOMES

from .conftest import mission_of_task
from .starts import REFERENCES

Difference = tuple[list[str] | None, list[str] | None]
"""The values at a path in MineDojo's mission and in the plugin's mission. None means missing."""

SIGHTS = ("AgentHandlers/ObservationFromGrid/", "AgentHandlers/ObservationFromRichLidar/")
"""Paths of observations, which differ: MineDojo's tasks have at most 27 voxels and no rays. The plugin's tasks have the
voxels and rays for views and primitives (``test_sensors_of_each_minecraft_task_include_those_of_minedojo``).
"""

ALWAYS: dict[str, tuple[Difference, str]] = {
    "About/Summary": ((["HarvestMeta"], ["MineDojoSim"]), "the name of the mission in logs"),
    "ServerSection/ServerInitialConditions/Time/StartTime": (
        (None, ["6000"]),
        "the official code and Plan4MC set noon after each reset (set_time(6000))",
    ),
    "ServerSection/ServerInitialConditions/Weather": (
        (None, ["clear"]),
        "the official code and Plan4MC set it after each reset (set_weather('clear'))",
    ),
}
"""Path -> difference that all tasks have, with its reason."""

EMPTY: dict[str, tuple[Difference, str]] = {
    "AgentSection/AgentStart/Inventory": (
        (None, [""]),
        "an empty inventory. MineDojo's mission has no inventory element",
    )
}
"""Path -> difference of tasks with an empty inventory, with its reason."""

_GENERATOR = "ServerSection/ServerHandlers/"
_PLAINS = "animals are on plains, as in MineCLIP's tasks with animals. MineDojo's own task has any biome"
PLAINS: dict[str, tuple[Difference, str]] = {
    f"{_GENERATOR}DefaultWorldGenerator": (([""], None), _PLAINS),
    f"{_GENERATOR}DefaultWorldGenerator@forceReset": ((["false"], None), _PLAINS),
    f"{_GENERATOR}DefaultWorldGenerator@seed": (([""], None), _PLAINS),
    f"{_GENERATOR}DefaultWorldGenerator@generatorOptions": ((["{}"], None), _PLAINS),
    f"{_GENERATOR}BiomeGenerator": ((None, [""]), _PLAINS),
    f"{_GENERATOR}BiomeGenerator@forceReset": ((None, ["true"]), _PLAINS),
    f"{_GENERATOR}BiomeGenerator@seed": ((None, [""]), _PLAINS),
    f"{_GENERATOR}BiomeGenerator@biome": ((None, [str(BIOMES["plains"])]), _PLAINS),
}
SOME: dict[str, dict[str, tuple[Difference, str]]] = {
    "harvest_milk": PLAINS,
    "harvest_milk_rgb": PLAINS,
    "harvest_wool": PLAINS,
    "bed": {
        "AgentSection/AgentStart/Inventory/InventoryObject@type": (
            (["crafting_table", "shears"], ["shears", "crafting_table"]),
            "Plan4MC states no slots. The first item is in the hand, and the first skill of the task is to shear",
        )
    },
    "obtain_diamond": {
        f"{_GENERATOR}DefaultWorldGenerator@forceReset": (
            (["false"], ["true"]),
            "each episode has a new land. MineDojo's episode continues in the land of the episode before",
        )
    },
}
"""Task -> path -> further difference of this task, with its reason."""


def elements(node: ElementTree.Element, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and value of each attribute and text of a document. Paths are relative to ``Mission``."""
    here = f"{path}/{node.tag.rpartition('}')[2]}"
    short = here.removeprefix("/MissionInit/Mission/")
    for name, value in node.attrib.items():
        yield f"{short}@{name}", value
    if not list(node):
        yield short, " ".join((node.text or "").split())
    for part in node:
        yield from elements(part, here)


def texts_by_path(xml: str) -> dict[str, list[str]]:
    """Return the values of a document by path, in order."""
    found: dict[str, list[str]] = {}
    for path, value in elements(ElementTree.fromstring(xml.encode())):
        found.setdefault(path, []).append(value)
    return found


def grid(xml: dict[str, list[str]], end: str) -> list[int]:
    """Return one corner of the box of voxels: x, y, z, in blocks."""
    return [int(xml[f"AgentSection/AgentHandlers/ObservationFromGrid/Grid/{end}@{axis}"][0]) for axis in "xyz"]


def test_every_minecraft_task_has_a_corresponding_task_of_minedojo() -> None:
    assert set(REFERENCES) == set(SPECS)


@pytest.mark.parametrize("task", SPECS)
def test_mission_of_each_task_differs_from_minedojos_mission_only_at_the_listed_paths(
    answers: dict[str, Any], task: str
) -> None:
    theirs, ours = (texts_by_path(answers["starts"][task][side]["xml"]) for side in ("theirs", "ours"))
    assert len(theirs) > 30
    different = {
        path: (theirs.get(path), ours.get(path))
        for path in {*theirs, *ours}
        if theirs.get(path) != ours.get(path) and not any(part in path for part in SIGHTS)
    }
    known = {**ALWAYS, **SOME.get(task, {}), **({} if SPECS[task].inventory else EMPTY)}
    assert different == {path: difference for path, (difference, _) in known.items()}


@pytest.mark.parametrize("task", SPECS)
def test_sensors_of_each_minecraft_task_include_those_of_minedojo(answers: dict[str, Any], task: str) -> None:
    theirs, ours = (texts_by_path(answers["starts"][task][side]["xml"]) for side in ("theirs", "ours"))
    assert all(a <= b for a, b in zip(grid(ours, "min"), grid(theirs, "min"), strict=True))
    assert all(a >= b for a, b in zip(grid(ours, "max"), grid(theirs, "max"), strict=True))


@pytest.mark.parametrize("task", SPECS)
def test_mission_is_unchanged_after_conversion_to_minedojos_xml_and_back(answers: dict[str, Any], task: str) -> None:
    start = answers["starts"][task]["ours"]
    assert start["valid"], start["errors"]
    order = read(start["xml"].encode())
    assert not order.unknown
    assert (order.ticks, order.ends_on_death, order.goal_items, order.new_land) == (None, False, [], True)
    assert order.mission(7) == mission_of_task(task).model_copy(update={"seed": 7})


@pytest.mark.parametrize("task", SPECS)
def test_animals_and_success_of_each_task_equal_those_of_minedojo(answers: dict[str, Any], task: str) -> None:
    """The XML does not contain animals and success. MineDojo's Python code summons animals and decides success."""
    start, spec = answers["starts"][task], SPECS[task]
    assert start["wanted"] == {spec.target: 1}
    assert tuple(start["mobs"]) == spec.mobs
    if spec.mobs:
        assert (start["low"], start["high"]) == ([-spec.spread, 1, -spec.spread], [spec.spread, 1, spec.spread])
