"""``library_of`` describes a plugin's primitives and view for the sandbox."""

import pytest
from rlgpt.domain import Parameter
from rlgpt.errors import PluginError
from rlgpt.plugin.library import library_of
from rlgpt.plugin.types import Primitive
from rlgpt.testing.grid import TASKS, GridPlugin

TASK = TASKS["grid/key"]


def test_library_has_all_primitives_outcomes_and_view_keys() -> None:
    found = library_of(GridPlugin(), TASK)
    assert found.functions == {"observe": (), "go": ("direction", "cells"), "use": ()}
    assert found.primitives[0].outcome.keys() == {"moved", "blocked"}
    assert [(v.name, v.size, v.source) for v in found.view][2] == ("door", 2, "privileged")


def test_library_of_a_plugin_without_primitives_has_the_default_primitives(bare) -> None:
    found = library_of(bare, TASK)
    assert list(found.functions) == ["observe", "act", "repeat", "act_until"]
    assert [v.name for v in found.view] == ["observation"]


@pytest.fixture
def bare():
    from rlgpt.plugin.base import EnvironmentPlugin

    class Bare(EnvironmentPlugin):
        name = "grid"
        tasks = GridPlugin.tasks
        make_env = GridPlugin.make_env

    return Bare()


@pytest.mark.parametrize("primitive_name", ["observe", "use", "Bad Name"])
def test_invalid_primitive_name_raises_a_plugin_error(primitive_name: str) -> None:
    class Clashing(GridPlugin):
        def primitives(self, task):
            extra = Primitive(
                primitive_name, "d", lambda ctx: iter(()), (Parameter(name="a", low=0, high=1, default=0),)
            )
            return (*super().primitives(task), extra)

    with pytest.raises(PluginError, match=r"plugin 'grid', task 'grid/key': "):
        library_of(Clashing(), TASK)
