"""The tables of blocks, items, biomes and constants are consistent, match the game and name their sources."""

from __future__ import annotations

import ast
import re
import shutil
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import voxeldojo
from voxeldojo.names import ITEMS, PLACEABLE, WORN, rows
from voxeldojo.world import biomes, blocks, constants, items, jit, land

NOT_PLACED = {
    *("banner", "barrier", "beacon", "chorus_flower", "chorus_plant", "dragon_egg", "end_portal_frame", "end_rod"),
    *("end_bricks", "end_stone", "magma", "mob_spawner", "monster_egg", "nether_wart_block", "prismarine"),
    *("purpur_block", "purpur_pillar", "purpur_slab", "purpur_stairs", "quartz_block", "quartz_stairs"),
    *("red_nether_brick", "sea_lantern", "slime", "sponge", "structure_block", "structure_void"),
    *("command_block", "chain_command_block", "repeating_command_block"),
}
"""MineDojo's placeable items without a block in this world: from Nether, End, oceans and creative mode."""
SOURCE = re.compile(r"(minecraft\.wiki|mcpk\.wiki|MineDojo 0\.1) \w.*|[A-Z]\w+\.[\w<>]+ 1\.11\.2(: .+)?|ours: .+")
"""Format of a source: a web page, MineDojo's data, a place in the game's code, or our own choice with a reason."""
SOURCED = ("constants.csv", "land.csv", "veins.csv", "trunks.csv")
"""Tables in which each row has a source."""
RULES = (
    *("blasts", "blows", "effects", "mob_bombs", "mob_flight", "mob_ranged", "mob_teleports", "projectiles"),
    *("caves", "combat", "contact", "dig", "drops", "falling", "farming", "fluids", "health", "interact"),
    "item_motion",
    *(
        "mob_damage",
        "mob_habits",
        "mob_motion",
        "mob_senses",
        "mobs",
        "nearby",
        "ores",
        "player_motion",
        "spawn",
        "trees",
    ),
)
"""Modules that contain rules of the game."""
PLAIN = {
    *range(10),  # faces, bits, directions, colours of wool
    *(
        12,
        15,
        16,
        32,
        36,
        39,
        100,
        256,
        1000,
    ),  # colours, bits, armour slots, percentages, number of biomes, upper bound
    255.0,  # fractions stored in a byte
    *(0.5, 20.0, 45.0, 90.0, 180.0, 360.0),  # centre of a block, ticks per second, angles in degrees
    *(0.1, 0.01, 1e-6, 1e-9),  # tolerances of distances and of rounding
}
"""Literal numbers that a rule may contain."""
DRAWS = ("salted", "at")
"""Functions whose second argument selects a random stream."""


def test_air_has_id_zero_and_every_block_id_fits_into_a_byte() -> None:
    assert blocks.ID["air"] == blocks.AIR == 0
    assert items.NAMES[0] == "air"
    assert len(blocks.TABLE) == len(blocks.ID) <= 256
    assert sorted(items.NAMES) == sorted(ITEMS)


@pytest.mark.parametrize("table", [blocks, items, biomes])
def test_table_arrays_have_one_length_and_are_read_only(table: object) -> None:
    rows = len(items.NAMES) if table is items else len(blocks.TABLE) if table is blocks else 256
    arrays = {name: value for name, value in vars(table).items() if isinstance(value, np.ndarray) and name.isupper()}
    assert len(arrays) >= 9
    for name, array in arrays.items():
        assert not array.flags.writeable, name
        if name not in ("PLACES", "COLD", "MILD", "HOT"):
            assert len(array) == rows, name


def test_a_placed_block_belongs_to_the_item_that_places_the_block() -> None:
    for item in range(1, len(items.NAMES)):
        for variant in range(blocks.VARIANTS):
            block = int(blocks.PLACES[item, variant])
            if block >= 0:
                assert blocks.ITEM_OF[block] == item
                assert blocks.VARIANT[block] in (variant, 0)


def test_placeable_items_of_minedojo_have_a_block() -> None:
    without = {item for item in PLACEABLE if blocks.PLACES[items.ID[item], 0] < 0}
    assert without - NOT_PLACED == {item for item in PLACEABLE if "shulker_box" in item}
    assert without >= NOT_PLACED - {"end_stone"}


def test_the_properties_of_every_block_are_consistent() -> None:
    for block in blocks.TABLE:
        assert block.name == block.name.lower(), block
        assert 0 <= block.opacity <= 15, block
        assert 0 <= block.light <= 15, block
        assert block.full <= (block.opacity == 15 and block.top == 1.0 and block.half == 0.5), block
        assert (block.top > 0) == (block.half > 0), block
        assert block.liquid == (block.shape == "fluid"), block
        assert block.tool_free or block.tool != "none" or block.hardness < 0, block
        for drop in (*((block.drop,) if block.drop else ()), *block.rare):
            assert drop.item in items.ID, block
            assert 0 <= drop.least <= drop.most, block
            assert 0 < drop.chance <= 1, block
        assert block.xp[0] <= block.xp[1], block


def test_better_materials_make_better_tools() -> None:
    for tool in ("pickaxe", "axe", "shovel"):
        for array in (items.TOOL_LEVEL, items.TOOL_SPEED, items.DURABILITY):
            values = [array[items.ID[f"{material}_{tool}"]] for material in ("wooden", "stone", "iron", "diamond")]
            assert values == sorted(set(values))
        assert items.TOOL_LEVEL[items.ID[f"golden_{tool}"]] == 0


def test_items_with_durability_do_not_stack() -> None:
    for name in items.NAMES:
        if items.DURABILITY[items.ID[name]] > 0:
            assert items.STACK[items.ID[name]] == 1
        if items.ARMOR[items.ID[name]] > 0:
            assert name in WORN
        assert items.STACK[items.ID[name]] in (1, 16, 64)


def test_constants_have_the_values_of_the_game() -> None:
    assert (constants.GRAVITY, constants.JUMP_SPEED, constants.SEA_LEVEL) == (0.08, 0.42, 63)
    assert items.FUEL[items.ID["coal"]] == 8 * constants.SMELT_TICKS
    assert items.FOOD[items.ID["cooked_beef"]] == 8


@pytest.mark.parametrize(("module", "table"), [(constants, "constants.csv"), (land, "land.csv")])
def test_every_row_is_a_constant_that_some_module_imports(module: ModuleType, table: str) -> None:
    """Each row of the table defines one constant, and the package imports each constant."""
    folder = Path(voxeldojo.__file__).parent
    names = [row["name"].upper() for row in rows(table)]
    assert len(set(names)) == len(names)
    assert set(names) == {name for name in vars(module) if name.isupper() and not name.startswith("_")}
    used: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == module.__name__:
                used.update(alias.name for alias in node.names)
    assert used == set(names)


@pytest.mark.parametrize("table", SOURCED)
def test_every_constant_names_its_source(table: str) -> None:
    sources = [row["source"] for row in rows(table)]
    assert [source for source in sources if not SOURCE.fullmatch(source)] == []
    ours = [source.startswith("ours: ") for source in sources]
    assert ours == sorted(ours) or table in ("veins.csv", "trunks.csv"), "our own choices must come last"


def test_the_readme_states_the_numbers_of_sources() -> None:
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text("utf-8").split())
    sources = [row["source"] for table in SOURCED for row in rows(table)]
    kinds = Counter(re.sub("mcpk.wiki|MineDojo", "another", source.split()[0]) for source in sources)
    wiki, another, ours = kinds["minecraft.wiki"], kinds["another"], kinds["ours:"]
    game = len(sources) - wiki - another - ours
    assert f"Of the {len(sources)} rows of" in readme
    assert f"{wiki} rows come from the game's wiki, {game} rows from classes of the game's 1.11.2 code" in readme
    assert f"and {another} rows from another source" in readme
    assert f"{ours} rows were chosen for this world" in readme


def test_modules_of_rules_contain_no_literal_constants() -> None:
    for module in RULES:
        text = (Path(voxeldojo.__file__).parent / "world" / f"{module}.py").read_text("utf-8")
        tree = ast.parse(text)
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in DRAWS)
        streams = {node for call in calls for node in ast.walk(call.args[1])}
        numbers = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in streams)
        assert {number for number in numbers if type(number) in (int, float)} <= PLAIN, module


def test_digest_changes_with_a_value_in_a_table(tmp_path: Path) -> None:
    package = Path(voxeldojo.__file__).parent
    copy = tmp_path / "package"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = jit.digest(copy)
    table = copy / "data" / "blocks.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("stone,stone,0,1.5,", "stone,stone,0,1.6,"), "utf-8")
    assert jit.digest(copy) != before
