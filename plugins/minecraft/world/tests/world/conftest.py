"""A fixture with a small scene: a player on a floor of stone in an empty world."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from voxeldojo.world.blocks import ID, STONE
from voxeldojo.world.edit import set_block
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.state import ACTION, World, empty
from voxeldojo.world.tick import tick

FLOOR = 64
"""Height of the player's feet, in blocks. The top layer of stone is directly below."""
REACH = 40
"""Half of the side of the square floor, in columns."""
MIDDLE = 256


class Scene:
    """A world with a floor around its centre, where the player stands and looks south (+z)."""

    def __init__(self, seed: int = 0) -> None:
        self.world: World = empty(seed)
        self.world.generated[...] = True
        low, high = MIDDLE - REACH, MIDDLE + REACH
        self.world.blocks[low:high, FLOOR - 4 : FLOOR, low:high] = STONE
        self.world.top[low:high, low:high] = FLOOR - 1
        self.world.clock["mobs_spawn"] = False
        self.stand(MIDDLE + 0.5, FLOOR, MIDDLE + 0.5)

    @property
    def player(self) -> Any:
        """Return the player's record. Setting its fields changes the world."""
        return self.world.player[0]

    @property
    def events(self) -> Any:
        return self.world.events[0]

    @property
    def place(self) -> tuple[float, float, float]:
        return float(self.player["x"]), float(self.player["y"]), float(self.player["z"])

    def stand(self, x: float, y: float, z: float, yaw: float = 0.0, pitch: float = 0.0) -> None:
        place = {"x": x, "y": y, "z": z, "yaw": yaw, "pitch": pitch}
        # gravity also acts on a standing player
        for name, value in {**place, "vx": 0.0, "vy": -0.0784, "vz": 0.0, "on_ground": True}.items():
            self.player[name] = value

    def look_at(self, x: float, y: float, z: float) -> None:
        """Turn the player so that the eyes look at a point."""
        dx, dy, dz = x - self.player["x"], y - self.player["y"] - 1.62, z - self.player["z"]
        self.player["yaw"] = np.degrees(np.arctan2(-dx, dz))
        self.player["pitch"] = -np.degrees(np.arctan2(dy, np.hypot(dx, dz)))

    def put(self, x: int, y: int, z: int, block: str, level: int = 0) -> None:
        """Set a block at a place relative to the centre of the floor."""
        set_block(self.world, MIDDLE + x, FLOOR + y, MIDDLE + z, ID[block], level)

    def at(self, x: int, y: int, z: int) -> int:
        return int(self.world.blocks[MIDDLE + x, FLOOR + y, MIDDLE + z])

    def level(self, x: int, y: int, z: int) -> int:
        return int(self.world.level[MIDDLE + x, FLOOR + y, MIDDLE + z])

    def hold(self, item: str, quantity: int = 1, variant: int = 0) -> None:
        self.world.slots[self.player["selected"]] = (ITEM[item], quantity, variant, 0)

    def held(self) -> tuple[int, int, int, int]:
        """Return item, quantity, variant and damage of the stack in the hand."""
        return tuple(int(part) for part in self.world.slots[self.player["selected"]])  # type: ignore[return-value]

    def drops(self) -> dict[int, int]:
        """Return the quantity of each item on the ground."""
        lying = self.world.drops[self.world.drops["alive"]]
        return {int(item): int(lying["quantity"][lying["item"] == item].sum()) for item in lying["item"]}

    def tick(self, count: int = 1, **keys: Any) -> None:
        """Run ticks with the same keys held."""
        action = np.zeros(1, ACTION)
        for name, value in keys.items():
            action[name] = value
        for _ in range(count):
            tick(self.world, action)


@pytest.fixture
def scene() -> Scene:
    return Scene()
