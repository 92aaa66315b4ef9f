"""The settings of a task that a run changes."""

import pytest
from rlgpt.cli.compose import compose, plain, run_config
from rlgpt.cli.hydra_app import opened
from rlgpt.cli.overrides import check
from rlgpt.config.settings import with_settings
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin import PluginManager

TASK = Task(id="grid/key", goal="g", horizon=5, success="s", settings={"size": (), "noise": 0.1})


def test_with_settings_changes_only_the_named_settings_of_a_task() -> None:
    changed = with_settings(TASK, {"size": [3, 4]})
    assert changed.settings == {"size": (3, 4), "noise": 0.1}
    assert changed.id == TASK.id
    assert TASK.settings["size"] == ()
    assert with_settings(TASK, {}) == TASK


def test_with_settings_refuses_unknown_settings_and_invalid_values() -> None:
    with pytest.raises(UnknownNameError, match="'noise'"):
        with_settings(TASK, {"nois": 1})
    with pytest.raises(ConfigError, match="noise"):
        with_settings(TASK, {"noise": {"a": 1}})


def test_override_with_a_dot_changes_one_task_setting() -> None:
    manager = PluginManager([])
    with opened(manager) as app:
        overrides = check(["task_settings.noise=0.3", "+task_settings.size=[3,4]"], app.config_loader, manager)
        config = run_config(plain(compose(app.config_loader, overrides)))
    assert config.task_settings == {"noise": 0.3, "size": [3, 4]}
