"""Crafter as a gymnasium environment with a symbolic observation of the visible cells. This module does not depend on
rlgpt.
"""

from __future__ import annotations

from typing import Any

import crafter
import gymnasium
import numpy as np
from crafter import constants, engine

WIDTH, HEIGHT = 9, 7
"""Size of the part of the map that a player sees, in cells. The player is in the middle."""

CELLS = ("outside", *constants.materials, "player", "cow", "zombie", "skeleton", "arrow", "plant")
"""What the codes of a cell mean: the order of Crafter's semantic map."""

ITEMS = tuple(constants.items)
ACTIONS = tuple(constants.actions)
ACHIEVEMENTS = tuple(constants.achievements)
DIRECTIONS = ("left", "right", "up", "down")
OFFSETS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""The neighbouring cell in each direction: right, down."""

PICTURE = 576
"""Side of a picture, in pixels."""


class OrderedWorld(engine.World):
    """Crafter's world, with the creatures of a chunk in a fixed order.

    Crafter stores the creatures of a chunk (a part of the map) in a set and draws one creature at random. The order of
    a Python set depends on memory addresses, so that episodes of the original Crafter with the same seed differ. The
    fixed order of the creatures changes no probability.
    """

    @property
    def chunks(self) -> dict[Any, list[Any]]:
        return {
            key: sorted(creatures, key=lambda creature: int(self._obj_map[tuple(creature.pos)]))
            for key, creatures in self._chunks.items()
        }


class WithoutPictures(crafter.Env):
    """Crafter without rendering at each step. Rendering takes three quarters of the time of Crafter's step.

    At night, Crafter takes the noise of its pictures from the world's random generator. This class takes no random
    numbers for pictures, so an episode differs from Crafter's own episode with the same seed. The probabilities of
    events are those of Crafter.
    """

    def __init__(self, length: int) -> None:
        super().__init__(length=length, size=(PICTURE, PICTURE), seed=0)
        self._world.__class__ = OrderedWorld

    def begin(self, seed: int) -> None:
        self._seed, self._episode = seed, 0
        self.reset()

    def _obs(self) -> None:
        return None


class CrafterEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """Crafter with its own rewards and its own conditions for the end of an episode. The observation of the environment
    contains what a player of Crafter sees by day, as symbols. The symbols are the same at night, when Crafter's picture
    hides cells.

    The observation's key ``cells``, uint8 ``(7, 9)``, has the codes of the visible cells (:data:`CELLS`) in rows from
    the top. The key ``items``, float32 ``(16,)``, has the numbers of the body (such as health) and the inventory, 0 to
    9. The key ``facing`` of the observation is an index into :data:`DIRECTIONS`. The keys ``sleeping`` and ``ripe`` are
    0 or 1; ``ripe`` is 1 if the plant ahead is ripe, which a player sees in Crafter's picture. The key ``daylight``
    ``(1,)`` is from 0 to 1.

    ``info`` contains only ``achievements``, which says for each achievement whether the episode has unlocked it (0 or
    1), and at the player's death the key ``cause``. Crafter's own ``info`` also has the map and the player's position,
    which this environment leaves out because a player does not see them.

    :param length: the number of steps after which an episode is truncated.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 - gymnasium's own

    def __init__(self, length: int = 10_000, render_mode: str | None = None) -> None:
        self.render_mode, self._length = render_mode, length
        self._game = WithoutPictures(length)
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.observation_space = gymnasium.spaces.Dict(
            {
                "cells": gymnasium.spaces.Box(0, len(CELLS) - 1, (HEIGHT, WIDTH), np.uint8),
                "items": gymnasium.spaces.Box(0, 9, (len(ITEMS),), np.float32),
                "facing": gymnasium.spaces.Discrete(len(DIRECTIONS)),
                "sleeping": gymnasium.spaces.Discrete(2),
                "ripe": gymnasium.spaces.Discrete(2),
                "daylight": gymnasium.spaces.Box(0, 1, (1,), np.float32),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        self._game.begin(int(self.np_random.integers(2**31 - 1)))
        return self._observation(), {"achievements": dict.fromkeys(ACHIEVEMENTS, 0)}

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        _, reward, over, info = self._game.step(int(action))
        dead = info["discount"] == 0
        unlocked = {name: int(count > 0) for name, count in info["achievements"].items()}
        shown = {"achievements": unlocked, **({"cause": "the player died"} if dead else {})}
        return self._observation(), float(reward), dead, over and not dead, shown

    def render(self) -> np.ndarray | None:
        """Return Crafter's own picture, uint8 ``(576, 576, 3)``."""
        if self.render_mode is None:
            return None
        random = self._game._world.random
        state = random.get_state()
        picture: np.ndarray = self._game.render()
        random.set_state(state)  # rendering must not change the episode
        return picture

    def _observation(self) -> dict[str, Any]:
        player, world = self._game._player, self._game._world
        facing = OFFSETS.index(tuple(int(part) for part in player.facing))
        _, ahead = world[player.pos + np.array(player.facing)]
        return {
            "cells": self._visible(player.pos),
            "items": np.array(list(player.inventory.values()), np.float32),
            "facing": np.int64(facing),
            "sleeping": np.int64(player.sleeping),
            "ripe": np.int64(bool(getattr(ahead, "ripe", False))),
            "daylight": np.array([np.clip(world.daylight, 0, 1)], np.float32),
        }

    def _visible(self, position: np.ndarray) -> np.ndarray:
        """Return the visible cells around the player, copied from Crafter's map."""
        semantic = np.pad(self._game._sem_view(), WIDTH)
        column, row = position + WIDTH
        half_width, half_height = WIDTH // 2, HEIGHT // 2
        cut = semantic[column - half_width : column + half_width + 1, row - half_height : row + half_height + 1]
        return np.ascontiguousarray(cut.T, np.uint8)
