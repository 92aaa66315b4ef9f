"""The corridor as a plugin of rlgpt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlgpt.domain import Parameter, Plain, RLSetup, Task
from rlgpt.plugin import (
    AttributeStates,
    Context,
    EnvironmentPlugin,
    Labels,
    LowLevel,
    Primitive,
    ResetOption,
    RewardTerm,
    StateCodec,
    ViewKey,
)

if TYPE_CHECKING:
    import gymnasium

BACK, STAY, FORWARD = 0, 1, 2
GOAL = "Leave the corridor; its door opens when the switch is pressed."
SUCCESS = "the agent is 9 m or more along the corridor"


class CorridorPlugin(EnvironmentPlugin):
    """A plugin with two tasks, which are a corridor and a slippery corridor."""

    name = "corridor"

    def tasks(self) -> Mapping[str, Task]:
        tasks = (
            Task(id="corridor/exit", goal=GOAL, horizon=120, success=SUCCESS, settings={"slip": 0.0}),
            Task(id="corridor/exit_slippery", goal=GOAL, horizon=150, success=SUCCESS, settings={"slip": 0.2}),
        )
        return {task.id: task for task in tasks}

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        from gymnasium.wrappers import TimeLimit
        from rlgpt.errors import ConfigError

        from rlgpt_corridor.env import CorridorEnv

        slip = task.settings["slip"]
        if not isinstance(slip, int | float) or not 0 <= slip < 1:
            raise ConfigError(f"task_settings.slip of {task.id} is {slip!r}; valid: a number from 0 to less than 1.")
        env = TimeLimit(CorridorEnv(slip=slip, render_mode=render_mode), task.horizon)
        env.reset(seed=seed)
        return env

    def labels(self, task: Task) -> Labels:
        return Labels(("walk", "hand"))

    def primitives(self, task: Task) -> Sequence[Primitive]:
        x = Parameter(name="x", low=0, high=10, default=5, unit="m", doc="where to")
        return (
            Primitive(
                "walk_to",
                "Walk to x, 0.25 m a step, until 0.125 m from it or blocked. Outcome: x, arrived.",
                _walk_to,
                (x,),
                {"x": "where the agent is now, m", "arrived": "whether that is within 0.125 m of x"},
                max_steps=60,
            ),
            Primitive(
                "press",
                "Stand and press with the hand, for one step; the switch must be within 0.2 m. Outcome: open.",
                _press,
                (),
                {"open": "whether the door is open now"},
                max_steps=1,
            ),
        )

    def view_keys(self, task: Task) -> Sequence[ViewKey]:
        return (
            ViewKey("x", "where the agent is, 0 to 10", "m", size=1),
            ViewKey("switch", "where the switch is", "m", size=1),
            ViewKey("open", "whether the door is open", size=1),
        )

    def view(self, ctx: Context) -> dict[str, Plain]:
        world = ctx.model
        return {"x": world.x, "switch": world.switch, "open": world.open}

    def summarize(self, view: Mapping[str, Plain]) -> str:
        door = "open" if view["open"] else "shut"
        return f"The agent is at {view['x']:.2f} m, the switch at {view['switch']:.2f} m, the door at 6 m is {door}."

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]:
        own = super().reward_terms(task)
        near_switch = RewardTerm("near_switch", "closeness to the switch; 1 once the door is open", _near_switch)
        near_exit = RewardTerm("near_exit", "closeness to the exit, from when the door is open", _near_exit)
        return (*own, near_switch, near_exit)

    def default_setup(self, task: Task) -> RLSetup:
        weights = {"env_reward": 1.0, "near_switch": 1.0, "near_exit": 1.0}
        return RLSetup(reward_weights=weights, observation_keys=("x", "switch", "open"))

    def reset_options(self, task: Task) -> Sequence[ResetOption]:
        return (ResetOption("door_open", "the door is open from the start", {"door": "open"}),)

    def states(self, task: Task) -> StateCodec:
        return AttributeStates(constants=["slip"])

    def knowledge(self, task: Task) -> str:
        slips = " One stride in five slips and moves nothing." if task.settings["slip"] else ""
        return f"The door at 6 m blocks the way until it is open; it stays open. The exit is at 9 m.{slips}"


def _walk_to(ctx: Context, x: float) -> LowLevel:
    world = ctx.model
    for _ in range(60):
        if abs(world.x - x) <= 0.125 or (not world.open and x > 6.0 and world.x == 6.0):
            break
        yield (FORWARD if x > world.x else BACK), 0
    return {"x": world.x, "arrived": abs(world.x - x) <= 0.125}


def _press(ctx: Context) -> LowLevel:
    yield STAY, 1
    return {"open": ctx.model.open}


def _near_switch(ctx: Context) -> float:
    return 1.0 if ctx.model.open else 1.0 - abs(ctx.model.x - ctx.model.switch) / 10.0


def _near_exit(ctx: Context) -> float:
    return max(0.0, 1.0 - abs(9.0 - ctx.model.x) / 9.0) if ctx.model.open else 0.0
