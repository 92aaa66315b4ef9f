"""Add the folders of the modules with jobs to the import path, because other processes import these modules. A cluster
of Ray that the tests of a module share.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("executors", "loop", "rl")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster whose head runs no jobs."""
    from clusters import ray_environment

    with ray_environment():
        import ray
        from ray.cluster_utils import Cluster

        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        try:
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


@pytest.fixture
def nodes(cluster: Any) -> Any:
    """The cluster without nodes that run jobs."""
    for node in list(cluster.worker_nodes):
        cluster.remove_node(node)
    return cluster


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run without a fault."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    from story_jobs import StoryJob, run_story

    assert run_story(StoryJob(0, "", folder)) == "finished"
    return folder
