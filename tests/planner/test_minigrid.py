"""``design()`` on MiniGrid's DoorKey environment with a graph of three sub-goals: key, door, goal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from rlgpt import design, extend
from rlgpt.agents.build import Agents
from rlgpt.agents.fixed import FixedPlan, NoCritic
from rlgpt.domain import ActionPlan, SubAction
from rlgpt.options import load_bundle
from rlgpt.planner import GraphPolicy
from rlgpt.planner.build import read_graph
from rlgpt.planner.stored import kept_of
from rlgpt.report import write_page
from rlgpt.runs import Run

pytest.importorskip("minigrid")
from journey import BySubGoal

EXAMPLES = Path(__file__).parents[2] / "examples" / "design"
sys.path.insert(0, str(EXAMPLES))
WRITTEN = {"key_taken": "get_key", "door_open": "open_door", "at_goal": "walk_to_goal"}


class Writer(BySubGoal):
    """A fast agent that returns the stored action for each sub-goal."""

    def write(self, brief: Any, plan: Any, sub_action: Any, **more: Any) -> Any:
        named = super().write(brief, plan, sub_action, **more)
        return named.model_copy(update={"max_steps": 40})


def test_design_with_a_graph_file_reaches_key_door_and_goal(tmp_path: Path) -> None:
    import worlds

    sources = {a.name: a.source for a in load_bundle(EXAMPLES / "bundles" / "doorkey").actions}
    writer = Writer({goal: sources[action] for goal, action in WRITTEN.items()})
    plan = ActionPlan(sub_actions=(SubAction(name="act_now", description="", kind="code", reason=""),))
    world = worlds.WORLDS["doorkey"]
    bundle = design(
        agents=Agents("fixed", FixedPlan(plan), writer, NoCritic()),
        planner={"name": "graph", "file": str(EXAMPLES / "graph_doorkey.json")},
        folder=tmp_path / "run",
        budget=6_000,
        iterations=1,
        selection_episodes=4,
        confirmation_episodes=0,
        rehearsal_episodes=1,
        report_episodes=6,
        trial=0,
        observers={},
        **world.described,
    )
    run = Run.open(tmp_path / "run")
    assert run.record.status == "finished"
    assert run.record.success_rate == 1
    kept = kept_of(run)
    assert kept is not None
    assert {f.name: (f.calls, f.done) for f in kept.evidence.figures} == dict.fromkeys(WRITTEN, (6, 6))
    assert not kept.evidence.edges
    assert "direction" in writer.briefs[1].start
    env = extend(worlds.doorkey(), bundle)
    policy = GraphPolicy(bundle, env)
    env.reset(seed=123)
    policy.reset()
    order = []
    while True:
        _, reward, terminated, truncated, _ = env.step(policy.act())
        order.append(policy.sub_goal)
        if terminated or truncated:
            break
    assert terminated
    assert reward > 0
    assert order == ["key_taken", "door_open", "at_goal"]
    write_page([run.folder], tmp_path / "page.html")
    assert "door_open" in (tmp_path / "page.html").read_text()
    assert read_graph(EXAMPLES / "graph_doorkey.json") == kept.graph
