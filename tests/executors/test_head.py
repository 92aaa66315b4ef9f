"""The head of a cluster is restarted, or the whole cluster is lost together with the process that submits jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from cluster_jobs import Task, executions_of, square
from clusters import ray_environment
from records import logs, same_record
from story_jobs import StoryJob, run_story

pytestmark = pytest.mark.slow


@pytest.fixture
def lasting_cluster(tmp_path: Path) -> Iterator[Any]:
    """A cluster of one node whose head keeps its state in files."""
    with ray_environment() as patch:
        patch.setenv("RAY_gcs_storage", "rocksdb")
        patch.setenv("RAY_gcs_storage_path", str(tmp_path / "gcs"))
        import ray
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        cluster.add_node(num_cpus=1)
        try:
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


def test_jobs_continue_while_the_head_is_restarted(lasting_cluster: Any, tmp_path: Path) -> None:
    from rlgpt.executors.ray import Ray

    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with Ray(square, address=lasting_cluster.address) as executor:
        executor.submit(Task(2, "", value=2, says=tmp_path / "2", waits_for=gate))
        executor.submit(Task(3, "", value=3, says=tmp_path / "3"))
        with gate.open("w"):
            head = lasting_cluster.head_node
            head.kill_gcs_server()
            head.start_gcs_server()
        assert {outcome for _, outcome in executor.as_completed()} == {4, 9}
    assert all(len(executions_of(tmp_path / str(number))) == 1 for number in (2, 3))


def test_run_ends_with_the_same_record_if_the_head_is_restarted_meanwhile(
    lasting_cluster: Any, tmp_path: Path, undisturbed: Path
) -> None:
    from rlgpt.executors.ray import Ray

    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with Ray(run_story, address=lasting_cluster.address) as executor:
        executor.submit(StoryJob(0, "", tmp_path / "0", fault=f"wait:{gate}", at=40))
        with gate.open("w"):
            head = lasting_cluster.head_node
            head.kill_gcs_server()
            head.start_gcs_server()
        assert [outcome for _, outcome in executor.as_completed()] == ["finished"]
    assert len(logs(tmp_path / "0", "executions")) == 1
    same_record(tmp_path / "0", undisturbed)


def test_runs_are_resumed_after_everything_was_killed(tmp_path: Path, undisturbed: Path) -> None:
    """The process that submits two runs and all processes of its cluster are killed; then it is started again."""
    gate, script = tmp_path / "gate", Path(__file__).parent / "submit_stories.py"
    os.mkfifo(gate)
    with ray_environment():
        command = [sys.executable, str(script), str(tmp_path), str(gate)]
        first = subprocess.Popen(command, stdout=subprocess.PIPE)
        with gate.open("w"):
            for process in psutil.Process(first.pid).children(recursive=True):
                process.kill()
            first.kill()
        first.communicate()
        again = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    assert json.loads(again.stdout) == {"0": "finished", "1": "finished"}
    for number in range(2):
        same_record(tmp_path / str(number), undisturbed)
    assert len(logs(tmp_path / "0", "executions")) == 2
