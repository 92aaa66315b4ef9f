"""Agents, trainers and observers of other distributions are selected by name or by ``_target_``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from rlgpt.llm.exchange import read_exchanges
from rlgpt.runs import Run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two installed distributions: a plugin, and a distribution with agents and a trainer."""
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-warn-conflicts", "--target"]
    sources = [str(EXAMPLES / name) for name in ("rlgpt-corridor", "rlgpt-randomsearch")]
    command = [sys.executable, "-m", "pip", "install", *options, str(target), *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return target


def rlgpt(site: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a separate process."""
    paths = os.pathsep.join([str(site), *(p for p in sys.path if p)])
    env = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "rlgpt", *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_run_uses_the_slow_agent_the_trainer_and_the_observer_of_an_installed_distribution(
    site: Path, tmp_path: Path
) -> None:
    given = ["task=corridor/exit", "experiment=random", "agents.size=2", "trainer.noise=0.3"]
    done = rlgpt(site, tmp_path, "train", *given, "observers.curve.path=curve.csv", "folder=run")
    assert done.returncode == 0, done.stderr[-3000:]
    run = Run.open(tmp_path / "run")
    assert run.record.config["agents"] == {"name": "random_plans", "prompts": None, "size": 2}
    assert run.record.config["trainer"] == {"name": "random_search", "noise": 0.3}
    iterations = run.iterations()
    assert len(iterations) == 2
    for iteration in iterations:
        assert len(iteration.plan.coded) == 2
        assert iteration.training is not None
        assert iteration.training.trainer == "random_search"
    assert run.record.steps.training == sum(i.training.primitive_steps for i in iterations if i.training)
    points = (tmp_path / "curve.csv").read_text().splitlines()
    assert len(points) == sum(len(i.training.curve) for i in iterations if i.training)

    done = rlgpt(site, tmp_path, "evaluate", "run", "--episodes", "2")
    assert done.returncode == 0, done.stderr[-3000:]


SOURCE = """
def run():
    yield walk_to(x=0.0)
    yield press()
    yield walk_to(x=5.0)
"""

REPLIES = {
    "slow": {
        "thoughts": "",
        "sub_actions": [
            {"name": "open_door", "description": "open the door", "kind": "code", "reason": "it is a routine"},
            {"name": "leave", "description": "walk to the exit", "kind": "rl", "reason": "it is left over"},
        ],
    },
    "fast": {"thoughts": "", "doc": "open the door", "parameters": [], "max_steps": 40},
    "setup": {
        "reward_weights": {"env_reward": 1.0},
        "observation_keys": ["x", "switch", "open"],
        "base_actions": ["walk"],
        "coded_actions": ["open_door"],
        "reason": "code has the routine",
    },
}


def test_run_uses_the_language_model_and_the_trainer_of_another_distribution(site: Path, tmp_path: Path) -> None:
    texts = {role: json.dumps(reply) for role, reply in REPLIES.items()}
    texts["fast"] += f"\n```python\n{SOURCE}```"
    (tmp_path / "replies.json").write_text(json.dumps(texts))
    loops = [
        "budget=1500",
        "iterations=1",
        "min_decisions=1",
        "selection_episodes=2",
        "report_episodes=2",
        "target_success=1",
        "video=false",
    ]
    parts = ["agents=slow_fast", "trainer=random_search", "llm=file_replies", "llm.extra.file=replies.json"]
    done = rlgpt(site, tmp_path, "train", "task=corridor/exit", "folder=run", *loops, *parts)
    assert done.returncode == 0, done.stderr[-3000:]
    run = Run.open(tmp_path / "run")
    assert run.record.config["llm"]["kind"] == "file_replies"
    (iteration,) = run.iterations()
    assert iteration.setup.coded_actions == ("open_door",)
    assert iteration.training is not None
    assert iteration.training.trainer == "random_search"
    assert [e.reply.model for e in read_exchanges(tmp_path / "run" / "llm.jsonl")] == ["file"] * 3


@pytest.mark.slow
def test_cfg_flag_prints_the_settings_of_a_trainer_of_another_distribution(site: Path, tmp_path: Path) -> None:
    trainer = "trainer._target_=rlgpt_randomsearch.trainer.RandomSearch"
    done = rlgpt(site, tmp_path, "train", "--cfg", "task=corridor/exit", trainer)
    assert done.returncode == 0, done.stderr[-3000:]
    assert yaml.safe_load(done.stdout)["trainer"] == {
        "_target_": "rlgpt_randomsearch.trainer.RandomSearch",
        "noise": 0.5,
    }
    done = rlgpt(site, tmp_path, "train", "task=corridor/exit", "agents=random_plan")
    assert done.returncode == 2
    assert "'random_plans'" in done.stderr
