"""``extend()`` on real environments with the real sandbox."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from grid_actions import FOREVER, IDLE, KEY, LOOP, TO_KEY, USE, WALK, action, grid
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt import extend
from rlgpt.domain import Bundle, CodedAction, RLSetup
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.options.decision import OWN_KEYS
from rlgpt.testing.grid import GridPlugin


def rollout(env: gym.Env, seed: int, actions: list[Any]) -> list[Any]:
    seen: list[Any] = [env.reset(seed=seed)[0]]
    for chosen in actions:
        observation, reward, terminated, truncated, info = env.step(chosen)
        seen += [observation, reward, terminated, truncated, info.get("success", None)]
        if terminated or truncated:
            break
    return seen


@pytest.mark.parametrize("make", [lambda: gym.make("CartPole-v1"), lambda: gym.make("Pendulum-v1")])
def test_extend_without_actions_changes_neither_spaces_nor_trajectories(make: Callable[[], gym.Env]) -> None:
    """Without actions, spaces and trajectories equal those of the base environment, bit for bit."""
    bare, extended = make(), extend(make())
    assert extended.action_space == bare.action_space
    assert extended.observation_space == bare.observation_space
    bare.action_space.seed(3)
    actions = [bare.action_space.sample() for _ in range(60)]
    for seed in range(3):
        for a, b in zip(rollout(bare, seed, actions), rollout(extended, seed, actions), strict=True):
            assert np.array_equal(np.asarray(a), np.asarray(b))


class Talkative(gym.Wrapper[Any, Any, Any, Any]):
    """Adds keys to ``info`` that rlgpt uses itself, as parking-v0 of highway-env does with ``action``."""

    extra: ClassVar[dict[str, Any]] = {**dict.fromkeys(OWN_KEYS, np.zeros(2)), "speed": 3}

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        return observation, {**info, **self.extra}

    def step(self, action: Any) -> Any:
        *result, info = self.env.step(action)
        return (*result, {**info, **self.extra})


def test_environment_may_use_rlgpts_keys_of_info_for_other_things() -> None:
    plain, plugin = grid(TO_KEY, USE), GridPlugin()
    talkative = extend(Talkative(plugin.make_env(KEY, seed=0)), (TO_KEY, USE), plugin=plugin, task=KEY)
    for env in (plain, talkative):
        env.reset(seed=0)
    for chosen in (0, plain.extension.write("to_key"), plain.extension.write("pick")):
        expected, found = plain.step(chosen)[-1], talkative.step(chosen)[-1]
        assert found.pop("speed") == 3
        assert np.array_equal(found.pop("action_mask"), expected.pop("action_mask"))
        assert found == expected


def test_info_of_a_step_reports_duration_and_end_of_a_coded_action() -> None:
    env = grid(TO_KEY, USE, trace=True)
    env.reset(seed=4)
    view = env.view()
    far = sum(abs(a - k) for a, k in zip(view["agent"], view["key"], strict=True))
    _, _, _, _, info = env.step(env.extension.write("to_key"))
    assert (info["action"], info["ended"], info["duration"], info["primitive_steps"]) == (
        "to_key",
        "returned",
        far,
        far,
    )
    assert env.view()["agent"] == env.view()["key"]
    assert info["decision"].before == view
    assert info["decision"].after == env.view()
    assert [c.name for c in info["decision"].calls] == ["go", "go"]
    assert list(info["action_mask"]) == [1] * 7
    _, reward, terminated, _, info = env.step(env.extension.write("pick"))
    assert terminated
    assert info["success"]
    assert info["ended"] == "episode"
    assert reward == 1.0


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), gamma=st.floats(0.5, 1.0), choices=st.lists(st.integers(0, 6), max_size=12))
def test_reward_of_a_decision_is_the_discounted_sum_of_its_step_rewards(
    seed: int, gamma: float, choices: list[int]
) -> None:
    """An environment without coded actions gives the same rewards for the same primitive steps."""
    weights = {"near_key": 2.0, "env_reward": 1.0}
    steps: list[Any] = []
    env = grid(TO_KEY, WALK, gamma=gamma, reward_weights=weights)
    inner = env.env.step
    env.env.step = lambda a: steps.append(a) or inner(a)  # type: ignore[method-assign, func-returns-value]
    bare = grid(reward_weights=weights)
    env.reset(seed=seed)
    bare.reset(seed=seed)
    for choice in choices:
        steps.clear()
        chosen = (choice, env.extension.defaults())
        _, reward, terminated, truncated, info = env.step(chosen)
        rewards = [bare.step(a)[1] for a in steps]
        assert info["duration"] == len(steps)
        assert reward == pytest.approx(sum(gamma**i * r for i, r in enumerate(rewards)))
        assert info["total_reward"] == pytest.approx(sum(rewards))
        assert sum(info["reward_terms"].values()) == pytest.approx(sum(rewards))
        if terminated or truncated:
            break


def test_coded_action_receives_its_parameters_in_their_own_units() -> None:
    env = grid(WALK, trace=True)
    for cells in (1.0, 4.0):
        env.reset(seed=1)
        _, _, _, _, info = env.step((5, np.array([cells], np.float32)))
        assert info["decision"].parameters == {"cells": cells}
        assert info["decision"].calls[0].args["cells"] == round(cells)


def test_info_reports_whether_a_coded_action_ended_by_violation_return_or_step_limit() -> None:
    env = grid(LOOP, IDLE, FOREVER)
    env.reset(seed=0)
    _, _, _, _, info = env.step(5)
    assert info["ended"] == "violation"
    assert [v.kind for v in info["verdicts"]] == ["fuel"]
    assert info["duration"] == 1
    _, _, _, _, info = env.step(6)
    assert (info["ended"], info["duration"]) == ("returned", 1)
    assert "verdicts" not in info
    _, _, _, _, info = env.step(7)
    assert (info["ended"], info["duration"]) == ("limit", 7)


def test_view_is_built_only_when_needed_by_code_or_the_trace() -> None:
    """The view of a large simulator may take more time than a step."""

    class Counted(GridPlugin):
        built = 0

        def view(self, ctx: Any) -> Any:
            self.built += 1
            return super().view(ctx)

    def views(*actions: CodedAction, chosen: int = 5, **more: Any) -> list[int]:
        """Return the numbers of views built when the environment is made, at the reset, and at each of three
        decisions.
        """
        plugin = Counted()
        env = extend(plugin.make_env(KEY, seed=0), actions, plugin=plugin, task=KEY, **more)
        seen = [plugin.built]
        env.reset(seed=4)
        seen.append(plugin.built)
        for _ in range(3):
            assert not any(env.step(chosen)[2:4])
            seen.append(plugin.built)
        return [later - before for before, later in zip([0, *seen], seen, strict=False)]

    def walks(observations: int) -> CodedAction:
        looks = "".join("    yield observe()\n" for _ in range(observations))
        return action("walks", f"def run():\n{looks}    yield go(direction='up', cells=1)\n")

    assert views(chosen=0) == [0, 0, 0, 0, 0]
    assert views(walks(0)) == [0, 0, 0, 0, 0]
    assert views(walks(2)) == [0, 0, 2, 2, 2]
    assert views(walks(2), chosen=0) == [0, 0, 0, 0, 0]
    assert views(walks(0), USE) == [0, 1, 1, 1, 1], "one view for all can_start functions"
    assert views(walks(0), trace=True) == [0, 0, 4, 4, 4], (
        "one view before and one after each decision, one at the start of the call and one after its primitive"
    )


def test_horizon_truncates_an_episode_in_the_middle_of_a_decision() -> None:
    env = grid(FOREVER, horizon=4)
    env.reset(seed=0)
    _, _, terminated, truncated, info = env.step(env.extension.write("forever"))
    assert (terminated, truncated) == (False, True)
    assert (info["ended"], info["duration"], info["primitive_steps"]) == ("episode", 4, 4)
    whole = grid(FOREVER)
    whole.reset(seed=0)
    assert whole.step(whole.extension.write("forever"))[4]["duration"] == FOREVER.max_steps


def test_on_step_is_called_after_each_reset_and_each_primitive_step() -> None:
    counts: list[int] = []
    env = grid(FOREVER, on_step=lambda base, step: counts.append(step))
    env.reset(seed=0)
    env.step(env.extension.write("forever"))
    env.reset(seed=1)
    assert counts == [*range(FOREVER.max_steps + 1), 0]


def test_exceptions_of_the_base_environment_propagate_through_extend() -> None:
    env = grid(TO_KEY)
    env.reset(seed=0)

    def broken(_: Any) -> Any:
        raise ValueError("the simulator is on fire")

    env.env.step = broken  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=r"on fire"):
        env.step(5)


def test_extended_environment_has_equal_trajectories_for_equal_seeds() -> None:
    runs = []
    for _ in range(2):
        env = grid(TO_KEY, WALK, USE)
        env.action_space.seed(0)
        runs.append(rollout(env, 7, [env.action_space.sample() for _ in range(20)]))
    for a, b in zip(*runs, strict=True):
        assert np.array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("actions", [(), (TO_KEY,), (TO_KEY, WALK, USE)])
def test_extended_environment_passes_gymnasiums_checker(actions: tuple[CodedAction, ...]) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(spec|render|unwrapped version|symmetric)")
        check_env(grid(*actions))


def test_extend_accepts_an_environment_without_a_plugin() -> None:
    """CartPole has no plugin, so its labels, primitives and view come from its spaces."""
    push = action("push", "def run():\n    for _ in range(3):\n        yield repeat(action='action_1', steps=1)\n")
    env = extend(gym.make("CartPole-v1"), [push])
    env.reset(seed=0)
    _, reward, _, _, info = env.step(2)
    assert info["duration"] == 3
    assert reward == pytest.approx(1 + 0.99 + 0.99**2)


def test_extend_uses_the_setup_of_a_bundle() -> None:
    setup = RLSetup(
        reward_weights={}, observation_keys=("agent",), coded_actions=("walk",), base_actions=("use",), gamma=0.5
    )
    env = grid(gamma=None)
    plugin = GridPlugin()
    env = extend(
        plugin.make_env(KEY, seed=0), Bundle(actions=(TO_KEY, WALK), setup=setup), plugin=plugin, task="grid/key"
    )
    assert env.layout.branches == ("use", "walk")
    assert env.gamma == 0.5
    with pytest.raises(ConfigError, match=r"gamma is 2"):
        extend(gym.make("CartPole-v1"), gamma=2)
    with pytest.raises(ConfigError, match=r"2 tasks"):
        extend(plugin.make_env(KEY, seed=0), plugin=plugin)
    with pytest.raises(UnknownNameError, match=r"grid/kee"):
        extend(plugin.make_env(KEY, seed=0), plugin=plugin, task="grid/kee")
