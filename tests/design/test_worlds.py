"""The environments of examples/design work with the whole loop. The first request of each contains the whole
description."""

import io
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import rlgpt
from gymnasium.utils.env_checker import check_env
from rlgpt.config.prepare import prepare
from rlgpt.envs import metaworld
from rlgpt.errors import ConfigError
from rlgpt.observers import PlainProgressReporter
from rlgpt.plugin import GenericPlugin
from rlgpt.plugin.states import holds
from rlgpt.runs import Run
from words import speaker, text
from worlds import WORLDS

NEEDS = {
    "doorkey": "minigrid",
    "lunar_lander": "Box2D",
    "fetch_slide": "gymnasium_robotics",
    "adroit_door": "gymnasium_robotics",
    "breakout": "ale_py",
}
TELLS = {
    "doorkey": """
        one of 'left', 'right', 'forward', 'pickup'
        view["image_grid"]
        64 primitive steps
        5 key
        ends with a positive total reward""",
    "mountain_car": """
        push on the car
        along the track to the right, m, -1.2 to 0.6
        at least 99
        999 primitive steps
        0.0015 * force""",
    "lunar_lander": """
        main: the engine under the lander
        velocity to the right, x per 100 steps
        at least 200
        1000 primitive steps
        100 * |angle|""",
    "fetch_slide": """
        no effect: the fingers are locked
        position of the puck minus that of the gripper, m
        50 primitive steps""",
    "adroit_door": """
        28 numbers from -1 to 1
        200 primitive steps
        palm minus this point""",
    "breakout": """
        'noop', 'fire', 'right', 'left'
        in pixels from the top left of 84 x 84
        at least 10 in the episode
        the same of the frame before the newest
        Box of shape 4x84x84""",
    "metaworld_drawer": """
        1 closes the fingers, -1 opens them
        where the object is to be, upwards, m
        200 primitive steps
        Sawyer
        5 for how near the hand is""",
}
SMALL = {
    "iterations": 1,
    "repairs": 0,
    "selection_episodes": 1,
    "report_episodes": 1,
    "traces": 1,
    "target_success": 1.0,
    "hyperparameters": {"num_envs": 2, "num_steps": 16, "minibatch_size": 16, "update_epochs": 1},
}


@pytest.mark.skipif(find_spec("Box2D") is None, reason="needs Box2D")
def test_box2d_can_be_imported_with_warnings_as_errors() -> None:
    """The import of Box2D gives a warning. If pytest turns that warning into an error, the process crashes."""
    assert import_module("Box2D").b2World


def world(name: str):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if name == "metaworld_drawer" and metaworld.python() is None:
        pytest.skip("no interpreter with Meta-World: make metaworld")
    return WORLDS[name]


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:.*(unwrapped version|infinity|symmetric|different from the|not having a spec|render):UserWarning",
    "ignore:pkg_resources is deprecated:UserWarning",
)
@pytest.mark.parametrize("name", WORLDS)
def test_example_environment_runs_the_outer_and_the_inner_loop(name: str, tmp_path: Path) -> None:
    chosen, llm = world(name), speaker()
    horizon = 1000
    bundle = chosen.design(
        llm, tmp_path, progress=PlainProgressReporter(io.StringIO()), **{**SMALL, "budget": 3 * horizon + 200}
    )
    for part in map(str.strip, TELLS[name].strip().splitlines()):
        assert part in text(llm.requests[0])
    run = Run.open(tmp_path)
    assert (run.record.status, run.record.steps.training > 0) == ("finished", True)
    env = rlgpt.extend(chosen.make_env(), actions=bundle)
    check_env(env, skip_render_check=True, skip_close_check=True)
    env.reset(seed=0)
    assert env.step(env.extension.write("go", {"steps": 2.0}))[4]["duration"] == 2
    env.close()


def test_error_about_a_missing_metaworld_interpreter_names_the_make_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(metaworld.PYTHON, "/nowhere/python")
    with pytest.raises(ConfigError, match="make metaworld"):
        metaworld.recipe("drawer-open-v3")
    with pytest.raises(ConfigError, match="horizon is 501"):
        metaworld.make("drawer-open-v3", horizon=501)


@pytest.mark.slow
def test_metaworld_start_positions_depend_on_the_seed() -> None:
    if metaworld.python() is None:
        pytest.skip("no interpreter with Meta-World: make metaworld")
    env = metaworld.make("drawer-open-v3", horizon=3)
    first, second, again = (env.reset(seed=seed)[0] for seed in (3, 4, 3))
    assert len(first) == len(metaworld.OBSERVATIONS)
    assert first.tolist() == again.tolist() != second.tolist()
    ends = [env.step(env.action_space.sample())[2:5] for _ in range(3)]
    assert [truncated for _, truncated, _ in ends] == [False, False, True]
    assert all(type(info["success"]) is bool for *_, info in ends)
    env.close()


def test_minigrid_is_saved_and_restored_exactly() -> None:
    pytest.importorskip("minigrid")
    world = WORLDS["doorkey"]
    plugin, task = prepare(**world.described)
    codec = plugin.states(task)
    assert codec is not None
    env = plugin.make_env(task, seed=0)
    for seed in range(5):
        assert holds(codec, env, seed=seed, steps=30)  # The time limit of 64 steps is in the second half.
    assert GenericPlugin.of(world.make_env).states(task) is None, (
        "its state contains objects of classes that the plugin does not list"
    )
