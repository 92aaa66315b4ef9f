"""Scenes, views, movement, primitives that walk: on drawn observations, without the simulator."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from rlgpt.plugin.states import same
from rlgpt_craftax.names import ACTION
from rlgpt_craftax.observation import movement, space
from rlgpt_craftax.pictures import picture
from rlgpt_craftax.plugin import CraftaxPlugin
from rlgpt_craftax.primitives import PRIMITIVES
from rlgpt_craftax.scene import Scene

from .scenes import MEADOW, TASK, Walker, context, observe

RUN = {p.name: p.run for p in PRIMITIVES}
WALLED = (
    "...........",
    "..#####....",
    "..#...#....",
    "..#.T.#....",
    "..#...#....",
    "..####.....",
    "...~~......",
    "...........",
    "?????......",
)
"""The player is in a room that is open below on the right. The room contains a tree. Outside are water and darkness."""


def test_observations_drawn_by_the_test_helper_are_in_the_observation_space() -> None:
    assert observe(WALLED, mobs={(1, 1): "zombie"}, shots={(0, 2): "arrow"}, wood=3) in space()


def test_objects_in_the_craftax_view_are_sorted_by_distance(plugin: CraftaxPlugin) -> None:
    view = plugin.view(context(observe(WALLED, mobs={(2, 2): "zombie", (1, 2): "cow"}, facing="down", wood=2)))
    assert view["things"] == {"tree": [[-1, -1]], "water": [[-1, 2], [-2, 2]]}
    assert view["monsters"] == [["zombie", 2, 2]]
    assert view["animals"] == [["cow", 1, 2]]
    assert view["map"][8].startswith("?????.")
    assert view["inventory"]["wood"] == 2


def test_craftax_view_has_the_documented_keys_and_a_limited_size(plugin: CraftaxPlugin) -> None:
    crowded = ("Tcid~BFsrCO",) * 9
    view = plugin.view(context(observe(crowded, mobs={(r, 1): "zombie" for r in range(-2, 3)})))
    assert set(view) == {key.name for key in plugin.view_keys(TASK) if not key.alone}
    assert len(json.dumps(view)) < 3000
    assert len(plugin.summarize(view)) <= 1500


def test_views_of_several_scenes_equal_the_view_of_each_scene(plugin: CraftaxPlugin) -> None:
    rng, sampled = np.random.default_rng(0), space()
    sampled.seed(0)
    contexts = [context(observe(WALLED, mobs={(2, 2): "zombie", (0, -1): "cow"}, facing="right", wood=2))]
    for _ in range(20):
        drawn = sampled.sample()
        for key in ("item", "mob", "shot"):
            drawn[key][rng.random((9, 11)) < 0.9] = 0
        contexts.append(context(drawn))
    for batch, alone in ((plugin.views, plugin.view), (plugin.policy_views, plugin.policy_view)):
        for ctx, row in zip(contexts, batch(contexts), strict=True):
            assert list(row) == list(alone(ctx))
            assert same(dict(row), dict(alone(ctx)))


def test_a_policy_sees_the_nearest_of_each_kind(plugin: CraftaxPlugin) -> None:
    mobs, shots = {(2, 2): "zombie", (0, 1): "skeleton"}, {(3, 0): "arrow"}
    numbers = plugin.policy_view(context(observe(WALLED, mobs=mobs, shots=shots, facing="down")))
    nearest = np.reshape(numbers["nearest"], (-1, 3))
    assert nearest[3] == pytest.approx([-0.2, -0.25, 1 / 3]), "the tree"
    assert not nearest[4].any(), "there is no coal"
    assert nearest[-5:] == pytest.approx(
        np.array([[0, 0.25, 0.5], [0.4, 0.5, 0.2], [0, 0, 0], [0.6, 0, 0.25], [0, 0, 0]])
    )
    around = np.reshape(numbers["around"], (5, -1))
    assert around[:, -1].tolist() == [0, 0, 0, 1, 1], "the skeleton is below, and ahead"
    assert around[:, :-1].sum(axis=1).tolist() == [1] * 5


def test_policy_view_keys_of_craftax_have_the_declared_sizes(plugin: CraftaxPlugin) -> None:
    ctx = context(observe(WALLED, mobs={(1, 1): "zombie"}))
    numbers, view = plugin.policy_view(ctx), plugin.view(ctx)
    for key in plugin.view_keys(TASK):
        if key.size:
            assert np.asarray(numbers[key.name] if key.alone else view[key.name]).size == key.size, key.name


@pytest.mark.parametrize(
    ("rows", "mobs", "flags", "expected"),
    [
        (MEADOW, {}, (), (1, 0)),
        (MEADOW, {(1, 0): "cow"}, (), (0, 0)),
        (("......T....",) * 9, {}, (), (0, 0)),
        (("......~....",) * 9, {}, (), (0, 0)),
        (MEADOW, {}, ("sleeping",), (0, 0)),
    ],
    ids=["free", "cow", "tree", "water", "asleep"],
)
def test_movement_is_one_cell_to_the_right_unless_an_obstacle_is_ahead(
    rows: tuple[str, ...], mobs: dict[tuple[int, int], str], flags: tuple[str, ...], expected: tuple[int, int]
) -> None:
    before = observe(rows, mobs=mobs, flags=flags)
    assert movement(before, ACTION["right"], observe(rows)) == expected


def test_movement_in_the_dark_is_inferred_from_the_other_visible_cells() -> None:
    before = observe(("#..........", *("???????????",) * 8))
    assert movement(before, ACTION["right"], observe(("..........X", *("???????????",) * 8))) == (1, 0)
    assert movement(before, ACTION["right"], before) == (0, 0)
    dark = observe(("???????????",) * 9)
    assert movement(dark, ACTION["right"], dark) is None


def test_shortest_path_goes_around_walls_and_mobs() -> None:
    assert Scene(observe(WALLED)).way([(3, 0)]) is None
    opened = list(WALLED)
    opened[5] = "..###......"
    scene = Scene(observe(tuple(opened)))
    way = scene.way([(0, 1)])
    assert way == [3]


def test_primitive_go_to_walks_a_shortest_path() -> None:
    walker = Walker(MEADOW)
    outcome = walker.play(RUN["go_to"](walker.context, right=2, down=-1, next_to=False, steps=20, stop_if_hurt=True))
    assert outcome["reached"]
    assert outcome["moved"] == [2, -1]
    assert len(walker.actions) == 3


def test_primitive_go_to_ends_when_no_path_is_free() -> None:
    walker = Walker(WALLED)
    outcome = walker.play(RUN["go_to"](walker.context, right=4, down=0, next_to=False, steps=20, stop_if_hurt=True))
    assert (outcome["reached"], outcome["stopped_by"], walker.actions) == (False, "blocked", [])


@pytest.mark.parametrize("thing", ["tree", "coal"])
def test_primitive_approach_ends_beside_its_target_and_faces_the_target(thing: str) -> None:
    rows = list(MEADOW)
    rows[2] = "...T....c.."
    walker = Walker(tuple(rows))
    outcome = walker.play(RUN["approach"](walker.context, thing=thing, steps=20, stop_if_hurt=True))
    assert outcome["reached"]
    assert outcome["ahead"] == thing


def test_primitive_approach_stops_on_the_cell_of_a_ladder() -> None:
    rows = list(MEADOW)
    rows[6] = "........>.."
    walker = Walker(tuple(rows))
    outcome = walker.play(RUN["approach"](walker.context, thing="ladder_down", steps=20, stop_if_hurt=True))
    assert outcome["reached"]
    assert walker.at == (3, 2)


def test_primitive_approach_takes_no_step_if_its_target_is_not_visible() -> None:
    walker = Walker(MEADOW)
    outcome = walker.play(RUN["approach"](walker.context, thing="diamond", steps=20, stop_if_hurt=True))
    assert (outcome["reached"], outcome["stopped_by"], walker.actions) == (False, "blocked", [])


def test_primitive_fight_turns_to_a_monster_and_attacks() -> None:
    walker = Walker(MEADOW, mobs={(1, 0): "zombie"})
    outcome = walker.play(RUN["fight"](walker.context, blows=3, least_health=3))
    assert walker.actions == ["right", "do", "do", "do"]
    assert (outcome["blows"], outcome["left"]) == (3, 1)


def test_primitive_fight_ends_when_health_is_below_its_parameter() -> None:
    walker = Walker(MEADOW, mobs={(1, 0): "zombie"}, health=2)
    assert walker.play(RUN["fight"](walker.context, blows=3, least_health=3))["blows"] == 0


def _pays(plugin: CraftaxPlugin, name: str, ctx: Any) -> float:
    return next(term for term in plugin.reward_terms(TASK) if term.name == name).value(ctx)


def test_craftax_reward_terms_are_computed_from_observations(plugin: CraftaxPlugin) -> None:
    before, after = observe(health=9, wood=0), observe(health=7, wood=1, pickaxe=2)
    ctx = context(after, before, reward=1 - 0.2)
    assert _pays(plugin, "achievements", ctx) == 1
    assert _pays(plugin, "collect_wood", ctx) == 1
    assert _pays(plugin, "make_wood_pickaxe", ctx) == 1
    assert _pays(plugin, "make_iron_pickaxe", ctx) == 0
    assert _pays(plugin, "wake_up", context(observe(), observe(flags=("sleeping",)))) == 1
    assert _pays(plugin, "enter_dungeon", context(observe(floor=1))) == 1


def test_craftax_pictures_show_the_textures_of_the_visible_cells() -> None:
    pytest.importorskip("craftax")
    frame = picture(observe(WALLED, mobs={(1, 1): "zombie"}, wood=3))
    assert frame.shape == (384, 352, 3)
    assert frame.dtype == np.uint8
    assert frame[:288].std() > 20
