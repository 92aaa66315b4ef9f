"""Runs in MineDojo's interpreter: a scripted player of MineDojo's own tasks. This file imports no module of rlgpt.

    python player.py PORT TASK:SEED:STEPS ...

After each task, prints a line of JSON with MineDojo's success, the number of steps, and the sum of the rewards.
The player uses only observations: lidar, voxels, position, inventory.
"""

import contextlib
import copy
import json
import sys

import minedojo
import numpy as np
from body import ATTACK, BACK, BOX, CRAFT, EQUIP, INTERVAL, PLACE, RAYS, USE, Over
from minedojo.sim.bridge.mc_instance import InstanceManager
from minedojo.sim.mc_meta import mc
from minedojo.tasks import ALL_TASKS_SPECS
from walker import Walker


class Player(Walker):
    def use_on(self, mob):
        """Use the item in the hand on one animal after another."""
        while True:
            self.reach(mob, 2.3)
            for _ in range(6):
                way = self.look_for(mob)
                if way is not None and np.linalg.norm(way) < 3:
                    self.face(way, function=USE)

    def fight(self, mob, item=None):
        """Hit one mob after another, and walk over the drops."""
        while True:
            self.reach(mob, 2.6)
            for tick in range(60):
                way = self.look_for(mob)
                if way is None:
                    break
                far = float(np.linalg.norm(way))
                self.face(way, function=ATTACK if tick % 8 == 0 and far < 3.2 else 0, walk=int(far > 1.8))
            if item:
                self.collect()

    def collect(self):
        """Walk over the items on the ground."""
        for down in (25, 50, 10):
            self.act(down=self.level(down))
            if self.look_for("item") is not None:
                break
        for _ in range(40):
            way = self.look_for("item")
            if way is None:
                return
            right, down = self.off(way)
            self.stride(right, down)

    def dig(self, ticks=120):
        """Hold the attack key until a block breaks or an item is picked up."""
        name = self.ahead()[0]
        for _ in range(ticks):
            self.act(function=ATTACK)
            if self.ahead()[0] != name:
                return

    def break_one(self, name):
        """Break the nearest block of a name, and take its drops."""
        self.reach(name, 3.6)
        for _ in range(4):
            way = self.look_for(name)
            if way is None or np.linalg.norm(way) > 4.4:
                break
            self.face(way)
            found = self.ahead()[0]
            self.dig()
            if found == name:
                break
        self.collect()

    def dig_down(self):
        """Dig the block under the feet, and fall into the hole."""
        while True:
            self.act(down=self.level(90))
            self.dig()

    def mow(self, name):
        while True:
            self.break_one(name)

    def chop(self, logs):
        while self.count("log") < logs:
            self.break_one("wood")

    def craft(self, item):
        self.act(function=CRAFT, craft=mc.ALL_CRAFT_SMELT_ITEMS.index(item))

    def make(self, *items):
        for item in items:
            self.craft(item)

    def set_table(self):
        """Place the crafting table, and walk until MineDojo reports the table as near."""
        while self.count("crafting table"):
            self.act(right=40, down=self.level(45))
            self.act(function=PLACE, slot=self.slot("crafting table"))
        while not self.seen["nearby_tools"]["table"]:
            way = self.look_for("crafting table")
            if way is None:
                self.find("crafting table")
            else:
                self.face(way, walk=BACK if np.linalg.norm(way) < 3 else 1)

    def sword(self):
        """Make a wooden sword without initial items, and use the sword."""
        self.chop(2)
        self.make("planks", "planks", "crafting_table", "stick")
        self.set_table()
        self.craft("wooden_sword")
        self.act(function=EQUIP, slot=self.slot("wooden sword"))
        self.dig_down()


def chopped(player, *items, logs=1):
    player.chop(logs)
    player.make(*items)
    player.chop(64)


SCRIPTS = {
    "milk": lambda player: player.use_on("cow"),
    "wool": lambda player: player.use_on("sheep"),
    "mutton_wool": lambda player: player.fight("sheep", "wool"),
    "log": lambda player: player.chop(64),
    "dirt": lambda player: player.mow("grass block"),
    "cobblestone": lambda player: player.dig_down(),
    "seeds": lambda player: player.mow("grass"),
    "sapling": lambda player: player.mow("leaves"),
    "planks": lambda player: chopped(player, "planks"),
    "stick": lambda player: chopped(player, "planks", "stick"),
    "table": lambda player: chopped(player, "planks", "crafting_table"),
    "sword": lambda player: player.sword(),
    **{
        "hunt_" + mob: lambda player, mob=mob: player.fight(mob) for mob in ("cow", "pig", "sheep", "chicken", "zombie")
    },
    "beef": lambda player: player.fight("cow", "beef"),
}
TASKS = {
    "harvest_milk_with_empty_bucket_and_cow": "milk",
    "harvest_milk_plains_with_an_empty_bucket": "milk",
    "harvest_wool_with_shears_and_sheep": "wool",
    "harvest_wool_with_sheep": "mutton_wool",
    "harvest_wool_plains_with_shears": "wool",
    "harvest_1_beef_plains": "beef",
    "harvest_1_log": "log",
    "harvest_1_log_forest": "log",
    "harvest_8_log_forest": "log",
    "harvest_1_dirt": "dirt",
    "harvest_8_dirt": "dirt",
    "harvest_1_cobblestone_with_wooden_pickaxe": "cobblestone",
    "harvest_8_cobblestone_with_iron_pickaxe": "cobblestone",
    "harvest_1_wheat_seeds": "seeds",
    "harvest_1_sapling": "sapling",
    "harvest_1_planks_plains": "planks",
    "harvest_1_stick_forest": "stick",
    "harvest_1_crafting_table_forest": "table",
    "techtree_from_barehand_to_wooden_sword": "sword",
    "combat_cow_plains_barehand": "hunt_cow",
    "combat_cow_plains_leather_armors_iron_sword_shield": "hunt_cow",
    "combat_pig_plains_leather_armors_wooden_sword_shield": "hunt_pig",
    "combat_sheep_plains_iron_armors_iron_sword_shield": "hunt_sheep",
    "combat_chicken_forest_barehand": "hunt_chicken",
    "combat_zombie_plains_diamond_armors_diamond_sword_shield": "hunt_zombie",
}


def play(task, seed, steps):
    spec = copy.deepcopy(ALL_TASKS_SPECS[task])
    sights = {"use_voxel": True, "voxel_size": BOX, "use_lidar": True, "lidar_rays": RAYS}
    for name in sights:
        ALL_TASKS_SPECS[task].pop(name, None)
    try:
        env = minedojo.make(
            task,
            cam_interval=INTERVAL,
            image_size=(32, 48),
            seed=seed,
            world_seed=str(seed),
            fast_reset=False,
            **sights,
        )
    finally:
        ALL_TASKS_SPECS[task] = spec
    player = Player(env, seed, steps)
    with contextlib.suppress(Over):
        SCRIPTS[TASKS[task]](player)
    result = {"task": task, "seed": seed, "success": env.is_successful, "steps": player.steps, "reward": player.reward}
    env.close()
    return result


def main():
    InstanceManager.add_existing_instance(int(sys.argv[1]))
    for argument in sys.argv[2:]:
        task, seed, steps = argument.split(":")
        print(json.dumps(play(task, int(seed), int(steps))), flush=True)
        for instance in InstanceManager._instance_pool:
            instance.release_lock()


if __name__ == "__main__":
    main()
