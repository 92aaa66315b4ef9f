"""The settings of the furniture tasks are validated, and the texts for the language model depend on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt_furniture.plugin import FurniturePlugin
from rlgpt_furniture.settings import MAX_CLEARANCE, read_settings
from rlgpt_furniture.tasks import make_tasks

TASKS = make_tasks()


def variant(name: str, **settings: Any) -> Task:
    task = TASKS[f"furniture/{name}"]
    return task.model_copy(update={"settings": {**task.settings, **settings}})


@pytest.mark.parametrize("value", [-0.02, float("nan"), 0.0051, "abc", "0.001", True])
def test_furniture_settings_refuse_an_invalid_clearance(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"setting clearance is .*; valid: a number of m from 0 to 0\.005\."):
        read_settings(variant("one_leg", clearance=value))


@pytest.mark.parametrize("value", [0, 0.0003, MAX_CLEARANCE])
def test_furniture_settings_accept_a_valid_clearance(plugin: FurniturePlugin, value: float) -> None:
    assert read_settings(variant("desk", clearance=value)).clearance == value
    plugin.make_env(variant("desk", clearance=value), seed=0).close()


@pytest.mark.parametrize("value", ["false", "true", 1, 0])
def test_furniture_settings_refuse_a_value_of_cameras_that_is_not_a_bool(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"setting cameras is .*; valid: true, false\."):
        read_settings(variant("one_leg", cameras=value))


def test_furniture_task_refuses_the_furniture_of_another_task() -> None:
    with pytest.raises(ConfigError, match=r"furniture is 'lamp'; valid: one_leg\. Its goal is about that"):
        read_settings(variant("one_leg_high", furniture="lamp"))
    own = variant("one_leg", furniture="lamp").model_copy(update={"id": "workshop/lamp"})
    assert read_settings(own).furniture == "lamp"


def test_missing_furniture_settings_have_their_defaults() -> None:
    task = TASKS["furniture/one_leg"]
    assert read_settings(task.model_copy(update={"settings": {"furniture": "one_leg"}})) == read_settings(task)


def test_make_env_of_furniture_refuses_an_invalid_setting(plugin: FurniturePlugin) -> None:
    with pytest.raises(ConfigError, match="clearance"):
        plugin.make_env(variant("lamp", clearance="abc"), seed=0)


@pytest.mark.parametrize("name", ["one_leg", "lamp", "desk"])
def test_furniture_knowledge_depends_on_joints_control_and_clearance(plugin: FurniturePlugin, name: str) -> None:
    default = plugin.knowledge(variant(name))
    assert "is made once the part is within\n0.005 m" in default
    assert "hinge" not in default
    connector = plugin.knowledge(variant(name, joints="connector"))
    assert "hinge" in connector
    assert "jams" not in connector
    by_joints = plugin.knowledge(variant(name, control="joints"))
    assert "moves the hand's target" in default
    assert "moves the hand's target" not in by_joints
    assert "1 turns a joint" in by_joints
    tight = plugin.knowledge(variant(name, clearance=0.0005))
    stated = ("0.0142 m", "0.0135 m") if name == "lamp" else ("1.2 mm wider", "0.5 mm wider")
    assert (stated[0] in default, stated[1] in tight) == (True, True)
    assert stated[0] not in tight
    for text in (default, connector, by_joints, tight):
        assert "$" not in text
        assert len(text) < 6000


def test_reward_term_twist_and_its_documentation_exist_only_with_connectors(plugin: FurniturePlugin) -> None:
    for joints in ("peg", "connector"):
        task = variant("one_leg", joints=joints)
        twists = joints == "connector"
        assert ("twist" in {t.name for t in plugin.reward_terms(task)}) == twists
        assert ("twist" in plugin.default_setup(task).reward_weights) == twists
        doc = next(p.doc for p in plugin.primitives(task) if p.name == "rotate_part")
        assert ("connector" in doc) == twists


def test_furniture_default_setup_observes_the_cameras_only_if_they_are_on(plugin: FurniturePlugin) -> None:
    for on in (False, True):
        keys = plugin.default_setup(variant("lamp", cameras=on)).observation_keys
        assert ({"front", "wrist"} <= set(keys)) == on
        assert len(keys) > 10


@pytest.mark.parametrize("value", [-0.001, 0.03, "0.004", True])
def test_furniture_settings_refuse_an_invalid_tag_error(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"setting tag_error is .*; valid: a number of m from 0 to 0\.02\."):
        read_settings(variant("one_leg", tag_error=value))


def test_tag_error_shifts_only_the_observed_positions_of_parts(plugin: FurniturePlugin) -> None:
    """Each part has its own horizontal error in m. The error is at most the setting, constant in an episode, and saved
    with the episode.
    """
    exact, wrong = (plugin.make_env(variant("one_leg", tag_error=error), seed=0) for error in (0.0, 0.006))
    errors = []
    for seed in (1, 2):
        seen, told = exact.reset(seed=seed)[0], wrong.reset(seed=seed)[0]
        np.testing.assert_array_equal(seen["robot"], told["robot"])
        first = (told["parts"] - seen["parts"]).reshape(-1, 7)
        seen, told = (env.step(np.zeros(8))[0] for env in (exact, wrong))
        np.testing.assert_allclose((told["parts"] - seen["parts"]).reshape(-1, 7), first, atol=1e-6)
        assert not first[:, 2:].any()
        assert 0 < np.hypot(*first[:, :2].T).max() <= 0.006
        errors.append(first)
    assert np.abs(errors[0] - errors[1]).max() > 1e-4
    state = wrong.unwrapped.save()
    told = wrong.step(np.ones(8))[0]["parts"]
    wrong.reset(seed=5)
    wrong.unwrapped.load(state)
    np.testing.assert_array_equal(wrong.step(np.ones(8))[0]["parts"], told)


def test_furniture_knowledge_states_the_tag_error(plugin: FurniturePlugin) -> None:
    usual = plugin.knowledge(variant("one_leg"))
    assert plugin.knowledge(variant("one_leg", tag_error=0.0045)).removeprefix(usual).count("4.5 mm") == 1
