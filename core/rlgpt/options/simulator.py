"""The two kinds of vectors of base environments, with one interface: separate environments, of which any may step, and
a batch simulator, which moves all its environments in one call.
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
    """The result of one primitive step of one environment: what :meth:`gymnasium.Env.step` returns. At the end of an
    episode, ``first`` is the start of the next one where the simulator has begun it already.
    """

    result: tuple[Any, Any, Any, Any, Mapping[str, Any]]
    first: First | None = None


class Simulator(ABC):
    """A vector of base environments.

    :ivar mode: of the vector's automatic resets.
    :ivar moves_all: whether a step moves every environment.
    :ivar resets_itself: whether it begins the next episode by itself, in the step that ``mode`` says.
    """

    mode: AutoresetMode
    moves_all: bool
    resets_itself: bool

    @abstractmethod
    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        """Take one primitive step in each of these environments: all, if :attr:`moves_all`.

        :param actions: environment -> action of the base environment.
        """

    @abstractmethod
    def reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None = None) -> dict[int, First]:
        """Begin an episode in each of these environments.

        :param seeds: environment -> seed.
        """


def simulator_of(venv: VectorEnv[Any, Any, Any]) -> Simulator:
    """:raises ConfigError: the vector does not say its autoreset mode."""
    mode = venv.metadata.get("autoreset_mode")
    try:
        mode = AutoresetMode(mode)
    except ValueError:
        valid = ", ".join(f"AutoresetMode.{m.name}" for m in AutoresetMode)
        raise ConfigError(
            f"the vector's metadata['autoreset_mode'] is {mode!r}; valid: {valid}. Set it in the class of the vector."
        ) from None
    return Separate(venv, mode) if type(venv) is SyncVectorEnv else Batch(venv, mode)


class Separate(Simulator):
    """The environments of a ``SyncVectorEnv``, each of which steps and is reset alone."""

    moves_all = resets_itself = False

    def __init__(self, venv: SyncVectorEnv, mode: AutoresetMode) -> None:
        self._envs, self.mode = venv.envs, mode

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        return {lane: Outcome(self._envs[lane].step(action)) for lane, action in actions.items()}

    def reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None = None) -> dict[int, First]:
        return {lane: self._envs[lane].reset(seed=seed, options=options) for lane, seed in seeds.items()}


class Batch(Simulator):
    """Any other vector. Its observations must be new arrays at every step."""

    moves_all = True

    def __init__(self, venv: VectorEnv[Any, Any, Any], mode: AutoresetMode) -> None:
        self._venv, self.mode = venv, mode
        self.resets_itself = mode is not AutoresetMode.DISABLED
        self._space = venv.single_action_space

    def step(self, actions: Mapping[int, Any]) -> dict[int, Outcome]:
        count = self._venv.num_envs
        whole = batch_of(self._space, [actions[lane] for lane in range(count)])
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
                "the vector resets an environment in the step that ends its episode and gives no "
                "infos['final_obs']; valid: the last observation of the episode there, or another autoreset mode."
            )
        return Outcome((last, reward, terminated, truncated, last_info), (observation, info))

    def reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None = None) -> dict[int, First]:
        count = self._venv.num_envs
        given = [seeds.get(lane) for lane in range(count)]
        if len(seeds) < count:
            mask = np.zeros(count, np.bool_)
            mask[list(seeds)] = True
            options = {**(options or {}), "reset_mask": mask}
        seed = None if given == [None] * count else _compact(given)
        observations, infos = self._venv.reset(seed=seed, options=options)  # type: ignore[arg-type]
        rows, parts = list(iterate(self._venv.observation_space, observations)), infos_of(infos, count)
        return {lane: (rows[lane], parts[lane]) for lane in seeds}


def _compact(seeds: Sequence[int | None]) -> int | Sequence[int | None]:
    """The first seed, if the others count up from it: some vectors take no list."""
    first = seeds[0]
    if first is not None and all(seed == first + i for i, seed in enumerate(seeds)):
        return first
    return seeds


def infos_of(infos: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The info of each environment, from the infos of a vector: ``infos["_key"]`` is a mask of those that have the key.
    Without a mask, all have it.
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
    """Elements of ``space`` as an element of the vector's space."""
    out: Any = create_empty_array(space, len(elements))
    return concatenate(space, elements, out)
