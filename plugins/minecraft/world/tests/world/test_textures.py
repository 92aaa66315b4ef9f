"""Every block and item has a texture. Textures differ from each other and are the same on every machine."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from voxeldojo.world import climate, horizon, icons, paint, textures, tiles
from voxeldojo.world.appearance import LOOKS
from voxeldojo.world.biomes import ID as BIOME
from voxeldojo.world.blocks import BLOCKS, ID, PLACES, TABLE
from voxeldojo.world.items import ID as ITEM
from voxeldojo.world.items import NAMES
from voxeldojo.world.raymarch import X_BITS, Y_BITS
from voxeldojo.world.skins import BOXES, MODELS, SPANS
from voxeldojo.world.state import HEIGHT, SIZE
from voxeldojo.world.textures import TEXELS, Art, art, sizes


@pytest.fixture(scope="module")
def painted() -> Art:
    return art()


def tile(painted: Art, index: int) -> NDArray[np.uint8]:
    """Return the pixels of a tile in its largest size, uint8 of shape ``(16, 16, 4)``."""
    return painted.texels[index, :256].view(np.uint8).reshape(16, 16, 4)


def side(painted: Art, key: str, face: int = 3, biome: str = "plains") -> NDArray[np.uint8]:
    return tile(painted, int(painted.faces[painted.climate[BIOME[biome]], ID[key], face]))


def test_every_block_has_tiles_in_every_climate(painted: Art) -> None:
    assert painted.faces.shape[1:] == (BLOCKS, 6)
    assert painted.faces.min() >= 0
    assert painted.faces.max() < len(painted.texels)
    assert painted.climate.max() < len(painted.faces)
    seen = [block.key for block in TABLE if LOOKS[ID[block.key]]]
    assert len(seen) == BLOCKS - 1, "all blocks except air must be visible"
    assert all((side(painted, key)[..., 3] > 100).any() for key in seen)


def test_an_error_names_a_block_without_a_rule_for_textures() -> None:
    with pytest.raises(KeyError, match="portal"):
        textures.faces(TABLE[1]._replace(key="portal"), {})


def test_important_blocks_have_different_textures(painted: Art) -> None:
    keys = [f"{ore}_ore" for ore in tiles.ORES] + ["stone", "dirt", "sand", "gravel", "clay", "cobblestone", "log"]
    keys += ["birch_log", "planks", "crafting_table", "furnace", "lit_furnace", "leaves", "wool", "red_wool", "chest"]
    faces = {key: side(painted, key, 2).astype(int) for key in keys}
    for i, key in enumerate(keys):
        for other in keys[:i]:
            assert np.abs(faces[key] - faces[other]).mean() > 2, (key, other)


def test_the_climate_changes_the_colour_of_grass_but_not_of_stone(painted: Art) -> None:
    for key, face in (("grass", 1), ("grass", 3), ("leaves", 3), ("tallgrass", 3)):
        assert not np.array_equal(side(painted, key, face), side(painted, key, face, "desert")), key
    for key in ("stone", "birch_leaves", "dirt"):
        assert np.array_equal(side(painted, key), side(painted, key, 3, "desert"))


# minecraft.wiki, page Color
@pytest.mark.parametrize(
    ("biome", "grass", "foliage"),
    [
        ("plains", "91bd59", "77ab2f"),
        ("forest", "79c05a", "59ae30"),
        ("desert", "bfb755", "aea42a"),
        ("extreme_hills", "8ab689", "6da36b"),
        ("birch_forest", "88bb67", "6ba941"),
        ("swampland", "6a7039", "6a7039"),
        ("jungle", "59c93c", "30bb0b"),
    ],
)
def test_grass_and_foliage_have_the_colours_of_the_game_in_each_biome(biome: str, grass: str, foliage: str) -> None:
    for colour, known in zip(climate.colours(BIOME[biome]), (grass, foliage), strict=True):
        assert np.abs(colour - paint.rgb(known)).max() <= 12


def test_smaller_sizes_of_a_texture_are_means_of_the_largest_size(painted: Art) -> None:
    noise = np.concatenate([np.random.default_rng(0).uniform(0, 255, (16, 16, 3)), np.full((16, 16, 1), 255.0)], axis=2)
    packed = sizes(noise).view(np.uint8).reshape(-1, 4).astype(float)
    assert len(packed) == TEXELS
    first = 0
    for size in textures.SIZES:
        means = noise.reshape(size, 16 // size, size, 16 // size, 4).mean(axis=(1, 3)).reshape(-1, 4)
        assert np.abs(packed[first : first + size * size] - means).max() <= 0.5
        first += size * size
    assert painted.texels.shape[1] == TEXELS


def test_transparent_pixels_do_not_change_the_colour_of_smaller_sizes() -> None:
    holed = paint.fill("ff0000")
    holed[::2] = 0
    small = sizes(holed).view(np.uint8).reshape(-1, 4)[256:]
    assert (small[:, 0] == 255).all()
    assert (small[:, 3] >= 127).all()


def test_every_item_has_an_icon_or_is_drawn_as_a_block(painted: Art) -> None:
    assert painted.icons.shape == PLACES.shape
    as_block = painted.icons < 0
    assert (PLACES[as_block] > 0).all()
    assert as_block[ITEM["log"], 0]
    for name in ("torch", "sapling", "stick", "iron_pickaxe", "beef", "tallgrass"):
        assert not as_block[ITEM[name], 0], name
    assert all((tile(painted, int(i))[..., 3] > 0).any() for i in np.unique(painted.icons[~as_block]))
    assert set(icons.KNOWN) <= set(NAMES)
    assert {shape for shape, _ in icons.KNOWN.values()} <= set(icons.SHAPE_ROWS)


def test_tools_of_different_materials_have_different_icons(painted: Art) -> None:
    for what in ("pickaxe", "axe", "sword"):
        pictures = [tile(painted, int(painted.icons[ITEM[f"{m}_{what}"], 0])) for m in ("wooden", "stone", "iron")]
        assert not any(np.array_equal(a, b) for i, a in enumerate(pictures) for b in pictures[:i])


def test_mob_models_stand_on_the_ground_and_have_positive_sizes() -> None:
    for name, parts in MODELS.items():
        lows, highs = np.array([part.low for part in parts]), np.array([part.high for part in parts])
        assert lows[:, 1].min() == 0, name
        assert (lows < highs).all()
    assert len(BOXES) == SPANS[-1, 1]


def test_textures_are_the_same_in_another_process(painted: Art) -> None:
    code = "import hashlib; from voxeldojo.world import textures as t; "
    code += "print(hashlib.sha256(t.art().texels).hexdigest())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == hashlib.sha256(painted.texels.tobytes()).hexdigest()


def test_bit_shifts_of_block_indices_match_the_world_size() -> None:
    assert (1 << Y_BITS, 1 << X_BITS) == (SIZE, SIZE * HEIGHT)
    assert horizon.SECTORS % 4 == 0
