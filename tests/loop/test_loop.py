"""The outer and the inner loop on the grid world, with a real trainer, a real sandbox and a scripted language model."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from rlgpt.domain import Evaluation, Iteration, Mode, Steps, Task, TrainingRecord
from rlgpt.errors import RunError
from rlgpt.executors import Lost
from rlgpt.executors.local import InProcess
from rlgpt.loop import Observer, Result, Seeds, run
from rlgpt.loop.code import Code
from rlgpt.options import load_bundle
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.evaluation import evaluate_code
from rlgpt.rl.policy_env import TRAINING_SEEDS, build
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.counting import counted
from rlgpt.testing.grid import GridPlugin
from rlgpt.testing.llm import FakeLLM
from story import SETTINGS, SHORT, TASK, context, half_solved, reply

Finished = tuple[Path, FakeLLM, Result]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder, llm = tmp_path_factory.mktemp("run"), FakeLLM(reply)
    return folder, llm, run(context(folder, PPO(), llm, settings=SHORT))


def test_run_writes_code_trains_a_policy_evaluates_and_saves_a_bundle(finished: Finished) -> None:
    folder, llm, result = finished
    assert result.stopped is None
    assert [i.index for i in result.history] == [0, 1]
    first = result.history[0]
    assert [(r.attempt, r.failed) for r in first.rehearsals["to_row"]] == [(0, True), (1, False)]
    assert first.rehearsals["to_row"][0].verdict is not None
    assert first.rehearsals["to_row"][0].verdict.kind == "error"
    assert first.setup.coded_actions == ("to_row",)
    assert first.training is not None
    assert first.critique is not None
    assert result.history[1].critique is None, "after the last iteration no agent reads a critique"
    record = Run.open(folder).record
    assert record.status == "finished"
    assert record.steps.total == sum(i.steps.total for i in result.history) <= SHORT.budget * 1.1
    assert record.steps.training == sum(i.training.primitive_steps for i in result.history if i.training)
    assert record.steps.rehearsal > 0
    assert record.steps.code > 0
    assert record.success_rate == result.report.evaluation.success_rate  # type: ignore[union-attr]
    bundle = load_bundle(folder / "bundle")
    assert bundle.actions == result.history[record.best or 0].actions
    assert bundle.tested_on is not None
    assert bundle.tested_on.primitive_steps == record.steps.total
    assert bundle.tested_on.model == "fake"
    roles = [k.role for k in llm.keys if k.iteration == 0]
    assert roles == ["slow", "fast", "fast", "review", "setup", "critic"]


def test_finished_run_is_read_again_without_requests_to_the_language_model(finished: Finished) -> None:
    folder, _, first = finished
    llm = FakeLLM(reply)
    again = run(context(folder, PPO(), llm, settings=SHORT))
    assert again == first
    assert llm.requests == []


class Backwards(InProcess[Any, Any]):
    """An executor with three workers, whose last job ends first."""

    workers = 3

    def as_completed(self) -> Iterator[tuple[Any, Any]]:
        self._jobs.reverse()
        return super().as_completed()


class Losing(Backwards):
    """An executor that loses the process of each job."""

    def as_completed(self) -> Iterator[tuple[Any, Any]]:
        for job in self._jobs:
            yield job, Lost("its process was killed")


@pytest.mark.parametrize("mode", ["sampled", "greedy"])
def test_workers_of_an_executor_share_the_episodes_of_a_report(finished: Finished, tmp_path: Path, mode: Mode) -> None:
    folder = shutil.copytree(finished[0], tmp_path / "run")
    best, seeds = finished[2].history[0], range(100, 107)
    one, three = (
        context(folder, PPO(), settings=SHORT, executor=executor).evaluate_kept(best, seeds=seeds, mode=mode)
        for executor in (InProcess, Backwards)
    )
    assert [e.seed for e in three.episodes] == list(seeds)
    assert three == one


def test_lost_worker_of_a_report_is_an_error_that_says_what_to_do(finished: Finished, tmp_path: Path) -> None:
    folder = shutil.copytree(finished[0], tmp_path / "run")
    ctx = context(folder, PPO(), settings=SHORT, executor=Losing)
    with pytest.raises(
        RunError, match=r"evaluation of iteration 0 was lost: its process was killed\. Resume the run, or start"
    ):
        ctx.evaluate_kept(finished[2].history[0], seeds=range(3))


def test_training_of_a_run_collects_its_rollouts_on_the_executor(tmp_path: Path) -> None:
    homes: set[int | None] = set()

    class Noting(InProcess[Any, Any]):
        def submit(self, job: Any) -> None:
            homes.add(job.home)
            super().submit(job)

    ctx = context(tmp_path / "run", PPO(workers=2), settings=SHORT, executor=Noting)
    run(ctx)
    assert homes == {None, 0, 1}, "jobs of the report, and two shares of each rollout"
    assert ctx.run.record.steps.total == counted(tmp_path / "run" / "env_steps")


def test_seeds_of_selection_report_training_and_rehearsal_are_disjoint() -> None:
    sets = [
        set(part)
        for seed in range(5)
        for s in [Seeds(seed)]
        for part in (s.selection(100), s.report(100), [s.training(0), s.rehearsal(0)])
    ]
    assert len(set().union(*sets)) == sum(map(len, sets))


def test_training_seeds_differ_from_evaluation_seeds() -> None:
    evaluation = [s for run in (Seeds(0), Seeds(1000)) for s in (*run.selection(1000), *run.report(1000))]
    assert max(*evaluation, Seeds(1000).rehearsal(99)) < TRAINING_SEEDS[0]
    seeds: list[int | None] = []

    class ResetLog(gymnasium.Wrapper[Any, Any, Any, Any]):
        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            seeds.append(seed)
            return super().reset(seed=seed, options=options)

    class LoggingGrid(GridPlugin):
        def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
            return ResetLog(super().make_env(task, seed=seed, render_mode=render_mode))

    plugin = LoggingGrid()
    spec = EnvSpec(TASK, plugin.default_setup(TASK), factory=lambda task: plugin)
    env = build(spec, seed=Seeds(1000).training(0))
    for _ in range(20):
        env.reset()
    assert len(set(seeds)) == len(seeds) == 20
    assert all(seed is not None and TRAINING_SEEDS[0] <= seed < TRAINING_SEEDS[1] for seed in seeds)


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
def test_kind_of_agents_determines_whether_a_run_sends_requests_and_trains(
    tmp_path: Path, kind: str, asks: bool, trains: bool
) -> None:
    llm = FakeLLM(reply)
    settings = SHORT.model_copy(update={"iterations": 1, "budget": 600})
    result = run(context(tmp_path, PPO(), llm, kind=kind, settings=settings))
    assert bool(llm.requests) == asks
    assert (result.history[0].training is not None) == trains
    assert result.report is not None
    assert result.report.evaluation.is_code == (kind == "code_only")
    if kind == "primitives_only":
        assert {"go", "use"} <= {a.name for a in result.history[0].actions} or len(result.history[0].actions) >= 2
    if kind == "slow_fast":
        assert "review" not in [k.role for k in llm.keys]


def test_run_record_is_updated_during_a_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step counts in run.json increase during evaluation and training, for each purpose, and never decrease."""
    monkeypatch.setattr("rlgpt.loop.spending.TELL_SECONDS", 0.0)
    seen: list[Steps] = []
    write = Run.update

    def update(self: Run, **changes: Any) -> None:
        write(self, **changes)
        seen.append(self.record.steps)

    monkeypatch.setattr(Run, "update", update)
    settings = SHORT.model_copy(update={"iterations": 1})
    run(context(tmp_path, PPO(), settings=settings))
    totals = [steps.total for steps in seen]
    assert totals == sorted(totals)
    assert max(b - a for a, b in itertools.pairwise(totals)) < 200
    for purpose in ("rehearsal", "code", "training", "selection"):
        assert len({getattr(steps, purpose) for steps in seen}) > 3, purpose
    assert seen[-1].total == counted(tmp_path / "env_steps")


def test_observer_receives_the_name_of_every_stage_in_order(tmp_path: Path) -> None:
    seen: list[str] = []

    class Stages(Observer):
        def stage(self, name: str, **facts: object) -> None:
            seen.append(name)

    settings = SHORT.model_copy(update={"iterations": 1, "budget": 600})
    run(context(tmp_path, PPO(), observer=Stages(), settings=settings))
    attempts = ["write", "rehearse", "write", "rehearse", "review"]
    assert seen == ["plan", *attempts, "code", "setup", "train", "select", "report"]


def test_iterations_stored_in_the_run_folder_equal_the_result(finished: Finished) -> None:
    folder, _, result = finished
    for i, iteration in enumerate(result.history):
        path = folder / f"iterations/{i}/iteration.json"
        assert Iteration.model_validate_json(path.read_text()) == iteration
    assert Run.open(folder).iterations() == result.history
    assert TASK.id == Run.open(folder).record.task


def test_iteration_keeps_the_better_of_code_and_policy(tmp_path: Path) -> None:
    result = run(context(tmp_path, PPO(), settings=SHORT.model_copy(update={"iterations": 1, "budget": 600})))
    (iteration,) = result.history

    def rate(wins: int, mode: str) -> Evaluation:
        episodes = tuple(
            e.model_copy(update={"success": i < wins}) for i, e in enumerate(iteration.evaluation.episodes)
        )
        return iteration.evaluation.model_copy(update={"episodes": episodes, "mode": mode})

    for code, policy, kept in ((3, 2, "code"), (2, 2, "sampled"), (1, 2, "sampled")):
        changes = {"code_evaluation": rate(code, "code"), "evaluation": rate(policy, "sampled")}
        assert iteration.model_copy(update=changes).kept.mode == kept
        episodes = len(iteration.evaluation.episodes)
        assert iteration.model_copy(update=changes).success_rate == max(code, policy) / episodes


def test_report_on_code_ignores_the_quarantine_of_training(tmp_path: Path) -> None:
    """Actions that the training quarantined are not masked in the report when code alone is kept."""

    class Quarantining(PPO):
        def train(self, spec: EnvSpec, **named: Any) -> TrainingRecord:
            record = super().train(spec, **named)
            return record.model_copy(update={"quarantined": tuple(a.name for a in spec.actions)})

    settings = SETTINGS.model_copy(update={"iterations": 1, "budget": 1500})
    ctx = context(tmp_path, Quarantining(), FakeLLM(half_solved), settings=settings)
    result = run(ctx)
    (best,) = result.history
    assert best.training is not None
    assert best.training.quarantined == ("to_row",)
    assert result.report is not None
    assert result.report.evaluation.is_code
    seeds = ctx.seeds.report(ctx.settings.report_episodes)
    judged = evaluate_code(ctx.spec(best.setup, Code(best.actions)), best.actions, seeds=seeds)
    assert judged.success_rate > 0
    assert result.report.evaluation == judged
    assert ctx.kept_spec(best).quarantined == ()

    lost = best.code_evaluation
    assert lost is not None
    failures = tuple(e.model_copy(update={"success": False}) for e in lost.episodes)
    policy = best.model_copy(update={"code_evaluation": lost.model_copy(update={"episodes": failures})})
    assert policy.kept.mode == "sampled"
    assert ctx.kept_spec(policy).quarantined == ("to_row",)
