"""benchmarks/rows.py: what each row (method) of a comparison measures, on a small task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rlgpt.domain import ActionPlan, CodedAction, Episode, Evaluation, Iteration, Steps, SubAction
from rlgpt.loop import Seeds
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Report, Run
from rlgpt.testing.grid import FETCH, TASKS, GridPlugin, grid_plugin

TASK = TASKS["grid/key"]
SETTINGS = {"budget": 1000, "iterations": 1, "episodes": 2, "trainer": "ppo"}
FETCH_KEY = CodedAction(name="fetch", doc="Fetch the key.", source=FETCH, max_steps=40)


class Killed:
    """A trainer that ends before its first step."""

    def train(self, *args: Any, **kwargs: Any) -> Any:
        raise KeyboardInterrupt


@pytest.fixture
def bench(benchmark_module: Any) -> Any:
    return SimpleNamespace(**{name: benchmark_module(name) for name in ("result_table", "rows", "run_settings")})


@pytest.fixture
def grid(bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """``grid(row, seed=0, commit="abc", **changes)`` returns the runner of ``row`` with the settings ``changes``."""

    class GridRunner(bench.rows.RowRunner):  # type: ignore[misc]
        def find_task(self) -> tuple[Any, ...]:
            return GridPlugin(), TASK, grid_plugin, ()

    def make(row: str, *, seed: int = 0, commit: str = "abc", **changes: Any) -> Any:
        monkeypatch.setattr(bench.rows, "commit", lambda: commit)
        table = bench.result_table.ResultTable(tmp_path / "grid.jsonl")
        return GridRunner(bench.result_table.Cell(TASK.id, row, seed), table, {**SETTINGS, **changes})

    return make


def iteration(index: int, *, success: bool, actions: tuple[CodedAction, ...] = ()) -> Iteration:
    episode = Episode(seed=index, success=success, total_reward=0.0, primitive_steps=40, decisions=40)
    return Iteration(
        index=index,
        plan=ActionPlan(sub_actions=(SubAction(name="search", description="find it", kind="rl", reason="fine"),)),
        actions=actions,
        setup=GridPlugin().default_setup(TASK),
        evaluation=Evaluation(mode="sampled", episodes=(episode,)),
        steps=Steps(rehearsal=3, code=5, training=100, selection=40),
    )


def record_run(runner: Any, *iterations: Iteration) -> None:
    """Write a finished run of the row ``rlgpt``. The other rows that use this run read it."""
    run = Run.create(runner.folder("rlgpt"), task=TASK.id, seed=runner.cell.seed, config={})
    for i in iterations:
        run.rewrite(f"iterations/{i.index}/iteration", i)


def test_untrained_row_uses_the_initial_network_of_the_best_iteration(grid: Any) -> None:
    """The steps of the row ``untrained`` are those of RL-GPT's rehearsals and evaluations of code, without training."""
    seeds: list[int] = []

    class RecordingPPO(PPO):
        def untrained(self, spec: Any, *, seed: int, hyperparameters: Any) -> Any:
            seeds.append(seed)
            return super().untrained(spec, seed=seed, hyperparameters=hyperparameters)

    runner = grid("untrained", seed=4, iterations=3)
    runner.trainer = RecordingPPO()
    record_run(runner, *(iteration(i, success=success) for i, success in enumerate((False, True, False))))
    figures = runner.measure()
    assert seeds == [Seeds(4).training(1)]
    assert figures["primitive_steps"] == 2 * (3 + 5)
    assert {"sampled", "greedy"} <= figures.keys()


def test_row_code_evaluates_the_coded_actions_of_the_rlgpt_run(grid: Any) -> None:
    runner = grid("code", episodes=8)
    record_run(runner, iteration(0, success=True, actions=(FETCH_KEY,)))
    figures = runner.measure()
    assert (figures["sampled"], figures["greedy"], figures["primitive_steps"]) == (1.0, None, 3 + 5)


def test_row_code_repeats_no_episode_of_a_run_that_kept_its_code(grid: Any) -> None:
    runner = grid("code")
    found = iteration(0, success=False, actions=(FETCH_KEY,))
    played = iteration(0, success=True).evaluation.model_copy(update={"mode": "code"})
    kept = found.model_copy(update={"code_evaluation": played})
    record_run(runner, kept)
    episodes = tuple(played.episodes[0].model_copy(update={"success": i == 0}) for i in range(4))
    report = Report(iteration=0, evaluation=played.model_copy(update={"episodes": episodes}))
    Run.open(runner.folder("rlgpt")).rewrite("report", report)
    assert runner.measure()["sampled"] == 0.25, "the result of the report, not of new episodes"


def test_row_code_plays_the_code_that_was_best_in_the_selection_and_not_that_of_the_kept_policy(grid: Any) -> None:
    """In the run, a later iteration keeps a policy whose code is worse than the code of an earlier iteration."""
    runner = grid("code", episodes=8)
    played = iteration(0, success=True).evaluation.model_copy(update={"mode": "code"})
    failed = iteration(0, success=False).evaluation.model_copy(update={"mode": "code"})
    good = iteration(0, success=True, actions=(FETCH_KEY,)).model_copy(update={"code_evaluation": played})
    idle = FETCH_KEY.model_copy(update={"source": "def fetch_key(view):\n    yield use()\n"})
    bad = iteration(1, success=True, actions=(idle,)).model_copy(update={"code_evaluation": failed})
    record_run(runner, good, bad)
    figures = runner.measure()
    assert (figures["sampled"], figures["primitive_steps"]) == (1.0, 3 + 5)


def test_a_row_derived_from_a_run_records_the_commit_of_that_run(bench: Any, grid: Any) -> None:
    runner = grid("code")
    record_run(runner, iteration(0, success=False))
    assert "run_commit" not in runner.measure()
    (runner.folder("rlgpt") / bench.run_settings.FILE).write_text('{"commit": "older"}')
    assert runner.measure()["run_commit"] == "older"


def test_interrupted_training_of_a_row_resumes_only_at_the_same_commit(bench: Any, grid: Any) -> None:
    runner = grid("rl")
    runner.trainer = Killed()
    with pytest.raises(KeyboardInterrupt):
        runner.measure()
    assert bench.run_settings.read_settings(runner.folder("rl")) == {**SETTINGS, "commit": "abc"}
    with pytest.raises(SystemExit, match=r"was started with commit=abc \(now def\)"):
        grid("rl", commit="def").measure()


@pytest.mark.parametrize(
    ("row", "run"), [("rl", "rl"), ("primitives", "primitives"), ("rlgpt", "rlgpt"), ("code", "rlgpt")]
)
def test_no_row_resumes_a_run_with_other_settings(bench: Any, grid: Any, row: str, run: str) -> None:
    bench.run_settings.start_or_resume(grid(row).folder(run), {**SETTINGS, "commit": "abc"})
    with pytest.raises(SystemExit, match=r"was started with budget=1000 \(now 2000\)"):
        grid(row, budget=2000).measure()
