"""Measures the speed of training with coded actions in the sandbox, relative to training with the same actions as
Python generators outside the sandbox.

The variants with and without the sandbox train the built-in PPO on the kitchen with recorded actions, each in its own
process, in turns (see ``trainer_process.py``). The command of a training process is ``sandbox_training.py NAME
STEPS_FILE FOLDER SEED``. For the variant without the sandbox, :class:`PlainGuest` runs the coded actions as ordinary
Python generators in the host. This class exists only in this benchmark; no setting of rlgpt selects it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from interleaved import block_figures, block_order
from recorded_kitchen import BUDGET, hyperparameters, recorded_spec
from reporting import commit, emit
from rlgpt.domain import CodedAction, Parameter, Plain
from rlgpt.rl.base import EnvSpec
from rlgpt.sandbox import Ask, Done, Guest, Library, Request, Sandbox, Turn
from trainer_process import trainer_processes

LOOKS = """
def run(steps=5.0):
    for _ in range(4):
        view = yield observe()
        outcome = yield hold(steps=int(steps))
"""
WAITS = "def run():\n    for _ in range(4):\n        yield hold(steps=5)\n"
CHUNKS = "def run():\n    yield [hold(steps=5), hold(steps=6), hold(steps=5)]\n"
GUARD = "def can_start(view):\n    return view['time'] >= 0\n"
KINDS = ("plain", "guarded")
"""The two kinds of actions: without ``can_start``, and with a ``can_start`` in every action, which is
called before every decision.
"""


def actions(kind: str) -> tuple[CodedAction, ...]:
    steps = Parameter(name="steps", low=5.0, high=8.0, default=5.0, doc="primitive steps")
    before = GUARD if kind == "guarded" else ""
    sources = {"looks": (LOOKS, (steps,)), "waits": (WAITS, ()), "chunks": (CHUNKS, ())}
    return tuple(
        CodedAction(name=name, doc="Hold.", source=before + source, parameters=parameters)
        for name, (source, parameters) in sources.items()
    )


def coded_spec(steps_file: Path, kind: str) -> EnvSpec:
    """Return the recipe of the recorded kitchen with three coded actions and the base action."""
    base, coded = recorded_spec(steps_file), actions(kind)
    setup = base.setup.model_copy(update={"coded_actions": tuple(a.name for a in coded)})
    return EnvSpec(base.task, setup, coded, base.factory)


class PlainGuest:
    """Runs coded actions in the host's Python instead of in a guest, without checks and limits."""

    def __init__(self, library: Library, coded: Sequence[CodedAction]) -> None:
        self._defaults = {s.name: {p.name: p.default for p in s.parameters} for s in library.primitives}
        self._defaults["observe"] = {}
        self._spaces: dict[str, dict[str, Any]] = {}
        self._parameters = {a.name: {p.name: p.default for p in a.parameters} for a in coded}
        for action in coded:
            space = self._spaces[action.name] = {name: self._primitive(name) for name in self._defaults}
            exec(compile(action.source, f"{action.name}.py", "exec"), space)

    def _primitive(self, name: str) -> Any:
        return lambda **arguments: Request(name, {**self._defaults[name], **arguments})

    def start(self, action: str, parameters: Mapping[str, float]) -> Turn:
        self._running = self._spaces[action]["run"](**{**self._parameters[action], **parameters})
        return self.send(None)

    def send(self, reply: Plain) -> Turn:
        try:
            wanted = self._running.send(reply)
        except StopIteration:
            return Done()
        return Ask(tuple(wanted), many=True) if isinstance(wanted, list) else Ask((wanted,))

    def can_start_each(self, actions: Sequence[str], view: Mapping[str, Plain]) -> dict[str, bool]:
        return {action: bool(self._spaces[action]["can_start"](view)) for action in actions}

    def load(self, action: str) -> bool:
        return "can_start" in self._spaces[action]

    def part(self, view: Mapping[str, Plain]) -> dict[str, Plain]:
        return dict(view)

    def cancel(self) -> None:
        self._running.close()

    exhausted: frozenset[str] = frozenset()

    def add_step(self) -> None:
        """Do nothing, because a Python generator outside the sandbox has no fuel."""


def open_plain(
    sandbox: Sandbox, library: Library, coded: Sequence[CodedAction], *, seed: int, guards: object = None
) -> Guest:
    """Open a :class:`PlainGuest`; this function replaces :meth:`Sandbox.open`."""
    return cast("Guest", PlainGuest(library, coded))


def train(name: str, steps_file: Path, folder: Path, seed: int) -> None:
    """Train the built-in PPO with coded actions until another process ends the training.

    :param name: the name of the variant, ``sandboxed_KIND`` or ``generators_KIND``.
    """
    from rlgpt.rl.ppo import PPO

    runner, kind = name.split("_")
    if runner == "generators":
        Sandbox.open = open_plain  # type: ignore[method-assign]
    spec = coded_spec(steps_file, kind)
    PPO().train(spec, budget=BUDGET, seed=seed, folder=folder, hyperparameters=hyperparameters(steps_file))


def measure(*, quick: bool) -> None:
    repeats, slices = (1, 1) if quick else (2, 10)
    now = commit()
    for kind in KINDS:
        names = (f"sandboxed_{kind}", f"generators_{kind}")
        ratios: list[list[float]] = []
        for seed in range(repeats):
            script = Path(__file__)
            with tempfile.TemporaryDirectory() as folder, trainer_processes(script, names, Path(folder), seed) as made:
                ratios.append([])
                for number in range(slices):
                    cpu = {name: made[name].turn()[0] for name in block_order(names, number)}
                    ratios[-1].append(cpu[names[1]] / cpu[names[0]])
            print(f"training, {kind}: repeat {seed + 1} of {repeats}", file=sys.stderr, flush=True)
        words = "three coded actions" + (", each with a can_start" if kind == "guarded" else "")
        unit = f"steps per CPU second in the sandbox / as plain generators; {words}"
        goal = 0.95 if kind == "plain" else None
        emit(f"sandbox/training/{kind}", unit=unit, goal=goal, **block_figures(ratios, now))


if __name__ == "__main__":
    train(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
