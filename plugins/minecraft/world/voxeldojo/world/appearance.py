"""The appearance of each kind of block. The renderer draws a block as an opaque cube, a cube with holes, a fluid, a
plant or a smaller box.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from voxeldojo.world.blocks import TABLE, Block
from voxeldojo.world.shapes import Box, box

CUBE, HOLED, CLEAR, FLUID, CROSS, BOXED = 1, 2, 3, 4, 5, 6
"""Opaque; transparent where its tile is transparent; transparent everywhere; fluid; plant; box. 0 is invisible."""
_HOLED: Final = ("leaves", "glass")
_CLEAR: Final = ("stained_glass", "ice")
_TORCHES: Final[dict[str, Box]] = {
    "torch_east": (1, 3, 7, 3, 13, 9),
    "torch_west": (13, 3, 7, 15, 13, 9),
    "torch_south": (7, 3, 1, 9, 13, 3),
    "torch_north": (7, 3, 13, 9, 13, 15),
}


def _look(block: Block) -> int:
    if block.shape in ("cube", "stairs"):
        if block.key in _CLEAR:
            return CLEAR
        return HOLED if block.key.endswith(_HOLED) else CUBE
    return {"none": 0, "fluid": FLUID, "cross": CROSS}.get(block.shape, BOXED)


def _box(block: Block) -> Box:
    if block.shape == "torch":
        return _TORCHES.get(block.key, (7, 0, 7, 9, 10, 9))
    return box(block)


LOOKS = np.array([_look(block) for block in TABLE], np.uint8)
BOXES = np.array([_box(block) for block in TABLE]) / 16.0
