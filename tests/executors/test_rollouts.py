"""Rollouts of a training on a cluster of several nodes: the record is the same as in one process, with and without lost
processes and machines.
"""

from __future__ import annotations

import dataclasses
import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from clusters import lose, pipe
from rlgpt.domain import TrainingRecord
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.rollout_job import RolloutWorker
from rlgpt.testing.counting import WANDER, counted, grid_spec
from rollout_workers import faulty_grid, same, train

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TrainingRecord]:
    """A training in one process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return folder / "train", train(folder / "train", grid_spec(folder / "count", WANDER))


def executor_of(cluster: Any) -> Any:
    from rlgpt.executors.ray import Ray

    return functools.partial(Ray, address=cluster.address)


def faulty_spec(counter: Path, fault: str) -> EnvSpec:
    factory = functools.partial(faulty_grid, str(counter), 150, fault)
    return dataclasses.replace(grid_spec(counter, WANDER), factory=factory)


@pytest.mark.parametrize("cpus", [1, 2])
def test_rollouts_on_a_cluster_do_not_depend_on_the_number_of_its_workers(
    cpus: int, nodes: Any, tmp_path: Path, undisturbed: tuple[Path, TrainingRecord]
) -> None:
    nodes.add_node(num_cpus=cpus)
    spec = grid_spec(tmp_path / "count", WANDER)
    record = train(tmp_path / "train", spec, executor_of(nodes))
    assert same(tmp_path / "train", record, *undisturbed)
    assert counted(tmp_path / "count") == record.primitive_steps, "a worker keeps its environments"


def test_killed_worker_of_a_cluster_changes_nothing(
    nodes: Any, tmp_path: Path, undisturbed: tuple[Path, TrainingRecord]
) -> None:
    nodes.add_node(num_cpus=2)
    counter = tmp_path / "count"
    record = train(tmp_path / "train", faulty_spec(counter, "kill"), executor_of(nodes))
    assert counter.with_suffix(".fault").exists()
    assert same(tmp_path / "train", record, *undisturbed)
    assert counted(counter) > record.primitive_steps, "the steps of the lost share are not counted"


def test_training_continues_on_another_node_after_its_node_is_removed(
    nodes: Any, tmp_path: Path, undisturbed: tuple[Path, TrainingRecord]
) -> None:
    node = nodes.add_node(num_cpus=2)
    gate, counter = pipe(tmp_path / "gate"), tmp_path / "count"
    spec, executor = faulty_spec(counter, str(gate)), executor_of(nodes)
    with executor(RolloutWorker()), ThreadPoolExecutor(1) as thread:  # The main thread connects to the cluster.
        ended = thread.submit(train, tmp_path / "train", spec, executor)
        with gate.open("w"):  # This waits until a share is in the middle of an episode.
            lose(nodes, node)
        nodes.add_node(num_cpus=1)
        record = ended.result()
    assert same(tmp_path / "train", record, *undisturbed)


def test_slow_node_delays_a_rollout_and_changes_nothing(
    nodes: Any, tmp_path: Path, undisturbed: tuple[Path, TrainingRecord]
) -> None:
    for _ in range(2):
        nodes.add_node(num_cpus=1)
    gate, counter = pipe(tmp_path / "gate"), tmp_path / "count"
    spec, executor = faulty_spec(counter, str(gate)), executor_of(nodes)
    with executor(RolloutWorker()), ThreadPoolExecutor(1) as thread:
        ended = thread.submit(train, tmp_path / "train", spec, executor)
        gate.write_text("go on")  # This waits until a share is in the middle of an episode.
        record = ended.result()
    assert same(tmp_path / "train", record, *undisturbed)
    assert counted(counter) == record.primitive_steps, "no share is executed twice"
