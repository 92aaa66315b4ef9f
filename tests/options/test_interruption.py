"""Decisions while a coded action is in progress: the policy continues the action, replaces one of its steps, corrects
it, or interrupts it.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt import extend
from rlgpt.domain import CodedAction
from rlgpt.errors import ConfigError
from rlgpt.options import ExtendedEnv, flat_view
from rlgpt.testing.grid import DIRECTIONS, FETCH, TASKS, GridPlugin

KEY = TASKS["grid/key"]
FETCHING = CodedAction(name="fetch", doc="", source=FETCH)
WALK = CodedAction(
    name="walk", doc="", source="def run():\n    for _ in range(4):\n        yield go(direction='down')\n"
)
ONCE = CodedAction(
    name="once",
    doc="",
    source="def can_start(view):\n    return view['agent'][0] == 0\n\n"
    "def run():\n    yield go(direction='down', cells=3)\n",
)
LEFT = CodedAction(name="left_wall", doc="", source="def run():\n    yield go(direction='left', cells=6)\n")


def grid(*actions: CodedAction, **more: Any) -> ExtendedEnv:
    plugin = GridPlugin()
    return extend(plugin.make_env(KEY, seed=0), actions, plugin=plugin, task=KEY, **more)


def follow_the_plan(env: ExtendedEnv, seed: int) -> tuple[list[Any], int]:
    """Play an episode in which every decision follows ``info["plan"]``. Return its results and the number of
    decisions.
    """
    seen: list[Any] = []
    observation, info = env.reset(seed=seed)
    total, decisions, over = 0.0, 0, False
    while not over:
        observation, _, terminated, truncated, info = env.step(info["plan"])
        total, decisions, over = total + info["total_reward"], decisions + 1, terminated or truncated
    seen += [observation.tolist(), total, info["primitive_steps"], info["success"]]
    return seen, decisions


@given(every=st.integers(1, 9), seed=st.integers(0, 99))
@settings(max_examples=25)
def test_episode_that_follows_info_plan_is_equal_for_every_value_of_interrupt_every(every: int, seed: int) -> None:
    whole, few = follow_the_plan(grid(FETCHING, WALK), seed)
    parts, many = follow_the_plan(grid(FETCHING, WALK, interrupt_every=every), seed)
    assert parts == whole
    assert few <= many <= whole[2]


def start_of(env: ExtendedEnv, row: int, column: int) -> None:
    env.reset(seed=0)
    env.context.model.agent = (row, column)
    env.context.model.key = (6, 6)


def test_decision_ends_after_the_steps_in_interrupt_every_or_with_its_action() -> None:
    env = grid(WALK, interrupt_every=3)
    start_of(env, 0, 2)
    branch = len(DIRECTIONS) + 1
    _, _, _, _, info = env.step(branch)
    assert (info["duration"], info["ended"], env.context.model.agent) == (3, "running", (3, 2))
    _, _, _, _, info = env.step(branch)
    assert (info["duration"], info["ended"], env.context.model.agent) == (1, "returned", (4, 2))


def test_info_names_the_action_in_progress_and_plans_its_branch_until_it_has_ended() -> None:
    env = grid(WALK, LEFT, interrupt_every=3)
    start_of(env, 0, 2)
    branch = len(DIRECTIONS) + 1
    _, _, _, _, info = env.step(branch)
    assert (info["running"], info["plan"]) == ("walk", branch)
    _, _, _, _, info = env.step(branch)
    assert (info["running"], info["plan"]) == ("", branch + 1)


def test_base_action_replaces_one_step_of_the_coded_action_in_progress() -> None:
    env = grid(WALK, interrupt_every=1)
    start_of(env, 0, 2)
    walk, right = len(DIRECTIONS) + 1, DIRECTIONS.index("right")
    env.step(walk)
    _, _, _, _, info = env.step(right)
    assert (info["action"], info["duration"], info["running"]) == ("right", 1, "walk")
    for _ in range(2):
        _, _, _, _, info = env.step(walk)
    assert (info["running"], env.context.model.agent) == ("", (3, 3))


def test_idle_step_of_a_masked_choice_replaces_one_step_of_the_coded_action_in_progress() -> None:
    env = grid(WALK, ONCE, interrupt_every=1)
    start_of(env, 0, 2)
    walk = len(DIRECTIONS) + 1
    env.step(walk)
    _, _, _, _, info = env.step(walk + 1)
    assert (info["ended"], info["running"], env.context.model.agent) == ("masked", "walk", (1, 2))
    for _ in range(2):
        _, _, _, _, info = env.step(walk)
    assert (info["running"], env.context.model.agent) == ("", (3, 2))


def test_choice_of_another_coded_action_interrupts_the_action_in_progress() -> None:
    env = grid(WALK, LEFT, interrupt_every=2)
    start_of(env, 0, 5)
    walk = len(DIRECTIONS) + 1
    env.step(walk)
    _, _, _, _, info = env.step(walk + 1)
    assert (info["action"], info["running"], env.context.model.agent) == ("left_wall", "left_wall", (2, 3))
    _, _, _, _, info = env.step(walk)  # The action `walk` starts from its beginning: four rows down.
    _, _, _, _, info = env.step(walk)
    assert (info["ended"], env.context.model.agent) == ("returned", (6, 3))


def test_coded_action_in_progress_may_continue_where_can_start_is_false() -> None:
    env = grid(ONCE, interrupt_every=1)
    start_of(env, 0, 0)
    branch = len(DIRECTIONS) + 1
    _, _, _, _, info = env.step(DIRECTIONS.index("right"))
    _, _, _, _, info = env.step(branch)
    assert info["action_mask"][branch] == 1
    env.step(branch)
    _, _, _, _, info = env.step(branch)
    assert (info["running"], info["action_mask"][branch]) == ("", 0)


def test_reset_ends_the_coded_action_in_progress() -> None:
    env = grid(WALK, interrupt_every=1)
    start_of(env, 0, 0)
    env.step(len(DIRECTIONS) + 1)
    _, info = env.reset(seed=1)
    assert (info["running"], env.proposal) == ("", None)


def test_trace_lists_each_primitive_once_when_it_has_ended() -> None:
    env = grid(WALK, interrupt_every=3, trace=True)
    start_of(env, 0, 0)
    branch = len(DIRECTIONS) + 1
    _, _, _, _, first = env.step(branch)
    _, _, _, _, second = env.step(branch)
    assert [first["decision"].ended, second["decision"].ended] == ["running", "returned"]
    assert len(first["decision"].calls) + len(second["decision"].calls) == 4


# -- residual corrections ----------------------------------------------------------------------------------------------

PUSH = CodedAction(
    name="push", doc="", source="def run():\n    for _ in range(3):\n        yield act(action_0=0.5, action_1=0.5)\n"
)


class Recorder(gym.Env[np.ndarray, np.ndarray]):
    """An environment that stores the actions of its steps."""

    observation_space = spaces.Box(-1, 1, (1,), np.float32)
    action_space = spaces.Box(np.float32([-1, 0]), np.float32([1, 4]))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        self.taken: list[list[float]] = []
        return np.zeros(1, np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.taken.append([round(float(v), 3) for v in action])
        return np.zeros(1, np.float32), 0.0, False, False, {}


@given(residual=st.floats(0.01, 1), correction=st.tuples(st.floats(-1, 1), st.floats(-1, 1)))
@settings(max_examples=15)
def test_residual_correction_is_scaled_by_half_the_action_range_and_clipped_to_the_box(
    residual: float, correction: tuple[float, float]
) -> None:
    env = extend(Recorder(), [PUSH], residual=residual)
    env.reset(seed=0)
    env.step((1, np.zeros(2, np.float32), np.float32(correction)))
    low, high = np.array([-1.0, 0.0]), np.array([1.0, 4.0])
    expected = np.clip([0.5, 0.5] + residual * np.float32(correction) * (high - low) / 2, low, high)
    assert env.unwrapped.taken == [[pytest.approx(v, abs=2e-3) for v in expected]] * 3


def test_last_numbers_of_a_flat_action_are_the_residual_correction() -> None:
    env = flat_view(extend(Recorder(), [PUSH], residual=0.5))
    assert env.action_space.shape == (2 + 2 + 2,)
    env.reset(seed=0)
    env.step(np.float32([0, 1, 0, 0, 1, -1]))
    assert env.unwrapped.taken == [[1.0, 0.0]] * 3
    env.step(np.float32([1, 0, 0.25, 3, 1, 1]))
    assert env.unwrapped.taken[3:] == [[0.25, 3.0]], "a base action is not corrected"


def test_extend_refuses_residual_without_a_box_action_space_and_a_coded_action() -> None:
    with pytest.raises(ConfigError, match="Set residual to 0"):
        grid(WALK, residual=0.2)
    with pytest.raises(ConfigError, match="Set residual to 0"):
        extend(Recorder(), residual=0.2)
    with pytest.raises(ConfigError, match=r"residual is 1\.5; valid"):
        extend(Recorder(), [PUSH], residual=1.5)
    with pytest.raises(ConfigError, match="interrupt_every is 0; valid"):
        grid(WALK, interrupt_every=0)
