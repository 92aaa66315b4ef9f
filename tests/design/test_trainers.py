"""The example scripts train a policy on an environment that ``extend()`` made from a bundle: one with
Stable-Baselines3, and one in a single file in the style of CleanRL.
"""

import io
import math
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import odd
import pytest
import rlgpt
import torch
import worlds
from gymnasium import spaces
from rlgpt.observers import PlainProgressReporter
from words import speaker

DOCS = Path(__file__).resolve().parents[2] / "docs"
PUSH = "def run(steps=3.0):\n    yield repeat({label}, steps=round(steps))\n"
WORLDS = f"{DOCS.parent / 'examples' / 'design' / 'worlds.py'}"
DESIGNS = {
    "CartPole-v1": ('action="right"', {"left": "", "right": "to the right"}),
    "MountainCarContinuous-v0": ("force=1.0", {"force": "to the right"}),
    f"{WORLDS}:doorkey": ('action="forward"', None),
    "odd:pictures": ("action_0=1, action_1=2", None),
}
"""Environment argument of the scripts -> arguments of one base action in code, and the action labels."""


@pytest.fixture(scope="module", params=DESIGNS)
def designed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An environment's id, and the folder of a bundle whose coded action has a parameter and uses action labels."""
    label, labels = DESIGNS[request.param]
    folder = tmp_path_factory.mktemp("designed")
    if "doorkey" in request.param:
        pytest.importorskip("minigrid")
    name = request.param.partition(":")[2]
    rlgpt.design(
        {"doorkey": worlds.doorkey, "pictures": odd.pictures}.get(name, request.param),
        "Whatever.",
        speaker(PUSH.format(label=label)),
        labels=labels,
        agents="untrained",
        horizon=60,
        folder=folder,
        progress=PlainProgressReporter(io.StringIO()),
        iterations=1,
        selection_episodes=1,
        report_episodes=1,
    )
    return request.param, folder / "bundle"


def ends(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error::UserWarning:rlgpt", str(DOCS / script), *arguments]
    paths = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=paths)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["train_sb3.py", "train_cleanrl.py"])
def test_example_training_script_stops_at_its_budget_of_steps(designed: tuple[str, Path], script: str) -> None:
    env, bundle = designed
    named = ["--make", env] if ":" in env else [env]
    small = ["--total-steps", "400", "--num-envs", "2", "--num-steps", "16", "--gamma", "0.9"]
    for given in (str(bundle), "none") if env == "CartPole-v1" else (str(bundle),):
        done = ends(script, given, *named, *small)
        assert done.returncode == 0, done.stderr[-2000:]
        told = re.search(r"^(\d+) primitive steps, mean reward of the last", done.stdout.splitlines()[-1])
        assert told is not None
        assert 400 <= int(told[1]) < 400 + 2 * 16 * (5 if given != "none" else 1)


@pytest.mark.parametrize("script", ["train_sb3.py", "train_cleanrl.py"])
def test_invalid_argument_of_an_example_script_prints_a_message_and_exits_with_status_2(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(DOCS / script), run_name="not main")["main"]
    for given, says in ((["nowhere", "CartPole-v1"], "nowhere"), (["none", "NoSuchWorld-v1"], "NoSuchWorld")):
        monkeypatch.setattr(sys, "argv", [script, *given])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        assert says in capsys.readouterr().err


@pytest.mark.parametrize("script", ["train_sb3.py", "train_cleanrl.py"])
def test_example_scripts_scale_an_image_and_print_its_number_of_pixels(script: str) -> None:
    module = runpy.run_path(str(DOCS / script), run_name="not main")

    class Camera(gymnasium.Env):
        observation_space = spaces.Dict(
            {"eye": spaces.Box(0, 255, (40, 40, 3), np.uint8), "height": spaces.Box(-9, 9, (2,), np.float32)}
        )
        action_space = spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return {"eye": np.full((40, 40, 3), 255, np.uint8), "height": np.array([-7, 3], np.float32)}, {}

        def step(self, action):
            return self.reset()[0], 0.0, False, False, {}

    env = module["extended"](Camera, "none", 0.9)
    seen, _ = env.reset(seed=0)
    assert env.observation_space.contains(seen)
    assert sorted(set(seen.tolist())) == [-7.0, 1.0, 3.0]
    assert "4800 of them pixels" in module["begins"](env, "none", 10)


def test_example_script_ends_its_last_rollout_at_the_step_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(DOCS / "train_cleanrl.py"), run_name="not main")["main"]
    for envs, steps in ((2, 81), (1, 1)):
        monkeypatch.setattr(
            sys, "argv", ["-", "none", "CartPole-v1", "--total-steps", str(steps), "--num-envs", str(envs)]
        )
        main()
        first, last = capsys.readouterr().out.splitlines()
        assert first.startswith("none: actions Discrete(2)")
        assert last.startswith(f"{steps + (-steps) % envs} primitive steps, mean reward")
        assert "nan" not in last


@pytest.mark.parametrize("script", ["train_sb3.py", "train_cleanrl.py"])
def test_example_script_passes_its_discount_to_extend(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = runpy.run_path(str(DOCS / script), run_name="not main")
    env = module["extended"](module["maker"]("CartPole-v1", None), "none", 0.9)
    assert env.get_wrapper_attr("gamma") == 0.9


def test_script_with_lanes_trains_on_the_decisions_of_each_lane(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = runpy.run_path(str(DOCS / "train_cleanrl_lanes.py"), run_name="not main")
    arguments = ["--total-steps", "300", "--num-envs", "4", "--num-steps", "8", "--epochs", "1"]
    monkeypatch.setattr(sys, "argv", ["-", "CartPole-v1", *arguments])
    module["main"]()
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "4 lanes, 3 choices, 300 primitive steps"
    told = re.match(r"(\d+) primitive steps, mean reward of the last (\d+) episodes", last)
    assert told is not None
    assert 300 <= int(told[1]) < 300 + 4 * 3
    assert int(told[2]) > 0

    def decision(reward: float, duration: int, following: float, ended: bool) -> Any:
        return module["Decision"](None, None, 0, 0.0, 1.0, reward, duration, following, ended)

    played = [decision(1.0, 2, 1.0, False), decision(2.0, 1, 4.0, True), decision(3.0, 3, 1.0, False)]
    deltas = [1 + 0.25 * 1 - 1, 2 + 0.5 * 4 - 1, 3 + 0.125 * 1 - 1]
    expected = [deltas[0] + 0.25 * 0.8 * deltas[1], deltas[1], deltas[2]]
    assert module["advantages"](played, 0.5, 0.8) == pytest.approx(expected)


def test_policy_of_the_example_script_never_samples_masked_choices() -> None:
    module = runpy.run_path(str(DOCS / "train_cleanrl.py"), run_name="not main")
    torch.manual_seed(0)
    heads = module["Heads"]([torch.tensor([[0.0, -1e9]] * 99), torch.zeros(99, 3)])
    drawn = heads.sample()
    assert drawn.shape == (99, 2)
    assert set(drawn[:, 0].tolist()) == {0}
    assert set(drawn[:, 1].tolist()) == {0, 1, 2}
    torch.testing.assert_close(heads.log_prob(drawn), torch.full((99,), -math.log(3)))
    torch.testing.assert_close(heads.entropy(), torch.full((99,), math.log(3)))
