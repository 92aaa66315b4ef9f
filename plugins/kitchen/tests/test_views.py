"""The kitchen's views, their summaries, and the knowledge texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rlgpt_kitchen.elements import ELEMENTS
from rlgpt_kitchen.plugin import KitchenPlugin
from rlgpt_kitchen.tasks import AMPLITUDE, HAND_AMPLITUDE, elements_of, make_tasks

Make = Callable[..., Any]
TASKS = make_tasks()


@pytest.mark.parametrize("name", ["kettle", "hinge_cabinet", "sequence_a", "sequence_b_noisy"])
def test_kitchen_view_has_the_documented_keys_and_sizes(make_player: Make, plugin: KitchenPlugin, name: str) -> None:
    player = make_player(name)
    keys = {k.name: k for k in plugin.view_keys(player.task)}
    for _ in range(5):
        view = player.see()
        assert set(view) == set(keys)
        assert json.loads(json.dumps(view, allow_nan=False)) == view
        for k in keys.values():
            assert k.size in (0, np.size(view[k.name])), k.name
        assert len(plugin.summarize(view)) <= 1500
        player.random(10)


def test_kitchen_view_agrees_with_the_simulator(make_player: Make) -> None:
    player = make_player("microwave")
    player.random(5)
    view, model = player.see(), player.ctx.model
    assert view["hand_position"] == pytest.approx(model.true_hand(), abs=0.01)
    assert np.subtract(view["microwave_handle"], view["hand_position"]) == pytest.approx(
        view["microwave_offset"], abs=1e-3
    )
    assert view["microwave_handle"] == pytest.approx([-0.642, 0.493, 1.792], abs=0.01)
    assert np.linalg.norm(view["microwave_axis"]) == pytest.approx(1.0)


def test_noise_settings_of_kitchen_tasks_change_the_view(make_player: Make) -> None:
    quiet, loud = (make_player(name) for name in ("kettle", "kettle_noisy"))

    def error(player: Any) -> float:
        errors = []
        for seed in range(20):
            player.reset(seed)
            errors.append(np.linalg.norm(player.see()["hand_position"] - player.ctx.model.true_hand()))
        return float(np.mean(errors))

    assert error(quiet) < 0.003
    assert error(loud) > 10 * error(quiet)


def test_kitchen_view_and_summary_name_completed_elements(make_player: Make) -> None:
    player = make_player("slide_cabinet")
    assert player.see()["remaining"] == ["slide_cabinet"]
    player.env.unwrapped.base.data.qpos[19] = 0.2
    player.step(np.zeros(9))
    view = player.see()
    assert view["remaining"] == []
    assert view["slide_cabinet_done"] == 1
    assert view["slide_cabinet_progress"] == 1.0
    assert "completed" in player.plugin.summarize(view)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_kitchen_knowledge_names_the_elements_in_at_most_6000_characters(plugin: KitchenPlugin, task: Any) -> None:
    text = plugin.knowledge(task)
    assert 500 < len(text) <= 6000
    for name in elements_of(task):
        assert name.split("_")[0] in text.lower()


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_kitchen_default_setup_names_existing_reward_terms_and_keys(plugin: KitchenPlugin, task: Any) -> None:
    setup = plugin.default_setup(task)
    assert set(setup.reward_weights) <= {t.name for t in plugin.reward_terms(task)}
    sizes = {"robot": 18, "objects": 41} | {k.name: k.size for k in plugin.view_keys(task)}
    assert all(sizes[key] > 0 for key in setup.observation_keys)


def test_the_texts_give_the_noise_of_the_settings(plugin: KitchenPlugin, make_player: Make) -> None:
    player = make_player("sequence_a_noisy")
    robot = player.env.unwrapped.base.robot_env.robot_pos_noise_amp
    assert set(robot[:7]) == {AMPLITUDE["joint"]}
    assert set(robot[7:9]) == {AMPLITUDE["finger"]}
    for name, element in ELEMENTS.items():
        assert robot[8:][element.qpos[element.main] - 9] == AMPLITUDE[name]
    jacobian = player.ctx.model.pose(player.ctx.observation).jacobian[:3]
    rms = AMPLITUDE["joint"] * np.linalg.norm(jacobian) / np.sqrt(3)  # of uniform noise in every joint
    assert rms == pytest.approx(HAND_AMPLITUDE, rel=0.15)
    text = " ".join(plugin.knowledge(player.task).split())
    assert "+-0.05 rad in each joint of the arm" in text
    assert "+-0.03 rad in the microwave; +-0.03 m in the kettle" in text
    assert "+-0.001 rad in each joint" in " ".join(plugin.knowledge(TASKS["kitchen/kettle"]).split())
