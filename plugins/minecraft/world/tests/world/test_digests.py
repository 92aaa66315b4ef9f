"""The same seed gives the same world on every machine: digests of generated worlds, before and after random play.

A change of the world's rules changes the digests and needs a line in the changelog. Recompiled kernels, another
processor or another version of Numba must not change them. ``python test_digests.py`` prints the current digests.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from voxeldojo.world.chunks import generate
from voxeldojo.world.state import ACTION, World
from voxeldojo.world.tick import tick

TICKS = 3_000
KILLS = 16
"""Length of ``World.kills`` at the time of the recorded digests. No later kind spawns by itself."""
KNOWN: dict[tuple[int, str | None], tuple[str, str]] = {
    (0, "plains"): ("1a0d83815c48a074", "ec6dd12da7ea0fff"),
    (1, "forest"): ("424c4096b3e69702", "0634e22f99b2607f"),
    (2, "extreme_hills"): ("1a68ec51e9850b31", "40ed45fddc1640f9"),
    (3, "desert"): ("9dbb879e562b8b61", "f55d2042756785ea"),
    (4, "river"): ("aac838bdd789bd57", "6a483e8892dbe719"),
    (5, None): ("799310133805a1d6", "480cb1602877e8b0"),
}
"""Seed and biome -> digests of the new world and of the world after ``TICKS`` ticks."""


def digest(world: World) -> str:
    found = hashlib.sha256()
    assert not world.kills[KILLS:].any()
    for array in world._replace(kills=world.kills[:KILLS]):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def digests(seed: int, biome: str | None) -> tuple[str, str]:
    """Return the digests of a new world and of the world after random actions, by day or by night."""
    world = generate(seed, biome)
    new = digest(world)
    world.clock["time"] = 18_000 * (seed % 2)
    draw = np.random.Generator(np.random.PCG64(seed))
    actions = np.zeros(TICKS, ACTION)
    actions["yaw"], actions["pitch"] = draw.integers(-8, 9, TICKS), draw.integers(-3, 4, TICKS)
    actions["forward"], actions["strafe"] = draw.integers(0, 2, TICKS), draw.integers(-1, 2, TICKS)
    for name, often in (("jump", 5), ("attack", 2), ("sprint", 3), ("use", 20)):
        actions[name] = draw.integers(0, often, TICKS) == 0
    for at in range(TICKS):
        tick(world, actions[at : at + 1])
    return new, digest(world)


@pytest.mark.parametrize(("seed", "biome"), KNOWN)
def test_a_seed_gives_the_recorded_digests_before_and_after_random_play(seed: int, biome: str | None) -> None:
    assert digests(seed, biome) == KNOWN[seed, biome]


if __name__ == "__main__":
    for number, name in enumerate(("plains", "forest", "extreme_hills", "desert", "river", None)):
        print(f"    {(number, name)}: {digests(number, name)},".replace("'", '"'))
