"""The mission parser reads the missions of the real MineDojo package completely. No element is unknown or refused."""

from __future__ import annotations

from typing import Any

import pytest
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
