"""``rlgpt new-plugin`` writes a plugin that passes the tests of plugins."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]


def test_new_plugin_template_is_complete_and_has_the_given_name(rlgpt: Call) -> None:
    status, out, _ = rlgpt("new-plugin", "my_robot", "--folder", "made")
    assert status == 0
    assert "pip install -e '.[test]'" in out
    root = Path("made/rlgpt-my-robot")
    files = {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}
    assert {"pyproject.toml", "README.md", "rlgpt_my_robot/plugin.py", "tests/test_contract.py"} <= set(files)
    assert "class MyRobotPlugin" in files["rlgpt_my_robot/plugin.py"]
    assert not [name for name, text in files.items() if "$" in text]
    assert list(Path("made").iterdir()) == [root]


@pytest.mark.parametrize("name", ["My", "1x", "a-b", "", "../x"])
def test_new_plugin_refuses_an_invalid_name(rlgpt: Call, name: str) -> None:
    status, _, err = rlgpt("new-plugin", name)
    assert status == 2
    assert "cannot name a plugin" in err
    assert list(Path().iterdir()) == []


def test_new_plugin_does_not_overwrite_an_existing_folder(rlgpt: Call) -> None:
    assert rlgpt("new-plugin", "robot")[0] == 0
    status, _, err = rlgpt("new-plugin", "robot")
    assert status == 2
    assert "already exists" in err


@pytest.mark.slow
def test_installed_plugin_template_passes_the_contract_tests(rlgpt: Call, tmp_path: Path) -> None:
    assert rlgpt("new-plugin", "robot")[0] == 0
    target = tmp_path / "target"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), "./rlgpt-robot"], check=True, capture_output=True)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(target), os.environ["PYTHONPATH"]]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "rlgpt-robot/tests"]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:]
