"""The plugin's only task."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.domain import Metric, Score, Task

from rlgpt_craftax.names import ACHIEVEMENTS

HORIZON = 10_000
"""Primitive steps of an episode. The benchmark ends an episode after 100,000, so a return can only be lower here."""

SYMBOLIC = "craftax/symbolic"


def make_tasks() -> Mapping[str, Task]:
    """Make the Craftax task, whose goal is the benchmark's own goal."""
    task = Task(
        id=SYMBOLIC,
        goal="Unlock as many different achievements of the game as possible before the player dies: collect, craft, "
        "eat, drink, sleep, fight, and descend through the floors below the ground.",
        horizon=HORIZON,
        score=Score(unit="points"),
        metrics=(
            Metric(name="floor", doc="the deepest floor reached, 0 to 8", reduce="max"),
            Metric(name="steps", unit="steps", doc="how long the episode lasted", reduce="last"),
            *(Metric(name=name, doc=f"1 if the achievement {name} was unlocked") for name in ACHIEVEMENTS),
        ),
    )
    return {task.id: task}
