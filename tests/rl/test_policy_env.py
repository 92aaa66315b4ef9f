"""The environment of a trainer: observation, mask, duration, normalised actions, and the figures of an episode."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.domain import Episode, Parameter, RLSetup, Task
from rlgpt.errors import ConfigError, PluginError, UnknownNameError
from rlgpt.options import ExtendedSpace
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.types import Labels, ViewKey
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.codec import ActionCodec
from rlgpt.rl.observation import ObservationBuilder
from rlgpt.rl.policy_env import PolicyEnv, build, plugin_of
from rlgpt.rl.vector import LocalVector
from rlgpt.testing.counting import BROKEN, TASK, TO_ROW, WANDER, CountingGrid, action, counted, grid_spec
from rlgpt.testing.grid import grid_plugin

REACH = action(
    "reach",
    "def run(far=2.0, near=0.0):\n    yield go(direction='up', cells=int(far))\n",
    parameters=(
        Parameter(name="far", low=1, high=5, default=2),
        Parameter(name="near", low=-1, high=1, default=0),
    ),
)


@pytest.mark.filterwarnings("ignore:.*(unwrapped version|is.*infinity):UserWarning")
def test_policy_env_passes_check_env_of_gymnasium(tmp_path: Path) -> None:
    check_env(build(grid_spec(tmp_path / "count", TO_ROW, REACH), seed=0), skip_render_check=True)


def test_policy_observation_contains_the_keys_of_the_setup_in_order(tmp_path: Path) -> None:
    env = build(grid_spec(tmp_path / "count", observation_keys=("holding", "observation", "agent")), seed=0)
    observation, _ = env.reset(seed=1)
    world = env.unwrapped
    expected = [0.0, *world._observation(), *world.agent]  # type: ignore[attr-defined]
    np.testing.assert_allclose(observation["obs"], expected)
    assert env.observation_names == ("holding[0]", *(f"observation[{i}]" for i in range(7)), "agent[0]", "agent[1]")


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"observation_keys": ("agnet",)}, "agnet"),
        ({"observation_keys": ("map",)}, "map"),
        ({"reset_option": "near_door"}, "near_door"),
        ({"reward_weights": {"near_kee": 1.0}}, "near_kee"),
        ({"coded_actions": ("wandr",)}, "wandr"),
        ({"base_actions": ("left", "rihgt")}, "rihgt"),
    ],
)
def test_build_refuses_unknown_names_of_the_setup(change: dict[str, Any], name: str, tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    with pytest.raises(UnknownNameError, match=name):
        build(dataclasses.replace(spec, setup=spec.setup.model_copy(update=change)), seed=0)


def play(env: PolicyEnv, choose: Any, seed: int | None = None) -> tuple[list[dict[str, Any]], list[float]]:
    """Play one episode and return its infos and rewards."""
    infos, rewards = [], []
    env.reset(seed=seed)
    while True:
        observation, reward, terminated, truncated, info = env.step(choose())
        assert observation["duration"][0] == info["duration"]
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        infos.append(info)
        rewards.append(reward)
        if terminated or truncated:
            return infos, rewards


def test_episode_info_sums_the_figures_of_its_decisions(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    env = build(grid_spec(counter, WANDER), seed=0)
    infos, _ = play(env, lambda: env.form.coded("wander"), seed=5)
    episode = Episode(**infos[-1]["episode"])
    assert episode.seed == 5
    assert episode.decisions == len(infos)
    assert episode.primitive_steps == sum(i["duration"] for i in infos) == counted(counter) == TASK.horizon
    assert episode.total_reward == pytest.approx(sum(i["total_reward"] for i in infos))
    assert sum(episode.reward_terms.values()) == pytest.approx(episode.total_reward)
    assert infos[-1]["usage"] == {"wander": len(infos)}
    assert all("episode" not in i for i in infos[:-1])


def test_gamma_of_the_setup_discounts_the_reward_of_each_primitive_step_of_a_decision(tmp_path: Path) -> None:
    env = build(grid_spec(tmp_path / "count", WANDER, gamma=0.9), seed=0)
    env.reset(seed=5)
    world: Any = env.unwrapped
    taken: list[Any] = []
    step = world.step
    world.step = lambda action: taken.append(action) or step(action)  # type: ignore[func-returns-value]
    _, reward, _, _, info = env.step(env.form.coded("wander"))
    single = build(grid_spec(tmp_path / "count"), seed=0)
    single.reset(seed=5)
    rewards = [single.step(action)[1] for action in taken]
    assert len(rewards) == info["duration"] > 1
    assert len(set(rewards)) > 1
    assert reward == pytest.approx(sum(0.9**i * r for i, r in enumerate(rewards)))


def test_training_horizon_truncates_training_but_not_evaluation(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER, horizon=8, reset_option="near_key", reset_share=1.0)
    training, judged = build(spec, seed=0), build(spec, seed=0, evaluation=True)
    for env, horizon in ((training, 8), (judged, TASK.horizon)):
        infos, _ = play(env, lambda env=env: env.form.coded("wander"), seed=3)
        assert infos[-1]["primitive_steps"] == horizon

    def distance(env: PolicyEnv, seed: int) -> int:
        env.reset(seed=seed)
        world = env.unwrapped
        return abs(world.agent[0] - world.key[0]) + abs(world.agent[1] - world.key[1])  # type: ignore[attr-defined]

    assert {distance(training, seed) for seed in range(8)} == {1}
    assert max(distance(judged, seed) for seed in range(8)) > 1


def test_training_horizon_longer_than_the_task_horizon_has_no_effect(tmp_path: Path) -> None:
    env = build(grid_spec(tmp_path / "count", WANDER, horizon=400), seed=0)
    assert play(env, lambda: env.form.coded("wander"))[0][-1]["primitive_steps"] == TASK.horizon


def test_evaluation_environment_records_the_reward_terms_of_the_plugins_default_setup(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER, reward_weights={"env_reward": 5.0})
    training, _ = play(build(spec, seed=0), lambda: 0, seed=3)
    env = build(spec, seed=0, evaluation=True)
    judged, _ = play(env, lambda: 0, seed=3)
    assert set(training[-1]["episode"]["reward_terms"]) == {"env_reward"}
    assert set(judged[-1]["episode"]["reward_terms"]) == {"env_reward", "near_key"}


def test_policy_env_gives_different_episodes_for_different_seeds(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count")

    def starts(seed: int) -> list[tuple[float, ...]]:
        env = build(spec, seed=seed)
        return [tuple(env.reset()[0]["obs"]) for _ in range(5)]

    assert starts(1) == starts(1)
    assert len({*starts(1), *starts(2)}) == 10


def test_policy_env_masks_quarantined_actions(tmp_path: Path) -> None:
    spec = dataclasses.replace(grid_spec(tmp_path / "count", BROKEN, WANDER), quarantined=("broken", "of_long_ago"))
    env = build(spec, seed=0)
    observation, _ = env.reset()
    assert observation["action_mask"][env.layout.branches.index("broken")] == 0
    env.quarantine(("wander",))
    observation, _ = env.reset()
    assert observation["action_mask"][env.layout.branches.index("broken")] == 1
    assert observation["action_mask"][env.layout.branches.index("wander")] == 0


def test_normalised_actions_are_scaled_to_the_parameter_ranges(tmp_path: Path) -> None:
    env = build(grid_spec(tmp_path / "count", REACH), seed=0, trace=True)
    env.reset(seed=0)
    reach = env.layout.branches.index("reach")
    for numbers, expected in (((-1, 1), (1, 1)), ((0, 0), (3, 0)), ((7, -9), (5, -1))):
        *_, info = env.step((reach, np.array(numbers, np.float32)))
        assert tuple(info["decision"].parameters.values()) == pytest.approx(expected)
    *_, info = env.step(env.form.coded("reach", {"far": 4.0}))
    assert info["decision"].parameters == pytest.approx({"far": 4.0, "near": 0.0})
    assert env.form.branch(env.form.coded("reach")) == "reach"
    assert env.form.branch((0, np.zeros(2))) == "up"


BASES = [
    spaces.Discrete(3, start=2),
    spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([2.0, 10.0], np.float32)),
    spaces.Box(-3, 3, (2, 2), np.float32),
    spaces.MultiDiscrete([2, 3]),
    spaces.Tuple([spaces.Discrete(2), spaces.Box(-4, 4, (1,), np.float32)]),
]


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("count", [0, 2])
@given(seed=st.integers(0, 2**31))
@settings(max_examples=15)
def test_action_codec_encode_is_the_inverse_of_decode(base: spaces.Space[Any], count: int, seed: int) -> None:
    parts = {spaces.Discrete: 3, spaces.MultiDiscrete: 2, spaces.Tuple: 2}.get(
        type(base), int(np.prod(base.shape or 1))
    )
    labels = tuple(f"label{i}" for i in range(parts))
    base.seed(seed)
    extension = ExtendedSpace(base, (REACH, WANDER)[:count], labels, None, base.sample())
    codec = ActionCodec(extension.space, extension.layout)
    codec.space.seed(seed)
    extension.space.seed(seed)
    normalised = codec.space.sample()
    decoded = codec.decode(normalised)
    assert decoded in extension.space
    choice = extension.read(decoded)
    assert choice.coded is not None or choice.base in base
    original = extension.space.sample()
    back = codec.decode(codec.encode(original))
    for a, b in zip(
        np.atleast_1d(_flat(extension.space, original)), np.atleast_1d(_flat(extension.space, back)), strict=True
    ):
        assert a == pytest.approx(b, abs=1e-4)
    assert codec.encode(original) in codec.space
    layout = pickle.loads(pickle.dumps(extension.layout))
    assert layout.to_space(np.zeros(layout.action_size, np.float32)) in codec.space


def _flat(space: spaces.Space[Any], value: Any) -> Any:
    return gymnasium.spaces.flatten(space, value)


def test_action_codec_refuses_an_unbounded_box() -> None:
    extension = ExtendedSpace(spaces.Box(-np.inf, np.inf, (2,)), (), ("a", "b"), None, np.zeros(2, np.float32))
    with pytest.raises(ConfigError, match="finite"):
        ActionCodec(extension.space, extension.layout)


def test_action_codec_encodes_a_number_whose_range_is_a_single_value() -> None:
    base = spaces.Box(np.array([-1, 3], np.float32), np.array([1, 3], np.float32))
    extension = ExtendedSpace(base, (REACH,), ("a", "b"), None, np.array([0.5, 3], np.float32))
    codec, action = ActionCodec(extension.space, extension.layout), extension.write("reach")
    assert codec.encode(action) in codec.space
    assert codec.decode(codec.encode(action))[1].tolist() == [0.5, 3]


def test_policy_observation_has_one_vector_and_separate_images() -> None:
    space = spaces.Dict(
        {
            "camera": spaces.Box(0, 255, (8, 8, 3), np.uint8),
            "gear": spaces.Discrete(3),
            "joints": spaces.Box(-1, 1, (2, 2)),
        }
    )
    keys = (ViewKey("speed", "speed", "m/s", size=1), ViewKey("text", "words"))
    builder = ObservationBuilder(space, keys, ("speed", "camera", "gear", "joints"))
    space.seed(0)
    observation = space.sample() | {"gear": 1}
    built = builder.build(observation, {"speed": 2.5})
    assert set(built) == {"obs", "image_camera"}
    expected = [2.5, 0, 1, 0, *observation["joints"].ravel()]
    np.testing.assert_allclose(built["obs"], expected)
    assert all(built[key] in builder.spaces[key] for key in built)
    assert builder.needs_view
    assert not ObservationBuilder(space, keys, ("gear",)).needs_view
    with pytest.raises(PluginError, match="speed"):
        builder.build(observation, {"speed": [1.0, 2.0]})
    with pytest.raises(UnknownNameError, match="text"):
        ObservationBuilder(space, keys, ("text",))


def test_plugin_of_a_spec_is_found_by_factory_or_by_name() -> None:
    setup = RLSetup(reward_weights={}, observation_keys=("agent",))
    assert plugin_of(EnvSpec(TASK, setup, factory=grid_plugin)).name == "grid"
    with pytest.raises(UnknownNameError, match="no_such_plugin"):
        plugin_of(EnvSpec(TASK, setup, factory="no_such_plugin"))


class Flickering(gymnasium.Env[np.ndarray, int]):
    """An environment with episodes of four steps and success only at the second step."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.handle, self.step_count = "what model() reaches for", 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.step_count = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: int) -> Any:
        self.step_count += 1
        return np.zeros(1, np.float32), 0.0, False, self.step_count == 4, {"success": self.step_count == 2}


FLICKER = Task(id="flicker/once", goal="be bright once", horizon=4, success="it was bright")


class FlickerPlugin(EnvironmentPlugin):
    name = "flicker"

    def tasks(self) -> dict[str, Task]:
        return {FLICKER.id: FLICKER}

    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return Flickering()

    def model(self, env: Any) -> Any:
        return env.handle

    def labels(self, task: Task) -> Labels:
        return Labels(("off", "on"))


def test_environments_are_closed_if_a_vector_of_them_cannot_be_made(tmp_path: Path) -> None:
    closed: list[int] = []

    class Closing(gymnasium.Wrapper[Any, Any, Any, Any]):
        def close(self) -> None:
            closed.append(1)
            super().close()

    class Scarce(CountingGrid):
        made = 0

        def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
            if self.made == 2:
                raise PluginError("the third simulator does not start")
            self.made += 1
            return Closing(super().make_env(task, seed=seed, render_mode=render_mode))

    plugin = Scarce(str(tmp_path / "count"))
    spec = dataclasses.replace(grid_spec(tmp_path / "count", TO_ROW), factory=lambda task: plugin)
    with pytest.raises(PluginError, match="third simulator"):
        LocalVector(spec, [1, 2, 3], tmp_path / "steps.bin")
    assert len(closed) == 2


def test_success_at_any_primitive_step_makes_the_episode_a_success() -> None:
    wait = action("wait", "def run():\n    yield repeat(action='on', steps=4)\n")
    setup = RLSetup(
        reward_weights={"env_reward": 1.0}, observation_keys=("observation",), coded_actions=("wait",), gamma=1.0
    )
    env = build(EnvSpec(FLICKER, setup, (wait,), factory=lambda task: FlickerPlugin()), seed=0)
    steps, _ = play(env, lambda: 0)
    assert [info["success"] for info in steps] == [False, True, False, False]
    assert steps[-1]["episode"]["success"] is True
    (option,), _ = play(env, lambda: env.form.coded("wait"))
    assert option["duration"] == 4
    assert option["success"] is True
    assert option["episode"]["success"] is True
