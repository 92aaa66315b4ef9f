"""Runs MineDojo's own client for ``minecraft_world.py``. MineDojo's interpreter runs this script, so the script imports
nothing of rlgpt.

    python minedojo_client.py PORT BIOME NIGHT HEIGHT WIDTH

The script reads numbers from standard input. For each number, the script takes as many random steps and prints their
CPU seconds.
"""

import sys
import time

import minedojo
from minedojo.sim.bridge.mc_instance import InstanceManager


def main():
    port, biome, night, height, width = sys.argv[1:]
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
    env.action_space.seed(0)
    env.reset()
    actions = []
    for _ in range(256):
        action = env.action_space.sample()
        action[3:5] = 12 + action[3:5] % 3 - 1
        action[5] = action[5] if action[5] in (0, 1, 3) else 3
        actions.append(action)
    at = 0
    for line in sys.stdin:
        before = time.process_time()
        for _ in range(int(line)):
            env.step(actions[at % len(actions)])
            at += 1
        print(time.process_time() - before, flush=True)


if __name__ == "__main__":
    main()
