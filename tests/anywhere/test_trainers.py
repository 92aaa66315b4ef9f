"""A bundle of design() trains by extend() alone: under Stable-Baselines3, and in a single file in CleanRL's manner."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
import rlgpt
from rlgpt.loop.progress import PlainWatcher
from words import speaker

DOCS = Path(__file__).resolve().parents[2] / "docs"
PUSH = "def run(steps=3.0):\n    yield repeat({label}, steps=round(steps))\n"
DESIGNS = {
    "CartPole-v1": ('action="right"', {"left": "", "right": "to the right"}),
    "MountainCarContinuous-v0": ("force=1.0", {"force": "to the right"}),
}


@pytest.fixture(scope="module", params=DESIGNS)
def designed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An environment's id, and the folder of a bundle whose action has a parameter and relies on labels."""
    label, labels = DESIGNS[request.param]
    folder = tmp_path_factory.mktemp("designed")
    rlgpt.design(
        request.param,
        "Whatever.",
        speaker(PUSH.format(label=label)),
        labels=labels,
        agents="untrained",
        horizon=60,
        folder=folder,
        watching=PlainWatcher(io.StringIO()),
        iterations=1,
        selection_episodes=1,
        report_episodes=1,
    )
    return request.param, folder / "bundle"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "more"),
    [
        ("train_sb3.py", ["--decisions", "512"]),
        ("train_cleanrl.py", ["--total-steps", "500", "--num-envs", "2", "--num-steps", "32"]),
    ],
)
def test_it_trains(designed: tuple[str, Path], script: str, more: list[str]) -> None:
    env_id, bundle = designed
    for given in (str(bundle), "none") if script == "train_cleanrl.py" else (str(bundle),):
        command = [sys.executable, "-W", "error::UserWarning", str(DOCS / script), given, env_id, *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        told = re.search(r"^(\d+) (?:decisions|primitive steps), mean reward", done.stdout.splitlines()[-1])
        assert told is not None
        assert int(told[1]) >= 500
