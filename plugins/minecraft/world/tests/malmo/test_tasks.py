"""MineDojo's own tasks, with its own reward and success, on rlgpt's Malmo server. A scripted player uses only
observations.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ..recording_server import RecordingServer

PLAYER = Path(__file__).with_name("player.py")
SHORT = {"harvest_milk_with_empty_bucket_and_cow": 19, "harvest_1_log_forest": 2}
"""Task -> seed of the task's land."""
LONG = {
    "harvest_wool_with_shears_and_sheep": 19,
    "harvest_wool_with_sheep": 19,
    "harvest_1_log": 28,
    "harvest_8_log_forest": 2,
    "harvest_1_dirt": 19,
    "harvest_8_dirt": 19,
    "harvest_1_wheat_seeds": 19,
    "harvest_1_sapling": 28,
    "harvest_1_cobblestone_with_wooden_pickaxe": 19,
    "harvest_8_cobblestone_with_iron_pickaxe": 19,
    "harvest_1_beef_plains": 2,
    "harvest_1_planks_plains": 2,
    "harvest_1_stick_forest": 2,
    "harvest_1_crafting_table_forest": 2,
    "techtree_from_barehand_to_wooden_sword": 28,
    "combat_cow_plains_barehand": 2,
    "combat_cow_plains_leather_armors_iron_sword_shield": 2,
    "combat_pig_plains_leather_armors_wooden_sword_shield": 2,
    "combat_sheep_plains_iron_armors_iron_sword_shield": 2,
    "combat_chicken_forest_barehand": 2,
    "combat_zombie_plains_diamond_armors_diamond_sword_shield": 2,
}
STEPS = 3000
"""The step limit of the paper for tasks that are not long."""


def played(python: Path, tasks: dict[str, int]) -> list[str]:
    """Play the tasks. Return the tasks for which MineDojo reports success."""
    with RecordingServer() as server:
        arguments = [f"{task}:{seed}:{STEPS}" for task, seed in tasks.items()]
        done = subprocess.run([python, PLAYER, str(server.port), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["task"] for line in results] == list(tasks)
    assert [game.land for game in server.games] == list(tasks.values())
    print("\n".join(map(json.dumps, results)))
    return [line["task"] for line in results if line["success"]]


def test_scripted_player_succeeds_in_two_minedojo_tasks(minedojo: Path) -> None:
    assert played(minedojo, SHORT) == list(SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("task", LONG)
def test_scripted_player_succeeds_in_a_minedojo_task(minedojo: Path, task: str) -> None:
    assert played(minedojo, {task: LONG[task]}) == [task]
