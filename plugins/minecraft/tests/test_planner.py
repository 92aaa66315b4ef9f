"""A crafting table as a graph of sub-goals: a log, planks, the table. Fixed agents write the code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rlgpt.agents.base import Brief, FastAgent
from rlgpt.agents.build import Agents
from rlgpt.agents.fixed import FixedPlan, NoCritic
from rlgpt.agents.planner import FixedPlanner
from rlgpt.config.build import build
from rlgpt.config.environment import Objects
from rlgpt.config.run_config import RunConfig
from rlgpt.config.runs import begin
from rlgpt.domain import ActionPlan, CodedAction, GoalGraph, RLSetup, SubAction, SubGoal
from rlgpt.planner import run
from rlgpt.planner.records import Starts
from rlgpt.planner.stored import kept_of
from rlgpt.plugin import PluginManager

CHOP = """
def run():
    around = yield scan(target="log")
    if not around.get("found"):
        yield explore(steps=40)
        return
    yield turn(degrees=around["bearing"])
    yield approach(target="log", within=2.5)
    look = yield look_at(target="log")
    if not look.get("aimed"):
        yield walk(metres=0.5)
        look = yield look_at(target="log")
        if not look.get("aimed"):
            yield explore(steps=10)
            return
    for _ in range(3):
        mined = yield mine(ticks=40)
        if mined.get("broken"):
            break
    yield collect()
"""
SOURCES = {
    "log_held": CHOP,
    "planks_held": "def run():\n    yield craft(item='planks')\n",
    "table_made": "def run():\n    yield craft(item='crafting_table')\n",
}


def goal(name: str, done: str, horizon: int, *needs: str) -> SubGoal:
    source = f"def done(view, memory):\n    return {done}\n"
    return SubGoal(name=name, goal=name.replace("_", " "), done=source, needs=needs, horizon=horizon, kind="code")


GRAPH = GoalGraph(
    nodes=(
        goal("log_held", "view['log_count'] >= 1", 1_500),
        goal("planks_held", "view['planks_count'] >= 4", 50, "log_held"),
        goal("table_made", "view['crafting_table_count'] >= 1", 50, "planks_held"),
    )
)


class Writer(FastAgent):
    def write(self, brief: Brief, *args: Any, **more: Any) -> CodedAction:
        source = SOURCES[brief.task.id.rpartition(".")[2]]
        return CodedAction(name="act_now", doc="the code of the sub-goal", source=source, max_steps=400)

    def setup(self, brief: Brief, plan: ActionPlan, *, actions: Sequence[CodedAction], **more: Any) -> RLSetup:
        return brief.default_setup


@pytest.mark.slow
def test_graph_of_log_planks_and_table_makes_a_crafting_table(tmp_path: Path) -> None:
    plan = ActionPlan(sub_actions=(SubAction(name="act_now", description="", kind="code", reason=""),))
    config = RunConfig(
        task="minecraft/crafting_table",
        budget=40_000,
        iterations=1,
        selection_episodes=3,
        confirmation_episodes=0,
        rehearsal_episodes=1,
        report_episodes=5,
        folder=str(tmp_path / "run"),
        observers={},
    )
    team = Agents("fixed", FixedPlan(plan), Writer(), NoCritic())
    objects = Objects(agents=team, planner=FixedPlanner(GRAPH))
    context = begin(build(config, tmp_path / "run", PluginManager(), objects=objects))
    assert run(context).report is not None
    assert context.run.record.success_rate is not None
    assert context.run.record.success_rate >= 0.8
    assert context.run.record.steps.total <= 40_000
    kept = kept_of(context.run)
    assert kept is not None
    figures = {f.name: f for f in kept.evidence.figures}
    assert figures["planks_held"].done >= 4
    assert figures["log_held"].steps > figures["table_made"].steps
    assert not kept.evidence.disagreements
    starts = context.run.stage("rounds/1/starts", Starts)
    assert starts is not None
    assert starts.states, "planks begin in states with a log, which the first sub-goal really reached"
