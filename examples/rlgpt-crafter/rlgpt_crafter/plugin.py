"""Crafter as a plugin of rlgpt: a task with a score and a metric for each achievement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rlgpt.domain import Metric, Plain, RLSetup, Score, Task
from rlgpt.plugin import Context, EnvironmentPlugin, Labels, Primitive, RewardTerm, ViewKey
from rlgpt.plugin.shipped import recordings

if TYPE_CHECKING:
    from pathlib import Path

    import gymnasium

TASK = "crafter/all"
ACHIEVEMENTS = (
    *("collect_coal", "collect_diamond", "collect_drink", "collect_iron", "collect_sapling", "collect_stone"),
    *("collect_wood", "defeat_skeleton", "defeat_zombie", "eat_cow", "eat_plant", "make_iron_pickaxe"),
    *("make_iron_sword", "make_stone_pickaxe", "make_stone_sword", "make_wood_pickaxe", "make_wood_sword"),
    *("place_furnace", "place_plant", "place_stone", "place_table", "wake_up"),
)
"""The names of Crafter's achievements, repeated here, so that the list of tasks does not import Crafter. A test
compares them with Crafter's own names.
"""


def crafter_score(rates: Mapping[str, float]) -> float:
    """Return Crafter's score in percent, ``exp(mean(log(1 + s))) - 1`` over the success rates ``s`` in percent of all
    22 achievements (Hafner 2021, section 3.2).

    :param rates: for each achievement, the share of the training episodes that unlocked it, 0 to 1.
    """
    return math.exp(sum(math.log1p(100 * rates[name]) for name in ACHIEVEMENTS) / len(ACHIEVEMENTS)) - 1


class CrafterPlugin(EnvironmentPlugin):
    """The benchmark Crafter."""

    name = "crafter"
    vectors = "none"

    def tasks(self) -> Mapping[str, Task]:
        task = Task(
            id=TASK,
            goal="Unlock as many different achievements as possible in an episode, and stay alive.",
            horizon=10_000,
            score=Score(unit="points"),
            metrics=tuple(Metric(name=name, doc=f"whether it did: {name}") for name in ACHIEVEMENTS),
        )
        return {task.id: task}

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        from rlgpt.plugin import Judged

        from rlgpt_crafter.env import CrafterEnv

        metrics = {f"achievements.{name}": name for name in ACHIEVEMENTS}
        env = Judged(CrafterEnv(task.horizon, render_mode), task.horizon, success="truncated", metrics=metrics)
        env.reset(seed=seed)
        return env

    def model(self, env: gymnasium.Env[Any, Any]) -> None:
        """Return None, because code must not get information that is not in the observation."""

    def labels(self, task: Task) -> Labels:
        from rlgpt_crafter.env import ACTIONS

        return Labels(ACTIONS)

    def primitives(self, task: Task) -> Sequence[Primitive]:
        from rlgpt_crafter.primitives import PRIMITIVES

        return (*super().primitives(task), *PRIMITIVES)

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        from rlgpt_crafter.env import CELLS, DIRECTIONS, HEIGHT, ITEMS, WIDTH

        return (
            ViewKey("rows", f"{HEIGHT} rows of {WIDTH} names, the player in the middle: rows[3 + down][4 + right]"),
            ViewKey("things", "name -> [[right, down], ...] from the player, the nearest first"),
            ViewKey("ahead", "name of what the player faces"),
            *(ViewKey(item, "0 to 9", size=1) for item in ITEMS),
            ViewKey("facing", ", ".join(DIRECTIONS)),
            ViewKey("sleeping", "1 while asleep", size=1),
            ViewKey("ripe", "1 if the plant ahead can be eaten", size=1),
            ViewKey("daylight", "1 is bright, 0 is night", size=1),
            ViewKey(
                "cells", f"one-hot codes of all cells: {', '.join(CELLS)}", size=HEIGHT * WIDTH * len(CELLS), alone=True
            ),
            ViewKey("direction", "one-hot code of facing", size=len(DIRECTIONS), alone=True),
        )

    def view(self, ctx: Context) -> dict[str, Plain]:
        from rlgpt_crafter.env import CELLS, DIRECTIONS, ITEMS
        from rlgpt_crafter.primitives import THINGS, ahead, places

        seen = ctx.observation
        found = {thing: places(ctx, thing) for thing in THINGS if thing not in ("grass", "sand", "path")}
        return {
            "rows": [[CELLS[code] for code in row] for row in seen["cells"].tolist()],
            "things": {thing: [list(at) for at in cells] for thing, cells in found.items() if cells},
            "ahead": ahead(ctx),
            **dict(zip(ITEMS, seen["items"].astype(int).tolist(), strict=True)),
            "facing": DIRECTIONS[seen["facing"]],
            "sleeping": int(seen["sleeping"]),
            "ripe": int(seen["ripe"]),
            "daylight": round(float(seen["daylight"][0]), 3),
        }

    def policy_view(self, ctx: Context) -> Mapping[str, Any]:
        from rlgpt_crafter.env import CELLS, DIRECTIONS

        seen = ctx.observation
        return {"cells": np.eye(len(CELLS))[seen["cells"]], "direction": np.eye(len(DIRECTIONS))[seen["facing"]]}

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        return (*super().reward_terms(task), RewardTerm("health", "health / 9: what is lost costs", _health))

    def default_setup(self, task: Task) -> RLSetup:
        from rlgpt_crafter.env import ITEMS

        keys = (*ITEMS, "sleeping", "ripe", "daylight", "cells", "direction")
        return RLSetup(reward_weights={"env_reward": 1.0}, observation_keys=keys, interrupt_every=10)

    def knowledge(self, task: Task) -> str:
        return KNOWLEDGE

    def transcripts(self, task: Task) -> Sequence[Path]:
        return recordings("rlgpt_crafter", task)


def _health(ctx: Context) -> float:
    return float(ctx.observation["items"][0]) / 9


KNOWLEDGE = """Each of the 22 achievements pays 1 point when it is unlocked for the first time in an episode; a point of
health gained or lost counts 0.1. Death ends the episode.

`do` on what is ahead: a tree gives wood, water a drink, grass a sapling (one in ten), a cow food after some blows.
Stone and coal need a wood pickaxe, iron a stone pickaxe, diamond an iron pickaxe. A table takes 2 wood, a furnace 4
stone. Next to a table: wood tools take 1 wood, stone tools 1 wood and 1 stone; next to table and furnace: iron tools
take 1 wood, 1 coal, 1 iron. A sapling becomes a plant; it is ripe after some 300 steps, if no creature eats it.

Food, drink and energy fall by 1 in 20 to 30 steps; at 0 health falls. Sleep restores energy; zombies on grass come at
night and hurt sleepers most. Skeletons shoot in caves. A player who walks into lava dies."""
