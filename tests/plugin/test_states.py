"""Saved states of environments contain no pickle and are exact for environments in Python. An object that cannot be
saved raises an error.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import random
from collections import deque
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from rlgpt.domain import Task
from rlgpt.errors import StateError
from rlgpt.plugin import AttributeStates, Context, OwnStates
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.state_data import MAX_STATE_BYTES, pack, unpack
from rlgpt.plugin.states import EpisodeState, holds, restore_episode, same, save_episode
from rlgpt.plugin.types import StateCodec

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**130), 2**130),
    st.floats(),
    st.text(),
    st.binary(),
    arrays.arrays(st.sampled_from(["f4", "f8", "i2", "u1", "b1", "c16", "<U5"]), arrays.array_shapes(max_dims=2)),
    st.builds(np.float32, st.floats(width=32)),
)
keys = st.one_of(st.text(), st.integers(), st.tuples(st.integers(), st.text()))
data = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.lists(parts, max_size=4),
        st.lists(parts, max_size=4).map(tuple),
        st.dictionaries(keys, parts, max_size=4),
        st.sets(keys, max_size=4),
        st.lists(parts, max_size=4).map(lambda x: deque(x, maxlen=5)),
    ),
    max_leaves=12,
)


def alike(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple | deque):
        return len(a) == len(b) and all(map(alike, a, b))
    return bool(a == b) or a != a


@settings(max_examples=50)
@given(data)
def test_packed_data_is_unpacked_unchanged(value: Any) -> None:
    assert alike(value, unpack(pack(value)))


def test_unpacked_data_keeps_shared_and_recursive_references() -> None:
    row: list[Any] = [1]
    row.append(row)
    back = unpack(pack({"a": row, "b": row, "c": [1]}))
    assert back["a"] is back["b"] is back["a"][1]
    assert back["c"] is not back["a"]


@pytest.mark.parametrize(
    "make", [np.random.default_rng, np.random.RandomState, random.Random], ids=["new", "old", "py"]
)
def test_restored_random_generator_continues_or_uses_a_new_seed(make: Any) -> None:
    rng = make(7)
    rng.random()
    saved = pack(rng)
    rest = [rng.random() for _ in range(5)]
    assert [unpack(saved).random() for _ in range(1)] == rest[:1]
    seeded = [unpack(saved, seed=3).random() for _ in range(2)]
    assert seeded[0] == seeded[1] != rest[0]


@pytest.mark.parametrize("value", [object(), lambda: 0, np.array([object()]), {1: {2: open}}])
def test_pack_refuses_an_object_of_an_unsupported_class(value: Any) -> None:
    with pytest.raises(StateError, match="cannot be saved"):
        pack(value)


def test_pack_and_unpack_refuse_a_too_large_state() -> None:
    with pytest.raises(StateError, match="at most"):
        pack(np.zeros(MAX_STATE_BYTES, np.uint8))
    with pytest.raises(StateError, match="at most"):
        unpack(b" " * (MAX_STATE_BYTES + 1))


@given(st.one_of(st.binary(max_size=60), data.map(pickle.dumps), st.text(max_size=60).map(str.encode)))
def test_unpack_refuses_bytes_that_pack_did_not_make(text: bytes) -> None:
    with pytest.raises(StateError):
        unpack(b"[" + text)


@settings(max_examples=60)
@given(data, st.data())
def test_unpacking_a_damaged_state_raises_only_state_errors(value: Any, draw: st.DataObject) -> None:
    damaged = bytearray(pack([value, np.random.default_rng(0), {"a": (1.5, {2})}]))
    damaged[draw.draw(st.integers(0, len(damaged) - 1))] = draw.draw(st.integers(0, 255))
    with contextlib.suppress(StateError):
        unpack(bytes(damaged))


class Ball:
    def __init__(self) -> None:
        raise AssertionError("a saved state makes objects without __init__")


def test_pack_and_unpack_accept_only_objects_of_listed_classes() -> None:
    ball = object.__new__(Ball)
    ball.__dict__["x"] = 3
    with pytest.raises(StateError, match="Ball"):
        pack(ball)
    assert unpack(pack(ball, [Ball]), [Ball]).x == 3
    with pytest.raises(StateError, match="Ball"):
        unpack(pack(ball, [Ball]))


class Bouncing(gymnasium.Env[np.ndarray, int]):
    """An environment with noise, a counter and objects in its attributes."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self) -> None:
        self.ball = object.__new__(Ball)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.ball = object.__new__(Ball)
        self.ball.x = self.np_random.normal()  # type: ignore[attr-defined]
        return np.array([self.ball.x]), {}  # type: ignore[attr-defined]

    def step(self, action: int) -> Any:
        self.ball.x += action + self.np_random.normal()  # type: ignore[attr-defined]
        return np.array([self.ball.x]), 0.0, False, False, {}  # type: ignore[attr-defined]


def test_attribute_states_saves_an_environment_exactly_only_if_its_object_classes_are_listed() -> None:
    env = gymnasium.wrappers.TimeLimit(Bouncing(), 40)
    assert not holds(AttributeStates(), env)
    assert holds(AttributeStates([Ball]), env, steps=30)  # The time limit ends an episode during these steps.


class Thing:
    pass


class Forgetful(AttributeStates):
    """A codec that does not save or restore the environment's random generator."""

    def __init__(self) -> None:
        super().__init__([Ball], ["_np_random"])


@pytest.mark.parametrize(("value", "advised"), [(Thing(), True), (np.array([object()]), False)])
def test_attribute_states_says_what_to_do_about_an_object_that_could_be_saved(value: Any, advised: bool) -> None:
    env = Bouncing()
    env.reset(seed=0)
    env.thing = [value]  # type: ignore[attr-defined]
    with pytest.raises(StateError, match="cannot be saved") as raised:
        AttributeStates([Ball]).save(env)
    assert ("AttributeStates(classes=[Thing])" in str(raised.value)) is advised


def test_own_states_names_the_method_that_the_environment_lacks() -> None:
    with pytest.raises(StateError, match=r"Bouncing has no method save\(\); OwnStates needs"):
        OwnStates().save(Bouncing())
    with pytest.raises(StateError, match=r"Bouncing has no method load\(\); OwnStates needs"):
        OwnStates().restore(Bouncing(), b"")


def test_holds_returns_false_for_a_codec_that_does_not_save_the_random_generator() -> None:
    assert not holds(Forgetful(), Bouncing())


def test_attribute_states_refuses_to_restore_methods_and_constants() -> None:
    env = Bouncing()
    env.reset(seed=0)
    codec = AttributeStates([Ball])
    for attributes in ({"step": 1}, {"observation_space": None}, {"spec": 1}, {"unwrapped": 1}, {3: 4}):
        with pytest.raises(StateError):
            codec.restore(env, pack([["Bouncing", attributes]]))
    with pytest.raises(StateError, match="layers"):
        codec.restore(gymnasium.wrappers.TimeLimit(env, 4), codec.save(env))


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1"])
def test_generic_plugin_can_save_states_of_environments_in_python(env_id: str) -> None:
    plugin = GenericPlugin.of(functools.partial(gymnasium.make, env_id))
    (task,) = plugin.tasks().values()
    assert plugin.states(task) is not None


def test_generic_plugin_uses_a_given_state_codec_and_has_none_for_unknown_objects() -> None:
    codec = AttributeStates([Ball])
    plugin = GenericPlugin.of(Bouncing, states=codec)
    (task,) = plugin.tasks().values()
    assert plugin.states(task) is codec
    assert GenericPlugin.of(Bouncing).states(task) is None
    assert GenericPlugin.of(Bouncing()).states(task) is None, (
        "a single environment cannot be compared with a second one"
    )


TASK = Task(id="bounce/up", goal="up", horizon=50, success="never")


def test_restored_episode_has_the_saved_observation_info_step_memory_and_generator() -> None:
    env, codec = Bouncing(), AttributeStates([Ball])
    observation, _ = env.reset(seed=1)
    memory = {"grip": 1, "_cache": env}
    ctx = Context(TASK, observation, {"a": 1, "env": env}, 7, np.random.default_rng(4), None, memory)
    state = EpisodeState.model_validate_json(save_episode(codec, env, ctx).model_dump_json())
    expected = ctx.rng.random()
    other = Bouncing()
    late = Context(TASK, other.reset(seed=2)[0], {}, 0, np.random.default_rng(), None, {"rotation": 2})
    restore_episode(codec, other, late, state)
    assert same(late.observation, observation)
    assert (late.info, late.step, late.memory, late.rng.random()) == ({"a": 1}, 7, {"grip": 1}, expected)


class Noisy(StateCodec):
    """Saves the random generator of the environment at the place that the context's has in the state of the context."""

    def save(self, env):
        return pack({"observation": [], "info": {}, "memory": {}, "rng": env.np_random})

    def restore(self, env, state, *, seed=None):
        env.np_random = unpack(state, seed=seed)["rng"]


def test_restored_environment_and_context_draw_different_numbers_after_a_new_seed() -> None:
    env = Bouncing()
    ctx = Context(TASK, env.reset(seed=1)[0], {}, 0, np.random.default_rng(), None)
    state = save_episode(Noisy(), env, ctx)
    restore_episode(Noisy(), env, ctx, state, seed=3)
    assert ctx.rng.random() != env.np_random.random()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"task": "bounce/down"}, "bounce/down"),
        ({"step": 51}, "too late"),
        ({"seen": pack({})}, "missing"),
        ({"seen": pack({"observation": 1, "info": {}, "memory": {}, "rng": np.random.default_rng()})}, "space"),
        ({"seen": pack({"observation": 1, "info": [], "memory": {}, "rng": 3})}, "another type"),
        ({"data": b"{}"}, "not a saved state"),
    ],
)
def test_restore_episode_refuses_a_state_of_another_task_or_with_invalid_content(
    change: dict[str, Any], words: str
) -> None:
    env, codec = Bouncing(), AttributeStates([Ball])
    ctx = Context(TASK, env.reset(seed=1)[0], {}, 0, np.random.default_rng(), None)
    state = save_episode(codec, env, ctx).model_copy(update=change)
    with pytest.raises(StateError, match=words):
        restore_episode(codec, env, ctx, state)
