"""Computes the colours of grass and leaves in each biome.

The colours of a biome interpolate, by temperature and rainfall, between the colours at three corners of a triangle.
Swamps and mesas have fixed colours of grass and leaves, and roofed forests have a darker grass. The colours are those
of minecraft.wiki, page Color.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voxeldojo.world.biomes import ID, NAMES, RAINFALL, TEMPERATURE

GRASS = np.array([(81, 203, 53), (192, 183, 86), (137, 179, 153)])
"""Hot and wet, hot and dry, cold. Least-squares fit over the 13 biomes of that page; the maximal error is 12 of 255."""
FOLIAGE = np.array([(38, 189, 3), (177, 164, 43), (108, 159, 127)])
OWN = {
    "swamp": ((106, 112, 57), (106, 112, 57)),
    "mesa": ((144, 129, 77), (158, 129, 77)),
}
ROOFED = (40, 52, 10)

Colours = NDArray[np.float64]


def colours(biome: int) -> tuple[Colours, Colours]:
    """Return the colour of grass and the colour of leaves in a biome, each number 0 to 255."""
    name = NAMES.get(biome, "plains")
    for start, own in OWN.items():
        if name.startswith(start):
            return np.array(own[0], np.float64), np.array(own[1], np.float64)
    known = biome if biome in NAMES else ID["plains"]
    warm = min(max(float(TEMPERATURE[known]), 0.0), 1.0)
    wet = min(max(float(RAINFALL[known]), 0.0), 1.0) * warm
    shares = np.array([wet, warm - wet, 1.0 - warm])
    grass, foliage = shares @ GRASS, shares @ FOLIAGE
    return ((grass + ROOFED) / 2 if name.startswith("roofed") else grass), foliage


def classes() -> tuple[NDArray[np.int64], list[tuple[Colours, Colours]]]:
    """Return the climate class of each biome id ``(256,)``, and the colours of grass and leaves of each climate
    class.
    """
    found: dict[tuple[float, ...], int] = {}
    of_biome = np.zeros(256, np.int64)
    shades: list[tuple[Colours, Colours]] = []
    for biome in (ID["plains"], *range(256)):
        grass, foliage = colours(biome)
        key = (*np.round(grass), *np.round(foliage))
        if key not in found:
            found[key] = len(shades)
            shades.append((grass, foliage))
        of_biome[biome] = found[key]
    return of_biome, shades
