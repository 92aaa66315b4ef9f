"""The wheels install with plain pip outside the checkout and work there, with the built-in PPO."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from rlgpt.sandbox import build, stamps

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "rlgpt-corridor"

SCRIPT = """
import gymnasium, rlgpt, pathlib
assert "site-packages" in rlgpt.__file__, rlgpt.__file__
source = "def run():\\n    for _ in range(2):\\n        yield act(action='action_1')\\n"
action = rlgpt.CodedAction(name="right", doc="two steps right", source=source)
env = rlgpt.extend(gymnasium.make("CartPole-v1"), actions=[action])
assert env.action_space.n == 3
env.reset(seed=0)
info = env.step(2)[-1]
assert (info["action"], info["duration"]) == ("right", 2), info
print("extended")
"""


def run(*command: str, cwd: Path) -> str:
    """Run a command without access to the checkout. Return its output."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        command, cwd=cwd, env={**env, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel of each distribution."""
    out = tmp_path_factory.mktemp("wheels")
    plugins = [*ROOT.glob("plugins/*/pyproject.toml"), *ROOT.glob("plugins/*/*/pyproject.toml")]
    sources = [ROOT / "core", *(path.parent for path in sorted(plugins)), EXAMPLE]
    for source in sources:
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out), cwd=source)
    return out


def test_every_wheel_marks_its_packages_as_typed(wheels: Path) -> None:
    for wheel in wheels.glob("*.whl"):
        names = set(zipfile.ZipFile(wheel).namelist())
        packages = {n.split("/")[0] for n in names if n.count("/") == 1 and n.endswith("/__init__.py")}
        assert packages
        assert {f"{package}/py.typed" for package in packages} <= names, wheel.name


def test_core_wheel_contains_the_files_from_outside_the_package(wheels: Path) -> None:
    (core,) = wheels.glob("rlgpt-0*.whl")
    names = set(zipfile.ZipFile(core).namelist())
    conf = {f"rlgpt/conf/{p.relative_to(ROOT / 'conf')}" for p in (ROOT / "conf").rglob("*.yaml")}
    assert conf <= names
    assert {
        "rlgpt/overrides.txt",
        "rlgpt/sandbox/guest.wasm",
        "rlgpt/report/page/report.html",
        "rlgpt/report/page/style.css",
        "rlgpt/plugin/template/pyproject.toml.tmpl",
        "hydra_plugins/rlgpt_launcher.py",
    } <= names
    assert not [n for n in names if "test" in Path(n).parts or n.endswith(".pyc")]


@pytest.mark.parametrize(
    ("guest", "says"),
    [
        (None, "is missing"),
        (b"no stamp", "was built from other sources"),
        (stamps.section({"sources": "0" * 64}), "was built from other sources"),
    ],
    ids=["none", "unstamped", "stale"],
)
def test_building_the_core_wheel_fails_without_a_guest_program_of_the_same_sources(
    guest: bytes | None, says: str, tmp_path: Path
) -> None:
    core = tmp_path / "core"
    shutil.copytree(build.SOURCES, core / "rlgpt" / "sandbox" / "guest")
    shutil.copy(str(stamps.__file__), core / "rlgpt" / "sandbox")
    (core / "hydra_plugins").mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "rlgpt/__init__.py"):
        (core / name).write_bytes((ROOT / "core" / name).read_bytes())
    if guest is not None:
        (core / "rlgpt" / "sandbox" / "guest.wasm").write_bytes(guest)
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=core,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert f"guest.wasm {says}" in done.stdout + done.stderr
    assert "make guest" in done.stdout + done.stderr


@pytest.mark.slow
def test_wheels_work_after_a_plain_pip_install(wheels: Path, tmp_path: Path) -> None:
    venv, work = tmp_path / "venv", tmp_path / "work"
    work.mkdir()
    run(sys.executable, "-m", "venv", str(venv), cwd=work)
    python, rlgpt = str(venv / "bin" / "python"), str(venv / "bin" / "rlgpt")
    run(python, "-m", "pip", "install", "-q", *map(str, wheels.glob("*.whl")), "torch==2.13.*", cwd=work)
    run(python, "-m", "pip", "check", cwd=work)
    tasks = run(rlgpt, "tasks", cwd=work)
    assert "kitchen/microwave" in tasks
    assert "corridor/exit" in tasks
    assert "extended" in run(python, "-c", SCRIPT, cwd=work)
    smoke = ("task=corridor/exit", "agents=rl_only", "experiment=smoke")
    assert "pure RL" in run(rlgpt, "train", *smoke, cwd=work)
    run(rlgpt, "train", *smoke, "-m", "-j", "2", "seed=1,2", "hydra.sweep.dir=sweep", cwd=work)
    assert len(list((work / "sweep").rglob("report.html"))) == 2
    doctor = run(rlgpt, "doctor", cwd=work)
    assert "not installed (an extra)" in doctor, "Sample Factory must not be a requirement"
    assert "--overrides" in doctor
    assert str(venv / "lib") in doctor
