"""Sweeps: executors, Hydra's launchers, and an optimiser that reads the success rate of a job."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from rlgpt.cli import main
from rlgpt.cli.jobs import work as run_job
from rlgpt.cli.sweep import JobValue
from rlgpt.executors import JobResult, RunJob
from rlgpt.executors.local import InProcess, Processes
from rlgpt.runs import Run
from rlgpt.testing.grid import GridPlugin
from sweep_work import work

SMALL = {
    "task": "grid/key",
    "agents": "rl_only",
    "budget": 300,
    "iterations": 1,
    "selection_episodes": 1,
    "report_episodes": 2,
    "hyperparameters": {"num_envs": 1, "num_steps": 16, "minibatch_size": 16},
    "min_decisions": 0,
    "video": False,
    "observers": {},
}
SMOKE = ("task=grid/key", "agents=rl_only", "experiment=smoke", "hyperparameters.num_envs=1", "video=false")


def jobs(folder: Path, *names: str) -> list[RunJob]:
    return [RunJob(number, name, folder / str(number), {}) for number, name in enumerate(names)]


def test_in_process_executor_runs_its_jobs_in_order(tmp_path: Path) -> None:
    with InProcess(work) as executor:
        for job in jobs(tmp_path, "a", "fails", "b"):
            executor.submit(job)
        results = [(job.name, outcome) for job, outcome in executor.as_completed()]
    assert results == [("a", JobResult(0, 0.0)), ("fails", JobResult(2, message="no")), ("b", JobResult(0, 0.5))]


def test_sweep_prints_its_folder_and_an_interrupted_sweep_says_how_to_continue(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = ("train", "-m", "task=grid/key", "seed=1,2")
    folder = "hydra.sweep.dir='it\\'s here'"
    with monkeypatch.context() as patch:
        patch.setattr("rlgpt.cli.sweep.work", lambda job: JobResult(0, 0.5))
        assert main([*sweep, folder]) == 0
        assert "rlgpt report 'it'\"'\"'s here' compares its runs" in capsys.readouterr().out

        def interrupted(job: RunJob) -> JobResult:
            raise KeyboardInterrupt

        patch.setattr("rlgpt.cli.sweep.work", interrupted)
        assert main(sweep) == 130
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.startswith("rlgpt: interrupted; to continue, repeat the command with hydra.sweep.dir=runs/")


def test_killed_process_of_a_sweep_fails_only_its_own_job(tmp_path: Path) -> None:
    with Processes(work, jobs=2) as executor:
        for job in jobs(tmp_path, "a", "killed", "fails", "b"):
            executor.submit(job)
        results = {job.name: JobResult.of(outcome) for job, outcome in executor.as_completed()}
    assert {name: result.exit_status for name, result in results.items()} == {"a": 0, "killed": 1, "fails": 2, "b": 0}
    assert "was killed" in results["killed"].message
    assert results["b"].objective == 0.75
    assert (tmp_path / "3" / "output.txt").read_text() == "job 3\n"


def test_sweep_job_returns_its_success_rate_to_hydra() -> None:
    value = JobValue.of(JobResult(3, objective=0.25))
    assert (float(value), value.exit_status) == (0.25, 3)
    assert math.isnan(JobValue.of(JobResult(2)))


def rlgpt(*arguments: str) -> None:
    """Run the command line in a separate process, in which warnings of other packages are not errors."""
    command = [sys.executable, "-m", "rlgpt", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["joblib", "submitit_local"])
def test_hydra_launcher_runs_the_jobs_of_a_sweep(site: Path, launcher: str) -> None:
    rlgpt("train", "-m", *SMOKE, f"hydra/launcher={launcher}", "seed=1,2", "hydra.sweep.dir=sweep")
    runs = [Run.open(path.parent).record for path in sorted(Path("sweep").rglob("run.json"))]
    assert [(run.seed, run.status) for run in runs] == [(1, "finished"), (2, "finished")]


@pytest.mark.slow
def test_sweep_runs_on_a_cluster_of_ray(site: Path) -> None:
    rlgpt("train", "-m", *SMOKE, "executor=ray", "seed=1,2", "hydra.sweep.dir=sweep")
    runs = [Run.open(path.parent).record for path in sorted(Path("sweep").rglob("run.json"))]
    assert [(run.seed, run.status) for run in runs] == [(1, "finished"), (2, "finished")]
    assert all((Path("sweep") / str(number) / "output.txt").exists() for number in range(2))


def test_job_that_is_executed_again_has_the_same_result_and_changes_nothing(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = RunJob(0, "", Path("0").resolve(), SMALL)
    first = run_job(job)
    before = {path: path.read_bytes() for path in Path("0").rglob("*") if path.is_file()}
    assert first.exit_status == 0
    assert run_job(job) == first
    assert {path: path.read_bytes() for path in Path("0").rglob("*") if path.is_file()} == before
    other = run_job(replace(job, config={**SMALL, "budget": 400}))
    assert other.exit_status == 2
    assert "was made with budget=300 (now 400)" in other.message


def test_simulator_that_fails_ends_only_its_own_job(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("the simulator divides by zero")

    with monkeypatch.context() as patch:
        patch.setattr(GridPlugin, "make_env", fails)
        result = run_job(RunJob(0, "", Path("0").resolve(), SMALL))
    assert result == JobResult(1, message="ZeroDivisionError: the simulator divides by zero")
    assert "Traceback" in capsys.readouterr().err
    assert run_job(RunJob(0, "", Path("0").resolve(), SMALL)).exit_status == 0, "the run can be resumed"


def test_stop_of_one_run_ends_only_its_own_job(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, make = Path("0").resolve(), GridPlugin.make_env

    def requests_a_stop(*arguments: Any, **named: Any) -> Any:
        if Run.exists(folder):
            Run.open(folder).request_stop()
        return make(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr("rlgpt.loop.spending.TELL_SECONDS", 0.0)
        patch.setattr(GridPlugin, "make_env", requests_a_stop)
        stopped = run_job(RunJob(0, "", folder, SMALL))
    assert stopped.exit_status == 130
    assert "rlgpt resume" in stopped.message
    assert Run.open(folder).record.status == "stopped"
    assert run_job(RunJob(0, "", folder, SMALL)).exit_status == 0


@pytest.mark.slow
def test_optuna_sweeper_optimises_the_success_rate_of_the_runs(site: Path) -> None:
    sweeper = ("hydra/sweeper=optuna", "hydra.sweeper.n_trials=2", "hydra.sweeper.direction=maximize")
    space = "hyperparameters.learning_rate=interval(0.0001,0.01)"
    rlgpt("train", "-m", *SMOKE, *sweeper, "hydra.sweep.dir=sweep", space)
    runs = [Run.open(path.parent).record for path in sorted(Path("sweep").rglob("run.json"))]
    assert len({run.config["hyperparameters"]["learning_rate"] for run in runs}) == 2
    best = yaml.safe_load(Path("sweep/optimization_results.yaml").read_text())
    assert best["best_value"] == max(run.success_rate for run in runs)
