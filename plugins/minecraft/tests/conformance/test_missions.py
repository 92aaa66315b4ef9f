"""The mission parser reads the missions of the real MineDojo package completely. No element is unknown or refused."""

from __future__ import annotations

from typing import Any

import pytest
from rlgpt_minecraft.settings import Settings
from rlgpt_minecraft.suite import suite
from rlgpt_minecraft.task_world import mission_of
from rlgpt_minecraft.tasks import make_suite
from voxeldojo.malmo.mission import MissionRequest, read
from voxeldojo.names import EQUIPMENT_SLOTS

from .conftest import MISSIONS


@pytest.mark.parametrize("task", MISSIONS)
def test_every_element_of_minedojos_mission_xml_is_parsed(answers: dict[str, Any], task: str) -> None:
    answer = answers["missions"][task]
    assert answer["valid"], answer["errors"]
    request: MissionRequest = read(answer["xml"].encode())
    assert not request.unknown
    mission, spec = request.mission(0), answer["spec"]
    assert mission.image_size == (64, 64)
    assert mission.biome == spec.get("specified_biome")
    wanted = {
        (EQUIPMENT_SLOTS.get(slot) if isinstance(slot, str) and not slot.isdigit() else int(slot)): stack["name"]
        for slot, stack in spec.get("initial_inventory", {}).items()
    }
    assert {stack.slot: stack.name for stack in mission.inventory} == wanted
    assert (mission.voxels is not None) == spec["use_voxel"]
    assert mission.mobs_spawn == spec.get("allow_mob_spawn", True)


@pytest.mark.parametrize("task", [task for task in MISSIONS if task in suite()])
def test_task_of_the_suite_begins_like_minedojos_task_of_the_same_id(answers: dict[str, Any], task: str) -> None:
    theirs = read(answers["missions"][task]["xml"].encode()).mission(0)
    ours = mission_of(suite()[task], Settings.of(make_suite()[f"minecraft/{task}"]))
    # The plugin's weather is clear, its sensors are others, and each of its episodes has a new world.
    different = {"weather", "image_size", "voxels", "rays", "seed", "inventory"}
    assert ours.model_dump(exclude=different) == theirs.model_dump(exclude=different)
    assert {(stack.slot, stack.name, stack.quantity) for stack in ours.inventory} == {
        (stack.slot, stack.name, stack.quantity) for stack in theirs.inventory
    }
