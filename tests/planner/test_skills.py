"""A run with a planner adds its proved sub-goals to the skill library."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import pytest
from journey import HELD, IDLE, SOURCES, TASK, context, made, team
from rlgpt.domain import CodedPredicate
from rlgpt.planner import run
from rlgpt.planner.skills import _name
from rlgpt.plugin.origin import Origin
from rlgpt.skills import Skill, SkillLibrary
from rlgpt.skills.testing import retest


def played(tmp_path: Path, *, restores: bool = True) -> dict[str, Skill]:
    """Play the journey with an empty library, and return the skills that are in the library afterwards."""
    library = SkillLibrary(tmp_path / "skills")
    run(replace(context(tmp_path / "run", tmp_path / "steps", restores=restores), skills=library))
    return {name: library.newest(name) for name in library.names()}


def test_each_proved_sub_goal_becomes_a_skill_with_its_predicate_and_its_start_states(tmp_path: Path) -> None:
    skills = played(tmp_path)
    assert set(skills) == {"grid_door_key_held", "grid_door_door_open"}
    key, door = skills["grid_door_key_held"], skills["grid_door_door_open"]
    assert (key.record.predicate, door.record.predicate) == ("key_held", ""), "the last one ends in the task's success"
    (predicate,) = key.bundle.functions
    assert isinstance(predicate, CodedPredicate)
    assert predicate.source == HELD
    assert all(start.state is None for start in key.record.starts), "it begins at the start of the task"
    assert all(start.state is not None for start in door.record.starts), "it begins where the key is held"
    assert all(skill.record.task == TASK.id for skill in skills.values())
    assert all(skill.record.success is not None and skill.record.success.point == 1 for skill in skills.values())
    assert all(skill.record.horizon == 30 for skill in skills.values())
    assert 0 < key.record.spent_steps < door.record.spent_steps + key.record.spent_steps


@pytest.mark.parametrize("name", ["grid_door_key_held", "grid_door_door_open"])
def test_a_skill_of_a_sub_goal_passes_its_test(name: str, tmp_path: Path) -> None:
    skill, factory = played(tmp_path)[name], functools.partial(made, tmp_path / "steps", -1, True)
    done = retest(skill, factory(TASK), TASK, factory, Origin("grid-plugin", "9"))
    assert done.failure == ""
    assert done.starts
    assert all(start.success and start.steps <= 30 for start in done.starts)


def test_a_sub_goal_whose_start_states_cannot_be_saved_is_not_added(tmp_path: Path) -> None:
    assert set(played(tmp_path, restores=False)) == {"grid_door_key_held"}


def test_a_sub_goal_that_the_run_worked_on_more_than_once_is_not_added(tmp_path: Path) -> None:
    """The episodes of a second visit begin in other states than those of the first visit."""
    library = SkillLibrary(tmp_path / "skills")
    agents = team({"key_held": (IDLE, SOURCES["key_held"]), "door_open": SOURCES["door_open"]})
    run(replace(context(tmp_path / "run", tmp_path / "steps", agents), skills=library))
    assert library.names() == ["grid_door_door_open"]


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ("crafting_table_placed", "minecraft_obtain_d_crafting_table_placed"),
        ("crafting_table_crafted", "minecraft_obtain_crafting_table_crafted"),
        ("a" * 40, "a" * 40),
    ],
)
def test_the_name_of_a_skill_contains_the_whole_name_of_its_sub_goal(node: str, name: str) -> None:
    assert _name("minecraft/obtain_diamond", node) == name


def test_a_resumed_run_adds_no_skill_twice(tmp_path: Path) -> None:
    played(tmp_path)
    (tmp_path / "run" / "report.json").unlink()
    assert all(skill.id.version == 1 for skill in played(tmp_path).values())
