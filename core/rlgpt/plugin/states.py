"""Saves and restores episodes. A saved episode has the state of the environment, the newest observation, and the
plugin's :class:`~rlgpt.plugin.types.Context`. This module also contains codecs for the states of environments in
Python.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium
import numpy as np
from pydantic import ConfigDict, Field

from rlgpt.domain import TaskId, Value
from rlgpt.errors import StateError
from rlgpt.plugin.state_data import MAX_STATE_BYTES, bounded, pack, unpack
from rlgpt.plugin.types import Context, StateCodec

log = logging.getLogger(__name__)

_CONSTANT = (
    *(gymnasium.Space, gymnasium.envs.registration.EnvSpec, Value, logging.Logger, re.Pattern, ModuleType),
    *(FunctionType, BuiltinFunctionType, MethodType, type, PurePath),
)
"""Types of attributes that do not change in an episode, such as spaces and functions."""
_SKIPPED = (
    *("env", "spec", "_cached_spec", "metadata", "_metadata", "_saved_kwargs"),
    *("_action_space", "_observation_space", "_reward_range"),
)

_ADVICE = (
    "If it changes in an episode, name its class: AttributeStates(classes=[{name}]). If it does not, name the "
    "attribute: AttributeStates(constants=['ATTRIBUTE'])."
)


class EpisodeState(Value):
    """The saved state of an episode, from which the episode can continue. An episode state that was read from a file is
    untrusted.

    :ivar task: id of the task.
    :ivar step: primitive steps of the episode so far.
    :ivar data: the environment's state as bytes, made by the plugin's :class:`~rlgpt.plugin.types.StateCodec`.
    :ivar seen: the newest observation and ``info``, and the context's memory and random generator
        (:func:`rlgpt.plugin.state_data.pack`).
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    task: TaskId
    step: int = Field(ge=0)
    data: bytes = Field(max_length=MAX_STATE_BYTES)
    seen: bytes = Field(max_length=MAX_STATE_BYTES)


def save_episode(codec: StateCodec, env: gymnasium.Env[Any, Any], ctx: Context) -> EpisodeState:
    """Save the state of ``env`` and ``ctx``. Values in ``info`` that cannot be saved are left out, and so are values in
    the context's memory whose key begins with ``_``.

    :raises StateError: the state of the environment, the observation or the context's memory cannot be saved.
    """
    memory = {key: value for key, value in ctx.memory.items() if not key.startswith("_")}
    info = {key: value for key, value in ctx.info.items() if _is_data(value)}
    seen = pack({"observation": ctx.observation, "info": info, "memory": memory, "rng": ctx.rng})
    return EpisodeState(task=ctx.task.id, step=ctx.step, data=bounded(codec.save(env)), seen=seen)


def restore_episode(
    codec: StateCodec, env: gymnasium.Env[Any, Any], ctx: Context, state: EpisodeState, *, seed: int | None = None
) -> None:
    """Set ``env`` and ``ctx`` to a state that :func:`save_episode` saved.

    :param seed: seed of all random numbers from now on. With ``seed=None``, the saved random generators continue.
    :raises StateError: the saved state belongs to another task, or is damaged.
    """
    if state.task != ctx.task.id:
        raise StateError(f"this state is of the task {state.task!r}; the environment's task is {ctx.task.id!r}.")
    seen = unpack(state.seen, seed=seed, stream=1)
    if not isinstance(seen, dict) or seen.keys() != {"observation", "info", "memory", "rng"}:
        raise StateError("these bytes are not a saved state: observation, info, memory or generator is missing.")
    fits = isinstance(seen["info"], dict) and isinstance(seen["memory"], dict)
    if not (fits and isinstance(seen["rng"], np.random.Generator) and state.step <= ctx.task.horizon):
        raise StateError("these bytes are not a saved state: a part of it has another type, or its step is too late.")
    if not _is_observation(env.observation_space, seen["observation"]):
        raise StateError("the saved state's observation is not in the observation space: it is of another version.")
    codec.restore(env, state.data, seed=seed)
    ctx.observation, ctx.info, ctx.step, ctx.rng = seen["observation"], seen["info"], state.step, seen["rng"]
    ctx.previous = None
    ctx.memory.clear()
    ctx.memory.update(seen["memory"])


class AttributeStates(StateCodec):
    """A codec for the states of environments in plain Python. The codec saves the attributes of the environment and of
    all its wrappers.

    The codec saves attributes that are bool, numbers, text, arrays, containers or random generators. Spaces, functions,
    classes, modules, paths and frozen dataclasses are constants, which the codec does not save. An attribute of any
    other class is an error, unless ``classes`` contains its class. The codec does not save state outside attributes,
    for example in a C library or a global variable. The plugin contract and the function :func:`holds` detect state
    that the codec does not save.

    The codec also saves the attributes with the settings of a task, unless ``constants`` contains their names. A state
    that the codec restores in an environment of another task or with other settings then changes these attributes, and
    they stay changed after a reset. (The function :func:`restore_episode` refuses states of other tasks.)

    :param classes: classes of objects in the state, such as the things in a grid. A restored object of these classes is
        created without ``__init__``.
    :param constants: attributes that are not saved, given by their names or by the classes of their values.
    """

    def __init__(self, classes: Collection[type] = (), constants: Collection[type | str] = ()) -> None:
        self._classes = tuple(classes)
        self._constants = (*_CONSTANT, *(c for c in constants if isinstance(c, type)))
        self._skipped = {*_SKIPPED, *(c for c in constants if isinstance(c, str))}

    def save(self, env: gymnasium.Env[Any, Any]) -> bytes:
        layers = [[type(layer).__name__, self._state(layer)] for layer in _layers(env)]
        return pack(layers, self._classes, advice=_ADVICE)

    def restore(self, env: gymnasium.Env[Any, Any], state: bytes, *, seed: int | None = None) -> None:
        layers, saved = _layers(env), unpack(state, self._classes, seed=seed)
        names = [type(layer).__name__ for layer in layers]
        if not isinstance(saved, list) or [_name(entry) for entry in saved] != names:
            raise StateError(f"these bytes are not a saved state of this environment, whose layers are {names}.")
        for layer, (_, attributes) in zip(layers, saved, strict=True):
            kept = {name for name, value in vars(layer).items() if self._is_constant(name, value)}
            if not isinstance(attributes, dict) or any(self._is_fixed(layer, name, kept) for name in attributes):
                raise StateError(f"these bytes are not a saved state of a {type(layer).__name__}.")
            for name in vars(layer).keys() - kept - attributes.keys():
                delattr(layer, name)
            vars(layer).update(attributes)

    def _state(self, layer: gymnasium.Env[Any, Any]) -> dict[str, Any]:
        return {name: value for name, value in vars(layer).items() if not self._is_constant(name, value)}

    def _is_fixed(self, layer: gymnasium.Env[Any, Any], name: Any, kept: Collection[str]) -> bool:
        """Whether a saved state must not set this attribute, because the attribute is a constant or the class defines
        it.
        """
        if not isinstance(name, str) or name in kept or name in self._skipped:
            return True
        defined = getattr(type(layer), name, None)
        return callable(defined) or isinstance(defined, (property, *self._constants))

    def _is_constant(self, name: str, value: Any) -> bool:
        if name in self._skipped or isinstance(value, self._constants):
            return True
        if isinstance(value, tuple) and value and type(value) not in self._classes:
            return all(self._is_constant("", part) for part in value)
        frozen = dataclasses.is_dataclass(value) and getattr(type(value), "__dataclass_params__").frozen  # noqa: B009
        return bool(frozen) and type(value) not in self._classes


class OwnStates(StateCodec):
    """A codec for environments that have their own methods ``save() -> bytes`` and ``load(state, *, seed=None)``.

    The two methods must do what :class:`~rlgpt.plugin.types.StateCodec` demands, and no wrapper around the environment
    may have a state. An environment without the two methods is a StateError.
    """

    def save(self, env: gymnasium.Env[Any, Any]) -> bytes:
        state: bytes = _own(env, "save")()
        return state

    def restore(self, env: gymnasium.Env[Any, Any], state: bytes, *, seed: int | None = None) -> None:
        _own(env, "load")(state, seed=seed)


def _own(env: gymnasium.Env[Any, Any], name: str) -> Callable[..., Any]:
    method = getattr(env.unwrapped, name, None)
    if callable(method):
        return method  # type: ignore[no-any-return]
    raise StateError(
        f"{type(env.unwrapped).__name__} has no method {name}(); OwnStates needs save() -> bytes and load(state, *, "
        "seed=None). Write both methods in the environment, or use AttributeStates."
    )


def holds(codec: StateCodec, env: gymnasium.Env[Any, Any], *, seed: int = 0, steps: int = 10) -> bool:
    """Test whether restored episodes continue exactly as the saved episodes, as :class:`~rlgpt.plugin.types.StateCodec`
    demands. The test plays ``steps`` random actions in ``env``, saves the state, plays twice as many actions, restores
    the state, and plays these actions again.

    The result is also False if the state cannot be saved, or if the environment raises an exception. (The exception
    occurs again in the next episode, where it is reported.)
    """
    try:
        env.action_space.seed(seed)
        env.reset(seed=seed)
        for _ in range(steps):
            if any(env.step(env.action_space.sample())[2:4]):
                env.reset()
        saved = codec.save(env)
        actions = [env.action_space.sample() for _ in range(2 * steps)]
        first = _played(env, actions)
        env.reset(seed=seed + 1)
        codec.restore(env, saved)
        return same(first, _played(env, actions))
    except Exception as fault:
        log.info("episodes cannot be saved: %s: %s", type(fault).__name__, fault)
        return False


def same(a: Any, b: Any) -> bool:
    """Whether two observations, infos or numbers are equal, bit for bit."""
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray | np.generic | float | int):
        x, y = np.asarray(a), np.asarray(b)
        return bool(np.array_equal(x, y, equal_nan=x.dtype.kind == "f" and y.dtype.kind == "f"))
    return bool(a == b)


def _played(env: gymnasium.Env[Any, Any], actions: list[Any]) -> list[Any]:
    results: list[Any] = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        results.append((observation, reward, terminated, truncated, info.get("success")))
        if terminated or truncated:
            break
    return results


def _layers(env: gymnasium.Env[Any, Any]) -> list[gymnasium.Env[Any, Any]]:
    layers = [env]
    while isinstance(layers[-1], gymnasium.Wrapper):
        layers.append(layers[-1].env)
    return layers


def _name(entry: Any) -> str:
    return str(entry[0]) if isinstance(entry, list) and len(entry) == 2 else ""


def _is_observation(space: gymnasium.Space[Any], value: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # A space warns about values that it must cast.
        try:
            return bool(space.contains(value))
        except Exception:  # A space may raise an exception for a value outside it.
            return False


def _is_data(value: Any) -> bool:
    try:
        pack(value)
    except StateError:
        return False
    return True
