"""Fixtures with inputs for the real MineDojo package and its outputs. The inputs are constant. MineDojo's interpreter
computes the outputs once per session.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rlgpt_minecraft.backend import mission_options
from rlgpt_minecraft.settings import Settings
from rlgpt_minecraft.task_world import mission_of
from rlgpt_minecraft.tasks import SPECS, make_tasks
from voxeldojo.env import MineDojoEnv
from voxeldojo.mission import Mission
from voxeldojo.names import CRAFTS, INVENTORY, spaced
from voxeldojo.spaces import CAMERA_INTERVAL, FUNCTIONS, action_space
from voxeldojo.world.items import NAMES
from voxeldojo.world.recipes import MATRIX

from .starts import REFERENCES

BOX = {"xmin": -2, "xmax": 3, "ymin": -1, "ymax": 2, "zmin": 0, "zmax": 1}
RAYS = [[0.0, 0.0, 10.0], [0.2, -0.3, 40.0], [-0.4, 1.0, 7.5]]
OPTIONS: list[dict[str, Any]] = [
    {"image_size": [64, 64]},
    {"image_size": [16, 24], "use_voxel": True, "voxel_size": BOX},
    {"image_size": [8, 8], "use_voxel": True, "use_lidar": True, "lidar_rays": RAYS},
]
INTERVALS = [15, 10, 7]
MISSIONS = [
    *("harvest_1_log", "harvest_1_log_plains", "harvest_1_beef", "harvest_1_mutton", "harvest_1_stick"),
    *("harvest_milk_with_empty_bucket_and_cow", "harvest_wool_with_shears_and_sheep", "harvest_1_crafting_table"),
    *("harvest_1_bed_with_crafting_table", "harvest_1_iron_ingot_with_furnace_and_fuel", "survival_sword_food"),
    *(
        "techtree_from_barehand_to_wooden_pickaxe",
        "combat_zombie_plains_leather_armors_wooden_sword_shield",
        "combat_cow_forest_barehand",
        "harvest_8_glass_with_furnace_and_fuel",
        "playthrough",
    ),
]


def inventory(rng: np.random.Generator) -> dict[str, Any]:
    """Return a random inventory with random flags for table and furnace. With about half of these inventories, the
    player can craft something.
    """
    names, quantities = ["air"] * INVENTORY, [0] * INVENTORY
    filled = [0.0, 0.1, 0.5, 1.0][rng.integers(4)]
    for slot in np.flatnonzero(rng.random(INVENTORY) < filled):
        names[slot], quantities[slot] = spaced(NAMES[rng.integers(1, len(NAMES))]), int(rng.integers(1, 65))
    if rng.random() < 0.5:
        parts = np.flatnonzero(MATRIX[rng.integers(len(CRAFTS))])
        for slot, item in zip(rng.permutation(INVENTORY), parts, strict=False):
            names[slot], quantities[slot] = spaced(NAMES[item]), int(rng.integers(1, 9))
    return {
        "name": names,
        "quantity": quantities,
        "table": bool(rng.random() < 0.7),
        "furnace": bool(rng.random() < 0.7),
    }


def change(rng: np.random.Generator) -> dict[str, Any]:
    """Return two inventories and an action between these. About half of the changes are a craft, or almost a craft."""
    before = inventory(rng)
    craft = int(rng.integers(len(CRAFTS)))
    after = {"name": [*before["name"]], "quantity": [*before["quantity"]]}
    if rng.random() < 0.6:
        parts = [(spaced(NAMES[item]), int(MATRIX[craft, item])) for item in np.flatnonzero(MATRIX[craft])]
        product = (spaced(CRAFTS[craft]), int(rng.integers(1, 5)))
        slots = rng.permutation(INVENTORY)[: len(parts) + 1]
        for slot, (name, quantity) in zip(slots, parts, strict=False):
            before["name"][slot], before["quantity"][slot] = name, quantity + 3
            after["name"][slot], after["quantity"][slot] = name, 3
        if rng.random() < 0.8:
            after["name"][slots[-1]], after["quantity"][slots[-1]] = product
    for slot in rng.permutation(INVENTORY)[: rng.integers(3)]:
        after["quantity"][slot] = int(rng.integers(1, 65)) if after["name"][slot] != "air" else 0
    function = FUNCTIONS.index("craft") if rng.random() < 0.8 else int(rng.integers(len(FUNCTIONS)))
    mask = [bool(rng.random() < 0.8)] * len(CRAFTS)
    return {"before": before, "after": after, "mask": mask, "action": [0, 0, 0, 12, 12, function, craft, 0]}


STARTS: list[dict[str, Any]] = [
    {"image_size": (16, 24), "biome": "desert", "inventory": [{"slot": 0, "name": "iron_pickaxe"}]},
    {
        "image_size": (16, 24),
        "biome": "plains",
        "weather": "rain",
        "time": 14_000,
        "health": 13.0,
        "voxels": BOX,
        "inventory": [
            {"slot": 0, "name": "planks", "quantity": 30, "variant": 2},
            {"slot": 1, "name": "crafting_table"},
            {"slot": 12, "name": "log", "quantity": 64},
            {"slot": 38, "name": "iron_chestplate"},
            {"slot": 40, "name": "shield"},
        ],
    },
    {"image_size": (16, 24), "biome": "forest", "voxels": {}, "rays": RAYS, "food": 7},
]
STEPS = 60


def played(start: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield observations of rlgpt's environment in a random episode, and Malmo's JSON of the same world states."""
    env = MineDojoEnv(Mission.model_validate(start), strict=False)
    env.action_space.seed(1)
    observation, _ = env.reset(seed=1)
    env.sim.chat("/tp ~ ~ ~ 0 15")
    env.sim.chat("/summon cow ~ ~ ~2")
    mission = env.mission
    options: dict[str, Any] = {"image_size": mission.image_size}
    if mission.voxels is not None:
        options.update(use_voxel=True, voxel_size=mission.voxels.model_dump())
    if mission.rays:
        options.update(use_lidar=True, lidar_rays=mission.rays)
    for step in range(STEPS):
        if step % 10 == 1:
            info, picture = env.sim.info(), env.sim.rgb()[::-1].tobytes()
            question = {"options": options, "info": info, "pov": base64.b64encode(picture).decode()}
            yield {"question": question, "observation": observation, "space": env.observation_space}
        action = env.action_space.sample() if step else env.no_op()
        action[3:5] += 12 - action[3:5] if step % 4 else 0
        observation, _, over, _, _ = env.step(action)
        if over:
            return


SIZE = (64, 64)
"""The size of the image in every compared mission, in pixels. MineDojo's missions always have an image."""


def mission_of_task(task: str) -> Mission:
    """Return the mission of a task of this plugin."""
    settings = Settings.of(make_tasks()[f"minecraft/{task}"])
    return mission_of(SPECS[task], settings).model_copy(update={"image_size": SIZE})


def options_of_task(task: str) -> dict[str, Any]:
    """Return the options that the backend passes to MineDojo."""
    return {**mission_options(mission_of_task(task)), "image_size": SIZE}


@pytest.fixture(scope="session")
def states() -> list[dict[str, Any]]:
    return [state for start in STARTS for state in played(start)]


@pytest.fixture(scope="session")
def questions(states: list[dict[str, Any]]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    space = action_space(CAMERA_INTERVAL)
    space.seed(0)
    return {
        "options": OPTIONS,
        "intervals": INTERVALS,
        "inventories": [inventory(rng) for _ in range(300)],
        "deltas": [change(rng) for _ in range(300)],
        "actions": [{"name": inventory(rng)["name"], "action": space.sample().tolist()} for _ in range(500)],
        "states": [state["question"] for state in states],
        "missions": MISSIONS,
        "starts": {task: {"reference": REFERENCES[task], "ours": options_of_task(task)} for task in SPECS},
    }


@pytest.fixture(scope="session")
def answers(minedojo: Path, questions: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("minedojo")
    questions_file, answers_file = folder / "questions.json", folder / "answers.json"
    questions_file.write_text(json.dumps(questions))
    command = [minedojo, Path(__file__).with_name("dump.py"), questions_file, answers_file]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr[-4000:]
    answer: dict[str, Any] = json.loads(answers_file.read_text())
    return answer
