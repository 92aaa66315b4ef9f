"""Every executor: the order of outcomes, jobs that are submitted later, errors, lost processes."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_jobs import Broadcast, Task, executions_of, letters_of_the_key, square, unpicklable
from rlgpt.config import components
from rlgpt.config.components import Component, make
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.executors import Executor, Lost
from rlgpt.llm.litellm_llm import MissingKeyError
from rlgpt.llm.structured import UnreadableError
from rlgpt.plugin import PluginManager

Make = Callable[..., Executor[Task, int]]


def executor_of(name: str, **settings: Any) -> Executor[Task, int]:
    part = Component.model_validate({"name": name, **settings})
    return make("executor", part, Executor, PluginManager(), square)  # type: ignore[type-abstract]


@pytest.fixture(params=["in_process", "processes", pytest.param("ray", marks=pytest.mark.slow)])
def make_executor(request: pytest.FixtureRequest) -> Make:
    settings: dict[str, Any] = {}
    if request.param == "ray":
        cluster = request.getfixturevalue("cluster")
        if not cluster.worker_nodes:
            cluster.add_node(num_cpus=2)
        settings = {"address": cluster.address}

    def made(**more: Any) -> Executor[Task, int]:
        return executor_of(request.param, **settings, **more)

    return made


def test_executor_runs_jobs_that_are_submitted_between_two_outcomes(make_executor: Make, tmp_path: Path) -> None:
    """One process executes several jobs without a folder; a job with a folder has a process of its own."""
    with make_executor() as executor:
        for number in range(2):
            executor.submit(Task(number, "", value=number))
        outcomes: dict[int, int | Lost] = {}
        for job, outcome in executor.as_completed():
            outcomes[job.number] = outcome
            if job.number == 0:
                executor.submit(Task(2, "alone", tmp_path / "run", value=5))
    assert outcomes == {0: 0, 1: 1, 2: 25}


@pytest.mark.parametrize(
    ("make_executor", "workers"),
    [("in_process", 1), ("processes", 2), ("local", 2), pytest.param("ray", 2, marks=pytest.mark.slow)],
    indirect=["make_executor"],
)
def test_executor_says_how_many_jobs_run_at_the_same_time(make_executor: Make, workers: int) -> None:
    with make_executor() as executor:
        assert executor.workers == workers
    if workers > 1:
        with make_executor(jobs=1) as executor:
            assert executor.workers == 1


def test_one_process_executes_the_jobs_of_a_home(make_executor: Make, tmp_path: Path) -> None:
    with make_executor() as executor:
        for number in range(6):
            executor.submit(Task(number, "", value=number, says=tmp_path / str(number % 2), home=number % 2))
        outcomes = {job.number: outcome for job, outcome in executor.as_completed()}
    assert outcomes == {number: number**2 for number in range(6)}
    for home in range(2):
        executions = executions_of(tmp_path / str(home))
        assert len(executions) == 3
        assert len(set(executions)) == 1


@pytest.mark.parametrize(("run", "home", "letters"), [(None, None, 0), (None, 0, 0), ("run", None, 3)])
def test_only_processes_of_whole_runs_get_secret_environment_variables(
    run: str | None, home: int | None, letters: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "key")
    folder = None if run is None else tmp_path / run
    with executor_of("processes") as executor:
        executor.submit(Broadcast(0, "", folder, source=letters_of_the_key, home=home))
        assert [outcome for _, outcome in executor.as_completed()] == [letters**2]


def test_jobs_of_a_home_get_a_value_that_the_executor_broadcasts(make_executor: Make) -> None:
    with make_executor() as executor:
        executor.submit(Broadcast(0, "", source=executor.broadcast(7), home=0))
        assert [outcome for _, outcome in executor.as_completed()] == [49]


def test_executor_raises_the_error_of_a_job(make_executor: Make) -> None:
    with make_executor() as executor:
        executor.submit(Task(0, "", value=-1))
        with pytest.raises(ValueError, match="-1 is negative"):
            list(executor.as_completed())


@pytest.mark.parametrize(
    "error",
    [
        UnknownNameError("parameter of 'go'", "spede", ["speed", "turn"], "See the code.", "`rlgpt tasks` lists them."),
        MissingKeyError("openai/gpt-5", ["OPENAI_API_KEY"], "Or use llm=replay."),
        UnreadableError(["no name", "no code"]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_error_with_several_parts_arrives_unchanged_from_another_process(error: Exception) -> None:
    error.add_note("in a process of the executor")
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)


def test_process_executor_reports_a_killed_process_and_runs_the_other_jobs(tmp_path: Path) -> None:
    with executor_of("processes", jobs=1) as executor:
        executor.submit(Task(0, "", says=tmp_path / "0", kills=True))
        executor.submit(Task(1, "", value=3))
        outcomes = [outcome for _, outcome in executor.as_completed()]
    assert outcomes == [Lost("its process was killed"), 9]


def test_next_job_of_a_home_is_executed_after_its_process_was_killed(tmp_path: Path) -> None:
    with executor_of("processes", jobs=1) as executor:
        executor.submit(Task(0, "", says=tmp_path / "0", kills=True, home=0))
        executor.submit(Task(1, "", value=3, home=0))
        outcomes = {job.number: outcome for job, outcome in executor.as_completed()}
    assert outcomes == {0: Lost("its process was killed"), 1: 9}


def test_result_that_cannot_be_pickled_is_an_error_that_names_it() -> None:
    with executor_of("processes", jobs=1) as executor:
        executor.submit(Broadcast(0, "", source=unpicklable))
        with pytest.raises(Exception, match="pickle"):
            list(executor.as_completed())


def test_executor_without_ray_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"executor=ray needs an extra .* pip install 'rlgpt\[ray\]'"):
        executor_of("ray")


@pytest.mark.parametrize("address", ["127.0.0.1:{free}", "127.0.0.1:head"])
def test_ray_executor_says_that_there_is_no_cluster_at_an_address(address: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # Nothing listens at this port.
        given = address.format(free=unused.getsockname()[1])
        with pytest.raises(ConfigError, match=f"executor.address={given}: .* Start a cluster with `ray start --head`"):
            executor_of("ray", address=given)


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "value"), [("jobs", 0), ("cpus", -1), ("gpus", -1), ("retries", -1)])
def test_ray_executor_refuses_a_setting_that_is_too_small(cluster: Any, setting: str, value: int) -> None:
    with pytest.raises(ConfigError, match=rf"executor\.{setting}={value}: the number must be at least"):
        executor_of("ray", address=cluster.address, **{setting: value})


@pytest.mark.slow
def test_ray_executor_runs_at_most_as_many_jobs_at_once_as_it_is_told(cluster: Any) -> None:
    """With one job at a time, jobs end in the order in which they were submitted."""
    if not cluster.worker_nodes:
        cluster.add_node(num_cpus=2)
    with executor_of("ray", address=cluster.address, jobs=1) as executor:
        for number in range(6):
            executor.submit(Task(number, "", value=number))
        assert [job.number for job, _ in executor.as_completed()] == list(range(6))
