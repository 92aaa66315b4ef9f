"""A run with a planner on the grid world: the sub-goals are to hold the key and to open the door. No language model is
asked, because the agents return fixed code. Tests can start this file as a script and kill it.

    python journey.py FOLDER STEPS RESTORES [AT]

Each primitive step, except the steps of the report, adds a byte to the file STEPS. RESTORES is 1 if the environment's
states can be saved, else 0. Before step number AT the environment kills its process.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
from rlgpt.agents.base import Brief, FastAgent, History
from rlgpt.agents.build import Agents, learning_on
from rlgpt.agents.fixed import FixedPlan, NoCritic
from rlgpt.agents.planner import FixedPlanner, Planner
from rlgpt.domain import ActionPlan, CodedAction, GoalGraph, Rehearsal, RLSetup, SubAction, SubGoal, Task
from rlgpt.loop import LoopContext, LoopSettings, Result, Seeds
from rlgpt.planner import run
from rlgpt.planner.context import PlannedContext, PlannerSettings, planned
from rlgpt.plugin.library import library_of
from rlgpt.plugin.types import StateCodec
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import TASKS, GridPlugin

TASK = TASKS["grid/door"]
SETTINGS = LoopSettings(
    budget=6000,
    iterations=1,
    repairs=0,
    selection_episodes=4,
    confirmation_episodes=2,
    min_decisions=0,
    rehearsal_episodes=1,
    report_episodes=6,
)
HYPERPARAMETERS = Hyperparameters(num_envs=2, num_steps=16, minibatch_size=32, update_epochs=2, hidden=(16,))

GO_AND_USE = """
def run():
    view = yield observe()
    for axis, names in ((0, ("up", "down")), (1, ("left", "right"))):
        delta = view["{goal}"][axis] - view["agent"][axis]
        if delta:
            yield go(direction=names[delta > 0], cells=abs(delta))
    yield use()
"""
BOTH = """
def run():
    for goal in ("key", "door"):
        view = yield observe()
        for axis, names in ((0, ("up", "down")), (1, ("left", "right"))):
            delta = view[goal][axis] - view["agent"][axis]
            if delta:
                yield go(direction=names[delta > 0], cells=abs(delta))
        yield use()
"""
IDLE = "def run():\n    yield use()\n"

HELD = "def done(view, memory):\n    return view['holding']\n"
KEY = SubGoal(name="key_held", goal="The agent holds the key", done=HELD, horizon=30)
DOOR = SubGoal(
    name="door_open",
    goal="The door is open",
    done="def done(view, memory):\n    return False\n",
    needs=("key_held",),
    horizon=30,
)
GRAPH = GoalGraph(nodes=(KEY, DOOR))
SOURCES = {"key_held": GO_AND_USE.format(goal="key"), "door_open": GO_AND_USE.format(goal="door")}


class BySubGoal(FastAgent):
    """A fast agent that returns fixed code.

    :param sources: sub-goal -> its code; a sequence has one source for each iteration.
    """

    def __init__(self, sources: Mapping[str, str | Sequence[str]]) -> None:
        self._sources = sources
        self.briefs: list[Brief] = []

    def write(
        self,
        brief: Brief,
        plan: ActionPlan,
        sub_action: SubAction,
        *,
        written: Sequence[CodedAction],
        attempts: Sequence[Rehearsal],
        history: History,
    ) -> CodedAction:
        self.briefs.append(brief)
        given = self._sources[brief.task.id.rpartition(".")[2].partition("-")[0]]
        source = given if isinstance(given, str) else given[min(len(history), len(given) - 1)]
        return CodedAction(name="act_now", doc="the code of the sub-goal", source=source)

    def setup(self, brief: Brief, plan: ActionPlan, *, actions: Any, history: Any, rehearsals: Any = None) -> RLSetup:
        return brief.default_setup.model_copy(update={"coded_actions": tuple(a.name for a in actions)})


PLAN = ActionPlan(sub_actions=(SubAction(name="act_now", description="act", kind="code", reason="simple"),))


def team(sources: Mapping[str, str | Sequence[str]], **more: Any) -> Agents:
    return Agents("fixed", FixedPlan(PLAN), BySubGoal(sources), NoCritic(), **more)


class Tallied(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Counts primitive steps independently of the tested code. It does not count the episodes of the report."""

    def __init__(self, env: gymnasium.Env[Any, Any], steps: Path, at: int) -> None:
        super().__init__(env)
        self.file, self.at, self.counts = steps, at, True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.counts = seed not in Seeds(0).report(100)
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        if self.counts:
            if counted(self.file) == self.at:
                os.kill(os.getpid(), signal.SIGKILL)
            with self.file.open("ab") as file:
                file.write(b".")
        return super().step(action)


class TalliedPlugin(GridPlugin):
    """The grid world with counted steps. It can kill its process before a given step."""

    def __init__(self, steps: Path, at: int, restores: bool) -> None:
        self.file, self.at, self.restores = steps, at, restores

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return Tallied(super().make_env(task, seed=seed, render_mode=render_mode), self.file, self.at)

    def model(self, env: gymnasium.Env[Any, Any]) -> Any:
        return env.unwrapped

    def states(self, task: Task) -> StateCodec | None:
        return super().states(task) if self.restores else None


def made(steps: Path, at: int, restores: bool, task: Task) -> TalliedPlugin:
    return TalliedPlugin(steps, at, restores)


def context(
    folder: Path,
    steps: Path,
    agents: Agents | None = None,
    *,
    planner: Planner | None = None,
    restores: bool = True,
    at: int = -1,
    planning: PlannerSettings | None = None,
    **settings: Any,
) -> PlannedContext:
    steps.touch()
    agents = agents or team(SOURCES)
    plugin, chosen = TalliedPlugin(steps, at, restores), SETTINGS.model_copy(update=settings)
    exists = Run.exists(folder)
    whole = LoopContext(
        settings=chosen,
        task=TASK,
        plugin=plugin,
        factory=functools.partial(made, steps, at, restores),
        agents=agents,
        trainer=PPO(),
        hyperparameters=HYPERPARAMETERS,
        run=Run.open(folder) if exists else Run.create(folder, task=TASK.id, seed=0, config={}),
        library=library_of(plugin, TASK),
    )
    teams = {"both": agents, "code": team(SOURCES, train=False, evaluate="code"), "rl": learning_on()}
    return planned(whole, planner or FixedPlanner(GRAPH), planning, teams)


def play(folder: Path, steps: Path, *, restores: bool = True, at: int = -1) -> Result:
    return run(context(folder, steps, restores=restores, at=at))


if __name__ == "__main__":
    play(Path(sys.argv[1]), Path(sys.argv[2]), restores=sys.argv[3] == "1", at=int(sys.argv[4]) if sys.argv[4:] else -1)
