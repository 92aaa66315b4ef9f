"""The tier ``paper``: code gets no blocks and no animals in its view and has only low-level actions. The policy
observes blocks and animals.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlgpt.plugin.library import library_of
from rlgpt.rl.observation import ObservationBuilder
from rlgpt_minecraft.moves import move
from rlgpt_minecraft.plugin import MinecraftPlugin
from rlgpt_minecraft.tasks import SPECS

Make = Callable[..., Any]


def test_view_and_outcomes_of_the_paper_tier_name_no_block_and_no_animal(make_player: Make) -> None:
    player = make_player("harvest_milk", tier="paper")
    plugin, task = player.plugin, player.task
    usual = make_player("harvest_milk")
    hidden = set(usual.see()) - set(player.see())
    assert {"cow_seen", "aim_entity", "aim_distance", "feet_blocked", "water_ahead", "lava_ahead"} <= hidden
    assert set(player.see()) == {key.name for key in plugin.view_keys(task) if not key.alone}
    told = json.dumps([player.see(), player("act", motion="forward", ticks=3)])
    assert "cow" not in told
    assert "cow" not in plugin.summarize(player.see())


def test_policy_of_the_paper_tier_observes_the_view_of_the_default_tier(make_player: Make) -> None:
    usual = make_player("harvest_milk", seed=4)
    blind = make_player("harvest_milk", seed=4, tier="paper")
    view, seen = usual.see(), blind.plugin.policy_view(blind.context)
    alone = {key.name for key in blind.plugin.view_keys(blind.task) if key.alone}
    assert alone == set(seen)
    assert seen == {name: view[name] for name in alone}


@pytest.mark.parametrize("name", ["harvest_log", "wooden_pickaxe", "harvest_milk_rgb"])
def test_default_setup_of_the_paper_tier_observes_only_existing_keys(make_player: Make, name: str) -> None:
    blind = make_player(name, tier="paper")
    setup = blind.plugin.default_setup(blind.task)
    builder = ObservationBuilder(
        blind.env.observation_space, blind.plugin.view_keys(blind.task), setup.observation_keys
    )
    assert ("feet_blocked[0]" in builder.names) == (not SPECS[name].pixels)


def test_primitive_act_repeats_an_action_of_minedojo_for_the_given_ticks(make_player: Make) -> None:
    player = make_player("harvest_milk", tier="paper")
    player.reset(2)
    start = player.see()
    outcome = player("act", motion="sprint_forward", right=90.0, ticks=8)
    after = player.see()
    turned = (after["heading"] - start["heading"]) % 360
    assert turned == pytest.approx(90, abs=1)
    by_hand = make_player("harvest_milk", tier="paper")
    by_hand.reset(2)
    for tick in range(8):
        by_hand.step(move(1, 0, "sprint", right=6 if tick == 0 else 0))
    assert by_hand.see()["position"] == after["position"]
    assert outcome["moved"] == pytest.approx(np.hypot(*np.delete(after["position"], 1)), abs=0.02)


def test_paper_tier_has_three_primitives_and_does_not_change_the_default_tier() -> None:
    plugin = MinecraftPlugin()
    task = plugin.tasks()["minecraft/wooden_pickaxe"]
    blind = task.model_copy(update={"settings": {**task.settings, "tier": "paper"}})
    assert {p.name for p in library_of(plugin, blind).primitives} == {"act", "craft", "place"}
    assert "does not see" in plugin.knowledge(blind)
    assert "does not see" not in plugin.knowledge(task)
    assert len(plugin.knowledge(blind)) <= 6000


def test_craft_and_place_in_the_paper_tier_have_no_effect_without_ingredients(make_player: Make) -> None:
    blind = make_player("wooden_pickaxe", tier="paper")
    assert blind("craft", item="planks") == {"made": 0}
    assert blind("place", item="crafting_table") == {"placed": False}
    blind.type("/give @p log 3")
    assert blind("craft", item="planks")["made"] in (0, 4)


@pytest.mark.parametrize("name", ["iron_ingot", "wooden_pickaxe"])
def test_recordings_of_one_tier_are_not_replayed_in_the_other_tier(name: str) -> None:
    plugin, task = MinecraftPlugin(), MinecraftPlugin().tasks()[f"minecraft/{name}"]
    blind = task.model_copy(update={"settings": {**task.settings, "tier": "paper"}})
    assert plugin.transcripts(task)
    assert not {*plugin.transcripts(task)} & {*plugin.transcripts(blind)}
    assert all("tier=paper" in path.parent.name for path in plugin.transcripts(blind))
    assert bool(plugin.transcripts(blind)) == (name == "wooden_pickaxe")
