"""Makes skills of the grid world without a run."""

from __future__ import annotations

from typing import Any

from rlgpt.domain import Bundle, CodedAction, CodedFunction
from rlgpt.plugin.library import library_of
from rlgpt.skills import SkillId, SkillRecord, Start, Wanted, needs_of
from rlgpt.testing.grid import FETCH, TASKS, GridPlugin

PLUGIN = GridPlugin()
SPACE = "Discrete(5): one of 5 choices"
ORIGIN = ("grid-plugin", "0.1")


def wanted(task: str = "grid/key", **more: Any) -> Wanted:
    found = TASKS[task]
    return Wanted(found, library_of(PLUGIN, found), SPACE, **more)


def made(
    name: str,
    *,
    task: str = "grid/key",
    goal: str = "",
    source: str = FETCH,
    action: str = "",
    functions: tuple[CodedFunction, ...] = (),
    successes: tuple[bool, ...] = (True,) * 20,
    **more: Any,
) -> tuple[Bundle, SkillRecord]:
    """A bundle with one action, and its record."""
    actions = (CodedAction(name=action or name, doc=f"do {name}", source=source, max_steps=40),)
    library = library_of(PLUGIN, TASKS[task])
    return Bundle(actions=actions, functions=functions), SkillRecord(
        id=SkillId(name=name, version=1),
        goal=goal or TASKS[task].goal,
        task=task,
        plugin=ORIGIN[0],
        version_of_plugin=ORIGIN[1],
        needs=needs_of("grid", SPACE, library, actions, functions),
        starts=tuple(Start(seed=600_000 + i, success=s, steps=12) for i, s in enumerate(successes)),
        created="2026-11-23T12:00:00+00:00",
        **more,
    )
