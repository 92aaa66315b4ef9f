"""Runs Meta-World in a separate interpreter, because Meta-World pins a version of MuJoCo that other simulators do not
support.

The file ``requirements.txt`` in this folder lists the packages that Meta-World needs; ``make metaworld`` makes an
interpreter with these packages in ``.metaworld``.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from rlgpt.envs.env import WorkerEnv
from rlgpt.envs.recipe import Recipe, WorkerTimeouts
from rlgpt.errors import ConfigError

HERE = Path(__file__).parent
PYTHON = "RLGPT_METAWORLD_PYTHON"
MAX_EPISODE_STEPS = 500
"""Number of steps after which Meta-World truncates an episode."""

OBSERVATIONS = {
    "hand_x": "gripper, to the robot's right, m",
    "hand_y": "gripper, away from the robot, m",
    "hand_z": "gripper, upwards, m",
    "gripper": "how far the fingers are open: 0 closed, 1 open",
    "object_x": "the object (of a drawer or a door its handle), to the right, m",
    "object_y": "the object, away from the robot, m",
    "object_z": "the object, upwards, m",
    **{f"object_q{i}": f"orientation of the object, quaternion, part {i + 1} of 4" for i in range(4)},
    **{
        f"second_{i}": f"position and orientation of a second object, part {i + 1} of 7; 0 without one"
        for i in range(7)
    },
    **{f"before_{i}": f"number {i} of this list (from hand_x, 0) one step ago" for i in range(18)},
    "goal_x": "where the object is to be, to the right, m",
    "goal_y": "where the object is to be, away from the robot, m",
    "goal_z": "where the object is to be, upwards, m",
}
"""The 39 numbers of an observation (Yu et al. 2019, appendix; ``sawyer_xyz_env.py``)."""

LABELS = {
    "right": "moves the hand along x, at most 1 cm a step at 1 or -1",
    "away": "moves the hand along y, at most 1 cm a step at 1 or -1",
    "up": "moves the hand along z, at most 1 cm a step at 1 or -1",
    "close": "1 closes the fingers, -1 opens them",
}
"""The four numbers of an action."""


def make(
    task: str, *, seed: int = 0, horizon: int = MAX_EPISODE_STEPS, render_mode: str | None = None
) -> gymnasium.Env[Any, Any]:
    """Make a task of Meta-World, for example ``drawer-open-v3``, in a worker process.

    :param seed: the seed from which the 50 positions of the task's object are drawn. The seed of each reset chooses one
        of the 50 positions of the object.
    :param horizon: number of primitive steps after which an episode is truncated, at most 500.
    :raises ConfigError: no Python interpreter with Meta-World is installed, or ``horizon`` is not between 1 and 500.
    """
    if not 1 <= horizon <= MAX_EPISODE_STEPS:
        raise ConfigError(
            f"horizon is {horizon}; Meta-World ends every episode after {MAX_EPISODE_STEPS} steps. Valid: 1 to "
            f"{MAX_EPISODE_STEPS}."
        )
    spec = EnvSpec(
        f"MetaWorld/{task}",
        entry_point=f"{__name__}:worker",
        max_episode_steps=horizon,
        disable_env_checker=True,
        kwargs={"task": task, "seed": seed},
    )
    return gymnasium.make(spec, render_mode=render_mode)


def worker(task: str, seed: int, render_mode: str | None = None) -> WorkerEnv:
    """Make a task of Meta-World in a worker process, without a time limit."""
    return WorkerEnv(recipe(task, seed=seed), render_mode=render_mode)


def maker(task: str, *, seed: int = 0, horizon: int = MAX_EPISODE_STEPS) -> Callable[..., gymnasium.Env[Any, Any]]:
    """A picklable function that makes a task of Meta-World, as ``make_env`` for :func:`rlgpt.design`."""
    return functools.partial(make, task, seed=seed, horizon=horizon)


def recipe(task: str, *, seed: int = 0) -> Recipe:
    """The recipe that starts a worker process for a task of Meta-World.

    :raises ConfigError: no Python interpreter with Meta-World is installed.
    """
    found = python()
    if found is None:
        raise ConfigError(
            "Meta-World needs an interpreter of its own: `make metaworld` in a checkout, or a virtual environment with "
            f"{HERE / 'requirements.txt'}, named by the environment variable {PYTHON}."
        )
    return Recipe(
        factory=f"{HERE / 'factory.py'}:make",
        python=str(found),
        arguments={"task": task, "seed": seed},
        environment={"MUJOCO_GL": os.environ.get("MUJOCO_GL", "egl")},
        timeouts=WorkerTimeouts(start=300.0),
    )


def python() -> Path | None:
    """The path of the Python interpreter with Meta-World. The path is the value of the environment variable
    ``RLGPT_METAWORLD_PYTHON``, or, if the variable is not set, the interpreter that ``make metaworld`` made. None if no
    file has this path.
    """
    named = os.environ.get(PYTHON)
    places = [Path(named)] if named else [p / ".metaworld" / "bin" / "python" for p in (Path.cwd(), HERE.parents[3])]
    return next((place for place in places if place.is_file()), None)
