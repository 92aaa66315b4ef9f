"""Measures the CPU time of a step of the extended kitchen, relative to a step of the bare kitchen."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from interleaved import block_figures, block_order
from recorded_kitchen import TASK, recorded_actions
from reporting import commit, emit
from rlgpt import CodedAction, Parameter, extend
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.policy_env import build
from rlgpt_kitchen.plugin import KitchenPlugin

BLOCK = 10
"""Number of steps in one block, which takes about 15 ms."""

GOALS = {"k0": 1.03, "k3": 1.06}

SOURCE = "def run(dx=0.0):\n    yield move_by(x=dx)\n"
GUARD = "def can_start(view):\n    return view['time'] < 0.9\n\n"

Env = Any
Make = Callable[[], tuple[Env, Callable[[Any], Any]]]


def coded_actions(source: str) -> list[CodedAction]:
    dx = Parameter(name="dx", low=-0.1, high=0.1, default=0.0, doc="how far, m")
    return [CodedAction(name=f"reach{i}", doc="Move.", source=source, parameters=(dx,)) for i in range(3)]


def variants() -> dict[str, Make]:
    """Return a function for each compared environment. Each of these functions returns an environment, and a function
    that converts a recorded action to the environment's action space.
    """
    plugin = KitchenPlugin()
    task = plugin.tasks()[TASK]
    zeros = np.zeros(3, np.float32)

    def bare() -> Any:
        return plugin.make_env(task, seed=0)

    def extended(*args: Any, **more: Any) -> Any:
        return extend(bare(), *args, plugin=plugin, task=task, **more)

    def unchanged(action: Any) -> Any:
        return action

    def base_branch(action: Any) -> Any:
        return (0, action, zeros)

    return {
        "bare": lambda: (bare(), unchanged),
        "control": lambda: (bare(), unchanged),
        "k0": lambda: (extended(), unchanged),
        "k0_generic": lambda: (extend(bare()), unchanged),
        "k3": lambda: (extended(coded_actions(SOURCE)), base_branch),
        "k3_can_start": lambda: (extended(coded_actions(GUARD + SOURCE)), base_branch),
        "default_setup": lambda: (build(EnvSpec(task, plugin.default_setup(task)), seed=0), unchanged),
    }


UNITS = {
    "control": "CPU time of a second bare environment / bare: the error of the measurement",
    "k0": "CPU time / bare, no coded action",
    "k0_generic": "CPU time / bare, no coded action, without the kitchen's plugin",
    "k3": "CPU time / bare, three coded actions that are never chosen",
    "k3_can_start": "CPU time / bare, three coded actions, each with a can_start that the sandbox is asked every step",
    "default_setup": "CPU time / bare, the plugin's reward terms and views, as a policy gets them",
}


def measure(*, quick: bool) -> None:
    repeats, episodes, length = (1, 1, 40) if quick else (4, 5, 270)
    now = commit()
    ratios: dict[str, list[list[float]]] = {name: [] for name in UNITS}
    micros: list[float] = []
    for repeat in range(repeats):
        envs = {name: make() for name, make in variants().items()}
        blocks = [b for e in range(episodes) for b in _episode(envs, repeat * episodes + e, length)]
        for env, _ in envs.values():
            env.close()
        micros += [1e6 * b["bare"] / BLOCK for b in blocks]
        for name in ratios:
            ratios[name].append([b[name] / b["bare"] for b in blocks])
        print(f"step: repeat {repeat + 1} of {repeats}", file=sys.stderr, flush=True)
    emit("overhead/step/bare", round(float(np.median(micros)), 1), "CPU microseconds of a step")
    for name, repeat_ratios in ratios.items():
        emit(f"overhead/step/{name}", unit=UNITS[name], goal=GOALS.get(name), **block_figures(repeat_ratios, now))


def _episode(envs: Mapping[str, tuple[Env, Callable[[Any], Any]]], seed: int, length: int) -> list[dict[str, float]]:
    """Return the CPU seconds of each compared environment in each block of one episode. All variants simulate the same
    states.
    """
    for env, _ in envs.values():
        env.reset(seed=seed)
    recorded = recorded_actions(envs["bare"][0].action_space, seed, length)
    blocks = []
    for number, start in enumerate(range(0, length, BLOCK)):
        seconds, states = {}, {}
        for name in block_order(tuple(envs), number):
            env, convert = envs[name]
            actions = [convert(action) for action in recorded[start : start + BLOCK]]
            before = time.process_time()
            for action in actions:
                last = env.step(action)
            seconds[name] = time.process_time() - before
            states[name] = (env.unwrapped.base.data.qpos.copy(), last[2] or last[3])
        blocks.append(seconds)
        reference, over = states["bare"]
        if not all(np.array_equal(state, reference) for state, _ in states.values()):
            raise AssertionError("the variants are no longer in the same state, so their times cannot be compared")
        if over:
            break
    return blocks
