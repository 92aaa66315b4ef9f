"""Runs MineDojo's own client for ``minecraft_world.py`` and ``minedojo_suite.py``. MineDojo's interpreter runs this
script, so the script imports nothing of rlgpt.

    python minedojo_client.py speed PORT BIOME NIGHT HEIGHT WIDTH
    python minedojo_client.py list
    python minedojo_client.py play PORT STEPS

The command ``speed`` reads numbers from standard input. For each number, it takes as many random steps and prints their
CPU seconds. The command ``list`` prints the specification of each programmatic task, as a line of JSON. The command
``play`` reads ids of tasks from standard input. For each task, it takes up to STEPS random steps and prints a line of
JSON: the number of steps, the sum of MineDojo's rewards, MineDojo's success, and the error if the task failed.
"""

import copy
import json
import sys
import time

import minedojo
from minedojo.sim.bridge.mc_instance import InstanceManager
from minedojo.tasks import ALL_PROGRAMMATIC_TASK_IDS, ALL_TASKS_SPECS, P_TASKS_PROMPTS_GUIDANCE
from omegaconf import OmegaConf

SEED = 0


def random_actions(env, count):
    """Return actions that turn the view by at most one bin, and neither place, equip, craft nor destroy items."""
    env.action_space.seed(SEED)
    actions = []
    for _ in range(count):
        action = env.action_space.sample()
        action[3:5] = 12 + action[3:5] % 3 - 1
        action[5] = action[5] if action[5] in (0, 1, 3) else 3
        actions.append(action)
    return actions


def speed(port, biome, night, height, width):
    InstanceManager.add_existing_instance(int(port))
    env = minedojo.make(
        "open-ended",
        image_size=(int(height), int(width)),
        use_voxel=True,
        generate_world_type="specified_biome",
        specified_biome=biome,
        world_seed="1",
        start_time=18_000 if night == "1" else 1_000,
    )
    env.seed(0)
    actions = random_actions(env, 256)
    env.reset()
    at = 0
    for line in sys.stdin:
        before = time.process_time()
        for _ in range(int(line)):
            env.step(actions[at % len(actions)])
            at += 1
        print(time.process_time() - before, flush=True)


def plain(value):
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value


def list_tasks():
    for task in ALL_PROGRAMMATIC_TASK_IDS:
        spec = {name: plain(value) for name, value in plain(ALL_TASKS_SPECS[task]).items()}
        print(json.dumps({"id": task, "category": P_TASKS_PROMPTS_GUIDANCE[task]["category"], **spec}))


def play(port, steps):
    for line in sys.stdin:
        print(json.dumps(play_one(line.strip(), int(port), int(steps))), flush=True)


def play_one(task, port, steps):
    result = {"steps": 0, "reward": 0.0, "success": False, "error": ""}
    spec, env = copy.deepcopy(ALL_TASKS_SPECS[task]), None
    InstanceManager.add_existing_instance(port)
    try:
        env = minedojo.make(task, image_size=(32, 48), seed=SEED, world_seed=str(SEED))
        env.reset()
        for action in random_actions(env, steps):
            _, reward, done, _ = env.step(action)
            result["steps"] += 1
            result["reward"] += float(reward)
            if done:
                break
        result["success"] = bool(env.is_successful)
    except Exception as error:  # the error is the result of the task
        result["error"] = f"{type(error).__name__}: {error}"[:200]
    finally:
        ALL_TASKS_SPECS[task] = spec  # minedojo.make removes entries
        if env is not None:
            env.close()
        for instance in list(InstanceManager._instance_pool):
            instance.release_lock()
            InstanceManager._instance_pool.remove(instance)
    return result


COMMANDS = {"speed": speed, "list": list_tasks, "play": play}


if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
