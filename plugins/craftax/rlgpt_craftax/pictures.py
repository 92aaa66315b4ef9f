"""Draws an observation as a picture, with the textures that ``craftax`` ships.

The benchmark's own renderer is not used, because it needs a minute to prepare its textures and writes into the
installed package. The pictures show the visible cells, with the body and the inventory of the player below the cells.
"""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

import numpy as np

from rlgpt_craftax.names import BLOCKS, BODY, DIRECTIONS, HEIGHT, INVENTORY, ITEMS, MOBS, POTIONS, SHOTS, WIDTH
from rlgpt_craftax.observation import MIDDLE, Observation

CELL = 32
"""Side of a cell, in pixels."""
_ROWS_BELOW = 3
_TEXT = 14
Image = np.ndarray[Any, np.dtype[np.uint8]]

_FILES = {
    "out_of_bounds": "debug-2",
    "plant": "plant_on_grass",
    "ripe_plant": "ripe_plant_on_grass",
    "wall": "wall2",
    "torch": "torch_in_inventory",
    "arrow": "arrow-up",
    "heavy_arrow": "arrow-up",
    "large_fireball": "fireball",
    "large_iceball": "iceball",
}
"""Names whose texture has another name."""


def picture(observation: Observation) -> Image:
    """An RGB picture, uint8 ``(384, 352, 3)``."""
    from PIL import Image as Pillow

    canvas = Pillow.new("RGB", (WIDTH * CELL, (HEIGHT + _ROWS_BELOW) * CELL))
    for row in range(HEIGHT):
        for column in range(WIDTH):
            for name in _layers(observation, row, column):
                texture = _texture(name)
                canvas.paste(texture, (column * CELL, row * CELL), texture)
    light = 0.4 + 0.6 * float(observation["light"][0])
    map_size = (0, 0, WIDTH * CELL, HEIGHT * CELL)
    canvas.paste(canvas.crop(map_size).point(lambda value: int(value * light)), map_size)
    _draw_numbers(canvas, observation)
    return np.asarray(canvas)


def _layers(observation: Observation, row: int, column: int) -> list[str]:
    """Return the names of a cell's textures in the order in which they are drawn, which is block, item, mob."""
    block = BLOCKS[observation["block"][row, column]]
    if block in ("dark", "darkness"):
        names = []
    else:
        names = [block]
        for grid, known in (("item", ITEMS), ("mob", MOBS), ("shot", SHOTS), ("own_shot", SHOTS)):
            name = known[observation[grid][row, column]]
            if name != "none" and not name.startswith("passive_"):
                names.append(name)
    if (row, column) == MIDDLE:
        asleep = observation["flags"][0] > 0
        names.append("player-sleep" if asleep else f"player-{DIRECTIONS[observation['facing']]}")
    return names


@functools.cache
def _texture(name: str) -> Any:
    from PIL import Image as Pillow

    file = resources.files("craftax.craftax") / "assets" / f"{_FILES.get(name, name)}.png"
    with file.open("rb") as stream:
        return Pillow.open(stream).convert("RGBA").resize((CELL, CELL), Pillow.Resampling.NEAREST)


def _draw_numbers(canvas: Any, observation: Observation) -> None:
    """Draw the values of the body (health, food, ...) and the inventory below the map."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(canvas)
    body = [f"{name} {value:g}" for name, value in zip(BODY, observation["body"].tolist(), strict=True)]
    carried = [
        f"{name} {value:g}"
        for names, key in ((INVENTORY, "inventory"), (POTIONS, "potions"))
        for name, value in zip(names, observation[key].tolist(), strict=True)
        if value
    ]
    lines = [f"floor {observation['floor']}   " + "  ".join(body[:5]), "  ".join(body[5:])]
    lines += ["  ".join(carried[i : i + 5]) for i in range(0, len(carried), 5)]
    for i, line in enumerate(lines[: _ROWS_BELOW * CELL // _TEXT]):
        draw.text((4, HEIGHT * CELL + 2 + i * _TEXT), line, fill=(255, 255, 255))
