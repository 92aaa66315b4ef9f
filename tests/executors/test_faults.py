"""Lost processes and machines: runs on a cluster of several nodes end with the same record as without the fault."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from cluster_jobs import Task, executions_of, square
from clusters import lose, pipe
from records import counts_and_pays_once, logs, same_record
from rlgpt.executors import Lost
from rlgpt.runs import Run
from story import SHORT
from story_jobs import StoryJob, run_story

pytestmark = pytest.mark.slow


def ray_executor(cluster: Any, work: Any, **settings: Any) -> Any:
    from rlgpt.executors.ray import Ray

    return Ray(work, address=cluster.address, **settings)


def test_run_whose_process_is_killed_ends_with_the_same_record(nodes: Any, tmp_path: Path, undisturbed: Path) -> None:
    """The processes of two runs are killed, one in a rehearsal and one while its code is evaluated."""
    nodes.add_node(num_cpus=2)
    with ray_executor(nodes, run_story) as executor:
        for number, at in enumerate((3, 40)):
            executor.submit(StoryJob(number, "", tmp_path / str(number), fault="kill", at=at))
        assert [outcome for _, outcome in executor.as_completed()] == ["finished", "finished"]
    for number in range(2):
        assert len(logs(tmp_path / str(number), "executions")) == 2
        same_record(tmp_path / str(number), undisturbed)


def test_run_that_learns_counts_and_pays_once_after_its_process_was_killed(nodes: Any, tmp_path: Path) -> None:
    nodes.add_node(num_cpus=1)
    with ray_executor(nodes, run_story) as executor:
        executor.submit(StoryJob(0, "", tmp_path / "0", kind="slow_fast_critic", fault="kill", at=300))
        assert [outcome for _, outcome in executor.as_completed()] == ["finished"]
    assert len(logs(tmp_path / "0", "executions")) == 2
    counts_and_pays_once(tmp_path / "0")


def test_run_whose_node_is_removed_continues_on_another_one(nodes: Any, tmp_path: Path, undisturbed: Path) -> None:
    node = nodes.add_node(num_cpus=1)
    gate = pipe(tmp_path / "gate")
    with ray_executor(nodes, run_story) as executor:
        executor.submit(StoryJob(0, "", tmp_path / "0", fault=f"wait:{gate}", at=40))
        with gate.open("w"):  # This waits until the run is at its step 40.
            lose(nodes, node)
        nodes.add_node(num_cpus=1)
        assert [outcome for _, outcome in executor.as_completed()] == ["finished"]
    assert len(logs(tmp_path / "0", "executions")) == 2
    same_record(tmp_path / "0", undisturbed)


def test_slow_node_delays_only_its_own_job(nodes: Any, tmp_path: Path) -> None:
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    gate = pipe(tmp_path / "gate")
    with ray_executor(nodes, square) as executor:
        executor.submit(Task(0, "", says=tmp_path / "0", waits_for=gate))
        for number in (1, 2, 3):
            executor.submit(Task(number, "", value=number, says=tmp_path / str(number)))
        outcomes = executor.as_completed()
        assert sorted(next(outcomes)[1] for _ in range(3)) == [1, 4, 9]
        gate.write_text("go on")
        assert next(outcomes)[1] == 0
    assert all(len(executions_of(tmp_path / str(number))) == 1 for number in range(4))


def test_run_on_a_slow_node_ends_with_the_same_record(nodes: Any, tmp_path: Path, undisturbed: Path) -> None:
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    gate = pipe(tmp_path / "gate")
    with ray_executor(nodes, run_story) as executor:
        executor.submit(StoryJob(0, "", tmp_path / "0", fault=f"wait:{gate}", at=40))
        executor.submit(StoryJob(1, "", tmp_path / "1"))
        outcomes = executor.as_completed()
        assert [(job.number, outcome) for job, outcome in (next(outcomes),)] == [(1, "finished")]
        gate.write_text("go on")
        assert [(job.number, outcome) for job, outcome in outcomes] == [(0, "finished")]
    for number in range(2):
        assert len(logs(tmp_path / str(number), "executions")) == 1
        same_record(tmp_path / str(number), undisturbed)


def test_job_that_is_lost_each_time_is_reported_as_lost(nodes: Any, tmp_path: Path) -> None:
    nodes.add_node(num_cpus=1)
    with ray_executor(nodes, square, retries=0) as executor:
        executor.submit(Task(0, "", says=tmp_path / "0", kills=True))
        executor.submit(Task(1, "", value=2))
        outcomes = {job.number: outcome for job, outcome in executor.as_completed()}
    assert isinstance(outcomes[0], Lost)
    assert "lost 1 times" in outcomes[0].message
    assert outcomes[1] == 4


def test_jobs_that_still_run_at_the_end_of_the_block_are_ended(nodes: Any, tmp_path: Path) -> None:
    nodes.add_node(num_cpus=1)
    gate = pipe(tmp_path / "gate")
    with ray_executor(nodes, square) as executor:
        executor.submit(Task(0, "", says=tmp_path / "0", waits_for=gate))
        writer = gate.open("w")
        (process,) = map(psutil.Process, executions_of(tmp_path / "0"))
    process.wait(120)
    writer.close()


def test_candidates_are_rehearsed_on_another_node_after_theirs_is_removed(nodes: Any, tmp_path: Path) -> None:
    several = SHORT.model_copy(update={"candidates": 2, "iterations": 1})
    assert run_story(StoryJob(0, "", tmp_path / "here"), settings=several) == "finished"
    node = nodes.add_node(num_cpus=1)
    gate = pipe(tmp_path / "gate")
    job = StoryJob(0, "", tmp_path / "there", fault=f"wait:{gate}", at=0)
    with ray_executor(nodes, square), ThreadPoolExecutor(1) as thread:  # The main thread connects to the cluster.
        ended = thread.submit(run_story, job, settings=several, executor=partial(ray_executor, nodes))
        with gate.open("w"):  # This waits until the first step of a rehearsal.
            lose(nodes, node)
        nodes.add_node(num_cpus=1)
        gate.write_text("go on")
        assert ended.result() == "finished"
    same_record(tmp_path / "there", tmp_path / "here")
    assert Run.open(tmp_path / "there").record.steps.lost == 0
