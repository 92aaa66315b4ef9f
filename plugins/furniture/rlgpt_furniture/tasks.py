"""The tasks. Each task has a kind of furniture, a randomness of the start poses and a horizon."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.domain import Task

_TASKS: Mapping[str, tuple[str, int, str]] = {
    "one_leg": ("Put the leg into one of the four holes of the table top.", 600, "the leg sits in a hole"),
    "square_table": ("Put the four legs into the holes of the table top.", 2400, "every leg sits in a hole"),
    "desk": ("Put the four legs into the holes of the desk's top.", 2400, "every leg sits in a hole"),
    "lamp": (
        "Put the bulb into the lamp's base, then the hood over the bulb onto the base.",
        1000,
        "the bulb sits in the base and the hood stands on the base",
    ),
}
RANDOMNESS = ("low", "medium", "high")
DEFAULTS: Mapping[str, str | float | bool] = {
    "randomness": "low",
    "joints": "peg",
    "clearance": 0.0012,
    "control": "hand",
    "cameras": False,
    "tag_error": 0.0,
}
"""Settings that every task has in addition to its furniture, with their defaults."""
_RULE = "within 5 mm along each axis, and the cosine of each axis is at least 0.94"


def make_tasks() -> dict[str, Task]:
    """Return every task by its id. The start poses of the task ``name`` have a low randomness; those of ``name_medium``
    and ``name_high`` have a higher one.
    """
    tasks = {}
    for name, (goal, horizon, success) in _TASKS.items():
        for randomness in RANDOMNESS:
            task = f"furniture/{name}" + ("" if randomness == "low" else f"_{randomness}")
            tasks[task] = Task(
                id=task,
                goal=goal,
                horizon=horizon,
                success=f"{success}: {_RULE}",
                settings={"furniture": name, **DEFAULTS, "randomness": randomness},
            )
    return tasks


def furniture_of(task: str) -> str | None:
    """Return the name of the furniture of a task by the task's id, or None if :func:`make_tasks` has no task with this
    id.
    """
    name = task.removeprefix("furniture/").removesuffix("_medium").removesuffix("_high")
    return name if name in _TASKS else None
