"""The scaffold, which is the plugin that ``rlgpt new-plugin`` writes, works without a change."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint

import pytest
from rlgpt.errors import ConfigError
from rlgpt.plugin.manager import PluginManager
from rlgpt.plugin.scaffold import create


def test_scaffold_of_a_plugin_passes_its_own_tests(tmp_path) -> None:
    root = create("my_robot", tmp_path)
    assert root == tmp_path / "rlgpt-my-robot"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *(p for p in sys.path if p)])}
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-rs", str(root)]
    ran = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert "skipped" not in ran.stdout


def test_entry_point_of_a_scaffold_loads_its_plugin(tmp_path, monkeypatch) -> None:
    root = create("arm2", tmp_path)
    assert {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()} == {
        "README.md",
        "pyproject.toml",
        "rlgpt_arm2/__init__.py",
        "rlgpt_arm2/env.py",
        "rlgpt_arm2/plugin.py",
        "rlgpt_arm2/py.typed",
        "tests/test_contract.py",
    }
    monkeypatch.syspath_prepend(str(root))
    points = tomllib.loads((root / "pyproject.toml").read_text())["project"]["entry-points"]["rlgpt"]
    manager = PluginManager([EntryPoint(k, v, "rlgpt") for k, v in points.items()], disabled="")
    assert list(manager.tasks()) == ["arm2/reach"]
    assert manager.task("arm2/reach")[0].name == "arm2"


def test_scaffold_of_a_plugin_passes_the_checks_of_ruff(tmp_path) -> None:
    create("arm", tmp_path)
    root = tmp_path / "rlgpt-arm"
    for command in (
        ["ruff", "check", "--isolated", "--line-length", "120", "--select", "E,F,I,UP,B"],
        ["ruff", "format", "--isolated", "--line-length", "120", "--check"],
    ):
        ran = subprocess.run(
            [sys.executable, "-m", *command, "."], cwd=root, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", ["", "Robot", "2arm", "a b", "a-b", "../x", "a" * 41, "arm_", "arm/x", "ärm"])
def test_create_scaffold_refuses_an_invalid_plugin_name(tmp_path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot name a plugin"):
        create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_create_scaffold_overwrites_no_existing_folder(tmp_path) -> None:
    create("arm", tmp_path)
    with pytest.raises(ConfigError, match="already exists"):
        create("arm", tmp_path)
