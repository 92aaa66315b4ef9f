"""The backend ``minedojo``, which runs MineDojo itself. MineDojo has the same spaces as the embedded world, so code and
policies made in the embedded world run on MineDojo unchanged.

The package MineDojo needs its own Python interpreter, which ``make minedojo`` installs. A worker of ``rlgpt.envs`` runs
MineDojo in MineDojo's own interpreter.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from rlgpt.domain import Plain
from rlgpt.envs import Recipe, TextArray, WorkerEnv, WorkerTimeouts
from rlgpt.errors import ConfigError, PluginError
from voxeldojo.malmo import flat
from voxeldojo.mission import Box, Mission, Ray
from voxeldojo.names import BIOMES
from voxeldojo.spaces import action_space, no_op, observation_space
from voxeldojo.text_array import TextArray as WorldTextArray

from rlgpt_minecraft.doctor import display, java
from rlgpt_minecraft.interpreter import HINT, minedojo_python

logger = logging.getLogger(__name__)

FACTORY = f"{Path(__file__).with_name('minedojo_worker.py')}:MineDojo"
PASSED_VARIABLES = ("JAVA_HOME", "GRADLE_USER_HOME", "XDG_RUNTIME_DIR", "MINEDOJO_HEADLESS", "MINEDOJO_DEBUG_LOG")
"""Environment variables that the game and its launcher read, in addition to those that every worker gets."""
LIMITS = WorkerTimeouts(start=180.0, reset=1200.0, step=300.0, close=30.0)
"""Time limits in seconds. The first start builds the game, the first reset starts the game, and MineDojo's client waits
240 s for a reply.
"""
HIDDEN_IMAGE_SIZE = (64, 64)
"""Height and width of the picture if the observation has none. The game always draws a picture."""
RENDERED_IMAGE_SIZE = (160, 256)
HOST = "localhost"
MAX_SERVED_ENVS = 8
"""Maximal number of environments of a training on a running server. Each has its own interpreter and its own game."""
SLOW_RESET_S = 15.0
"""Duration in seconds of a reset, after which the likely reason of the delay is logged."""


class MineDojoBackend(gymnasium.Env[dict[str, Any], NDArray[np.int64]]):
    """Runs a task of MineDojo in a process of MineDojo's own interpreter.

    The spaces of the environment are those of ``voxeldojo.env.MineDojoEnv`` for the same options. The constructor
    checks that MineDojo has the same spaces. ``info`` has the values of Malmo's JSON without voxels and rays, and
    MineDojo's ``success``. If the game crashes, the episode is truncated, the crash is logged, and the next reset
    starts the game again.

    :param waits_for: the likely reason for a slow reset, which is written to the log.
    :raises PluginError: MineDojo has other spaces.
    :raises WorkerError: MineDojo cannot start, or crashes repeatedly (raised by ``reset`` and ``step``).
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012

    def __init__(
        self,
        recipe: Recipe,
        observations: spaces.Dict,
        actions: spaces.MultiDiscrete,
        *,
        render_mode: str | None = None,
        waits_for: str = "",
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; valid: None, 'rgb_array'.")
        self.render_mode, self._waits_for = render_mode, waits_for
        self.observation_space, self.action_space = observations, actions
        self.worker = WorkerEnv(recipe, render_mode=render_mode)
        if faults := [*differences(self.worker.observation_space, observations, "observation")] or [
            *differences(self.worker.action_space, actions, "action")
        ]:
            self.worker.close()
            raise PluginError(f"MineDojo has other spaces than this plugin: {'; '.join(faults)}. Use minedojo 0.1.")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        with log_if_slow(self._waits_for):
            return self.worker.reset(seed=seed)

    def step(self, action: NDArray[np.int64]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(np.asarray(action)):
            raise ConfigError(f"{action!r} is not an action; valid: {self.action_space}, like {no_op().tolist()}.")
        obs, reward, terminated, truncated, info = self.worker.step(action)
        if "crash" in info:
            logger.warning("the episode is cut short: %s", info["crash"])
        return obs, reward, terminated, truncated, info

    def render(self) -> Any:
        """Return the player's view, uint8 ``(height, width, 3)``, or None if ``render_mode`` is None."""
        return None if self.render_mode is None else self.worker.render()

    def no_op(self) -> NDArray[np.int64]:
        """Return the action that does nothing: int64 ``(8,)``."""
        return no_op()

    def close(self) -> None:
        self.worker.close()


def make_minedojo(
    mission: Mission,
    *,
    mobs: Sequence[str] = (),
    spread: float = 0.0,
    port: int = 0,
    render_mode: str | None = None,
) -> MineDojoBackend:
    """Make an environment on MineDojo that is none of MineDojo's own tasks. The reward is always 0.

    :param mission: the initial state of the world, and the content of the observation.
    :param mobs: the names of the mobs that each reset summons at uniformly drawn positions in a square of ``spread``
        blocks around the player.
    :param port: the port of a Malmo server on this machine; with 0, MineDojo starts the game.
    :raises ConfigError: MineDojo is not installed; no server listens on ``port``; or Java 8 or a display is missing.
    :raises PluginError: MineDojo's spaces differ from those of this plugin.
    :raises WorkerError: MineDojo cannot start.
    """
    options = mission_options(mission)
    return _backend("open-ended", options, mission, mobs=mobs, spread=spread, port=port, render_mode=render_mode)


def make_task(
    task_id: str,
    *,
    image_size: tuple[int, int] | None = None,
    voxels: Box | None = None,
    rays: Sequence[Ray] = (),
    port: int = 0,
    render_mode: str | None = None,
    **options: Plain,
) -> MineDojoBackend:
    """Make one of MineDojo's own tasks, with its reward and its success. Success ends the episode.

    :param options: further keyword arguments of ``minedojo.make``. Each episode has a new world unless
        ``fast_reset=True``.
    :raises ConfigError, PluginError, WorkerError: see :func:`make_minedojo`.
    """
    mission = Mission(image_size=image_size, voxels=voxels, rays=tuple(rays))
    known = {"fast_reset": False, **sensor_options(mission), **options}
    return _backend(task_id, known, mission, port=port, render_mode=render_mode)


def mission_options(mission: Mission) -> dict[str, Plain]:
    """Convert a mission (initial state of the world, content of the observation) to keyword arguments of
    ``minedojo.make("open-ended")``.
    """
    known: dict[str, Plain] = {
        "initial_inventory": [stack.model_dump() for stack in mission.inventory],
        "start_health": mission.health,
        "start_food": mission.food,
        "start_time": mission.time,
        "initial_weather": mission.weather,
        "break_speed_multiplier": mission.break_speed,
        "allow_time_passage": mission.time_passes,
        "allow_mob_spawn": mission.mobs_spawn,
        "generate_world_type": "default" if mission.biome is None else "specified_biome",
        "regenerate_world_after_reset": True,
        "world_seed": "" if mission.seed is None else str(mission.seed),
    }
    if mission.layers:
        text = flat.written(mission.layers, BIOMES[mission.biome or "plains"])
        known.update(generate_world_type="flat", flat_world_seed_string=text)
    elif mission.biome is not None:
        known["specified_biome"] = mission.biome
    if mission.start is not None:
        known["start_position"] = mission.start.model_dump()
    return {**known, **sensor_options(mission)}


def sensor_options(mission: Mission) -> dict[str, Plain]:
    """Return the sensor settings for ``minedojo.make``, as keyword arguments: the voxels and the lidar rays that the
    observation contains.
    """
    known: dict[str, Plain] = {}
    if mission.voxels is not None:
        known.update(use_voxel=True, voxel_size={**mission.voxels.model_dump()})
    if mission.rays:
        known.update(use_lidar=True, lidar_rays=[list(ray) for ray in mission.rays])
    return known


def differences(actual: Any, expected: Any, path: str) -> list[str]:
    """List the differences between MineDojo's spaces and the plugin's spaces, with one text for each leaf of a
    space.
    """
    if isinstance(actual, spaces.Dict) and isinstance(expected, spaces.Dict):
        keys = {*actual.spaces, *expected.spaces}
        missing = [f"{path}/{key} is on one side only" for key in sorted(keys - (actual.keys() & expected.keys()))]
        both = sorted(actual.keys() & expected.keys())
        return missing + [fault for key in both for fault in differences(actual[key], expected[key], f"{path}/{key}")]
    same = (
        actual.shape == expected.shape
        if isinstance(actual, TextArray) and isinstance(expected, WorldTextArray)
        else actual == expected
    )
    return [] if same else [f"{path} is {actual}, not {expected}"]


def _backend(
    task_id: str,
    options: Mapping[str, Plain],
    mission: Mission,
    *,
    port: int,
    render_mode: str | None,
    mobs: Sequence[str] = (),
    spread: float = 0.0,
) -> MineDojoBackend:
    check_server(port) if port else check_game()
    size = mission.image_size or (RENDERED_IMAGE_SIZE if render_mode else HIDDEN_IMAGE_SIZE)
    shown = {"rgb": mission.image_size, "voxels": mission.voxels, "rays": mission.rays}
    hidden: list[Plain] = [key for key, expected in shown.items() if not expected]
    arguments: dict[str, Plain] = {
        "task_id": task_id,
        "options": {**options, "image_size": list(size)},
        "mobs": list(mobs),
        "spread": spread,
        "port": port,
        "hidden": hidden,
    }
    box = mission.voxels
    obs = observation_space(mission.image_size, None if box is None else box.shape, len(mission.rays))
    waits_for = (
        f"the server on port {port} tells clients to wait while all of its places are taken (ours: "
        "python -m voxeldojo.malmo --games N), and MineDojo asks again for ten minutes"
        if port
        else "MineDojo starts the game, which takes minutes"
    )
    return MineDojoBackend(recipe(arguments), obs, action_space(), render_mode=render_mode, waits_for=waits_for)


@contextlib.contextmanager
def log_if_slow(what: str, seconds: float = SLOW_RESET_S) -> Iterator[None]:
    """Log ``what`` once if the body of the ``with`` statement takes longer than ``seconds``."""
    timer = threading.Timer(seconds, logger.warning, (f"still waiting after {seconds:g} s: %s", what))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def recipe(arguments: Mapping[str, Plain]) -> Recipe:
    """Describe how to start MineDojo's worker.

    :raises ConfigError: no interpreter with MineDojo is found.
    """
    python = minedojo_python()
    if python is None:
        raise ConfigError(f"backend=minedojo needs MineDojo, which is not installed: {HINT}.")
    logs = Path(tempfile.gettempdir()) / "rlgpt-minedojo"
    logs.mkdir(exist_ok=True)
    headless = {} if "DISPLAY" in os.environ else {"MINEDOJO_HEADLESS": "1"}
    return Recipe(
        factory=FACTORY,
        python=str(python),
        arguments=arguments,
        environment={"MALMO_MINECRAFT_OUTPUT_LOGDIR": str(logs), **headless},
        passed=(*Recipe.model_fields["passed"].default, *PASSED_VARIABLES),
        timeouts=LIMITS,
        on_crash="truncate",
    )


def check_game() -> None:
    """Check that Minecraft can start on this machine.

    :raises ConfigError: Java 8 or a display is missing.
    """
    missing = [check for check in (java(), display()) if not check.ok]
    if missing:
        details = " ".join(f"{check.name}: {check.detail}. {check.advice}" for check in missing)
        raise ConfigError(
            f"without a port, backend=minedojo starts the game, which cannot start on this machine. {details}"
        )


def check_server(port: int) -> None:
    """Check that a server listens on a port of this machine.

    :raises ConfigError: no server listens on this port.
    """
    try:
        socket.create_connection((HOST, port), timeout=5.0).close()
    except OSError as fault:
        raise ConfigError(
            f"no Malmo server answers on {HOST}:{port} ({fault}). Start one, or leave the port out and MineDojo starts "
            "the game."
        ) from fault
