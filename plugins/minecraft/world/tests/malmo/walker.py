"""A body that walks around walls, out of pits and to a target. This file imports no module of rlgpt."""

import numpy as np
from body import EYES, Body


class Walker(Body):
    def stride(self, right=0.0, down=0.0):
        """Walk one step, around obstacles."""
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
        """Leave a pit: dig a step into the wall ahead, and jump onto the step."""
        for down in (0, -50):
            self.act(down=self.level(down))
            if self.ahead()[1] < 2:
                self.dig(200)
        for _ in range(12):
            self.act(walk=1, jump=1)

    def level(self, down):
        return down - float(self.seen["location_stats"]["pitch"][0])

    def find(self, name):
        """Turn around, then walk at random, until the target is visible."""
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
        """Walk to the nearest target. Return whether the body reached the target. Stop if the distance does not
        decrease.
        """
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
