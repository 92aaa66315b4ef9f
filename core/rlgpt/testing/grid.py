"""A small deterministic environment for tests. The environment has two tasks: pick up the key, and open the door. A
step takes about 10 microseconds.

Rows count downwards and columns count to the right, both from 0 to 6. The seed of a reset places agent, key and door in
three different cells. The action ``use`` picks up the key in the agent's cell, and opens the door in this cell if the
agent holds the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from rlgpt.domain import Parameter, Plain, RLSetup, Task
from rlgpt.errors import ConfigError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.hookspecs import hookimpl
from rlgpt.plugin.states import AttributeStates
from rlgpt.plugin.types import Context, Labels, LowLevel, Primitive, ResetOption, RewardTerm, StateCodec, ViewKey

SIZE = 7
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
DIRECTIONS = tuple(MOVES)
USE = len(MOVES)

SETTINGS = {"slip": 0.0}
"""The settings of a task: ``slip`` is the probability that a move fails, 0 to 1."""
TASKS = {
    f"grid/{name}": Task(id=f"grid/{name}", goal=goal, horizon=horizon, success=success, settings=SETTINGS)
    for name, goal, horizon, success in (
        ("key", "pick up the key", 40, "the agent holds the key"),
        ("door", "open the door with the key", 80, "the door is open"),
    )
}

FETCH = """
def run():
    view = yield observe()
    for axis, names in ((0, ("up", "down")), (1, ("left", "right"))):
        delta = view["key"][axis] - view["agent"][axis]
        if delta:
            yield go(direction=names[delta > 0], cells=abs(delta))
    yield use()
"""
"""Source of a coded action that solves ``grid/key``."""

Cell = tuple[int, int]


def distance(a: Cell, b: Cell) -> int:
    """The number of moves from ``a`` to ``b``."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


class GridEnv(gymnasium.Env[np.ndarray, np.int64]):
    """Observation ``Box(0, 1, (7,))``: row and column of agent, key and door, each divided by 6, and key held (0 or 1).

    If the option ``start`` of ``reset`` is ``near_key``, the agent begins beside the key. The reward is 1 at the
    success, else 0.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012 - gymnasium's own

    def __init__(self, goal: str = "key", horizon: int = 40, render_mode: str | None = None, slip: float = 0.0) -> None:
        self.goal, self.horizon, self.render_mode, self.slip = goal, horizon, render_mode, slip
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (7,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(MOVES) + 1)
        self.agent: Cell = (0, 0)
        self.key: Cell = (0, 1)
        self.door: Cell = (0, 2)
        self.holding = self.opened = False
        self.steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = self.np_random.choice(SIZE * SIZE, size=3, replace=False)
        self.agent, self.key, self.door = ((int(i) // SIZE, int(i) % SIZE) for i in drawn)
        if options and options.get("start") == "near_key":
            beside = ((self.key[0] + row, self.key[1] + column) for row, column in MOVES.values())
            self.agent = next(c for c in beside if min(c) >= 0 and max(c) < SIZE and c != self.door)
        self.holding = self.opened = False
        self.steps = 0
        return self._observation(), {"success": False}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        if int(action) == USE:
            self.opened |= self.holding and self.agent == self.door
            self.holding |= self.agent == self.key
        elif not self.slip or self.np_random.random() >= self.slip:
            row, column = MOVES[DIRECTIONS[int(action)]]
            self.agent = (
                min(max(self.agent[0] + row, 0), SIZE - 1),
                min(max(self.agent[1] + column, 0), SIZE - 1),
            )
        success = self.holding if self.goal == "key" else self.opened
        truncated = self.steps >= self.horizon and not success
        return self._observation(), float(success), success, truncated, {"success": success}

    def render(self) -> np.ndarray | None:
        """The picture ``[112, 112, 3]`` has cells of 16 pixels; the agent is red (orange with the key), the key yellow,
        and the door green.
        """
        if self.render_mode is None:
            return None
        image = np.full((SIZE, SIZE, 3), 235, np.uint8)
        image[self.door] = (60, 160, 60)
        if not self.holding:
            image[self.key] = (230, 190, 40)
        image[self.agent] = (240, 120, 40) if self.holding else (200, 50, 50)
        return image.repeat(16, axis=0).repeat(16, axis=1)

    def _observation(self) -> np.ndarray:
        cells = np.array([*self.agent, *self.key, *self.door], np.float32) / (SIZE - 1)
        return np.append(cells, np.float32(self.holding))


def _go(ctx: Context, direction: str, cells: int) -> LowLevel:
    start: Cell = ctx.model.agent
    for _ in range(cells):
        before = ctx.model.agent
        yield DIRECTIONS.index(direction)
        if ctx.model.agent == before:
            break
    moved = distance(start, ctx.model.agent)
    return {"moved": moved, "blocked": moved < cells}


def _use(ctx: Context) -> LowLevel:
    before = (ctx.model.holding, ctx.model.opened)
    yield USE
    return {"changed": (ctx.model.holding, ctx.model.opened) != before, "holding": ctx.model.holding}


def _closeness(a: Cell, b: Cell) -> float:
    return 1.0 - distance(a, b) / (2 * (SIZE - 1))


def _near_key(ctx: Context) -> float:
    return 1.0 if ctx.model.holding else _closeness(ctx.model.agent, ctx.model.key)


def _near_door(ctx: Context) -> float:
    return _closeness(ctx.model.agent, ctx.model.door) if ctx.model.holding else 0.0


class GridPlugin(EnvironmentPlugin):
    """The plugin of the grid environment, which overrides most methods of a plugin, each in a few lines."""

    name = "grid"

    def tasks(self) -> Mapping[str, Task]:
        return TASKS

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> GridEnv:
        slip = task.settings.get("slip", 0.0)
        if not isinstance(slip, int | float) or not 0 <= slip <= 1:
            raise ConfigError(f"task_settings.slip of {task.id} is {slip!r}; valid: a number from 0 to 1.")
        env = GridEnv(task.id.split("/")[1], task.horizon, render_mode, slip)
        env.reset(seed=seed)
        return env

    def primitives(self, task: Task) -> Sequence[Primitive]:
        direction = Parameter(name="direction", kind="choice", choices=DIRECTIONS, default="up", doc="where to")
        cells = Parameter(name="cells", kind="int", low=1, high=SIZE - 1, default=1, unit="cells", doc="how far")
        go = Primitive(
            "go",
            "Go straight until `cells` are walked or the wall is met; one step a cell. Outcome: moved, blocked.",
            _go,
            (direction, cells),
            {"moved": "cells walked", "blocked": "whether the wall was met first"},
            max_steps=SIZE,
        )
        use = Primitive(
            "use",
            "Pick up the key if it lies here; open the door if it is here and the key is held. One step. "
            "Outcome: changed, holding.",
            _use,
            (),
            {"changed": "whether anything happened", "holding": "whether the key is held now"},
            max_steps=1,
        )
        return go, use

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        return (
            ViewKey("agent", "row and column of the agent, 0 to 6", "cells", size=2),
            ViewKey("key", "row and column where the key lay at the start", "cells", size=2),
            ViewKey("door", "row and column of the door", "cells", source="privileged", size=2),
            ViewKey("holding", "whether the key is held", size=1),
            ViewKey("map", "the grid as text, a line for each row: A agent, K key, D door", size=0),
        )

    def view(self, ctx: Context) -> dict[str, Plain]:
        world: GridEnv = ctx.model
        rows = [["."] * SIZE for _ in range(SIZE)]
        for letter, (row, column) in (("D", world.door), ("K", world.key), ("A", world.agent)):
            if not (letter == "K" and world.holding):
                rows[row][column] = letter
        return {
            "agent": list(world.agent),
            "key": list(world.key),
            "door": list(world.door),
            "holding": world.holding,
            "map": "\n".join("".join(row) for row in rows),
        }

    def noop(self, action_space: gymnasium.Space[Any], ctx: Context) -> int:
        """The idle action of the grid is ``use``, which has an effect only in the cells of key and door."""
        return USE

    def summarize(self, view: Mapping[str, Plain]) -> str:
        held = "held" if view["holding"] else f"at {view['key']}"
        return f"The agent is at {view['agent']}, the key {held}, the door at {view['door']}."

    def labels(self, task: Task) -> Labels:
        return Labels((*DIRECTIONS, "use"))

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        own = tuple(super().reward_terms(task))
        near_key = RewardTerm("near_key", "closeness to the key (1 once it is held)", _near_key)
        holding = RewardTerm("holding", "the key is held", lambda ctx: float(ctx.model.holding), kind="event")
        if task.id == "grid/key":
            return (*own, near_key, holding)
        near_door = RewardTerm("near_door", "closeness to the door, from when the key is held", _near_door)
        return (*own, near_key, holding, near_door)

    def default_setup(self, task: Task) -> RLSetup:
        weights = {"env_reward": 1.0, "near_key": 1.0}
        if task.id == "grid/door":
            weights["near_door"] = 1.0
        return RLSetup(reward_weights=weights, observation_keys=("agent", "key", "door", "holding"))

    def reset_options(self, task: Task) -> Sequence[ResetOption]:
        return (ResetOption("near_key", "the agent starts beside the key", {"start": "near_key"}),)

    def states(self, task: Task) -> StateCodec:
        return AttributeStates()

    def knowledge(self, task: Task) -> str:
        return "Rows count downwards, columns to the right. There are no walls but the border of the 7 by 7 grid."


def grid_plugin(task: Task) -> GridPlugin:
    """A factory of the grid's plugin for the field ``factory`` of :class:`rlgpt.rl.base.EnvSpec`. It can be pickled."""
    return GridPlugin()


@hookimpl
def rlgpt_plugins() -> list[EnvironmentPlugin]:
    """The hook that offers the grid's plugin, for tests that use the plugin manager."""
    return [GridPlugin()]
