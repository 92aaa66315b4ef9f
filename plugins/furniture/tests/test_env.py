"""The environments of the furniture tasks."""

from __future__ import annotations

import importlib.util
import math
import sys
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.plugin import offscreen
from rlgpt.plugin.mujoco_camera import Camera
from rlgpt.testing.player import Player
from rlgpt_furniture.env import ARM_JOINTS, JOINT_RATE, PERIOD, FurnitureTask
from rlgpt_furniture.furniture import FURNITURE
from rlgpt_furniture.plugin import FurniturePlugin
from rlgpt_furniture.scene import build
from rlgpt_furniture.start import SPREADS, draw
from rlgpt_furniture.tasks import make_tasks

_spec = importlib.util.spec_from_file_location("furniture_wild", Path(__file__).with_name("wild.py"))
assert _spec is not None
assert _spec.loader is not None
wild = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wild)

TASKS = make_tasks()
KINDS = wild.KINDS
every_kind = pytest.mark.parametrize("kind", KINDS)


def variant(name: str, **settings: Any) -> Task:
    task = TASKS[f"furniture/{name}"]
    return task.model_copy(update={"settings": {**task.settings, **settings}})


def assert_same(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert a.keys() == b.keys()
    for key in a:
        np.testing.assert_array_equal(a[key], b[key])


@pytest.mark.parametrize(
    "name",
    ["one_leg", "desk_high", *(pytest.param(n, marks=pytest.mark.slow) for n in ("lamp_high", "square_table_medium"))],
)
@pytest.mark.parametrize("settings", [{}, {"control": "joints", "joints": "connector"}], ids=["hand", "joints"])
def test_furniture_environment_passes_check_env_of_gymnasium(name: str, settings: dict[str, Any]) -> None:
    env = FurnitureTask(variant(name, **settings), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*different from the unwrapped version")
        check_env(env, skip_render_check=True)
    env.close()


@pytest.mark.parametrize(
    "name", [n if i % 3 == 0 else pytest.param(n, marks=pytest.mark.slow) for i, n in enumerate(TASKS)]
)
def test_furniture_environment_gives_the_same_episode_for_the_same_seed(name: str) -> None:
    envs = [FurnitureTask(TASKS[name], seed=s) for s in (0, 1)]
    envs[1].reset(seed=9)
    rng = np.random.default_rng(0)
    assert_same(*(env.reset(seed=5)[0] for env in envs))
    for _ in range(20):
        action = rng.uniform(-1, 1, 8)
        a, b = (env.step(action) for env in envs)
        assert_same(a[0], b[0])
        assert a[1:4] == b[1:4]


@pytest.mark.parametrize(
    ("kind", "joints", "control"),
    [
        pytest.param(*each, marks=[] if (index % 4 == index // 4 % 4) else pytest.mark.slow)
        for index, each in enumerate(product(KINDS, wild.JOINTS, wild.CONTROLS))
    ],
)
def test_furniture_episode_continues_from_a_saved_state_bit_for_bit(kind: str, joints: str, control: str) -> None:
    task = variant(kind, control=control, joints=joints)
    env, other = FurnitureTask(task, seed=0), FurnitureTask(task, seed=7)
    env.reset(seed=3)
    rng = np.random.default_rng(1)
    for _ in range(15):
        env.step(rng.uniform(-1, 1, 8))
    saved, actions = env.save(), rng.uniform(-1, 1, (20, 8))
    first = [env.step(a) for a in actions]
    for again in (env, other):
        again.load(saved)
        for before, action in zip(first, actions, strict=True):
            now = again.step(action)
            assert_same(now[0], before[0])
            assert now[1:] == before[1:]
        assert again.save() == env.save()


def test_furniture_view_matches_the_restored_state(plugin: FurniturePlugin) -> None:
    play = Player(plugin, TASKS["furniture/one_leg"])
    env: Any = play.env.unwrapped
    start = env.save()
    assert play("grasp", part="leg4", along_z=0.012, sink=0.003)["holding"]
    lifted = env.save()
    for state, holding in ((start, -1), (lifted, 1), (start, -1)):
        play.context.observation = env.load(state)
        assert play.see()["holding"] == holding
        assert env.save() == state
        tip = env.data.site("tcp").xpos
        np.testing.assert_allclose(tip, play.context.observation["robot"][:3], atol=1e-6)
    play.env.close()


@every_kind
def test_start_poses_of_parts_use_the_whole_range_of_the_setting_randomness(kind: str) -> None:
    for randomness, shift, turn in (("low", 0.015, 15), ("medium", 0.05, 45), ("high", 0.10, 180)):
        env = FurnitureTask(variant(kind, randomness=randomness), seed=0)
        starts_of_parts = []
        for seed in range(8):
            env.reset(seed=seed)
            starts_of_parts.append(env.data.qpos[ARM_JOINTS:].reshape(-1, 7).copy())
            assert env.data.ncon == 0 or env.data.contact.dist[: env.data.ncon].min() > -5e-4
        starts = np.array([p.start for p in env.furniture.parts])
        away = np.abs(np.array(starts_of_parts)[:, :, :2] - starts)
        assert away.max() < shift + 0.01  # Round parts roll up to 1 cm before they rest.
        assert away.max() > shift / 3
        yaws = 2 * np.arctan2(np.array(starts_of_parts)[:, 0, 6], np.array(starts_of_parts)[:, 0, 3])
        lying = 2 * math.atan2(env.furniture.parts[0].lying[3], env.furniture.parts[0].lying[0])
        turned = np.abs(np.remainder(yaws - lying + math.pi, 2 * math.pi) - math.pi)
        assert turned.max() < math.radians(turn) + 0.02
        assert turned.max() > math.radians(turn) / 3


@every_kind
def test_furniture_at_rest_stays_at_rest_and_gains_no_energy(kind: str) -> None:
    import mujoco

    env = FurnitureTask(variant(kind), seed=0)
    env.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    env.reset(seed=0)
    energies, before = [], env.data.qpos.copy()
    for _ in range(100):
        env.step(np.zeros(8))
        mujoco.mj_forward(env.model, env.data)
        energies.append(float(env.data.energy.sum()))
    assert max(energies) - energies[0] < 1e-5
    assert np.abs(env.data.qpos[:ARM_JOINTS] - before[:ARM_JOINTS]).max() < 1e-4
    assert np.abs(env.data.qpos[ARM_JOINTS:] - before[ARM_JOINTS:]).max() < 2e-3
    assert env.data.energy[1] < 1e-6


def test_furniture_hand_actions_move_the_hand_by_the_stated_distance() -> None:
    env = FurnitureTask(variant("one_leg"), seed=0)
    before = env.reset(seed=0)[0]["robot"][:3].copy()
    for _ in range(5):
        env.step([0, -1, 1, 0, 0, 0, 0, 0])
    for _ in range(10):
        observation = env.step(np.zeros(8))[0]["robot"]
    np.testing.assert_allclose(observation[:3] - before, (0, -0.15, 0.15), atol=2e-3)
    assert np.abs(observation[7:13]).max() < 5e-3


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_furniture_hand_actions_turn_the_hand_by_the_stated_angle(axis: int) -> None:
    env = FurnitureTask(variant("one_leg"), seed=0)
    env.reset(seed=0)
    start = env.rotation.copy()
    action = np.zeros(8)
    action[2], action[3 + axis] = 0.5, 0.5
    for _ in range(4):
        env.step(action)
    for _ in range(15):
        env.step(np.zeros(8))
    turned = np.zeros(3)
    _, turn = env.arm.pose(env.data.qpos[:7])
    turned[:] = env.arm.rotation_vector(turn.copy(), start)
    expected = np.zeros(3)
    expected[axis] = 4 * 2 * math.atan(0.075)
    np.testing.assert_allclose(turned, expected, atol=0.01)


def test_furniture_joint_actions_move_the_joints_at_the_stated_rate() -> None:
    env = FurnitureTask(variant("one_leg", control="joints"), seed=0)
    env.reset(seed=0)
    before = env.data.qpos[:7].copy()
    for _ in range(5):
        env.step([0, 0, 0, 0.5, 0, 0, -0.5, 0])
    for _ in range(15):
        env.step(np.zeros(8))
    moved = env.data.qpos[:7] - before
    np.testing.assert_allclose(
        moved, (0, 0, 0, 5 * 0.5 * JOINT_RATE * PERIOD, 0, 0, -5 * 0.5 * JOINT_RATE * PERIOD), atol=0.02
    )


def test_furniture_grip_actions_open_and_close_the_fingers() -> None:
    env = FurnitureTask(variant("one_leg"), seed=0)
    env.reset(seed=0)
    widths = []
    for grip in (1.0, 0.0, -1.0, 0.0):
        for _ in range(8):
            observation = env.step([0, 0, 0, 0, 0, 0, 0, grip])[0]
        widths.append(float(observation["robot"][13]))
    np.testing.assert_allclose(widths, (0.0, 0.0, 0.08, 0.08), atol=1e-3)


@pytest.mark.parametrize("setting", ["furniture", "randomness", "joints", "control"])
def test_furniture_environment_error_names_an_unknown_value_of_a_setting(setting: str) -> None:
    with pytest.raises(ConfigError, match=f"setting {setting} is 'chair'; valid: "):
        FurnitureTask(variant("one_leg", **{setting: "chair"}), seed=0)


@pytest.mark.skipif(not offscreen.find_backend(), reason="no offscreen OpenGL here")
def test_setting_cameras_of_furniture_adds_two_images_to_the_observation(plugin: FurniturePlugin) -> None:
    env = plugin.make_env(variant("lamp", cameras=True), seed=0)
    observation = env.reset(seed=0)[0]
    for name in ("front", "wrist"):
        assert observation[name].shape == (64, 64, 3)
        assert observation[name].std() > 10
    assert observation in env.observation_space
    env.close()


@pytest.mark.parametrize(
    ("kind", "joints", "control"),
    [
        pytest.param(*combination, marks=[] if combination == ("one_leg", "peg", "hand") else pytest.mark.slow)
        for combination in product(KINDS, wild.JOINTS, wild.CONTROLS)
    ],
)
def test_furniture_simulation_is_stable_under_random_actions(kind: str, joints: str, control: str) -> None:
    assert wild.play(kind, joints, control, 450)["arm"] > 1


@pytest.mark.parametrize(("kind", "seed"), [("square_table", 1151), ("square_table", 2828), ("desk", 331)])
def test_pegs_of_legs_do_not_overlap_other_parts_at_the_start(kind: str, seed: int) -> None:
    """Without the areas of pegs, the parts of these seeds overlap. The seeds before keep their starts."""
    import mujoco

    furniture = FURNITURE[kind]
    model = build(furniture, 0.0012, False)
    data = mujoco.MjData(model)
    data.qpos[ARM_JOINTS:] = draw(furniture, SPREADS["high"], np.random.default_rng(seed))
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)
    parts = [model.body(part.name).id for part in furniture.parts]
    between = np.isin(model.geom_bodyid[data.contact.geom[: data.ncon]], parts).all(axis=1)
    assert data.contact.dist[: data.ncon][between].min(initial=0.0) > -1e-4
    old = replace(furniture, parts=tuple(replace(part, areas=()) for part in furniture.parts))
    for other in range(20):
        starts = [draw(f, SPREADS["high"], np.random.default_rng(other)) for f in (furniture, old)]
        np.testing.assert_array_equal(*starts)


def test_camera_frees_its_opengl_context_if_the_model_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Context:
        freed = False

        def __init__(self, width: int, height: int) -> None:
            made.append(self)

        def make_current(self) -> None:
            raise RuntimeError("out of memory")

        def free(self) -> None:
            self.freed = True

    made: list[Context] = []
    monkeypatch.setattr("rlgpt.plugin.mujoco_camera.find_backend", lambda: "egl")
    monkeypatch.setitem(sys.modules, "mujoco.egl", SimpleNamespace(GLContext=Context))
    monkeypatch.setenv("MUJOCO_GL", "egl")
    with pytest.raises(ConfigError, match="out of memory"):
        Camera(build(FURNITURE["one_leg"], 0.0012, False), "view")
    assert [context.freed for context in made] == [True]
