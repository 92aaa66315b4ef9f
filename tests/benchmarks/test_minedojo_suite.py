"""benchmarks/minedojo_suite.py: the rules that decide what the world lacks for a task, and the tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Lacks = Callable[..., list[str]]
LAND = frozenset(
    (
        *("grass", "dirt", "stone", "log", "leaves", "coal_ore", "iron_ore", "gold_ore", "diamond_ore", "redstone_ore"),
        *("water", "lava", "sand", "poppy", "tallgrass", "gravel"),
    )
)
SWORD = {"mainhand": {"name": "iron_sword"}, "offhand": {"name": "shield"}}


@pytest.fixture
def needs(benchmark_module: Any) -> Any:
    return benchmark_module("minedojo_needs")


@pytest.fixture
def rules(benchmark_module: Any) -> Any:
    return benchmark_module("minedojo_rules")


@pytest.fixture
def suite(benchmark_module: Any) -> Any:
    return benchmark_module("minedojo_suite")


@pytest.fixture
def lacks(needs: Any) -> Lacks:
    """``lacks(kind, land=..., **specification)``: what the world lacks for a task, where the land of plains has the
    blocks ``land``, and the land of many biomes has the blocks ``LAND``.
    """

    def decide(kind: str, *, land: frozenset[str] = LAND, **specification: Any) -> list[str]:
        def landscape(biome: str | None) -> Any:
            return needs.Landscape(land if biome else LAND, frozenset(("plains",)))

        return [str(lack) for lack in needs.Judge(landscape).lacks({"__cls__": kind, **specification})]

    return decide


@pytest.mark.parametrize(
    ("mob", "biome", "expected"),
    [
        ("cow", "plains", []),
        ("zombie", "extreme_hills", []),
        ("spider", "forest", []),
        ("creeper", "plains", []),
        ("slime", "plains", ["mob: slime"]),
        ("blaze", "nether", ["dimension: nether", "mob: blaze"]),
    ],
)
def test_combat_needs_the_mob_and_the_dimension(lacks: Lacks, mob: str, biome: str, expected: list[str]) -> None:
    task = {"target_names": mob, "initial_mobs": mob, "specified_biome": biome, "allow_mob_spawn": False}
    assert lacks("combat", **task, initial_inventory=SWORD) == expected


def test_combat_needs_a_mob_that_spawns_or_is_there_at_the_start(lacks: Lacks) -> None:
    task = {"target_names": "cow", "specified_biome": "plains"}
    assert lacks("combat", **task) == []
    assert lacks("combat", **task, allow_mob_spawn=False) == ["mob: cow"]
    assert lacks("combat", **task, land=LAND - {"grass"}) == ["mob: cow"]


@pytest.mark.parametrize("item", ["log", "crafting_table", "cobblestone", "iron_ingot", "diamond", "shears", "leaves"])
def test_harvest_from_nothing_goes_through_tools_and_workplaces(lacks: Lacks, item: str) -> None:
    assert lacks("harvest", target_names=item) == []


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("bow", ["mob: spider"]),
        ("cooked_fish", ["mechanic: fishing", "mob: spider"]),
        ("cookie", ["block: cocoa"]),
        ("beetroot", ["structure: village"]),
        ("nether_star", ["dimension: nether"]),
        ("spawn_egg", ["not in survival: spawn_egg"]),
    ],
)
def test_harvest_lacks_the_source_of_a_missing_ingredient(lacks: Lacks, item: str, expected: list[str]) -> None:
    assert lacks("harvest", target_names=item) == expected


@pytest.mark.parametrize("item", ["wheat", "bread", "cake", "potato", "poisonous_potato"])
def test_harvest_of_a_crop_needs_seeds_soil_and_a_hoe(lacks: Lacks, item: str) -> None:
    with_sugar = {"land": LAND | {"reeds"}, "specified_biome": "plains"}
    assert lacks("harvest", target_names=item, **with_sugar) == []


def test_wheat_needs_tall_grass_and_soil_of_the_biome(lacks: Lacks) -> None:
    plains = {"target_names": "wheat", "specified_biome": "plains", "allow_mob_spawn": False}
    hoe = {"mainhand": {"name": "iron_hoe"}}
    both = frozenset(("dirt", "tallgrass"))
    assert lacks("harvest", **plains, land=both, initial_inventory=hoe) == []
    assert lacks("harvest", **plains, land=both) == ["biome: log in plains"]
    assert lacks("harvest", **plains, land=both - {"tallgrass"}, initial_inventory=hoe) == [
        "biome: tallgrass in plains"
    ]
    assert len(lacks("harvest", **plains, land=both - {"dirt"}, initial_inventory=hoe)) == 1


def test_block_that_only_other_biomes_have_is_a_lack_of_the_biome(lacks: Lacks) -> None:
    bare = LAND - {"log", "leaves"}
    plains = {"land": bare, "specified_biome": "plains"}
    assert lacks("harvest", target_names="log", **plains) == ["biome: log in plains"]
    assert lacks("harvest", target_names="stick", **plains) == ["biome: log in plains"]
    assert lacks("harvest", target_names="dirt", **plains) == []


def test_block_needs_a_tool_of_its_tier(lacks: Lacks) -> None:
    plains = {"land": frozenset(("grass", "lava", "water")), "specified_biome": "plains", "target_names": "obsidian"}
    both = {"mainhand": {"name": "diamond_pickaxe"}, "1": {"name": "water_bucket"}}
    assert lacks("harvest", **plains, initial_inventory=both) == []
    weak = {**both, "mainhand": {"name": "iron_pickaxe"}}
    assert lacks("harvest", **plains, initial_inventory=weak) != []


def test_initial_item_is_a_tool_or_a_workplace_but_never_an_ingredient(lacks: Lacks) -> None:
    plains = {"land": frozenset(("grass", "stone", "iron_ore")), "specified_biome": "plains"}
    cow = {**plains, "target_names": "milk_bucket"}
    assert lacks("harvest", **cow, initial_inventory={"mainhand": {"name": "bucket"}}) == []
    smelt = {"mainhand": {"name": "furnace"}, "1": {"name": "coal"}, "2": {"name": "stone_pickaxe"}}
    assert lacks("harvest", **plains, target_names="iron_ingot", initial_inventory=smelt) == []
    planks = {"mainhand": {"name": "planks"}}
    assert lacks("harvest", **plains, target_names="stick", initial_inventory=planks) == ["biome: log in plains"]


def test_techtree_needs_an_item_whose_use_the_statistics_count(lacks: Lacks) -> None:
    assert lacks("techtree", tech_item="iron_sword") == []
    assert lacks("techtree", tech_item="piston") == []
    assert lacks("techtree", tech_item="bow") == ["mob: spider", "use: a count of the use of bow"]
    assert lacks("techtree", tech_item="tnt") == ["mob: creeper"]


@pytest.mark.parametrize(("item", "what"), [("iron_boots", "armour"), ("clock", "clock"), ("compass", "compass")])
def test_techtree_of_an_item_without_a_use_has_no_success_in_the_game_either(
    lacks: Lacks, item: str, what: str
) -> None:
    assert lacks("techtree", tech_item=item) == [f"not in the game: a count of the use of {what}"]


def test_survival_needs_food(lacks: Lacks) -> None:
    assert lacks("survival", target_days=100) == []


def test_unknown_kind_of_task_is_an_error(lacks: Lacks) -> None:
    with pytest.raises(ValueError, match="'quest' is no kind of task; valid: harvest, combat"):
        lacks("quest")


def test_item_without_any_source_is_an_error(lacks: Lacks) -> None:
    with pytest.raises(ValueError, match="no rule gives barrier"):
        lacks("harvest", target_names="barrier")


def test_resolve_keeps_the_smallest_set_of_lacks(rules: Any) -> None:
    a, b, c, d = (rules.Node("item", name) for name in "abcd")
    far, near = rules.Lack("mob", "far"), rules.Lack("mob", "near")
    given = (
        rules.Rule(d, ((a, b), (c,))),
        rules.Rule(a, (), far),
        rules.Rule(b, ((c,),)),
        rules.Rule(c, (), near),
    )
    assert rules.resolve(given, ())[d] == {near}
    assert rules.resolve(given, (c,))[d] == set()
    assert d not in rules.resolve(given[:3], ())


def test_sources_name_items_of_the_game(rules: Any) -> None:
    from voxeldojo.names import ITEMS

    found = [rule for rule in rules.rules() if rule.lack is not None]
    assert len(found) > 30
    named = {node.name for rule in found for node in (rule.product, *(n for need in rule.needs for n in need))}
    assert named <= set(ITEMS)


@pytest.mark.slow
def test_survey_finds_the_blocks_and_the_biome_of_a_landscape(needs: Any) -> None:
    land = needs.survey("desert", (0,))
    assert land.biomes == {"desert"}
    assert {"sand", "cactus", "diamond_ore", "lava"} <= land.blocks
    assert not {"log", "grass"} & land.blocks


def results() -> dict[str, Any]:
    lacks = {"a": [], "b": ["mob: bat"], "c": ["mob: bat", "use: armour"], "d": []}
    played = {"steps": 10, "reward": 0.0, "success": False, "error": "", "remarks": []}
    found = {
        task: {"task": task, "category": "combat" if task < "c" else "techtree", "possible": not lack, "lacks": lack}
        for task, lack in lacks.items()
    }
    found["a"]["played"] = played
    found["b"]["played"] = {**played, "remarks": ["there is no bat"]}
    return found


def test_tables_count_tasks_and_what_is_lacking(suite: Any) -> None:
    lines = list(suite.tables(results()))
    assert lines[0] == "| category | tasks | the world has everything | mob | use |"
    assert lines[2:5] == ["| combat | 2 | 1 | 1 | 0 |", "| techtree | 2 | 1 | 1 | 1 |", "| *all* | 4 | 2 | 2 | 1 |"]
    assert "| mob: bat | 2 | 1 |" in lines
    assert "| use: armour | 1 | 0 |" in lines
    assert "| has everything | 1 | 1 | 1 |" in lines
    assert "| lacks something | 1 | 1 | 0 |" in lines


def test_sample_has_tasks_of_both_decisions_and_is_always_the_same(suite: Any) -> None:
    chosen = suite.sample(results(), 1, 5)
    assert chosen == suite.sample(results(), 1, 5)
    assert sorted(results()[task]["possible"] for task in chosen) == [False, False, True]


def test_results_are_read_as_they_were_saved(suite: Any, tmp_path: Any) -> None:
    path = tmp_path / "runs" / "suite.jsonl"
    assert suite.load(path) == {}
    suite.save(path, results())
    assert suite.load(path) == results()


@pytest.fixture
def row(needs: Any, benchmark_module: Any) -> Callable[..., dict[str, str]]:
    """``row(kind, **specification)``: the row of the plugin's file for a task in the land ``LAND``."""

    def make(kind: str, **specification: Any) -> dict[str, str]:
        judge = needs.Judge(lambda _: needs.Landscape(LAND, frozenset(("plains",))))
        task = {"__cls__": kind, "id": "name", "prompt": "do it", **specification}
        made: dict[str, str] = benchmark_module("minedojo_tasks").row(task, judge.ways(task))
        return made

    return make


def test_way_to_a_diamond_is_that_of_the_task_obtain_diamond(row: Any) -> None:
    from rlgpt_minecraft.tasks import SPECS

    made, listed = row("harvest", target_names="diamond"), SPECS["obtain_diamond"]
    assert set(made["path"].split()) == set(listed.path)
    assert made["crafts"].split() == [item for item in made["path"].split() if item in listed.crafts]
    assert made["smelts"] == "iron_ingot"
    assert made["places"].split() == list(listed.places)
    assert made["equips"].split() == list(listed.equips)
    assert set(made["seek"].split()) == set(listed.seek)
    assert made["horizon"] == "12000"
    amounts = dict(need.split(":") for need in made["needs"].split())
    assert (amounts["iron_ore"], amounts["cobblestone"], amounts["stick"]) == ("3", "11", "6")


def test_items_of_the_start_are_tools_and_no_ingredients(row: Any) -> None:
    given = {"mainhand": {"name": "stone_pickaxe"}, "1": {"name": "coal", "quantity": 50}}
    made = row("harvest", target_names="iron_ore", target_quantities=8, initial_inventory=given)
    assert (made["path"], made["crafts"], made["equips"]) == ("iron_ore", "", "stone_pickaxe")
    assert (made["inventory"], made["quantity"]) == ("0:stone_pickaxe:1 1:coal:50", "8")
    made = row("harvest", target_names="torch", initial_inventory=given)
    assert made["path"].split()[-1] == "torch"
    assert "coal" in made["path"].split()


def test_combat_row_has_the_mob_the_armour_and_the_night(row: Any) -> None:
    made = row(
        "combat",
        target_names="zombie",
        initial_mobs="zombie",
        initial_mob_spawn_range_high=[7, 1, 7],
        initial_inventory={**SWORD, "feet": {"name": "iron_boots"}},
        specified_biome="plains",
        allow_mob_spawn=False,
        start_at_night=True,
        always_night=True,
    )
    assert (made["kind"], made["target"], made["mobs"], made["spread"]) == ("kill", "zombie", "zombie", "7")
    assert made["inventory"] == "0:iron_sword:1 40:shield:1 36:iron_boots:1"
    assert (made["time"], made["time_passes"], made["mobs_spawn"]) == ("18000", "0", "0")
    assert made["sights"] == "zombie drop water"


def test_tech_tree_row_places_a_block_and_takes_a_tool_into_the_hand(row: Any) -> None:
    made = row("techtree", tech_item="wooden_hoe")
    assert (made["kind"], made["target"], made["equips"]) == ("use", "wooden_hoe", "wooden_hoe")
    made = row("techtree", tech_item="redstone_torch")
    assert made["places"].split()[-1] == "redstone_torch"


def test_crop_is_sown_by_hand_and_needs_a_long_episode(row: Any) -> None:
    made = row("harvest", target_names="bread")
    assert "wheat_seeds" in made["equips"].split()
    assert made["places"] == "crafting_table"
    assert made["horizon"] == "72000"


def test_rows_leave_out_impossible_survival_and_listed_tasks(needs: Any, benchmark_module: Any) -> None:
    judge = needs.Judge(lambda _: needs.Landscape(LAND, frozenset(("plains",))))
    tasks = [
        {"__cls__": "harvest", "id": "harvest_1_dirt", "prompt": "dirt", "target_names": "dirt"},
        {"__cls__": "harvest", "id": "harvest_wool", "prompt": "wool", "target_names": "wool"},
        {"__cls__": "survival", "id": "survival", "prompt": "live", "target_days": 100},
        {"__cls__": "combat", "id": "combat_blaze", "prompt": "blaze", "target_names": "blaze"},
    ]
    assert [made["id"] for made in benchmark_module("minedojo_tasks").rows(tasks, judge)] == ["harvest_1_dirt"]
