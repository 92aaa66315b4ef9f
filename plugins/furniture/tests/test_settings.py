"""What settings ask for is checked first, and what the model is told follows them."""

from __future__ import annotations

from typing import Any

import pytest
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt_furniture import env as environments
from rlgpt_furniture.plugin import FurniturePlugin
from rlgpt_furniture.settings import LOOSEST, read
from rlgpt_furniture.tasks import make_tasks

TASKS = make_tasks()


def variant(name: str, **settings: Any) -> Task:
    task = TASKS[f"furniture/{name}"]
    return task.model_copy(update={"settings": {**task.settings, **settings}})


@pytest.mark.parametrize("value", [-0.02, float("nan"), 0.0051, "abc", "0.001", True])
def test_a_clearance_that_cannot_be_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"setting clearance is .*; valid: a number of m from 0 to 0\.005\."):
        read(variant("one_leg", clearance=value))


@pytest.mark.parametrize("value", [0, 0.0003, LOOSEST])
def test_a_clearance_that_can_be_is_taken(plugin: FurniturePlugin, value: float) -> None:
    assert read(variant("desk", clearance=value)).clearance == value
    plugin.make_env(variant("desk", clearance=value), seed=0).close()


@pytest.mark.parametrize("value", ["false", "true", 1, 0])
def test_cameras_are_on_or_off(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"setting cameras is .*; valid: true, false\."):
        read(variant("one_leg", cameras=value))


def test_furniture_of_another_goal_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"furniture is 'lamp'; valid: one_leg\. Its goal is about that"):
        read(variant("one_leg_high", furniture="lamp"))
    own = variant("one_leg", furniture="lamp").model_copy(update={"id": "workshop/lamp"})
    assert read(own).furniture == "lamp"


def test_settings_that_are_left_out_are_as_by_default() -> None:
    task = TASKS["furniture/one_leg"]
    assert read(task.model_copy(update={"settings": {"furniture": "one_leg"}})) == read(task)


def test_settings_are_checked_before_anything_is_built(
    plugin: FurniturePlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    monkeypatch.setattr(environments, "build", lambda *given: built.append(given))
    with pytest.raises(ConfigError, match="clearance"):
        plugin.make_env(variant("lamp", clearance="abc"), seed=0)
    assert not built


@pytest.mark.parametrize("name", ["one_leg", "lamp", "desk"])
def test_what_is_told_follows_the_settings(plugin: FurniturePlugin, name: str) -> None:
    by_default = plugin.knowledge(variant(name))
    assert "is made once the part is within\n0.005 m" in by_default
    assert "hinge" not in by_default
    held = plugin.knowledge(variant(name, joints="connector"))
    assert "hinge" in held
    assert "jams" not in held
    by_joints = plugin.knowledge(variant(name, control="joints"))
    assert "moves the hand's target" in by_default
    assert "moves the hand's target" not in by_joints
    assert "1 turns a joint" in by_joints
    tight = plugin.knowledge(variant(name, clearance=0.0005))
    told = ("0.0142 m", "0.0135 m") if name == "lamp" else ("1.2 mm wider", "0.5 mm wider")
    assert (told[0] in by_default, told[1] in tight) == (True, True)
    assert told[0] not in tight
    for text in (by_default, held, by_joints, tight):
        assert "$" not in text
        assert len(text) < 6000


def test_a_twist_is_paid_and_told_where_there_is_one(plugin: FurniturePlugin) -> None:
    for joints in ("peg", "connector"):
        task = variant("one_leg", joints=joints)
        twists = joints == "connector"
        assert ("twist" in {t.name for t in plugin.reward_terms(task)}) == twists
        assert ("twist" in plugin.default_setup(task).reward_weights) == twists
        doc = next(p.doc for p in plugin.primitives(task) if p.name == "rotate_part")
        assert ("connector" in doc) == twists


def test_the_default_setup_shows_cameras_where_they_are_on(plugin: FurniturePlugin) -> None:
    for on in (False, True):
        seen = plugin.default_setup(variant("lamp", cameras=on)).observation_keys
        assert ({"front", "wrist"} <= set(seen)) == on
        assert len(seen) > 10
