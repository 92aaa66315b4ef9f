"""A body in an environment of MineDojo. It acts, and senses only by observations. This file imports no module of
rlgpt.
"""

import math

import numpy as np

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
    """The episode is over, or the limit of steps is reached."""


class Body:
    def __init__(self, env, seed, steps):
        self.env, self.left, self.steps, self.reward = env, steps, 0, 0.0
        self.rng = np.random.default_rng(seed)
        self.seen = env.reset()

    # Actions.

    def act(self, walk=0, jump=0, function=0, craft=0, slot=0, right=0.0, down=0.0):
        """Take one step. The turns ``right`` and ``down`` are in degrees."""
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

    # Observations.

    def place(self):
        return self.seen["location_stats"]["pos"].astype(float)

    def off(self, way):
        """Return the degrees to turn right and down to look along a vector."""
        where = self.seen["location_stats"]
        yaw = math.degrees(math.atan2(-way[0], way[2]))
        pitch = -math.degrees(math.atan2(way[1], math.hypot(way[0], way[2])))
        right = (yaw - float(where["yaw"][0]) + 180) % 360 - 180
        return right, pitch - float(where["pitch"][0])

    def ways(self):
        """Return the directions of the rays: the look direction, rotated about the world's x axis by the pitch of the
        ray, and then about the y axis by the yaw of the ray.
        """
        where, rays = self.seen["location_stats"], self.seen["rays"]
        a, b = math.radians(float(where["yaw"][0])), math.radians(float(where["pitch"][0]))
        x, y, z = -math.sin(a) * math.cos(b), -math.sin(b), math.cos(a) * math.cos(b)
        pitch, yaw = rays["ray_pitch"], rays["ray_yaw"]
        up, along = y * np.cos(pitch) + z * np.sin(pitch), z * np.cos(pitch) - y * np.sin(pitch)
        return np.stack((x * np.cos(yaw) + along * np.sin(yaw), up, along * np.cos(yaw) - x * np.sin(yaw)), axis=1)

    def look_for(self, name):
        """Return the vector from the eyes to the nearest visible entity or block of a name, or None."""
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
        """Return the name and the distance (in blocks) of the target under the crosshair."""
        rays = self.seen["rays"]
        if rays["entity_name"][0] != "null":
            return str(rays["entity_name"][0]), float(rays["entity_distance"][0])
        return str(rays["block_name"][0]), float(rays["block_distance"][0])

    def column(self, degrees):
        """Return x and z of the column ahead, relative to the block of the feet."""
        turn = math.radians(float(self.seen["location_stats"]["yaw"][0]) + degrees)
        here = self.place()[[0, 2]]
        there = here + np.array([-math.sin(turn), math.cos(turn)])
        return (np.floor(there) - np.floor(here)).astype(int)

    def free(self, degrees):
        """Return 1 if the body can walk into the column, 2 if that needs a jump or swimming, and 0 for a wall, a deep
        fall or lava.
        """
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
