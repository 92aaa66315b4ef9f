"""Runs in MineDojo's interpreter: spaces, names, recipes, masks, actions and missions of the real package.

    python dump.py QUESTIONS.json ANSWERS.json

``conftest.py`` writes the questions. This file imports no module of rlgpt.
"""

import base64
import json
import os
import sys

import gym
import minedojo
import numpy as np
from lxml import etree
from minedojo.sim import InventoryItem, MineDojoSim
from minedojo.sim.mc_meta import mc
from minedojo.sim.wrappers import ARNNWrapper
from minedojo.sim.wrappers.utils import get_recipes_matrix
from minedojo.tasks import ALL_TASK_IDS, ALL_TASKS_SPECS, _meta_task_make, _parse_inventory_dict
from omegaconf import OmegaConf

SCHEMA = os.path.join(os.path.dirname(minedojo.__file__), "sim", "Malmo", "Schemas", "MissionInit.xsd")


def plain(x):
    if OmegaConf.is_config(x):
        x = OmegaConf.to_container(x)
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, np.generic):
        return x.item()
    return x


def described(space, path=""):
    """Return kind, shape, dtype and bounds of every leaf of a space, by path."""
    if isinstance(space, gym.spaces.Dict):
        return {k: v for name, part in space.spaces.items() for k, v in described(part, path + "/" + name).items()}
    leaf = {"kind": type(space).__name__, "shape": list(space.shape), "dtype": np.dtype(space.dtype).kind}
    if leaf["dtype"] != "U":
        leaf["dtype"] = np.dtype(space.dtype).name
    if isinstance(space, gym.spaces.Box):
        leaf["low"], leaf["high"] = (sorted({str(float(x)) for x in a.flatten()}) for a in (space.low, space.high))
    elif isinstance(space, gym.spaces.Discrete):
        leaf["n"] = int(space.n)
    elif isinstance(space, gym.spaces.MultiDiscrete):
        leaf["nvec"] = space.nvec.tolist()
    return {path: leaf}


def acted(space):
    return {"nvec": space.nvec.tolist(), "dtype": space.dtype.name, "no_op": space.no_op().tolist()}


def observed(x):
    """Return an observation with dtype, shape and values of each leaf."""
    if isinstance(x, dict):
        return {k: observed(v) for k, v in x.items()}
    x = np.asarray(x)
    return {"dtype": x.dtype.kind if x.dtype.kind == "U" else x.dtype.name, "shape": list(x.shape), "value": x.tolist()}


def made(options, interval=15):
    return ARNNWrapper(MineDojoSim(**options), cam_interval=interval)


def layers(env):
    """Return the wrappers of inventory changes, masks and actions, and the simulator."""
    changes = env.env
    return changes, changes.env, changes.env.env, changes.env.env.env


def names():
    return {
        "items": mc.ALL_ITEMS,
        "crafts": mc.ALL_CRAFT_SMELT_ITEMS,
        "hand": mc.ALL_HAND_CRAFT_ITEMS_NN_ACTIONS,
        "table": mc.ALL_TABLE_CRAFT_ONLY_ITEMS_NN_ACTIONS,
        "furnace": mc.ALL_SMELT_ITEMS_NN_ACTIONS,
        "placeable": mc.PLACEABLE_ITEM_NAMES,
        "not_for_the_hand": mc.NON_MAINHAND_ITEM_NAMES,
        "biomes": mc.BIOMES_MAP,
        "stats": [k for k in mc.ALL_STAT_KEYS if len(k) == 2],
        "killed": [k[2] for k in mc.ALL_STAT_KEYS if k[:2] == ["stat", "kill_entity"]],
        "used": [k[3] for k in mc.ALL_STAT_KEYS if k[:2] == ["stat", "use_item"]],
        "slots": mc.N_INV_SLOTS,
        "items_in_full": {x["type"]: x for x in mc.all_data["items"]},
        "blocks_in_full": {x["name"]: x for x in mc.all_data["blocks"]},
    }


def recipes():
    matrix = get_recipes_matrix()
    crafting, smelting = mc.CRAFTING_RECIPES_BY_OUTPUT, mc.SMELTING_RECIPES_BY_OUTPUT
    return {
        "matrix": [{mc.ALL_ITEMS[i]: row[i] for i in np.flatnonzero(row)} for row in matrix],
        "crafting": {k: crafting[k] for k in mc.ALL_CRAFT_SMELT_ITEMS if k in crafting},
        "smelting": {k: smelting[k] for k in mc.ALL_SMELT_ITEMS_NN_ACTIONS},
    }


def inventory_of(question):
    return {"name": np.array(question["name"]), "quantity": np.array(question["quantity"], np.float32)}


def mask_of(masks, question):
    tools = {"table": np.array(question["table"]), "furnace": np.array(question["furnace"])}
    answer = masks.observation({"inventory": inventory_of(question), "nearby_tools": tools})
    return {k: v.tolist() for k, v in answer["masks"].items()}


def delta_of(changes, question):
    changes._prev_inventory = inventory_of(question["before"])
    changes._prev_mask = np.array(question["mask"], bool)
    answer = changes.observation({"inventory": inventory_of(question["after"])}, question["action"])
    return {k: v.tolist() for k, v in answer["delta_inv"].items()}


def action_of(actions, question):
    actions._inventory_names = np.array(question["name"])
    try:
        command, (destroys, slot) = actions.action(np.array(question["action"]))
    except ValueError:
        return "error"
    command["camera"] = command["camera"].tolist()
    return {**command, "destroy": slot if destroys else None}


def observation_of(env, question):
    """Return the observation that MineDojo's handlers and masks make from the JSON of rlgpt's world."""
    _, masks, _, sim = layers(env)
    raw = {**question["info"], "pov": base64.b64decode(question["pov"])}
    return observed(masks.observation(sim._process_raw_obs(raw)[0]))


def written(env, schema):
    xml = env.unwrapped._sim_spec.to_xml("00000000-0000-0000-0000-000000000000")
    valid = schema.validate(etree.fromstring(xml.encode()))
    return {"xml": xml, "valid": valid, "errors": [str(e) for e in schema.error_log]}


def mission_of(task, schema):
    spec = plain(ALL_TASKS_SPECS[task])
    options = {k: v for k, v in spec.items() if k not in ("prompt", "__cls__")}
    if "initial_inventory" in options:
        options["initial_inventory"] = _parse_inventory_dict(options["initial_inventory"])
    env = _meta_task_make(spec["__cls__"], image_size=(64, 64), **options)
    return {**written(env, schema), "spec": spec}


def start_of(question, schema):
    """Return the mission XML of MineDojo's task, and the XML that MineDojo writes for the mission of rlgpt's task."""
    named, options = question["reference"].get("named"), question["reference"].get("options", {})
    if named is not None:
        options = plain(ALL_TASKS_SPECS[named])
        options = {k: v for k, v in options.items() if k not in ("prompt", "__cls__")}
    stacks = options.get("initial_inventory")
    if isinstance(stacks, dict):
        options["initial_inventory"] = _parse_inventory_dict(stacks)
    elif stacks is not None:
        options["initial_inventory"] = [InventoryItem(**stack) for stack in stacks]
    theirs = _meta_task_make("harvest", image_size=question["ours"]["image_size"], **options)
    ours = dict(question["ours"])
    ours["initial_inventory"] = [InventoryItem(**stack) for stack in ours["initial_inventory"]]
    return {
        "theirs": written(theirs, schema),
        "ours": written(MineDojoSim(**ours), schema),
        "mobs": theirs._initial_mobs,
        "low": options.get("initial_mob_spawn_range_low"),
        "high": options.get("initial_mob_spawn_range_high"),
        "wanted": theirs._target_quantities,
    }


def main():
    with open(sys.argv[1]) as file:
        questions = json.load(file)
    schema = etree.XMLSchema(etree.parse(SCHEMA))
    env = made({"image_size": (64, 64)})
    changes, masks, actions, _ = layers(env)
    answers = {
        "spaces": [described(made(options).observation_space) for options in questions["options"]],
        "actions": [acted(made({"image_size": 64}, i).action_space) for i in questions["intervals"]],
        "names": names(),
        "recipes": recipes(),
        "tasks": ALL_TASK_IDS,
        "masks": [mask_of(masks, q) for q in questions["inventories"]],
        "deltas": [delta_of(changes, q) for q in questions["deltas"]],
        "commands": [action_of(actions, q) for q in questions["actions"]],
        "observations": [observation_of(made(q["options"]), q) for q in questions["states"]],
        "missions": {task: mission_of(task, schema) for task in questions["missions"]},
        "starts": {task: start_of(question, schema) for task, question in questions["starts"].items()},
    }
    with open(sys.argv[2], "w") as file:
        json.dump(plain(answers), file)


if __name__ == "__main__":
    main()
