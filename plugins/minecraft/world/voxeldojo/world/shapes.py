"""Defines the box of each block that the rays of the cross-hair and of the lidar hit.

Collisions of bodies use other boxes (``blocks.TOP``, ``blocks.HALF``) than rays. A body passes through tall grass, for
example, but a ray hits tall grass. The corners of the boxes are in sixteenths of a block; they come from
minecraft.wiki, Hitbox and the pages of the blocks, Java Edition 1.11. The box of a crop is that of the age 0;
``crops.TALLER`` adds to its height.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from voxeldojo.world.blocks import TABLE, Block
from voxeldojo.world.crops import TABLE as CROPS

Box = tuple[float, float, float, float, float, float]

WHOLE_BOX: Final[Box] = (0, 0, 0, 16, 16, 16)
_CROSS: Final[dict[str, Box]] = {
    "sapling": (1.6, 0, 1.6, 14.4, 12.8, 14.4),
    "grass": (1.6, 0, 1.6, 14.4, 12.8, 14.4),
    "dead bush": (1.6, 0, 1.6, 14.4, 12.8, 14.4),
    "flower": (4.8, 0, 4.8, 11.2, 9.6, 11.2),
    "mushroom": (4.8, 0, 4.8, 11.2, 6.4, 11.2),
    "sugar cane": (2, 0, 2, 14, 16, 14),
}
_CROPS: Final = {crop.block: crop.low for crop in CROPS}
_TORCHES: Final[dict[str, Box]] = {
    "torch_east": (0, 3.2, 5.6, 4.8, 12.8, 10.4),
    "torch_west": (11.2, 3.2, 5.6, 16, 12.8, 10.4),
    "torch_south": (5.6, 3.2, 0, 10.4, 12.8, 4.8),
    "torch_north": (5.6, 3.2, 11.2, 10.4, 12.8, 16),
}
_FLAT: Final[dict[str, float]] = {"snow_layer": 2.0, "waterlily": 1.5}


def box(block: Block) -> Box:
    """Return the corners ``x0, y0, z0, x1, y1, z1`` of a block's box, in sixteenths of a block."""
    if block.key in _CROPS:
        return 0, 0, 0, 16, _CROPS[block.key], 16
    if block.shape == "cross":
        kind = next((name for name in _CROSS if block.name.endswith(name)), "")
        return _CROSS.get(kind, WHOLE_BOX)
    if block.shape == "torch":
        return _TORCHES.get(block.key, (6.4, 0, 6.4, 9.6, 9.6, 9.6))
    if block.shape == "flat":
        rim = 1.0 if block.key == "waterlily" else 0.0
        height = 2.0 if "rail" in block.key else _FLAT.get(block.key, 1.0)
        return rim, 0, rim, 16 - rim, height, 16 - rim
    if block.shape == "wall":
        return 0, 0, 0, 16, 16, 3 if block.key == "ladder" else 1
    if block.shape in ("slab", "box", "post"):
        low, high = 8 - 16 * block.half, 8 + 16 * block.half
        return low, 0, low, high, min(16 * block.top, 16), high
    return WHOLE_BOX


BOX = np.array([box(block) for block in TABLE]) / 16
"""float64 ``(blocks, 6)``: x0, y0, z0, x1, y1, z1 within the cell."""
WHOLE = np.array([box(block) == WHOLE_BOX for block in TABLE])
"""Whether the box fills the cell."""
AIMABLE = np.array([block.shape != "none" and block.collidable and not block.liquid for block in TABLE])
"""Whether the block stops a ray. Fluids stop it only on request."""

for _array in (BOX, WHOLE, AIMABLE):
    _array.flags.writeable = False
