"""CPU time of a step of the extended kitchen over one of the bare kitchen."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from cells import commit, emit
from ratios import figures, turns
from replayed import TASK, recorded
from rlgpt import CodedAction, Parameter, extend
from rlgpt.rl.base import EnvSpec
from rlgpt_kitchen.plugin import KitchenPlugin

BLOCK = 10
"""Steps of one block: some 15 ms."""

GOALS = {"k0": 1.03, "k3": 1.06}

SOURCE = "def run(dx=0.0):\n    yield move_by(x=dx)\n"
GUARD = "def can_start(view):\n    return view['time'] < 0.9\n\n"

Env = Any
Make = Callable[[], tuple[Env, Callable[[Any], Any]]]


def actions(source: str) -> list[CodedAction]:
    dx = Parameter(name="dx", low=-0.1, high=0.1, default=0.0, doc="how far, m")
    return [CodedAction(name=f"reach{i}", doc="Move.", source=source, parameters=(dx,)) for i in range(3)]


def contestants() -> dict[str, Make]:
    """Each makes an environment, and says how a recorded action is written in its space."""
    plugin = KitchenPlugin()
    task = plugin.tasks()[TASK]
    zeros = np.zeros(3, np.float32)

    def bare() -> Any:
        return plugin.make_env(task, seed=0)

    def extended(*args: Any, **more: Any) -> Any:
        return extend(bare(), *args, plugin=plugin, task=task, **more)

    def same(action: Any) -> Any:
        return action

    def based(action: Any) -> Any:
        return (0, action, zeros)

    return {
        "bare": lambda: (bare(), same),
        "control": lambda: (bare(), same),
        "k0": lambda: (extended(), same),
        "k0_generic": lambda: (extend(bare()), same),
        "k3": lambda: (extended(actions(SOURCE)), based),
        "k3_can_start": lambda: (extended(actions(GUARD + SOURCE)), based),
        "default_setup": lambda: (EnvSpec(task, plugin.default_setup(task)).build(seed=0), same),
    }


UNITS = {
    "control": "CPU time of a second bare environment / bare: what the measurement itself does",
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
        made = {name: make() for name, make in contestants().items()}
        blocks = [b for e in range(episodes) for b in _episode(made, repeat * episodes + e, length)]
        for env, _ in made.values():
            env.close()
        micros += [1e6 * b["bare"] / BLOCK for b in blocks]
        for name in ratios:
            ratios[name].append([b[name] / b["bare"] for b in blocks])
        print(f"step: repeat {repeat + 1} of {repeats}", file=sys.stderr, flush=True)
    emit("overhead/step/bare", round(float(np.median(micros)), 1), "CPU microseconds of a step")
    for name, found in ratios.items():
        emit(f"overhead/step/{name}", unit=UNITS[name], goal=GOALS.get(name), **figures(found, now))


def _episode(made: Mapping[str, tuple[Env, Callable[[Any], Any]]], seed: int, length: int) -> list[dict[str, float]]:
    """CPU seconds of each contestant in each block of one episode; all are in the same states throughout."""
    for env, _ in made.values():
        env.reset(seed=seed)
    chosen = recorded(made["bare"][0].action_space, seed, length)
    found = []
    for number, start in enumerate(range(0, length, BLOCK)):
        block, spent, states = chosen[start : start + BLOCK], {}, {}
        for name in turns(tuple(made), number):
            env, write = made[name]
            written = [write(action) for action in block]
            before = time.process_time()
            for action in written:
                last = env.step(action)
            spent[name] = time.process_time() - before
            states[name] = (env.unwrapped.base.data.qpos.copy(), last[2] or last[3])
        found.append(spent)
        reference, over = states["bare"]
        if not all(np.array_equal(state, reference) for state, _ in states.values()):
            raise AssertionError("the contestants are no longer in the same state: their times cannot be compared")
        if over:
            break
    return found
