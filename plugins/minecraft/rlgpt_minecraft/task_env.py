"""A task as an environment. The environment of a task is MineDojo's environment in either backend, with the task's
success, horizon and base actions.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from rlgpt.domain import Task
from rlgpt.errors import ConfigError, StateError
from rlgpt.plugin.state_data import bounded, pack, record, whole
from voxeldojo.env import MineDojoEnv
from voxeldojo.saving import SaveError

from rlgpt_minecraft.actions import BaseActions, hand_choices
from rlgpt_minecraft.hits import death_by
from rlgpt_minecraft.moves import SPACE, Action
from rlgpt_minecraft.observation import ObservationReader, ParsedObservation
from rlgpt_minecraft.progress import Progress
from rlgpt_minecraft.settings import Settings
from rlgpt_minecraft.task_world import judged_by_minedojo, make_world, minedojo_statistic, statistic
from rlgpt_minecraft.tasks import spec_of


class MinecraftTask(gymnasium.Env[Any, Any]):
    """The environment of one task.

    The observation is MineDojo's dictionary (``voxeldojo.spaces.observation_space``), with the lidar of the module
    ``rays`` and the voxels of the module ``ground``. The observation has the key ``rgb`` only if the setting
    ``image_size`` is set.

    An action of the environment is MultiDiscrete [12, n] (see the module ``actions``). ``step`` accepts MineDojo's
    actions of eight numbers, too (see the module ``moves``), which primitives yield.

    An episode terminates with success or with the player's death. An episode is truncated at the horizon, or when
    MineDojo's game crashes. The reward is the change of the count of the task's target in the step, for example the
    number of target items gained, as in MineDojo's tasks. ``info`` has the key ``success`` and the entries of the class
    ``Progress``.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012

    def __init__(self, task: Task, *, seed: int, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; valid: None, 'rgb_array'.")
        self.render_mode = render_mode
        self.spec_of_task, self.horizon = spec_of(task), task.horizon
        settings = Settings.of(task)
        self._judged_by_minedojo = judged_by_minedojo(self.spec_of_task, settings)
        self.base = make_world(self.spec_of_task, settings, render_mode=render_mode)
        """MineDojo's environment, of either backend."""
        self.reader = ObservationReader(self.spec_of_task.sights)
        self.actions = BaseActions(choices(task))
        self.action_space = self.actions.space
        self.observation_space = self.base.observation_space
        self._steps = 0
        self.reset(seed=seed)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        observation, world_info = self.base.reset(seed=int(self.np_random.integers(2**31)))
        obs = self._read(observation)
        self._steps = 0
        self._initial_count = self._count = self._target_count(obs, world_info)
        self._verdict = False
        self._progress = Progress(obs, self.spec_of_task.path)
        return obs.observation, {**self._info(), "cause": ""}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        translated = self._minedojo_action(action)
        observation, _, ended, cut, world_info = self.base.step(translated)
        obs = self._read(observation)
        self._steps += 1
        self._progress.update(obs, translated)
        count, self._verdict = self._target_count(obs, world_info), bool(world_info.get("success", False))
        reward, self._count = float(count - self._count), count
        terminated = self._succeeded or bool(ended)
        truncated = not terminated and (bool(cut) or self._steps >= self.horizon)
        info = self._info()
        cause = death_by(info["hit"]["kind"]) if terminated and not self._succeeded else ""
        return obs.observation, reward, terminated, truncated, {**info, "cause": cause}

    def render(self) -> Any:
        """Return the player's view, uint8 ``(height, width, 3)``, or None if ``render_mode`` is None."""
        return self.base.render()

    def close(self) -> None:
        self.base.close()

    def save(self) -> bytes:
        """Return the state of an episode in the embedded world. After :meth:`load`, the episode continues exactly as if
        it had not been saved.
        """
        world: Any = self.base.unwrapped
        state = {
            "world": world.save(),
            "steps": self._steps,
            "counts": [self._initial_count, self._count],
            "progress": self._progress.as_state(),
        }
        return pack(state)

    def load(self, state: bytes, *, seed: int | None = None) -> None:
        """Restore a state that :meth:`save` returned for the same task.

        :param seed: the seed of the world's random numbers after the loading; with None, the saved random numbers
            continue.
        :raises StateError: the state is damaged, or belongs to another task or version.
        """
        saved = record(state, ("world", "steps", "counts", "progress"))
        counts = saved["counts"]
        if not isinstance(counts, list) or len(counts) != 2:
            raise StateError(f"the saved counts are {counts!r:.80}; valid: two integers.")
        steps = whole(saved["steps"], 0, self.horizon, "number of steps")
        initial, now = (whole(count, 0, 1_000_000, "count of the target") for count in counts)
        self._progress.check(saved["progress"])
        world: Any = self.base.unwrapped
        try:
            observation, _ = world.load(bounded(saved["world"]), seed=seed)
        except SaveError as fault:
            raise StateError(str(fault)) from fault
        self._read(observation)
        self._steps, self._initial_count, self._count = steps, initial, now
        self._progress.restore(saved["progress"])

    @property
    def _succeeded(self) -> bool:
        if self._judged_by_minedojo:
            return self._verdict
        return self._count - self._initial_count >= self.spec_of_task.quantity

    def _target_count(self, obs: ParsedObservation, world_info: dict[str, Any]) -> int:
        """Return the count that decides the success of the task (``Spec.kind``)."""
        spec, world = self.spec_of_task, self.base.unwrapped
        if spec.kind == "item":
            return obs.inventory.get(spec.target, 0)
        return statistic(spec, world.sim) if isinstance(world, MineDojoEnv) else minedojo_statistic(spec, world_info)

    def _minedojo_action(self, action: Any) -> Action:
        """Return MineDojo's action for a base action (a pair of choices), or for MineDojo's own eight numbers."""
        array = np.asarray(action)
        if array.shape == SPACE.shape and array.dtype.kind in "iu":
            return array.astype(np.int64)
        if array.shape != self.action_space.shape:
            raise ConfigError(
                f"an action of shape {array.shape}, {array.dtype}: it must be a pair of {self.action_space} or the "
                f"eight numbers of MineDojo's {SPACE}."
            )
        return self.actions.translate(array, self.reader.read(self._observation))

    def _read(self, observation: dict[str, Any]) -> ParsedObservation:
        self._observation = observation
        return self.reader.read(observation)

    def _info(self) -> dict[str, Any]:
        return {"success": self._succeeded, **self._progress.as_info()}


def choices(task: Task) -> tuple[str, ...]:
    """Return the names of the choices of the second head of the task's base actions."""
    spec = spec_of(task)
    if Settings.of(task).actions == "paper":
        return hand_choices((), (), ())
    return hand_choices(spec.makeable, spec.places, spec.equips)
