"""The Minecraft tasks use only names and settings that MineDojo and this plugin support."""

import pytest
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt_minecraft.knowledge_pages import knowledge
from rlgpt_minecraft.primitives import primitives_of
from rlgpt_minecraft.rewards import default_setup
from rlgpt_minecraft.settings import Settings
from rlgpt_minecraft.tasks import SPECS, make_tasks, spec_of
from rlgpt_minecraft.things import MOBS, THINGS, things
from rlgpt_minecraft.views import view_keys
from voxeldojo.names import BIOMES, CRAFTS, ITEMS, PLACEABLE, craft_place
from voxeldojo.world.mob_kinds import NAMES

TASKS = make_tasks()
every_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)

ASKED_FOR = {
    *("harvest_log", "harvest_sand", "harvest_milk", "harvest_wool", "harvest_beef", "harvest_mutton"),
    "harvest_milk_rgb",
    *("stick", "crafting_table", "wooden_pickaxe", "furnace", "stone_pickaxe", "bed", "iron_ingot", "obtain_diamond"),
}


def test_all_expected_minecraft_tasks_exist() -> None:
    assert set(SPECS) == ASKED_FOR
    assert set(TASKS) == {f"minecraft/{name}" for name in ASKED_FOR}


@every_task
def test_every_name_in_a_minecraft_task_exists_in_minedojo(task: Task) -> None:
    spec = spec_of(task)
    assert not spec.biome or spec.biome in BIOMES
    assert {spec.target, *spec.path, *(item for item, _ in spec.inventory), *spec.equips} <= set(ITEMS)
    assert set(spec.makeable) <= set(CRAFTS)
    assert set(spec.places) <= PLACEABLE
    assert {*spec.sights, *spec.seek} <= set(THINGS)
    assert set(spec.seek) <= set(spec.sights)
    assert all(craft_place(item) == "furnace" for item in spec.smelts)
    assert all(craft_place(item) != "furnace" for item in spec.crafts)


def test_every_mob_of_the_embedded_world_is_a_thing_to_look_for() -> None:
    assert NAMES[1:] == MOBS
    assert {thing.seen_as for thing in THINGS.values() if thing.kind == "entity"} == {*MOBS, "item"}


@every_task
def test_crafting_path_ends_at_the_target_and_contains_every_needed_item(task: Task) -> None:
    spec = spec_of(task)
    assert spec.path[-1] == spec.target
    assert set(dict(spec.needs)) <= set(spec.path)
    assert spec.target not in dict(spec.inventory)
    assert all(item in spec.path or item in spec.smelts or item in ("stick",) for item in spec.makeable)


@every_task
def test_settings_of_every_minecraft_task_name_their_source(task: Task) -> None:
    spec, settings = spec_of(task), Settings.of(task)
    assert any(name in settings.source for name in ("MineDojo", "Plan4MC"))
    assert (settings.backend, settings.actions) == ("embedded", "default")
    assert settings.image_size == (spec.pixels or None)
    assert settings.biome == (spec.biome or None)


def test_policy_with_images_observes_no_lidar_or_voxel_keys() -> None:
    sizes, blind = (
        {key.name: key.size for key in view_keys(TASKS[f"minecraft/{name}"])}
        for name in ("harvest_milk", "harvest_milk_rgb")
    )
    assert set(sizes) == set(blind)
    hidden = {name for name, size in sizes.items() if size and not blind[name]}
    assert {"cow_bearing", "cow_aimed", "aim_reach", "descent"} <= hidden
    assert not hidden & {"elevation", "on_ground", "life", "milk_bucket_count"}
    keys = default_setup(TASKS["minecraft/harvest_milk_rgb"]).observation_keys
    assert "rgb" in keys
    assert not hidden & set(keys)
    assert "64 x 64" in knowledge(TASKS["minecraft/harvest_milk_rgb"])


def test_knowledge_states_the_image_size_of_the_settings() -> None:
    task = TASKS["minecraft/harvest_milk_rgb"]
    small = task.model_copy(update={"settings": {**task.settings, "image_size": (32, 48)}})
    assert "32 x 48" in knowledge(small)
    assert "64 x 64" not in knowledge(small)
    none = task.model_copy(update={"settings": {**task.settings, "image_size": ()}})
    plain = TASKS["minecraft/harvest_milk"]
    assert view_keys(none) == view_keys(plain)
    assert default_setup(none) == default_setup(plain)
    assert knowledge(none) == knowledge(plain)


def change(**settings: object) -> Task:
    task = TASKS["minecraft/harvest_log"]
    return task.model_copy(update={"settings": {**task.settings, **settings}})


def test_minecraft_settings_can_be_changed() -> None:
    found = Settings.of(change(backend="minedojo", actions="paper", image_size=(64, 96), biome="plains"))
    assert (found.backend, found.actions, found.image_size, found.biome) == ("minedojo", "paper", (64, 96), "plains")


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        *(({"backend": "java"}, "backend"), ({"image_size": (64,)}, "image_size"), ({"fog": 1}, "fog")),
        *(({"image_size": (0, 64)}, "image_size"), ({"port": 9000}, "port=9000 has no effect")),
    ],
)
def test_minecraft_settings_refuse_an_invalid_value(wrong: dict[str, object], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        Settings.of(change(**wrong))


def test_error_about_an_unknown_minecraft_task_or_target_suggests_a_name() -> None:
    with pytest.raises(UnknownNameError, match="harvest_log"):
        spec_of(Task(id="minecraft/harvest_logs", goal="g", horizon=1, success="s"))
    with pytest.raises(UnknownNameError, match="'cow'"):
        things(["cov"])


@every_task
def test_minecraft_knowledge_names_the_items_of_the_task(task: Task) -> None:
    text, spec = knowledge(task), spec_of(task)
    assert len(text) <= 6000
    assert "{" not in text
    assert ("crafting table" in text) == bool(spec.crafts)
    assert ("shears" in text) == (spec.target in ("wool", "bed"))
    for item in spec.crafts:
        assert item.replace("_", " ") in text


@every_task
def test_primitives_of_a_minecraft_task_offer_its_targets_and_items(task: Task) -> None:
    spec = spec_of(task)
    found = {p.name: {q.name: q for q in p.parameters} for p in primitives_of(task)}
    assert {"look_at", "turn", "look", "scan", "walk", "approach", "explore", "collect"} <= set(found)
    assert {"attack", "mine", "use", "dig_down", "dig_ahead"} <= set(found)
    assert found["approach"]["target"].choices == spec.sights
    for name, choices in (("craft", spec.crafts), ("smelt", spec.smelts), ("place", spec.places)):
        assert (found[name]["item"].choices[: len(choices)] == choices) if choices else name not in found
    assert ("eat" in found, "pillar_up" in found) == (bool(spec.places),) * 2
