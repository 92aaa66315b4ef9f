"""Training episodes that begin in saved states: exact states, the share of such episodes, horizons, rewards, and the
steps to reach the states.
"""

from __future__ import annotations

import dataclasses
import functools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.domain import RLSetup, Task
from rlgpt.errors import StateError
from rlgpt.options import ExtendedEnv, extend
from rlgpt.plugin.states import same
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO
from rlgpt.rl.reach import reach
from rlgpt.sandbox import Sandbox
from rlgpt.testing.counting import BROKEN, TO_ROW, WANDER, counted, grid_spec
from rlgpt.testing.grid import FETCH, TASKS, GridPlugin

DOOR = TASKS["grid/door"]
FETCH_KEY = TO_ROW.model_copy(update={"name": "fetch_key", "source": FETCH, "max_steps": 30})
SLIPPERY = DOOR.model_copy(update={"settings": {"slip": 0.4}})
WEIGHTS = {"env_reward": 1.0, "near_key": 1.0, "holding": 5.0, "near_door": 1.0}


@functools.cache
def slippery() -> ExtendedEnv:
    plugin = GridPlugin()
    env = plugin.make_env(SLIPPERY, seed=0)
    return extend(env, [WANDER], plugin=plugin, task=SLIPPERY, reward_weights=WEIGHTS, sandbox=Sandbox())


def play(env: Any, actions: list[int]) -> list[Any]:
    results = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        kept = {key: info[key] for key in ("success", "total_reward", "action_mask", "duration")}
        results.append((observation, reward, terminated, truncated, kept))
        if terminated or truncated:
            break
    return results


@settings(max_examples=25)
@given(st.integers(0, 1000), st.lists(st.integers(0, 5), max_size=6), st.lists(st.integers(0, 5), max_size=12))
def test_extended_episode_continues_from_a_saved_state(seed: int, before: list[int], after: list[int]) -> None:
    env = slippery()
    env.reset(seed=seed)
    if any(result[2] or result[3] for result in play(env, before)):
        return
    state = env.save_episode()
    first = play(env, after)
    env.reset(seed=seed + 1)
    env.restore_episode(state)
    assert same(play(env, after), first)


def holding_states(tmp_path: Path, count: int = 8) -> tuple[EnvSpec, Any]:
    spec = grid_spec(tmp_path / "count", FETCH_KEY, task=DOOR, reset_option="after:fetch_key")
    reached = reach(spec, [FETCH_KEY], seeds=range(count), most_steps=10_000)
    return dataclasses.replace(spec, starts=reached.states), reached


def test_reach_counts_the_steps_to_the_start_states(tmp_path: Path) -> None:
    spec, reached = holding_states(tmp_path)
    assert len(reached.states) == 8
    assert reached.steps == counted(tmp_path / "count")
    assert reached == type(reached).model_validate_json(reached.model_dump_json())
    interrupted = dataclasses.replace(spec, setup=spec.setup.model_copy(update={"interrupt_every": 1}))
    assert len(reach(interrupted, [FETCH_KEY], seeds=range(8), most_steps=10_000).states) == 8, "no policy decides here"
    few = reach(spec, [FETCH_KEY], seeds=range(8), most_steps=1)
    assert len(few.states) == 1, "no further episode begins after the step limit"


def test_failed_or_successful_episode_gives_no_start_state(tmp_path: Path) -> None:
    key = grid_spec(tmp_path / "count", FETCH_KEY)
    assert reach(key, [FETCH_KEY], seeds=range(3), most_steps=999).states == (), "the episodes end with success"
    broken = grid_spec(tmp_path / "count", BROKEN, task=DOOR)
    assert reach(broken, [BROKEN], seeds=range(3), most_steps=999).states == ()
    never = TO_ROW.model_copy(update={"source": "def can_start(view):\n    return False\n" + TO_ROW.source})
    masked = reach(grid_spec(tmp_path / "count", never, task=DOOR), [never], seeds=range(3), most_steps=999)
    assert (masked.states, masked.steps) == ((), 3)


def test_half_of_the_training_episodes_begin_in_saved_states(tmp_path: Path) -> None:
    spec, _ = holding_states(tmp_path)

    def late(env: Any, seed: int) -> bool:
        env.reset(seed=seed)
        return bool(env.unwrapped.holding)

    training, again = build(spec, seed=0), build(pickle.loads(pickle.dumps(spec)), seed=1)
    starts = [late(training, seed) for seed in range(300)]
    assert 0.4 < np.mean(starts) < 0.6
    assert [late(again, seed) for seed in range(300)] == starts, "the seed of the episode decides the start"
    assert not any(late(build(spec, seed=0, evaluation=True), seed) for seed in range(50))
    always = dataclasses.replace(spec, setup=spec.setup.model_copy(update={"reset_share": 1.0}))
    assert all(late(build(always, seed=0), seed) for seed in range(50))
    unreached = dataclasses.replace(spec, starts=())
    assert not any(late(build(unreached, seed=0), seed) for seed in range(50))


def test_training_episodes_begin_in_states_that_the_training_reached(tmp_path: Path) -> None:
    spec, _ = holding_states(tmp_path)
    unreached = dataclasses.replace(spec, starts=())
    env = build(unreached, seed=0)
    fetch = env.form.coded("fetch_key")

    def starts(env: Any) -> list[Any]:
        """The cells in which those of 100 episodes begin that begin with the key."""
        found = []
        for seed in range(100):
            env.reset(seed=seed)
            found += [env.unwrapped.agent] * env.unwrapped.holding
        return found

    assert starts(env) == [], "no state is reached yet"
    own = next(seed for seed in range(100) if np.random.default_rng([seed, 0x57A27]).random() >= 0.5)
    env.reset(seed=own)
    env.step(fetch)
    reached = env.unwrapped.agent  # type: ignore[attr-defined]
    found = starts(env)
    assert 30 < len(found) < 70
    assert set(found) == {reached}
    late = next(seed for seed in range(100) if np.random.default_rng([seed, 0x57A27]).random() < 0.5)
    env.reset(seed=late)
    env.step(env.form.codec.encode(0))
    env.step(fetch)
    assert set(starts(env)) == {reached}, "an episode that began late adds no state"
    judged = build(unreached, seed=0, evaluation=True)
    judged.reset(seed=own)
    judged.step(fetch)
    assert starts(judged) == []


def test_horizon_of_an_episode_from_a_saved_state_includes_the_steps_before_that_state(tmp_path: Path) -> None:
    spec, reached = holding_states(tmp_path)
    state = reached.states[0]
    for horizon, expected in ((None, DOOR.horizon - state.step), (5, 5)):
        setup = spec.setup.model_copy(update={"reset_share": 1.0, "horizon": horizon})
        env = build(dataclasses.replace(spec, setup=setup, starts=(state,)), seed=0)
        env.reset()
        taken = 0
        while True:
            _, _, terminated, truncated, info = env.step(0)
            taken += 1
            assert info["primitive_steps"] == taken
            if terminated or truncated:
                break
        assert (taken, truncated) == (expected, True)
        assert info["episode"]["primitive_steps"] == expected


def test_event_reward_before_a_saved_state_is_not_given_again(tmp_path: Path) -> None:
    spec, _ = holding_states(tmp_path)
    weights = {"holding": 5.0, "near_key": 1.0}
    setup = spec.setup.model_copy(update={"reset_share": 1.0, "reward_weights": weights})
    env = build(dataclasses.replace(spec, setup=setup), seed=0)
    env.reset()
    assert env.step(0)[4]["reward_terms"] == {"holding": 0.0, "near_key": 0.0}


def test_saving_without_a_state_codec_and_restoring_an_invalid_state_raise_errors(tmp_path: Path) -> None:
    class Without(GridPlugin):
        def states(self, task: Task) -> None:  # type: ignore[override]
            return None

    env = extend(Without().make_env(DOOR, seed=0), plugin=Without(), task=DOOR)
    env.reset(seed=0)
    with pytest.raises(StateError, match="cannot save and restore grid/door"):
        env.save_episode()
    spec, reached = holding_states(tmp_path, 1)
    wrong = reached.states[0].model_copy(update={"data": reached.states[0].data.replace(b"agent", b"agenu")})
    setup = spec.setup.model_copy(update={"reset_share": 1.0})
    with pytest.raises(StateError, match="cannot be played"):
        build(dataclasses.replace(spec, setup=setup, starts=(wrong,)), seed=0).reset()


def test_training_from_saved_states_can_be_resumed(tmp_path: Path) -> None:
    """The second call of ``train`` resumes the training of the first. The states are part of the recipe, so no file
    with states is read.
    """
    spec, _ = holding_states(tmp_path)
    small = Hyperparameters(num_envs=2, num_steps=16, minibatch_size=32, update_epochs=1, hidden=(8,))
    for budget in (200, 400):
        record = PPO().train(spec, budget=budget, seed=0, folder=tmp_path / "train", hyperparameters=small)
    assert record.primitive_steps >= 400


def test_json_of_a_setup_omits_newer_fields_that_have_their_defaults() -> None:
    old = RLSetup(reward_weights={"a": 1.0}, observation_keys=("b",))
    assert "reset_share" not in old.model_dump_json()
    assert "trainer" not in old.model_dump_json()
    new = old.model_copy(update={"reset_share": 0.25, "trainer": {"ent_coef": 0.01}})
    assert RLSetup.model_validate_json(new.model_dump_json()) == new
    assert RLSetup.model_validate(new.model_dump()) == new


def test_setup_changes_only_hyperparameters_that_the_user_does_not_fix() -> None:
    setup = RLSetup(reward_weights={}, observation_keys=(), trainer={"learning_rate": 1e-4, "num_steps": 16.0})
    advised = Hyperparameters(num_steps=64, ent_coef=0.01)
    assert advised.with_setup(setup) == advised.model_copy(update={"learning_rate": 1e-4, "num_steps": 16})
    assert advised.with_setup(setup, {"num_steps"}).num_steps == 64
