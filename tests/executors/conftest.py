"""Add this folder to the import path, because the jobs are in a module that other processes import. A cluster of Ray
that the tests of a module share.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

NO_RAY = "Ray is not installed: pip install 'rlgpt[ray]'"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster whose head runs no jobs, and whose nodes have one CPU each. Its processes ask for a token."""
    if find_spec("ray") is None:
        pytest.skip(NO_RAY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
        import ray
        from ray.cluster_utils import Cluster

        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        try:
            yield made
        finally:
            ray.shutdown()
            made.shutdown()
