"""Tests of ``extend_vector()``: each lane of a vector behaves like a single environment of ``extend()``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from rlgpt import extend, extend_vector
from rlgpt.domain import CodedAction, CodedFeatures, CodedPredicate, Output, Parameter
from rlgpt.errors import ConfigError, StateError, UnknownNameError
from rlgpt.options import Arrival, ExtendedEnv, ExtendedVectorEnv
from rlgpt.plugin.states import same
from rlgpt.testing.grid import FETCH, TASKS, GridPlugin

KEY = TASKS["grid/key"]
MODES = list(AutoresetMode)


def action(name: str, source: str, **more: Any) -> CodedAction:
    return CodedAction(name=name, doc="", source=source, **more)


WANDER = (
    "import random\n"
    "def run(cells=2.0):\n"
    "    view = yield observe()\n"
    "    way = random.choice(['up', 'left', 'down'])\n"
    "    yield [go(direction=way, cells=round(cells)), go(direction='right', cells=1)]\n"
)
ACTIONS = (
    action("fetch", FETCH),
    action("pick", "def can_start(view):\n    return view['agent'] == view['key']\n\ndef run():\n    yield use()\n"),
    action("wander", WANDER, parameters=(Parameter(name="cells", low=1.0, high=6.0, default=2.0, unit="cells"),)),
    action("bad", "def run():\n    yield go(direction='up')\n    yield 5\n"),
)
FUNCTIONS = (
    CodedFeatures(
        name="sight",
        doc="",
        source="def features(view, memory):\n"
        "    memory['n'] = memory.get('n', 0) + 1\n"
        "    return {'seen': memory['n']}\n",
        outputs=(Output(name="seen", doc="views so far", unit="", low=0.0, high=1000.0),),
    ),
    CodedPredicate(name="there", doc="", source="def done(view, memory):\n    return view['agent'] == view['key']\n"),
)
CASES: dict[str, dict[str, Any]] = {
    "whole": {},
    "traced": {"trace": True, "interrupt_every": 2},
    "rewards": {"reward_weights": {"near_key": 2.0, "env_reward": 1.0}, "horizon": 9},
    "functions": {"functions": FUNCTIONS, "interrupt_every": 3},
}


def grid_vector(lanes: int, mode: AutoresetMode) -> SyncVectorEnv:
    make = lambda: GridPlugin().make_env(KEY, seed=0)  # noqa: E731
    return SyncVectorEnv([make] * lanes, autoreset_mode=mode)


class AsBatch(VectorWrapper[Any, Any, Any, Any, Any]):
    """A vector treated as a batch simulator, in which each call steps all environments."""


class BatchGrid(GridPlugin):
    def lane_model(self, venv: Any, lane: int) -> Any:
        return venv.unwrapped.envs[lane].unwrapped


def vector(lanes: int, mode: AutoresetMode, *, batch: bool = False, **more: Any) -> ExtendedVectorEnv:
    inner: VectorEnv[Any, Any, Any] = grid_vector(lanes, mode)
    plugin = BatchGrid() if batch else GridPlugin()
    return extend_vector(AsBatch(inner) if batch else inner, ACTIONS, plugin=plugin, task=KEY, **more)


def alone(**more: Any) -> ExtendedEnv:
    plugin = GridPlugin()
    return extend(plugin.make_env(KEY, seed=0), ACTIONS, plugin=plugin, task=KEY, **more)


def play_alone(seed: int, choices: list[Any], mode: AutoresetMode, **more: Any) -> list[Any]:
    """Return the observations and results that one lane must give. They come from a single environment of ``extend()``,
    which is reset by Gymnasium's rule for ``mode``.
    """
    env, seen, over = alone(**more), list[Any](), False
    observation, info = env.reset(seed=seed)
    seen.append((observation, 0.0, False, False, info))
    for choice in choices:
        if over and mode is not AutoresetMode.SAME_STEP:
            observation, info = env.reset()
            seen.append((observation, 0.0, False, False, info))
            over = False
            if mode is AutoresetMode.NEXT_STEP:
                continue
        observation, reward, terminated, truncated, info = env.step(choice)
        over = terminated or truncated
        if over and mode is AutoresetMode.SAME_STEP:
            last = {"final_obs": observation, "final_info": info}
            observation, info = env.reset()
            info.update(last)
        seen.append((observation, reward, terminated, truncated, info))
    env.close()
    return seen


def play_lanes(env: ExtendedVectorEnv, seed: int, choices: list[list[Any]]) -> list[list[Any]]:
    """Return the arrivals of each lane of a vector. Each lane gets its next action as soon as its decision ends."""
    seen: list[list[Any]] = [[] for _ in choices]
    left = [[None, *own] for own in choices]  # None: the start of the first episode
    pending = env.begin({lane: seed + lane for lane in range(env.num_envs)})
    while True:
        for arrival in pending:
            lane, over = arrival.lane, arrival.terminated or arrival.truncated
            seen[lane].append(fields(arrival))
            del left[lane][:1]
            if over and env.metadata["autoreset_mode"] is AutoresetMode.DISABLED:
                seen[lane] += map(fields, env.begin({lane: None}))
            env.send({lane: left[lane][0] if left[lane] else np_choice(0, 1.0)})
        if not any(left):
            break
        pending = env.recv()
    env.close()
    return seen


def fields(arrival: Arrival) -> tuple[Any, ...]:
    return tuple(arrival)[1:]


def np_choice(branch: int, cells: float) -> Any:
    return (branch, np.array([cells], np.float32))


def plain(value: Any) -> Any:
    """Return an info without durations of zero, which a vector adds, so that infos can be compared."""
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items() if not (k == "duration" and v == 0)}
    return value


def assert_equal(lane: list[Any], single: list[Any]) -> None:
    assert len(lane) >= len(single)
    for ours, theirs in zip(lane, single, strict=False):
        for a, b in zip(ours, theirs, strict=True):
            assert same(plain(a), plain(b)), f"{a} != {b}"


choice = st.tuples(st.integers(0, 8), st.floats(1.0, 6.0)).map(lambda c: np_choice(*c))
FETCHES, FAILS = 5, 8
"""The branches of the coded actions ``fetch`` and ``bad``."""


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("case", list(CASES))
def test_a_lane_quarantines_an_action_as_a_single_extended_environment_does(case: str, batch: bool) -> None:
    own = [np_choice(FAILS, 1.0)] * 3 + [np_choice(FETCHES, 1.0)] * 12
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED):
        (lane,) = play_lanes(vector(1, mode, batch=batch, **CASES[case]), 0, [own])
        single = play_alone(0, own, mode, **CASES[case])
        assert any(not info["action_mask"][FAILS] for *_, info in single), "the action is masked"
        assert_equal(lane, single)


@settings(max_examples=12, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(
    mode=st.sampled_from(MODES),
    case=st.sampled_from(list(CASES)),
    batch=st.booleans(),
    seed=st.integers(0, 99),
    choices=st.lists(st.lists(choice, min_size=8, max_size=8), min_size=1, max_size=3),
)
def test_a_lane_of_a_vector_behaves_like_a_single_extended_environment(
    mode: AutoresetMode, case: str, batch: bool, seed: int, choices: list[list[Any]]
) -> None:
    # In a batch with SAME_STEP, the next episode has begun before the last view is built from the simulator.
    assume(case == "whole" or not (batch and mode is AutoresetMode.SAME_STEP))
    lanes = play_lanes(vector(len(choices), mode, batch=batch, **CASES[case]), seed, choices)
    for number, (lane, own) in enumerate(zip(lanes, choices, strict=True)):
        assert_equal(lane, play_alone(seed + number, own, mode, **CASES[case]))


@pytest.mark.parametrize("case", ["whole", "functions"])
def test_the_number_of_threads_does_not_change_the_episodes_of_lanes(case: str) -> None:
    rng = np.random.default_rng(5)
    choices = [[np_choice(int(rng.integers(9)), float(rng.uniform(1, 6))) for _ in range(10)] for _ in range(5)]
    one, four = (play_lanes(vector(5, AutoresetMode.SAME_STEP, threads=n, **CASES[case]), 3, choices) for n in (1, 4))
    for a, b in zip(one, four, strict=True):
        assert_equal(a, b)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [SyncVectorEnv, AsyncVectorEnv, lambda *a, **k: AsBatch(SyncVectorEnv(*a, **k))])
def test_extend_vector_without_actions_changes_neither_spaces_nor_steps(
    make: Callable[..., Any], mode: AutoresetMode
) -> None:
    makers = [lambda: gym.make("CartPole-v1", max_episode_steps=20)] * 3
    bare, extended = make(makers, autoreset_mode=mode), extend_vector(make(makers, autoreset_mode=mode))
    assert (extended.action_space, extended.observation_space) == (bare.action_space, bare.observation_space)
    bare.action_space.seed(3)
    first, second = bare.reset(seed=7), extended.reset(seed=7)
    assert same(first[0], second[0])
    for _ in range(60):
        actions = bare.action_space.sample()
        ours, theirs = extended.step(actions), bare.step(actions)
        assert same(ours[:4], theirs[:4])
        assert ours[4]["decided"].all()
        if mode is AutoresetMode.SAME_STEP and "final_obs" in theirs[4]:
            for a, b in zip(ours[4]["final_obs"], theirs[4]["final_obs"], strict=True):
                assert (a is None and b is None) or same(a, b)
        over = np.logical_or(theirs[2], theirs[3])
        if mode is AutoresetMode.DISABLED and over.any():
            seeds = [11, 12, 13]
            a, _ = extended.reset(seed=seeds, options={"reset_mask": over.copy()})
            b, _ = bare.reset(seed=seeds, options={"reset_mask": over.copy()})
            assert same(a, b)
    bare.close()
    extended.close()


def test_a_step_of_separate_environments_is_one_decision_of_each_environment() -> None:
    env = vector(3, AutoresetMode.NEXT_STEP)
    env.reset(seed=4)
    branches = np.array([0, 5, 7])
    _, _, _, _, infos = env.step((branches, np.full((3, 1), 4.0, np.float32)))
    assert infos["decided"].all()
    assert [alone_duration(4 + i, int(b)) for i, b in enumerate(branches)] == list(infos["duration"])


def alone_duration(seed: int, branch: int) -> int:
    env = alone()
    env.reset(seed=seed)
    return int(env.step(np_choice(branch, 4.0))[4]["duration"])


def test_a_step_of_a_batch_returns_when_a_decision_of_any_lane_ends() -> None:
    env = vector(2, AutoresetMode.SAME_STEP, batch=True)
    env.reset(seed=4)
    long = alone_duration(4, 7)
    assert long > 1
    for primitive in range(1, long + 1):
        _, rewards, _, _, infos = env.step((np.array([7, 0]), np.full((2, 1), 4.0, np.float32)))
        assert list(infos["decided"]) == [primitive == long, True]
        assert infos["action_mask"].any(axis=1).all(), "a masked softmax is defined for every lane"
        assert rewards.shape == (2,)
    assert list(infos["duration"]) == [long, 1]


def test_recv_of_a_batch_requires_an_action_of_every_lane() -> None:
    env = vector(2, AutoresetMode.NEXT_STEP, batch=True)
    with pytest.raises(StateError, match="reset"):
        env.send({0: np_choice(0, 1.0)})
    env.reset(seed=0)
    env.send({0: np_choice(0, 1.0)})
    with pytest.raises(StateError, match=r"no action: \[1\]"):
        env.recv()
    with pytest.raises(StateError, match="lane 0 has not finished its decision"):
        env.send({0: np_choice(0, 1.0)})
    env.send({1: np_choice(0, 1.0)})
    assert [a.lane for a in env.recv(2)] == [0, 1]


@pytest.mark.parametrize(
    ("actions", "says"),
    [
        ({0: 0, 5: 0}, r"send\(\) got the lane 5; valid: 0 to 1"),
        ({0: 0, -1: 0}, r"send\(\) got the lane -1; valid: 0 to 1"),
        ({0: 0, "1": 0}, r"send\(\) got the lane '1'"),
        ([0, 1], r"a mapping from the number of a lane to its action, .* got \[0, 1\]"),
        ({0: 0, 1: 7}, r"lane 1: the action 7 is not in the extended space Discrete\(2\)"),
    ],
)
@pytest.mark.parametrize("kind", ["sync", "vector_entry_point"])
def test_send_refuses_invalid_lanes_and_actions_before_any_lane_moves(actions: Any, says: str, kind: str) -> None:
    env = extend_vector(gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode=kind))
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=says):
        env.send(actions)
    env.send({0: 0, 1: 1})
    assert [arrival.lane for arrival in env.recv(2)] == [0, 1]


@pytest.mark.parametrize("actions", [[0], [0, 0, 0], 0, None])
def test_step_requires_one_action_for_each_lane(actions: Any) -> None:
    env = extend_vector(gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync"))
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=r"for 2 lanes; valid: one action for each lane, as in MultiDiscrete\(\[2 2"):
        env.step(actions)


def test_begin_and_reset_refuse_lanes_that_the_vector_does_not_have() -> None:
    env = extend_vector(gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync"))
    with pytest.raises(ConfigError, match=r"begin\(\) got the lane 2; valid: 0 to 1"):
        env.begin({2: 0})
    with pytest.raises(StateError, match=r"call reset\(\) without reset_mask first"):
        env.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ConfigError, match=r"reset_mask is .*; valid: 2 bools"):
        env.reset(options={"reset_mask": np.ones(3, np.bool_)})


def test_reset_of_some_lanes_keeps_the_masks_of_the_other_lanes() -> None:
    env = vector(2, AutoresetMode.DISABLED)
    _, infos = env.reset(seed=0)
    before = infos["action_mask"]
    _, infos = env.reset(options={"reset_mask": np.array([True, False])})
    assert infos["action_mask"][1].tolist() == before[1].tolist()
    assert list(infos["_action_mask"]) == [True, False]


def test_recv_takes_at_most_the_given_number_of_steps() -> None:
    env = vector(2, AutoresetMode.DISABLED, batch=True)
    env.reset(seed=[4, 4])
    env.send({lane: np_choice(7, 4.0) for lane in range(2)})
    duration = alone_duration(4, 7)
    assert duration > 1
    assert env.recv(steps=0) == []
    assert env.recv(steps=duration - 1) == []
    assert [lane.primitive_steps for lane in env.lanes] == [duration - 1] * 2
    assert [arrival.lane for arrival in env.recv(steps=5)] == [0, 1]
    assert [lane.primitive_steps for lane in env.lanes] == [duration] * 2
    env.close()


def test_a_separate_environment_steps_while_other_environments_have_no_action() -> None:
    env = vector(2, AutoresetMode.DISABLED)
    env.reset(seed=0)
    for _ in range(3):
        env.send({1: np_choice(0, 1.0)})
        (arrival,) = env.recv()
        assert (arrival.lane, arrival.decided["duration"]) == (1, 1)
    with pytest.raises(StateError, match=r"recv\(1\) waits for 1 lanes; 0 have an action"):
        env.recv()


def test_extend_vector_refuses_invalid_arguments() -> None:
    with pytest.raises(ConfigError, match="takes a gymnasium vector"):
        extend_vector(gym.make("CartPole-v1"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="threads is 0"):
        extend_vector(grid_vector(1, AutoresetMode.DISABLED), threads=0)
    with pytest.raises(UnknownNameError, match=r"argument 'thredas' of extend_vector\(\)\. Did you mean 'threads'"):
        extend_vector(grid_vector(1, AutoresetMode.DISABLED), thredas=2)  # type: ignore[call-arg]
    venv = AsBatch(grid_vector(1, AutoresetMode.DISABLED))
    venv.metadata = {}
    with pytest.raises(ConfigError, match="autoreset_mode"):
        extend_vector(venv, plugin=BatchGrid(), task=KEY)


def test_views_of_all_lanes_are_built_in_one_call_of_the_plugin() -> None:
    sizes: list[int] = []

    class Batched(GridPlugin):
        def views(self, contexts: Any) -> Any:
            sizes.append(len(contexts))
            return super().views(contexts)

    env = extend_vector(grid_vector(4, AutoresetMode.SAME_STEP), ACTIONS, plugin=Batched(), task=KEY)
    env.reset(seed=0)
    assert sizes == [4]
