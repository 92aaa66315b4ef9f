"""The settings of a task that a run changes."""

from typing import Any

import pytest
from rlgpt.cli.compose import compose, plain, run_config
from rlgpt.cli.hydra_app import opened
from rlgpt.cli.overrides import check
from rlgpt.config.settings import with_settings
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin import PluginManager

OTHER: dict[str, Any] = {"walls": 0, "floor": "carpet", "camera": False, "zone": (0.5,)}
TASK = Task(id="grid/key", goal="g", horizon=5, success="s", settings={"size": (), "noise": 0.1} | OTHER)


def test_with_settings_changes_only_the_named_settings_of_a_task() -> None:
    changed = with_settings(TASK, {"size": [3, 4]})
    assert changed.settings == {"size": (3, 4), "noise": 0.1} | OTHER
    assert changed.id == TASK.id
    assert TASK.settings["size"] == ()
    assert with_settings(TASK, {}) == TASK


def test_with_settings_refuses_unknown_settings() -> None:
    with pytest.raises(UnknownNameError, match="'noise'"):
        with_settings(TASK, {"nois": 1})


@pytest.mark.parametrize(
    ("name", "value", "valid"),
    [
        ("noise", {"a": 1}, "a number, as in its default 0.1"),
        ("noise", "loud", "a number"),
        ("noise", True, "a number"),
        ("walls", 2.5, "a whole number, as in its default 0"),
        ("walls", True, "a whole number"),
        ("floor", 3, "a text, as in its default 'carpet'"),
        ("camera", 1, "true or false"),
        ("size", 3, "a list"),
        ("zone", [1.0, "b"], r"a list, each part of it a number, as in its default \[0.5\]"),
    ],
)
def test_with_settings_refuses_a_value_of_another_type_than_the_default(name: str, value: object, valid: str) -> None:
    with pytest.raises(ConfigError, match=rf"task_settings.{name} of grid/key is .*; valid: {valid}"):
        with_settings(TASK, {name: value})


def test_whole_number_becomes_a_float_if_the_default_is_one() -> None:
    changed = with_settings(TASK, {"noise": 1, "zone": [1, 2.5]}).settings
    assert (changed["noise"], changed["zone"]) == (1.0, (1.0, 2.5))
    assert isinstance(changed["noise"], float)


def test_override_with_a_dot_changes_one_task_setting() -> None:
    manager = PluginManager([])
    with opened(manager) as app:
        overrides = check(["task_settings.noise=0.3", "+task_settings.size=[3,4]"], app.config_loader, manager)
        config = run_config(plain(compose(app.config_loader, overrides)))
    assert config.task_settings == {"noise": 0.3, "size": [3, 4]}
