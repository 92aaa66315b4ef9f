"""Runs with a planner: work on each sub-goal, the executor, the evidence for revisions, resumed runs, the bundle."""

from __future__ import annotations

import dataclasses
import json
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from journey import (
    BOTH,
    DOOR,
    GRAPH,
    IDLE,
    KEY,
    SETTINGS,
    SOURCES,
    TASK,
    BySubGoal,
    TalliedPlugin,
    context,
    play,
    team,
)
from rlgpt import extend
from rlgpt.agents.base import Brief
from rlgpt.agents.planner import Check, FixedPlanner, Planner
from rlgpt.domain import Bundle, BundledGraph, CodedAction, GoalGraph, GraphEvidence, SubGoal
from rlgpt.errors import BundleError
from rlgpt.executors.local import InProcess
from rlgpt.loop import Seeds
from rlgpt.options import load_bundle
from rlgpt.planner import GraphPolicy, PlannerSettings, run
from rlgpt.planner.player import Actor, GraphPlayer
from rlgpt.planner.records import Decision, Playing, Starts
from rlgpt.planner.stored import kept_of, newest
from rlgpt.planner.sub_task import Part, PartFactory, task_of
from rlgpt.report import write_page
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.sandbox import SandboxLimits
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import USE, GridPlugin

JOURNEY = Path(__file__).parent / "journey.py"


@pytest.mark.parametrize("restores", [True, False])
def test_sub_goal_starts_in_states_that_earlier_sub_goals_reached_and_all_steps_count(
    tmp_path: Path, restores: bool
) -> None:
    agents = team(SOURCES)
    ctx = context(tmp_path / "run", tmp_path / "steps", agents, restores=restores)
    result = run(ctx)
    assert result.report is not None
    assert result.report.evaluation.success_rate == 1
    record = Run.open(tmp_path / "run").record
    assert (record.status, record.success_rate) == ("finished", 1)
    assert record.steps.total == counted(tmp_path / "steps")
    assert isinstance(agents.fast, BySubGoal)
    key, door = agents.fast.briefs
    assert key.task.id == "grid/door.key_held"
    assert door.task.id == "grid/door.door_open"
    assert "holding=false" in key.start
    assert "holding=true" in door.start
    starts = ctx.run.stage("rounds/1/starts", Starts)
    assert starts is not None
    assert (starts.own, starts.later, bool(starts.states)) == (0, 16, restores)
    kept = kept_of(ctx.run)
    assert kept is not None
    figures = {f.name: f for f in kept.evidence.figures}
    assert (figures["key_held"].alone, figures["key_held"].mode, figures["key_held"].done) == (1, "code", 6)
    assert kept.evidence.disagreements == 6, "the predicate of the last sub-goal is never True, and the task succeeded"


def test_sub_goal_that_never_succeeds_is_worked_on_again_before_the_next_sub_goal(tmp_path: Path) -> None:
    agents = team({**SOURCES, "key_held": (IDLE, SOURCES["key_held"])}, train=False, evaluate="code")
    ctx = context(tmp_path / "run", tmp_path / "steps", agents)
    assert run(ctx).report is not None
    decisions = [ctx.run.stage(f"rounds/{k}/decision", Decision) for k in range(4)]
    assert [(d.kind, d.node) for d in decisions if d] == [
        ("work", "key_held"),
        ("work", "key_held"),
        ("work", "door_open"),
        ("play", None),
    ]
    assert ctx.run.record.success_rate == 1


class Revising(Planner):
    """A planner whose first graph has a predicate that is never True. Its revision corrects the predicate."""

    def __init__(self) -> None:
        self.evidence: list[GraphEvidence] = []

    def plan(self, brief: Brief, check: Check) -> GoalGraph:
        return GoalGraph(nodes=(KEY.model_copy(update={"done": DOOR.done}), DOOR))

    def revise(self, brief: Brief, graph: GoalGraph, evidence: GraphEvidence, check: Check, revision: int) -> GoalGraph:
        self.evidence.append(evidence)
        assert not check(GRAPH)
        return GRAPH


def test_failing_graph_is_revised_and_played_again(tmp_path: Path) -> None:
    planner = Revising()
    agents = team(SOURCES, train=False, evaluate="code")
    ctx = context(tmp_path / "run", tmp_path / "steps", agents, planner=planner, planning=PlannerSettings(visits=1))
    assert run(ctx).report is not None
    kept = kept_of(ctx.run)
    assert kept is not None
    assert (kept.revision, [n.label for n in kept.graph.nodes]) == (1, ["key_held-1", "door_open"])
    assert ctx.run.record.success_rate == 1
    (evidence,) = planner.evidence
    assert {f.name: f.alone for f in evidence.figures} == {"key_held": 0, "door_open": None}
    assert ctx.run.record.steps.total == counted(tmp_path / "steps")


class Locked(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The door does not open in the episode of the newest reset. It opens in episodes that begin in a saved state of an
    earlier episode, because a saved state contains the attribute ``episode``.
    """

    newest = episode = 0

    def reset(self, **how: Any) -> Any:
        self.episode = Locked.newest = Locked.newest + 1
        return super().reset(**how)

    def step(self, action: Any) -> Any:
        locked = self.episode == Locked.newest and self.get_wrapper_attr("holding")
        return super().step(0 if locked and action == USE else action)


class Unhelpful(Planner):
    """A planner whose revision is the graph without a change."""

    def plan(self, brief: Brief, check: Check) -> GoalGraph:
        return GRAPH

    def revise(self, brief: Brief, graph: GoalGraph, evidence: GraphEvidence, check: Check, revision: int) -> GoalGraph:
        assert {f.name: f.alone for f in evidence.figures}["door_open"] > 0.7
        return graph


def test_sub_goal_that_fails_only_in_the_graph_is_revised_and_not_worked_on_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_env = TalliedPlugin.make_env
    monkeypatch.setattr(TalliedPlugin, "make_env", lambda *given, **more: Locked(make_env(*given, **more)))
    agents = team(SOURCES, train=False, evaluate="code")
    ctx = context(tmp_path / "run", tmp_path / "steps", agents, planner=Unhelpful(), iterations=2, target_success=0.7)
    assert run(ctx).report is not None
    decisions = [ctx.run.stage(f"rounds/{k}/decision", Decision) for k in range(4)]
    assert [(d.kind, d.node) for d in decisions if d] == [
        ("work", "key_held"),
        ("work", "door_open"),
        ("play", None),
        ("revise", None),
    ]
    assert ctx.run.stage("rounds/4/decision", Decision) is None, "nothing is left to improve"
    assert ctx.run.record.success_rate == 0


@pytest.mark.slow
class Unlike(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The door does not open in the episodes that confirm the graph."""

    locked = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        count = SETTINGS.selection_episodes
        self.locked = seed in Seeds(0).selection(count + SETTINGS.confirmation_episodes)[count:]
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        return super().step(0 if self.locked and self.get_wrapper_attr("holding") and action == USE else action)


@pytest.mark.parametrize("alike", [True, False])
def test_graph_that_reaches_the_target_is_confirmed_in_further_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alike: bool
) -> None:
    make_env = TalliedPlugin.make_env
    if not alike:
        monkeypatch.setattr(TalliedPlugin, "make_env", lambda *given, **more: Unlike(make_env(*given, **more)))
    ctx = context(tmp_path / "run", tmp_path / "steps", team(SOURCES, train=False, evaluate="code"))
    run(ctx)
    playing = ctx.run.stage("rounds/2/playing", Playing)
    assert playing is not None
    successes = [e.success for e in playing.played.evaluation.episodes]
    assert successes == [True] * 4 + [alike] * 2
    assert [e.success for e in playing.played.episodes] == successes
    assert ctx.run.record.steps.total == counted(tmp_path / "steps")
    work_goes_on = ctx.run.stage("rounds/3/decision", Decision) is not None
    assert work_goes_on != alike


def test_sub_goal_of_kind_rl_is_played_by_a_policy_that_is_trained_on_the_executor(tmp_path: Path) -> None:
    homes: set[int | None] = set()

    class Noting(InProcess[Any, Any]):
        def submit(self, job: Any) -> None:
            homes.add(pickle.loads(pickle.dumps(job)).home)
            super().submit(job)

    row = "def done(view, memory):\n    return view['agent'][0] == view['key'][0]\n"
    near = SubGoal(name="in_row", goal="The agent is in the key's row", done=row, horizon=30, kind="rl")
    graph = GoalGraph(nodes=(near, KEY.model_copy(update={"needs": ("in_row",)}), DOOR))
    ctx = context(tmp_path / "run", tmp_path / "steps", planner=FixedPlanner(graph), budget=12_000)
    ctx = dataclasses.replace(ctx, trainer=PPO(workers=2), executor=Noting)
    report = run(ctx).report
    assert report is not None
    assert homes == {0, 1}, "two shares of each rollout"
    assert not report.evaluation.is_code
    assert ctx.run.record.steps.training > 1_000
    assert report.evaluation.success_rate > 0.5
    kept = kept_of(ctx.run)
    assert kept is not None
    modes = {f.name: f.mode for f in kept.evidence.figures}
    assert modes["in_row"] != "code"
    assert (modes["key_held"], modes["door_open"]) == ("code", "code")
    assert ctx.run.record.steps.total == counted(tmp_path / "steps")


@pytest.mark.slow
@pytest.mark.parametrize("restores", ["1", "0"])
def test_killed_planner_run_resumes_and_counts_every_step(tmp_path: Path, restores: str) -> None:
    folder, steps = tmp_path / "run", tmp_path / "steps"
    rng = random.Random(int(restores))
    steps.touch()
    for at in sorted(rng.sample(range(1, 200), 4)):
        command = [sys.executable, str(JOURNEY), str(folder), str(steps), restores, str(at)]
        assert subprocess.run(command, capture_output=True, check=False).returncode == -9
    result = play(folder, steps, restores=restores == "1")
    assert result.report is not None
    record = Run.open(folder).record
    assert (record.status, record.success_rate) == ("finished", 1)
    assert record.steps.total == counted(steps)


def test_finished_planner_run_takes_no_more_steps(tmp_path: Path) -> None:
    play(tmp_path / "run", tmp_path / "steps")
    before, steps = (tmp_path / "run" / "run.json").read_text(), counted(tmp_path / "steps")
    assert play(tmp_path / "run", tmp_path / "steps").report is not None
    assert counted(tmp_path / "steps") == steps
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == json.loads(before)


def test_graph_policy_plays_the_bundle_and_the_report_draws_the_graph(tmp_path: Path) -> None:
    play(tmp_path / "run", tmp_path / "steps")
    bundle = load_bundle(tmp_path / "run" / "bundle")
    plugin = GridPlugin()
    env = extend(plugin.make_env(TASK, seed=0), bundle, plugin=plugin, task=TASK)
    policy = GraphPolicy(bundle, env)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        policy.reset()
        called = []
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(policy.act())
            called.append((policy.sub_goal, info["action"]))
            over = terminated or truncated
        assert info["success"]
        assert called == [("key_held", "key_held_act_now"), ("door_open", "door_open_act_now")]
    with pytest.raises(BundleError, match="has no graph"):
        GraphPolicy(bundle.model_copy(update={"graph": None}), env)
    write_page([tmp_path / "run"], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert '<svg class="goals"' in page
    assert "key_held: " in page
    shown = newest(Run.open(tmp_path / "run"))
    assert shown is not None
    assert shown.graph == GRAPH


INSIDE = SubGoal(
    name="inside",
    goal="The agent is left of column 5",
    done="def done(view, memory):\n    memory['asked'] = memory.get('asked', 0) + 1\n    return view['agent'][1] < 5\n",
    standing=True,
    horizon=10,
)
GUARDED = GoalGraph(nodes=(INSIDE, DOOR.model_copy(update={"needs": ()})))
BACK = CodedAction(name="back", doc="go back", source="def run():\n    yield go(direction='left', cells=2)\n")
OUT = CodedAction(
    name="out",
    doc="go out",
    source="def run():\n    for _ in range(6):\n        yield go(direction='right', cells=1)\n",
)


def test_standing_sub_goal_interrupts_a_coded_action_between_two_primitives() -> None:
    plugin, columns = GridPlugin(), list[int]()
    actors = {}
    for node, action in ((INSIDE, BACK), (GUARDED.last, OUT)):
        factory = PartFactory(lambda _: GridPlugin(), Part(TASK, None if node is GUARDED.last else node.predicate))
        setup = plugin.default_setup(TASK).model_copy(update={"coded_actions": (action.name,)})
        actors[node.name] = Actor(EnvSpec(task_of(TASK, GUARDED, node), setup, (action,), factory), "code")
    seen = lambda env, step: columns.append(env.unwrapped.agent[1])  # noqa: E731
    with GraphPlayer(plugin, TASK, GUARDED, actors, limits=SandboxLimits(), on_step=seen) as player:
        played = player.play(3)
    out = [c for c in played.graph.calls if c.node == "door_open" and c.ended == "interrupted"]
    assert len(out) > 3
    assert all(call.steps < 6 for call in out), "the action takes six steps if nothing interrupts it"
    assert max(columns) == 5


def test_graph_policy_interrupts_a_coded_action_for_a_standing_sub_goal() -> None:
    plugin, columns = GridPlugin(), list[int]()
    env = extend(plugin.make_env(TASK, seed=0), actions=[BACK, OUT], plugin=plugin, task=TASK)
    order = {"inside": ("back",), "door_open": ("out",)}
    bundle = Bundle(schema_version=4, actions=(BACK, OUT), graph=BundledGraph(graph=GUARDED, actions=order))
    policy = GraphPolicy(bundle, env)
    env.reset(seed=3)
    policy.reset()
    ends = []
    for _ in range(8):
        _, _, _, _, info = env.step(policy.act())
        ends.append((info["action"], info["ended"]))
        columns.append(env.unwrapped.agent[1])  # type: ignore[attr-defined]
    assert ("out", "interrupted") in ends
    assert ("out", "returned") not in ends
    assert max(columns) == 5


def test_graph_of_one_sub_goal_gives_a_run_without_a_planner(tmp_path: Path) -> None:
    one = GoalGraph(nodes=(DOOR.model_copy(update={"needs": ()}),))
    agents = team({"grid/door": BOTH})
    result = run(context(tmp_path / "run", tmp_path / "steps", agents, planner=FixedPlanner(one)))
    assert [i.index for i in result.history] == [0]
    assert not (tmp_path / "run" / "nodes").exists()
