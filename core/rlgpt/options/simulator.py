"""The two kinds of vectors of base environments, with one interface. Separate environments may step alone; a batch
simulator steps all its environments in one call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from rlgpt.errors import ConfigError

First = tuple[Any, Mapping[str, Any]]
"""The first observation of an episode, and its info."""


class Outcome(NamedTuple):
    """The result of one primitive step of one environment, with the values that :meth:`gymnasium.Env.step` returns. If
    the episode ended and the simulator has already begun the next episode, ``first`` is the start of the next episode.
    """

    result: tuple[Any, Any, Any, Any, Mapping[str, Any]]
    first: First | None = None


class Simulator(ABC):
    """A vector of base environments. Each environment of the vector has a number, from 0.

    :ivar mode: the autoreset mode of the vector.
    :ivar moves_all: whether each call of :meth:`step` must step every environment.
    :ivar resets_itself: whether the vector begins the next episode by itself, in the step that ``mode`` defines.
    """

    mode: AutoresetMode
    moves_all: bool
    resets_itself: bool

    @abstractmethod
    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        """Take one primitive step in each environment in ``actions``.

        :param actions: for the number of an environment, an action from its action space. If :attr:`moves_all` is True,
            ``actions`` contains all environments of the vector.
        :returns: for the number of each environment in ``actions``, the result of its step.
        :raises ConfigError: the vector resets an environment in the step that ends its episode, and ``infos`` has no
            ``final_obs``.
        """

    @abstractmethod
    def reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None = None) -> dict[int, First]:
        """Begin an episode in each environment in ``seeds``.

        :param seeds: for the number of an environment, the seed of its reset. If the seed is None, the environment's
            random generator continues.
        :param options: a dict that is passed to the ``reset`` of each environment.
        :returns: for the number of each environment in ``seeds``, the first observation and info of its new episode.
        :raises Exception: the ``reset`` of an environment raised this exception.
        """


def simulator_of(venv: VectorEnv[Any, Any, Any]) -> Simulator:
    """The :class:`Simulator` for ``venv``, which is a :class:`Separate` for a ``SyncVectorEnv``, else a :class:`Batch`.

    :raises ConfigError: the metadata of the vector environment contain no autoreset mode.
    """
    mode = venv.metadata.get("autoreset_mode")
    try:
        mode = AutoresetMode(mode)
    except ValueError:
        valid = ", ".join(f"AutoresetMode.{m.name}" for m in AutoresetMode)
        raise ConfigError(
            f"the vector's metadata['autoreset_mode'] is {mode!r}; valid: {valid}. Set it in the vector's class."
        ) from None
    return Separate(venv, mode) if type(venv) is SyncVectorEnv else Batch(venv, mode)


class Separate(Simulator):
    """The environments of a ``SyncVectorEnv``. Each environment of a ``SyncVectorEnv`` can step and be reset without
    the other environments.
    """

    moves_all = resets_itself = False

    def __init__(self, venv: SyncVectorEnv, mode: AutoresetMode) -> None:
        self._envs, self.mode = venv.envs, mode

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        return {lane: Outcome(self._envs[lane].step(action)) for lane, action in actions.items()}

    def reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None = None) -> dict[int, First]:
        return {lane: self._envs[lane].reset(seed=seed, options=options) for lane, seed in seeds.items()}


class Batch(Simulator):
    """A vector of environments that is not a ``SyncVectorEnv``. The observations of the vector must be new arrays at
    every step.

    If ``metadata["low_level_actions"]`` of the vector is true, the vector's ``step`` gets a list with one action for
    each environment. Such an action may be in the plugin's
    :meth:`~rlgpt.plugin.base.EnvironmentPlugin.low_level_space` without being in the action space.
    """

    moves_all = True

    def __init__(self, venv: VectorEnv[Any, Any, Any], mode: AutoresetMode) -> None:
        self._venv, self.mode = venv, mode
        self.resets_itself = mode is not AutoresetMode.DISABLED
        self._space, self._begun = venv.single_action_space, False
        self._takes_each = bool(venv.metadata.get("low_level_actions"))

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        count = self._venv.num_envs
        each = [actions[lane] for lane in range(count)]
        whole = each if self._takes_each else batch_of(self._space, each)
        observations, rewards, terminated, truncated, infos = self._venv.step(whole)
        rows = list(iterate(self._venv.observation_space, observations))
        parts = infos_of(infos, count)
        results = zip(rows, rewards, terminated, truncated, parts, strict=True)
        return {lane: self._outcome(result) for lane, result in enumerate(results)}

    def _outcome(self, result: tuple[Any, Any, Any, Any, dict[str, Any]]) -> Outcome:
        observation, reward, terminated, truncated, info = result
        if self.mode is not AutoresetMode.SAME_STEP or not (terminated or truncated):
            return Outcome(result)
        last, last_info = info.pop("final_obs", None), info.pop("final_info", {})
        if last is None:
            raise ConfigError(
                "the vector resets an environment in the step that ends its episode, but infos has no 'final_obs'. "
                "Put the last observation of the episode there, or use another autoreset mode."
            )
        return Outcome((last, reward, terminated, truncated, last_info), (observation, info))

    def reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None = None) -> dict[int, First]:
        count = self._venv.num_envs
        given = [seeds.get(lane) for lane in range(count)]
        if len(seeds) < count:
            if not self._begun:  # A vector can reset a part of its environments only after it has reset all of them.
                self._venv.reset()
            mask = np.zeros(count, np.bool_)
            mask[list(seeds)] = True
            options = {**(options or {}), "reset_mask": mask}
        seed = None if given == [None] * count else _compact(given)
        observations, infos = self._venv.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self._begun = True
        rows, parts = list(iterate(self._venv.observation_space, observations)), infos_of(infos, count)
        return {lane: (rows[lane], parts[lane]) for lane in seeds}


def _compact(seeds: Sequence[int | None]) -> int | Sequence[int | None]:
    """Return the first seed if each further seed is the previous seed plus 1, else the list of all seeds. Some vector
    environments do not accept a list of seeds.
    """
    first = seeds[0]
    if first is not None and all(seed == first + i for i, seed in enumerate(seeds)):
        return first
    return seeds


def infos_of(infos: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Split the info dict of a vector into one info dict for each environment. In ``infos``, the value under ``"_key"``
    is a mask of the environments that have ``key``; without this mask, all environments have ``key``.
    """
    parts: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, values in infos.items():
        if key.startswith("_") and key[1:] in infos:
            continue
        present = infos.get(f"_{key}")
        inner = infos_of(values, count) if isinstance(values, dict) else values
        for lane in range(count) if present is None else np.flatnonzero(present):
            parts[lane][key] = inner[lane]
    return parts


def batch_of(space: gymnasium.Space[Any], elements: Sequence[Any]) -> Any:
    """Combine elements of ``space`` into one element of the space of a vector."""
    out: Any = create_empty_array(space, len(elements))
    return concatenate(space, elements, out)
