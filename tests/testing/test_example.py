"""The example plugin ``corridor``, which is a separate distribution and needs no change of the core."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXAMPLE, CRAFTER = EXAMPLES / "rlgpt-corridor", EXAMPLES / "rlgpt-crafter"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which only the distribution of the example plugin is installed."""
    return _install(EXAMPLE, tmp_path_factory.mktemp("site"))


def _install(distribution: Path, target: Path) -> Path:
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-warn-conflicts", "--target"]
    command = [sys.executable, "-m", "pip", "install", *options, str(target), str(distribution)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return target


def _python(site: Path, *arguments: str) -> str:
    paths = [str(site), *(p for p in sys.path if p)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    return ran.stdout


def test_example_plugin_passes_the_contract(site: Path) -> None:
    said = _python(site, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "-W", "error", str(EXAMPLE / "tests"))
    assert "SKIPPED" not in said


@pytest.mark.slow
def test_example_plugin_of_crafter_passes_the_contract(tmp_path: Path) -> None:
    site = _install(CRAFTER, tmp_path / "site")
    _python(site, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", str(CRAFTER / "tests"))


def test_plugin_manager_lists_the_tasks_of_the_installed_corridor_plugin(site: Path) -> None:
    code = "from rlgpt.plugin import PluginManager as M; m = M(); print(*m.tasks()); print(dict(m.broken))"
    tasks, broken = _python(site, "-c", code).splitlines()
    assert {"corridor/exit", "corridor/exit_slippery"} <= set(tasks.split())
    assert broken == "{}"


def test_run_on_a_corridor_task_writes_code_trains_and_saves_a_bundle(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    said = _python(site, str(Path(__file__).with_name("corridor_run.py")), str(folder))
    found = json.loads(said.splitlines()[-1])
    assert found["status"] == "finished"
    assert found["coded"] == ["open_door"]
    assert found["violations"] == []
    assert 0 < found["training_steps"] <= 1500
    assert "open_door" in found["usage"]
    assert (folder / "bundle").is_dir()
