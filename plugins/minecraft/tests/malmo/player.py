"""Run by MineDojo's interpreter: a scripted player at MineDojo's own tasks. Imports nothing of ours.

    python player.py PORT TASK:SEED:STEPS ...

Ends each task with a line of JSON: whether MineDojo calls it a success, the steps taken, and the sum of the rewards.
What it does depends on nothing but the observations: lidar, voxels, where it stands, what it holds.
"""

import contextlib
import copy
import json
import math
import sys

import minedojo
import numpy as np
from minedojo.sim.bridge.mc_instance import InstanceManager
from minedojo.sim.mc_meta import mc
from minedojo.tasks import ALL_TASKS_SPECS

INTERVAL = 3.0
LEVEL = round(180 / INTERVAL)
BACK = 2
USE, ATTACK, CRAFT, EQUIP, PLACE = 1, 3, 4, 5, 6
PITCHES = (0, 4, -4, 9, -9, 16, -16, 26, -26, 40, -40)
YAWS = (0, *(sign * 4 * i for i in range(1, 13) for sign in (1, -1)))
RAYS = [(math.radians(pitch), math.radians(yaw), 36.0) for pitch in PITCHES for yaw in YAWS]
BOX = {"xmin": -2, "xmax": 2, "ymin": -4, "ymax": 3, "zmin": -2, "zmax": 2}
LOW = np.array([BOX["xmin"], BOX["ymin"], BOX["zmin"]])
EYES = np.array([0.0, 1.62, 0.0])


class Over(Exception):
    """The episode is over, or its steps are spent."""


class Player:
    def __init__(self, env, seed, steps):
        self.env, self.left, self.steps, self.reward = env, steps, 0, 0.0
        self.rng = np.random.default_rng(seed)
        self.seen = env.reset()

    # what is done

    def act(self, walk=0, jump=0, function=0, craft=0, slot=0, right=0.0, down=0.0):
        """One step; turns in degrees."""
        if self.steps >= self.left:
            raise Over
        turns = LEVEL + round(down / INTERVAL), LEVEL + round(((right + 180) % 360 - 180) / INTERVAL)
        self.seen, reward, done, _ = self.env.step(np.array([walk, 0, jump, *turns, function, craft, slot]))
        self.steps, self.reward = self.steps + 1, self.reward + reward
        if done:
            raise Over

    def face(self, way, **action):
        """Turn towards a vector from the eyes."""
        right, down = self.off(way)
        self.act(right=right, down=down, **action)

    # what is seen

    def place(self):
        return self.seen["location_stats"]["pos"].astype(float)

    def off(self, way):
        """Degrees to turn right and down to look along a vector."""
        where = self.seen["location_stats"]
        yaw = math.degrees(math.atan2(-way[0], way[2]))
        pitch = -math.degrees(math.atan2(way[1], math.hypot(way[0], way[2])))
        right = (yaw - float(where["yaw"][0]) + 180) % 360 - 180
        return right, pitch - float(where["pitch"][0])

    def ways(self):
        """Where the rays go: the look, turned about the world's x axis by a ray's pitch, then about y by its yaw."""
        where, rays = self.seen["location_stats"], self.seen["rays"]
        a, b = math.radians(float(where["yaw"][0])), math.radians(float(where["pitch"][0]))
        x, y, z = -math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b)
        pitch, yaw = rays["ray_pitch"], rays["ray_yaw"]
        up, along = y * np.cos(pitch) + z * np.sin(pitch), z * np.cos(pitch) - y * np.sin(pitch)
        return np.stack((x * np.cos(yaw) + along * np.sin(yaw), up, along * np.cos(yaw) - x * np.sin(yaw)), axis=1)

    def look_for(self, name):
        """Vector from the eyes to the nearest entity or block of a name, None where none is seen."""
        rays = self.seen["rays"]
        hit = np.flatnonzero(rays["entity_name"] == name)
        if len(hit):
            near = rays["entity_distance"][hit]
            same = hit[near <= near.min() + 1.0]
            return self.ways()[same].mean(axis=0) * near.min()
        hit = np.flatnonzero((rays["block_name"] == name) & (rays["entity_name"] == "null"))
        around = np.argwhere(self.seen["voxels"]["block_name"] == name) + LOW + np.floor(self.place())
        traced = np.stack([rays["traced_block_" + axis][hit] for axis in "xyz"], axis=1)
        blocks = np.concatenate((around, traced)) + 0.5 - self.place() - EYES
        return blocks[np.argmin((blocks**2).sum(axis=1))] if len(blocks) else None

    def ahead(self):
        """What lies under the cross-hair: a name, and how far it is."""
        rays = self.seen["rays"]
        if rays["entity_name"][0] != "null":
            return str(rays["entity_name"][0]), float(rays["entity_distance"][0])
        return str(rays["block_name"][0]), float(rays["block_distance"][0])

    def column(self, degrees):
        """x and z, from the block of the feet, of the column one would walk into."""
        turn = math.radians(float(self.seen["location_stats"]["yaw"][0]) + degrees)
        here = self.place()[[0, 2]]
        there = here + np.array([-math.sin(turn), math.cos(turn)])
        return (np.floor(there) - np.floor(here)).astype(int)

    def free(self, degrees):
        """1 where one can walk, 2 where one has to jump or swim, 0 where there is a wall, a deep fall or lava."""
        dx, dz = self.column(degrees)
        names, solid = (self.seen["voxels"][key][dx + 2, :, dz + 2] for key in ("block_name", "blocks_movement"))
        feet = -BOX["ymin"]
        if solid[feet + 1] or (solid[feet] and solid[feet + 2]) or "lava" in names[feet - 3 : feet + 2]:
            return 0
        wet = "water" in names[feet - 1 : feet + 1] or self.seen["voxels"]["block_name"][2, feet, 2] == "water"
        if solid[feet] or wet:
            return 2
        return int(solid[feet - 3 : feet].any() or "water" in names)

    def count(self, item):
        held = self.seen["inventory"]
        return int(held["quantity"][held["name"] == item].sum())

    def slot(self, item):
        return int(np.flatnonzero(self.seen["inventory"]["name"] == item)[0])

    # how it gets about

    def stride(self, right=0.0, down=0.0):
        """One step of walking, around what is in the way."""
        for aside in (0, 40, -40, 80, -80, 120, -120, 180):
            way = self.free(right + aside)
            if way:
                before = self.place()
                self.act(walk=1, jump=int(way == 2), right=right + aside, down=down)
                if np.abs(self.place() - before).max() < 0.02 and self.rng.random() < 0.3:
                    self.act(walk=1, jump=1, right=float(self.rng.choice((-60, 60, 150))))
                return
        self.break_out()

    def break_out(self):
        """Out of a pit: make a step of the wall ahead, and jump onto it."""
        for down in (0, -50):
            self.act(down=self.level(down))
            if self.ahead()[1] < 2:
                self.dig(200)
        for _ in range(12):
            self.act(walk=1, jump=1)

    def level(self, down):
        return down - float(self.seen["location_stats"]["pitch"][0])

    def find(self, name):
        """Turn around, then wander, until something is seen."""
        while True:
            for turn in (0, 90, 90, 90):
                for down in (5, 30) if turn == 0 else (10,):
                    if self.look_for(name) is not None:
                        return
                    self.act(right=turn, down=self.level(down))
                    turn = 0
            if self.look_for(name) is not None:
                return
            self.stride(right=float(self.rng.uniform(-100, 100)), down=self.level(10))
            for _ in range(45):
                if self.look_for(name) is not None:
                    return
                self.stride()

    def approach(self, name, within):
        """Walk up to the nearest of a name; whether it came so near. Gives up on what it does not come nearer to."""
        best, patience, goal = 99.0, 0, None
        while patience < 40:
            way = self.look_for(name)
            if way is None:
                patience += 2
                if goal is None or np.linalg.norm((goal - self.place())[[0, 2]]) < 1:
                    break
                way = goal - self.place() - EYES
            else:
                goal = self.place() + EYES + way
                if np.linalg.norm(way) <= within:
                    return True
            far = float(np.linalg.norm(way))
            best, patience = (far, 0) if far < best - 0.3 else (best, patience + 1)
            right, down = self.off(way)
            self.stride(right, down)
        if patience < 40:
            return False
        for _ in range(30):
            self.stride(right=float(self.rng.uniform(-30, 30)))
        return False

    def reach(self, name, within):
        while True:
            self.find(name)
            if self.approach(name, within):
                return

    # what it can do

    def use_on(self, mob):
        """Use what is in the hand on one animal after another."""
        while True:
            self.reach(mob, 2.3)
            for _ in range(6):
                way = self.look_for(mob)
                if way is not None and np.linalg.norm(way) < 3:
                    self.face(way, function=USE)

    def fight(self, mob, item=None):
        """Hit one mob after another, and walk over what falls."""
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
        """Walk over what lies around."""
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
        """Hold the attack until something is broken or picked up."""
        name = self.ahead()[0]
        for _ in range(ticks):
            self.act(function=ATTACK)
            if self.ahead()[0] != name:
                return

    def break_one(self, name):
        """Break the nearest block of a name, and take what falls out."""
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
        """Dig under the feet, and fall after it."""
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
        """Place the crafting table somewhere around, and look at it from where it counts as near."""
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
        """From nothing to a wooden sword that is used."""
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
    told = {"task": task, "seed": seed, "success": env.is_successful, "steps": player.steps, "reward": player.reward}
    env.close()
    return told


def main():
    InstanceManager.add_existing_instance(int(sys.argv[1]))
    for asked in sys.argv[2:]:
        task, seed, steps = asked.split(":")
        print(json.dumps(play(task, int(seed), int(steps))), flush=True)
        for instance in InstanceManager._instance_pool:
            instance.release_lock()


if __name__ == "__main__":
    main()
