"""Defines an environment with a choice between two rewards, one near and one far. The better choice depends on whether
an option of k steps is discounted by gamma^k.

The cells 0..K form a row, K = 10. The base action ``take`` ends the episode; its reward is NEAR = 0.6 in cell 0, FAR =
1.0 in cell K and 0 elsewhere. The base action ``forward`` moves the agent one cell (in cell K the agent stays) with
reward 0. The option ``walk`` moves to cell K with reward 0. From cell 0, ``walk`` lasts k = K = 10 primitive steps, and
its discounted reward is R = 0. In cell K the best choice is ``take``, with the value V(K) = 1.

In cell 0 with gamma = 0.9, the branch ``take`` has the value Q = 0.6. With the semi-Markov discount, the branch
``walk`` has the value R + gamma^k V(K) = 0 + 0.9^10 * 1 = 0.3487 (Sutton, Precup and Singh 1999, section 3). If gamma
is applied once for each decision, ``walk`` has the value R + gamma V(K) = 0 + 0.9 * 1 = 0.9.

A learner with the semi-Markov discount takes the near reward, as a learner with primitive actions does (ten ``forward``
are worth 0.3487 too). A learner that applies gamma only once for each decision chooses the option ``walk``. The margins
are 0.25 and 0.3. ``info["success"]`` is true if the near reward was taken. The success rate is 1 for a learner with the
semi-Markov discount and 0 for a learner without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from rlgpt.domain import CodedAction, Parameter, Plain, RLSetup, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.hookspecs import hookimpl
from rlgpt.plugin.types import Context, Labels, LowLevel, Primitive, ViewKey

CELLS = 10
NEAR, FAR = 0.6, 1.0
GAMMA = 0.9
FORWARD, TAKE = 0, 1

TASK = Task(
    id="fork/near",
    goal="take the reward that is worth more today",
    horizon=3 * CELLS,
    success="the near reward was taken",
)

WALK = CodedAction(
    name="walk",
    doc="Walk to the last cell.",
    source=(
        "def can_start(view):\n"
        f"    return view['cell'] < {CELLS}\n\n"
        "def run():\n"
        "    view = yield observe()\n"
        f"    yield forward(cells={CELLS} - view['cell'])\n"
    ),
    max_steps=CELLS,
)

SETUP = RLSetup(
    reward_weights={"env_reward": 1.0}, observation_keys=("observation",), coded_actions=("walk",), gamma=GAMMA
)


def values(*, semi_markov: bool) -> dict[str, float]:
    """The values of the two branches in cell 0, as the docstring of the module derives them."""
    return {"take": NEAR, "walk": GAMMA ** (CELLS if semi_markov else 1) * FAR}


class ForkEnv(gymnasium.Env[np.ndarray, np.int64]):
    """Observation ``Box(0, 1, (3,))``: cell / K, in cell 0, in cell K. Actions: ``forward`` and ``take``."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - gymnasium's own attribute
    render_mode = None

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (3,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.cell = 0
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell = self._steps = 0
        return self._observation(), {"success": False}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        took = int(action) == TAKE
        reward = {0: NEAR, CELLS: FAR}.get(self.cell, 0.0) if took else 0.0
        success = took and self.cell == 0
        if not took:
            self.cell = min(self.cell + 1, CELLS)
        truncated = self._steps >= TASK.horizon and not took
        return self._observation(), reward, took, truncated, {"success": success}

    def _observation(self) -> np.ndarray:
        return np.array([self.cell / CELLS, self.cell == 0, self.cell == CELLS], np.float32)


def _forward(ctx: Context, cells: int) -> LowLevel:
    for _ in range(cells):
        yield FORWARD
    return {"cell": ctx.model.cell}


class ForkPlugin(EnvironmentPlugin):
    """The plugin of :class:`ForkEnv`, with ``forward(cells)`` as its only primitive."""

    name = "fork"

    def tasks(self) -> Mapping[str, Task]:
        return {TASK.id: TASK}

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> ForkEnv:
        return ForkEnv()

    def primitives(self, task: Task) -> Sequence[Primitive]:
        cells = Parameter(name="cells", kind="int", low=0, high=CELLS, default=1, unit="cells", doc="how many")
        doc = "Go forward by some cells. Outcome: cell."
        return (Primitive("forward", doc, _forward, (cells,), {"cell": "where it stands now, cells"}, CELLS),)

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        return (
            ViewKey("cell", f"where the agent stands, 0 to {CELLS}", "cells", size=1),
            ViewKey("observation", "cell / 10, in the first cell, in the last cell", size=3),
        )

    def view(self, ctx: Context) -> dict[str, Plain]:
        return {"cell": ctx.model.cell, "observation": [float(x) for x in ctx.observation]}

    def summarize(self, view: Mapping[str, Plain]) -> str:
        return f"in cell {view['cell']} of {CELLS}"

    def labels(self, task: Task) -> Labels:
        return Labels(("forward", "take"))

    def default_setup(self, task: Task) -> RLSetup:
        return SETUP.model_copy(update={"coded_actions": ()})


def fork_plugin(task: Task) -> ForkPlugin:
    """A factory of ForkPlugin for the field ``factory`` of :class:`rlgpt.rl.base.EnvSpec`. It can be pickled."""
    return ForkPlugin()


@hookimpl
def rlgpt_plugins() -> list[EnvironmentPlugin]:
    """The hook that offers ForkPlugin, for tests that use the plugin manager."""
    return [ForkPlugin()]
