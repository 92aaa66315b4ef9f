"""Converts the drawings of a mission to server commands, which run before the mission begins.

The drawing elements are those of ``DrawingDecorator`` in Malmo's ``MissionHandlers.xsd``. Coordinates in the world are
0 to 511 along x and z.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final
from xml.etree.ElementTree import Element

from voxeldojo.malmo.errors import MissionError
from voxeldojo.world.state import SIZE

MAX_BLOCKS: Final = 65_536
"""Maximal number of blocks that a mission draws."""
MAX_RADIUS_BLOCKS: Final = 24
"""Maximal radius of a sphere: about 58,000 blocks of volume."""

Place = tuple[int, int, int]


def commands(decorator: Element) -> tuple[list[str], set[str]]:
    """Return the server commands that draw everything, and the names of unknown drawing elements.

    :raises MissionError: coordinates are missing or out of range, or the drawings have too many blocks.
    """
    chat_commands: list[str] = []
    unknown: set[str] = set()
    for shape in decorator:
        if shape.tag == "DrawEntity":
            chat_commands.append(
                "/summon {} {} {} {}".format(_word(shape, "type"), *(_word(shape, axis) for axis in "xyz"))
            )
        elif shape.tag in SHAPES:
            block = _word(shape, "type")
            for x, y, z in SHAPES[shape.tag](shape):
                chat_commands.append(f"/setblock {x} {y} {z} {block}")
                if len(chat_commands) > MAX_BLOCKS:
                    raise MissionError(f"a mission draws at most {MAX_BLOCKS} blocks")
        else:
            unknown.add(shape.tag)
    return chat_commands, unknown


def _word(shape: Element, name: str) -> str:
    value = shape.get(name, "")
    if len(value.split()) != 1:
        raise MissionError(f"<{shape.tag} {name}={value[:40]!r}> is not the name of a block, item or mob of this world")
    return value


def _numbers(shape: Element, names: str) -> list[int]:
    numbers = []
    for name in names.split():
        try:
            numbers.append(int(shape.get(name, "")))
        except ValueError as error:
            raise MissionError(f"<{shape.tag} {name}={shape.get(name, '')[:40]!r}> is not a whole number") from error
    if max(map(abs, numbers)) > SIZE:
        raise MissionError(f"<{shape.tag}> is drawn outside the world, which ends at {SIZE}")
    return numbers


def _block(shape: Element) -> Iterator[Place]:
    x, y, z = _numbers(shape, "x y z")
    yield x, y, z


def _cuboid(shape: Element) -> Iterator[Place]:
    first, last = _numbers(shape, "x1 y1 z1"), _numbers(shape, "x2 y2 z2")
    spans = [range(min(a, b), max(a, b) + 1) for a, b in zip(first, last, strict=True)]
    yield from product(*spans)


def _sphere(shape: Element) -> Iterator[Place]:
    x, y, z, radius = _numbers(shape, "x y z radius")
    if not 0 <= radius <= MAX_RADIUS_BLOCKS:
        raise MissionError(f"a sphere of radius {radius}; from 0 to {MAX_RADIUS_BLOCKS} can be drawn")
    for dx, dy, dz in product(range(-radius, radius + 1), repeat=3):
        if dx * dx + dy * dy + dz * dz <= radius * radius:
            yield x + dx, y + dy, z + dz


def _line(shape: Element) -> Iterator[Place]:
    first, last = _numbers(shape, "x1 y1 z1"), _numbers(shape, "x2 y2 z2")
    steps = max(abs(b - a) for a, b in zip(first, last, strict=True))
    for step in range(steps + 1):
        x, y, z = (a + round((b - a) * step / max(steps, 1)) for a, b in zip(first, last, strict=True))
        yield x, y, z


SHAPES: Final = {"DrawBlock": _block, "DrawCuboid": _cuboid, "DrawSphere": _sphere, "DrawLine": _line}
"""Element -> function that lists the places of its blocks."""
