"""What a run changes of its task's settings."""

import pytest
from rlgpt.cli.compose import with_settings
from rlgpt.cli.hydra_app import opened
from rlgpt.cli.overrides import check, compose
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin import PluginManager

TASK = Task(id="grid/key", goal="g", horizon=5, success="s", settings={"size": (), "noise": 0.1})


def test_those_named_change_and_the_others_stay() -> None:
    changed = with_settings(TASK, {"size": [3, 4]})
    assert changed.settings == {"size": (3, 4), "noise": 0.1}
    assert changed.id == TASK.id
    assert TASK.settings["size"] == ()
    assert with_settings(TASK, {}) == TASK


def test_only_what_there_is_can_change() -> None:
    with pytest.raises(UnknownNameError, match="'noise'"):
        with_settings(TASK, {"nois": 1})
    with pytest.raises(ConfigError, match="noise"):
        with_settings(TASK, {"noise": {"a": 1}})


def test_they_are_written_with_a_dot() -> None:
    with opened() as app:
        loader = app.config_loader
        told = check(
            ["task_settings.noise=0.3", "+task_settings.size=[3,4]"], loader, PluginManager([]), multirun=False
        )
        assert compose(loader, told).task_settings == {"noise": 0.3, "size": [3, 4]}
