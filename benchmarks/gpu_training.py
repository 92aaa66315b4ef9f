"""Runs one training or one simulation of :mod:`gpu` in a process of its own."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from plain_sample_factory import plain_config
from reporting import line
from rlgpt.domain import RLSetup, Task
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.rl.base import EnvSpec, Hyperparameters, Trainer
from rlgpt.rl.step_counter import STEPS_FILE, StepCounter

ENVS = 16
ROLLOUT = 32
STEP_SECONDS = 0.001
HORIZON = 280
BUDGET = 10**9
"""A budget that no training reaches; each training is ended from outside."""
SETTINGS = Hyperparameters(num_envs=ENVS, num_steps=ROLLOUT, minibatch_size=128, update_epochs=4, encoder="nature")
SHAPES = {"numbers": (59,), "pixels": (3, 64, 64)}
TRAINERS = ("ppo", "sample_factory", "plain_sample_factory", "ppo_overlap")


class Busy(gymnasium.Env[Any, Any]):
    """An environment with random observations, in which a step takes 1 ms of CPU time, about as long as a step of a
    simulator of a robot. All observations are drawn before the first episode. The key of the observation is ``obs``,
    because plain Sample Factory scales images only under this key.

    :param kind: ``numbers`` (59 numbers) or ``pixels`` (an image of 3 x 64 x 64 bytes).
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - gymnasium's own attribute
    render_mode = None

    def __init__(self, kind: str) -> None:
        shape, rng = SHAPES[kind], np.random.default_rng(0)
        box = spaces.Box(0, 255, shape, np.uint8) if kind == "pixels" else spaces.Box(-10, 10, shape, np.float32)
        self.observation_space, self.action_space = spaces.Dict({"obs": box}), spaces.Box(-1, 1, (9,), np.float32)
        self._drawn = [rng.uniform(0, 10, shape).astype(box.dtype) for _ in range(32)]
        self._step = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._step = 0
        return self._seen(), {"success": False}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        end = time.thread_time() + STEP_SECONDS
        while time.thread_time() < end:
            pass
        self._step += 1
        return self._seen(), float(action[0]), False, self._step == HORIZON, {"success": False}

    def _seen(self) -> dict[str, Any]:
        return {"obs": self._drawn[self._step % len(self._drawn)]}


def plugin(kind: str, task: Task) -> GenericPlugin:
    """A picklable factory of the plugin."""
    return GenericPlugin.of(functools.partial(Busy, kind), task)


def spec(kind: str) -> EnvSpec:
    task = Task(id=f"busy/{kind}", goal="none", horizon=HORIZON, success="never")
    setup = RLSetup(reward_weights={"env_reward": 1.0}, observation_keys=("obs",))
    return EnvSpec(task, setup, factory=functools.partial(plugin, kind))


def train(kind: str, trainer: str, workers: int, device: Any, folder: Path) -> None:
    """Train until another process ends this process. The trainer counts its primitive steps in a file in ``folder``."""
    if trainer == "plain_sample_factory":
        plain_sample_factory(kind, workers, device, folder)
        return
    made = trainer_of(trainer, workers, device)
    made.train(spec(kind), budget=BUDGET, seed=0, folder=folder, hyperparameters=SETTINGS)


def trainer_of(name: str, workers: int, device: Any) -> Trainer:
    if name == "sample_factory":
        from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings

        return SampleFactory(SampleFactorySettings(mode="parallel", workers=workers, device=device))
    from rlgpt.rl.ppo import PPO

    return PPO(workers=workers, device=device, overlap=name == "ppo_overlap")


def plain_sample_factory(kind: str, workers: int, device: Any, folder: Path) -> None:
    """Run Sample Factory without rlgpt's adapter, with the adapter's arguments where possible."""
    from rlgpt.rl.sample_factory.settings import SampleFactorySettings
    from sample_factory.train import run_rl

    settings = SampleFactorySettings(mode="parallel", workers=workers, device=device)
    scale = {"obs_scale": "255"} if kind == "pixels" else {}
    cfg = plain_config("busy", plain_environment, settings, SETTINGS, folder=folder, seed=0, **scale)
    cfg.kind, cfg.steps_file = kind, str(folder / STEPS_FILE)
    run_rl(cfg)


class Counting(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Counts the steps of one environment in a cell of the file that all environments share."""

    def __init__(self, env: gymnasium.Env[Any, Any], file: Path, cell: int) -> None:
        super().__init__(env)
        self._counter, self._cell = StepCounter(file, ENVS), cell

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._counter.add(self._cell)
        return self.env.step(action)


def plain_environment(name: str, cfg: Any, env_config: Any, render_mode: str | None = None) -> Any:
    """Make the environment for Sample Factory, without any part of rlgpt except the count of steps."""
    env = Busy(cfg.kind)
    return env if env_config is None else Counting(env, Path(cfg.steps_file), env_config["env_id"])


def simulate(part: str, lanes: int, steps: int) -> str:
    """Measure Craftax in a batch of ``lanes`` lanes on JAX's default device.

    :param part: ``simulator`` (random actions, without resets) or ``options`` (decisions for six coded actions and the
        base actions, with resets).
    :returns: the figure as a line of JSON.
    """
    import jax
    from lanes import TASK, measure_rollout, measure_simulator
    from rlgpt.plugin.manager import PluginManager

    crafter, task = PluginManager().task(TASK)
    more: dict[str, Any] = {"lanes": lanes, "clock": time.perf_counter}
    facts: dict[str, Any] = {"lanes": lanes, "jax": str(jax.devices()[0])}
    if part == "simulator":
        rate = measure_simulator(crafter, task, max(2, steps // lanes), **more)
    else:
        rate, facts["steps_per_decision"] = measure_rollout(crafter, task, steps, profile=False, **more)
    return line("", round(rate), "primitive steps per second", **facts)
