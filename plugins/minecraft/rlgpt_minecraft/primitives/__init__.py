"""The primitives for coded actions. Each primitive takes a bounded number of steps, uses only observations and does not
depend on a task.
"""

from __future__ import annotations

from rlgpt.domain import Task
from rlgpt.plugin.types import Primitive

from rlgpt_minecraft.primitives import camera, craft, dig, interact, walk
from rlgpt_minecraft.settings import is_blind
from rlgpt_minecraft.tasks import spec_of

BLOCKS = ("dirt", "cobblestone", "planks", "log")
"""Blocks that a player of a long task has, and can build with."""


def primitives_of(task: Task) -> tuple[Primitive, ...]:
    """Return the primitives of a task. The task determines which things its primitives can look for, craft, place or
    equip.
    """
    spec = spec_of(task)
    if is_blind(task):
        from rlgpt_minecraft import paper

        return paper.primitives(spec)
    blocks = BLOCKS if spec.places else ()
    tools = tuple(dict.fromkeys((*spec.carried, *spec.equips)))
    return (
        *camera.primitives(spec.sights),
        *walk.primitives(spec.sights),
        *interact.primitives((*spec.places, *blocks)),
        *dig.primitives(blocks),
        *craft.primitives(spec.crafts, spec.smelts, tools),
    )
