"""The two loops on the grid world: real trainer, real sandbox, a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from rlgpt.domain import CodedAction, Evaluation, Iteration, Task, TrainingRecord
from rlgpt.errors import BudgetExceeded, RunError, TranscriptEnded
from rlgpt.llm.base import Request
from rlgpt.loop import LoopSettings, Observer, Seeds, run
from rlgpt.loop.rehearse import rehearse
from rlgpt.options import load_bundle
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.evaluate import evaluate_code
from rlgpt.rl.policy_env import TRAINING_SEEDS
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.sandbox import Sandbox
from rlgpt.testing.counting import grid_spec
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM
from story import BROKEN, SETTINGS, TASK, WALK, context, reply

SOLVES = """
def run():
    view = yield observe()
    for axis, names in ((0, ("up", "down")), (1, ("left", "right"))):
        delta = view["key"][axis] - view["agent"][axis]
        if delta:
            yield go(direction=names[delta > 0], cells=abs(delta))
    yield use()
"""


AWAY = "go(direction='up' if view['key'][0] else 'down', cells=1)"
"""From the key's cell to one beside it."""


def test_a_run_from_plan_to_bundle(tmp_path: Path) -> None:
    llm = FakeLLM(reply)
    result = run(context(tmp_path, PPO(), llm))
    assert result.stopped is None
    assert [i.index for i in result.history] == [0, 1]
    first = result.history[0]
    assert [(r.attempt, r.failed) for r in first.rehearsals["to_row"]] == [(0, True), (1, False)]
    assert first.rehearsals["to_row"][0].verdict is not None
    assert first.rehearsals["to_row"][0].verdict.kind == "error"
    assert first.setup.coded_actions == ("to_row",)
    assert first.training is not None
    assert first.critique is not None
    assert result.history[1].critique is None, "nobody would read it"
    record = Run.open(tmp_path).record
    assert record.status == "finished"
    assert record.steps.total == sum(i.steps.total for i in result.history) <= SETTINGS.budget * 1.1
    assert record.steps.training == sum(i.training.primitive_steps for i in result.history if i.training)
    assert record.steps.rehearsal > 0
    assert record.steps.code > 0
    assert record.success_rate == result.report.sampled.success_rate  # type: ignore[union-attr]
    bundle = load_bundle(tmp_path / "bundle")
    assert bundle.actions == result.history[record.best or 0].actions
    assert bundle.tested_on is not None
    assert bundle.tested_on.primitive_steps == record.steps.total
    assert bundle.tested_on.model == "fake"
    roles = [k.role for k in llm.keys if k.iteration == 0]
    assert roles == ["slow", "fast", "fast", "review", "setup", "critic"]


def test_a_finished_run_is_read_not_redone(tmp_path: Path) -> None:
    first = run(context(tmp_path, PPO()))
    llm = FakeLLM(reply)
    again = run(context(tmp_path, PPO(), llm))
    assert again == first
    assert llm.requests == []


def test_seeds_of_different_purposes_and_runs_never_meet() -> None:
    sets = [
        set(part)
        for seed in range(5)
        for s in [Seeds(seed)]
        for part in (s.selection(100), s.report(100), [s.training(0), s.rehearsal(0)])
    ]
    assert len(set().union(*sets)) == sum(map(len, sets))


def test_no_episode_of_training_has_a_seed_that_judges(tmp_path: Path) -> None:
    judging = [seed for s in (Seeds(0), Seeds(1000)) for seed in (*s.selection(1000), *s.report(1000), s.rehearsal(99))]
    assert max(judging) < TRAINING_SEEDS[0]
    env = grid_spec(tmp_path / "count").build(seed=Seeds(1000).training(0))
    found = []
    for _ in range(20):
        env.reset()
        found.append(env._seed)
    assert len(set(found)) == 20
    assert all(TRAINING_SEEDS[0] <= seed < TRAINING_SEEDS[1] for seed in found)


@pytest.mark.parametrize(
    ("kind", "asks", "trains"),
    [
        ("rl_only", False, True),
        ("primitives_only", False, True),
        ("code_only", True, False),
        ("untrained", True, False),
        ("slow_fast", True, True),
    ],
)
def test_ablations_are_configuration(tmp_path: Path, kind: str, asks: bool, trains: bool) -> None:
    llm = FakeLLM(reply)
    settings = SETTINGS.model_copy(update={"iterations": 1, "budget": 1500})
    result = run(context(tmp_path, PPO(), llm, kind=kind, settings=settings))
    assert bool(llm.requests) == asks
    assert (result.history[0].training is not None) == trains
    assert result.report is not None
    assert result.report.mode == ("code" if kind == "code_only" else "policy")
    if kind == "primitives_only":
        assert {"go", "use"} <= {a.name for a in result.history[0].actions} or len(result.history[0].actions) >= 2
    if kind == "slow_fast":
        assert "review" not in [k.role for k in llm.keys]


def test_code_that_solves_the_task_spends_no_steps_on_learning(tmp_path: Path) -> None:
    meta = json.dumps({"thoughts": "", "doc": "Fetch it.", "parameters": [], "max_steps": 30})

    def all_code(request: Request) -> str:
        return f"{meta}\n```python\n{SOLVES}\n```" if request.key.role == "fast" else reply(request)

    result = run(context(tmp_path, PPO(), FakeLLM(all_code)))
    assert len(result.history) == 1
    assert result.history[0].training is None
    assert result.history[0].evaluation.mode == "code"
    assert result.report is not None
    assert result.report.mode == "code"
    assert result.report.sampled.success_rate == 1.0
    assert Run.open(tmp_path).record.steps.training == 0


def test_an_action_that_could_not_start_in_its_rehearsal_is_nobodys_to_review(tmp_path: Path) -> None:
    never = "def can_start(view):\n    return False\n\n" + WALK
    meta = json.dumps({"thoughts": "", "doc": "Walk.", "parameters": [], "max_steps": 10})

    def hidden(request: Request) -> str:
        return f"{meta}\n```python\n{never}\n```" if request.key.role == "fast" else reply(request)

    llm = FakeLLM(hidden)
    result = run(context(tmp_path, PPO(), llm, settings=SETTINGS.model_copy(update={"iterations": 1})))
    (rehearsal,) = result.history[0].rehearsals["to_row"]
    assert rehearsal.review is not None
    assert "not exercised" in rehearsal.review.findings[0].problem
    assert "review" not in [k.role for k in llm.keys]
    (setup,) = [r for r in llm.requests if r.key.role == "setup"]
    assert "`to_row`: 1 attempt, the last one could not start" in str(setup.messages)


@pytest.mark.parametrize(
    ("guard", "ended"),
    [("view['nope']", "masked"), ("view['agent'] != view['key'] or 1 / 0", "returned")],
    ids=["before its call", "after its call"],
)
def test_a_can_start_that_raises_is_a_failed_rehearsal(tmp_path: Path, guard: str, ended: str) -> None:
    """Wherever in the rehearsal it raises: in training each time counts as a violation."""
    meta = json.dumps({"thoughts": "", "doc": "Walk.", "parameters": [], "max_steps": 30})

    def falls(request: Request) -> str:
        if request.key.role != "fast":
            return reply(request)
        raising = f"def can_start(view):\n    return {guard}\n\n{SOLVES.replace('    yield use()', '')}"
        return f"{meta}\n```python\n{WALK if request.key.attempt else raising}\n```"

    llm = FakeLLM(falls)
    result = run(context(tmp_path, PPO(), llm, settings=SETTINGS.model_copy(update={"iterations": 1})))
    first, second = result.history[0].rehearsals["to_row"]
    assert first.failed
    assert first.trace is not None
    assert first.trace.decisions[-1].ended == ended
    assert first.verdict is not None
    assert first.verdict.kind == "error"
    assert first.verdict.message.startswith("in can_start(view): ")
    assert first.verdict.line == 2
    assert not second.failed
    repair = next(r for r in llm.requests if r.key.role == "fast" and r.key.attempt == 1)
    assert first.verdict.message in repair.messages[-1].content


def test_rehearsals_cost_what_they_spent(tmp_path: Path) -> None:
    """An action that comes after one that solves the task is tried alone, and both tries count."""
    plugin = GridPlugin()
    solve = CodedAction(name="solve", doc="", source=SOLVES)
    walk = CodedAction(name="walk", doc="", source=WALK)
    first, steps, verdict = rehearse(plugin, TASK, (), solve, seed=3, sandbox=Sandbox())
    assert first.success
    assert steps == first.primitive_steps
    assert verdict is None
    second, both, _ = rehearse(plugin, TASK, (solve,), walk, seed=3, sandbox=Sandbox())
    assert [d.action for d in second.decisions] == ["walk"]
    assert both == steps + second.primitive_steps


def test_a_rehearsal_sees_a_success_in_the_midst_of_an_action() -> None:
    """As an evaluation does, whatever the action goes on to do: here the agent leaves the key's cell again."""

    class Passing(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            observation, reward, _, _, _ = super().step(action)
            world: Any = self.unwrapped
            return observation, reward, False, world.steps >= world.horizon, {"success": world.agent == world.key}

    class PassingGrid(GridPlugin):
        def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
            return Passing(super().make_env(task, seed=seed, render_mode=render_mode))

    source = SOLVES.replace("yield use()", f"yield {AWAY}")
    there_and_away = CodedAction(name="there_and_away", doc="", source=source, max_steps=30)
    trace, _, verdict = rehearse(PassingGrid(), TASK, (), there_and_away, seed=3, sandbox=Sandbox())
    assert verdict is None
    assert trace.success

    walk = CodedAction(name="walk", doc="", source="def run():\n    yield go(direction='up', cells=1)\n", max_steps=1)
    trace, _, _ = rehearse(PassingGrid(), TASK, (), walk, seed=3, sandbox=Sandbox())
    assert not trace.success


@pytest.mark.parametrize("stop", [BudgetExceeded("12 calls are spent"), TranscriptEnded("no further reply")])
def test_a_model_that_stops_ends_the_run_with_the_best_so_far(tmp_path: Path, stop: Exception) -> None:
    def dries_up(request: Request) -> str:
        if request.key.iteration == 1:
            raise stop
        return reply(request)

    result = run(context(tmp_path, PPO(), FakeLLM(dries_up)))
    assert result.stopped is stop
    assert len(result.history) == 1
    assert result.report is not None
    assert Run.open(tmp_path).record.status == "stopped"
    assert str(stop) in Run.open(tmp_path).record.reason
    resumed = run(context(tmp_path, PPO()))
    assert len(resumed.history) == 2
    assert Run.open(tmp_path).record.status == "finished"


def test_a_replay_that_drifts_goes_on_without_what_was_not_recorded(tmp_path: Path) -> None:
    """A repair nobody recorded leaves the last attempt standing; a review nobody recorded lets it pass."""

    def unrecorded(request: Request) -> str:
        if request.key.role == "review" or request.key.attempt == 1:
            raise TranscriptEnded("no such reply")
        if request.key.iteration:
            return reply(request).replace(BROKEN, WALK)
        return reply(request).replace('["to_row"]', "[]")

    result = run(context(tmp_path, PPO(), FakeLLM(unrecorded)))
    first, second = result.history
    assert [r.failed for r in first.rehearsals["to_row"]] == [True]
    assert first.actions == ()
    assert [(r.failed, r.review) for r in second.rehearsals["to_row"]] == [(False, None)]
    assert [a.name for a in second.actions] == ["to_row"]


def test_a_model_that_stops_before_anything_leaves_a_run_to_resume(tmp_path: Path) -> None:
    result = run(context(tmp_path, PPO(), FakeLLM({"slow": BudgetExceeded("none left")})))
    assert result.report is None
    assert Run.open(tmp_path).record.status == "stopped"


def test_a_failure_is_recorded_with_its_cause(tmp_path: Path) -> None:
    class Broken(PPO):
        def train(self, *_: object, **__: object) -> None:  # type: ignore[override]
            raise RuntimeError("the learner is on fire")

    with pytest.raises(RuntimeError):
        run(context(tmp_path, Broken()))
    record = Run.open(tmp_path).record
    assert (record.status, record.reason) == ("failed", "RuntimeError: the learner is on fire")


def test_two_processes_cannot_work_on_one_run(tmp_path: Path) -> None:
    ctx = context(tmp_path, PPO())
    with ctx.run.lock(), pytest.raises(RunError, match="another process"):
        run(ctx)


def test_a_corrupt_stage_is_named_with_what_to_do(tmp_path: Path) -> None:
    settings = SETTINGS.model_copy(update={"iterations": 1})
    run(context(tmp_path, PPO(), settings=settings))
    (tmp_path / "report.json").unlink()
    (tmp_path / "iterations/0/iteration.json").unlink()
    (tmp_path / "iterations/0/plan.json").write_text("{")
    with pytest.raises(RunError, match=r"plan\.json is corrupt.*Delete it"):
        run(context(tmp_path, PPO(), settings=settings))


def test_the_observer_sees_every_stage(tmp_path: Path) -> None:
    seen: list[str] = []

    class Watching(Observer):
        def stage(self, name: str, **facts: object) -> None:
            seen.append(name)

    settings = LoopSettings(budget=1500, iterations=1, selection_episodes=2, report_episodes=2, target_success=1.0)
    run(context(tmp_path, PPO(), observer=Watching(), settings=settings))
    assert seen == ["plan", "write", "rehearse", "write", "rehearse", "setup", "code", "train", "select", "report"]


def test_iterations_are_whole_on_disk(tmp_path: Path) -> None:
    result = run(context(tmp_path, PPO()))
    for i, iteration in enumerate(result.history):
        path = tmp_path / f"iterations/{i}/iteration.json"
        assert Iteration.model_validate_json(path.read_text()) == iteration
    assert Run.open(tmp_path).iterations() == result.history
    assert TASK.id == Run.open(tmp_path).record.task


def test_code_that_does_better_than_the_policy_is_what_the_run_keeps(tmp_path: Path) -> None:
    result = run(context(tmp_path, PPO(), settings=SETTINGS.model_copy(update={"iterations": 1})))
    (iteration,) = result.history

    def rate(wins: int, mode: str) -> Evaluation:
        episodes = tuple(
            e.model_copy(update={"success": i < wins}) for i, e in enumerate(iteration.evaluation.episodes)
        )
        return iteration.evaluation.model_copy(update={"episodes": episodes, "mode": mode})

    for code, policy, kept in ((3, 2, "code"), (2, 2, "sampled"), (1, 2, "sampled")):
        changes = {"code_evaluation": rate(code, "code"), "evaluation": rate(policy, "sampled")}
        assert iteration.model_copy(update=changes).kept.mode == kept
        assert iteration.model_copy(update=changes).success_rate == max(code, policy) / 8


def test_code_alone_is_reported_as_it_was_selected(tmp_path: Path) -> None:
    """What the training of the policy quarantined masks nothing in code that did better."""
    meta = json.dumps({"thoughts": "", "doc": "Fetch it.", "parameters": [], "max_steps": 30})
    half = SOLVES.replace("yield use()", f"yield use() if view['door'][0] % 2 else {AWAY}")

    def some_code(request: Request) -> str:
        return f"{meta}\n```python\n{half}\n```" if request.key.role == "fast" else reply(request)

    class Quarantining(PPO):
        def train(self, spec: EnvSpec, **named: Any) -> TrainingRecord:
            record = super().train(spec, **named)
            return record.model_copy(update={"quarantined": tuple(a.name for a in spec.actions)})

    ctx = context(tmp_path, Quarantining(), FakeLLM(some_code), settings=SETTINGS.model_copy(update={"iterations": 1}))
    result = run(ctx)
    (best,) = result.history
    assert best.training is not None
    assert best.training.quarantined == ("to_row",)
    assert result.report is not None
    assert result.report.mode == "code"
    seeds = ctx.seeds.report(ctx.settings.report_episodes)
    judged = evaluate_code(ctx.spec(best.setup, best.actions), best.actions, seeds=seeds)
    assert judged.success_rate > 0
    assert result.report.sampled == judged
    assert ctx.kept_spec(best).quarantined == ()

    lost = best.code_evaluation
    assert lost is not None
    failures = tuple(e.model_copy(update={"success": False}) for e in lost.episodes)
    policy = best.model_copy(update={"code_evaluation": lost.model_copy(update={"episodes": failures})})
    assert policy.kept.mode == "sampled"
    assert ctx.kept_spec(policy).quarantined == ("to_row",)
