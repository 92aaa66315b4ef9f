"""What it costs that a primitive is asked for by sandboxed code: microseconds beside the plain call."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

import numpy as np
from cells import commit, emit
from ratios import figures, turns
from rlgpt.domain import CodedAction, Parameter, Plain, Task
from rlgpt.options.execution import Execution
from rlgpt.plugin.base import Context, Primitive
from rlgpt.sandbox import Library, Sandbox, Signature, ViewDoc

YIELDS = 40
"""Requests of one call; 50 are allowed."""

NUDGE = "def run():\n    for i in range(40):\n        yield nudge(x=0.1 * i, y=-0.2)\n"
LOOK = "def run():\n    for i in range(40):\n        view = yield observe()\n"
ONE = "def run():\n    yield nudge(x=0.1, y=-0.2)\n"


def views() -> dict[str, dict[str, Plain]]:
    """Real views of the kitchen, of one element and of four, and one near the limit of 8,192 bytes."""
    from rlgpt_kitchen.plugin import KitchenPlugin

    plugin = KitchenPlugin()
    found: dict[str, dict[str, Plain]] = {}
    for size, name in (("small", "kettle"), ("large", "sequence_a")):
        task = plugin.tasks()[f"kitchen/{name}"]
        env = plugin.make_env(task, seed=0)
        observation, info = env.reset(seed=0)
        found[size] = plugin.view(Context(task, observation, info, 0, np.random.default_rng(0), plugin.model(env)))
        env.close()
    numbers = np.random.default_rng(0).uniform(-1, 1, (64, 16)).round(4)
    found["limit"] = {f"key{i:02}": [float(v) for v in row] for i, row in enumerate(numbers)}
    return found


def nudge(ctx: Context, x: float, y: float) -> Generator[Any, None, Mapping[str, Plain]]:
    """A primitive of one step that does nothing else: what is left is the way to it."""
    yield (x, y)
    return {"reached": True, "distance": 0.25}


def step(action: Any) -> bool:
    return False


def plain(ctx: Context) -> None:
    """What the coded action does, as trusted Python: drives the generators itself."""
    for i in range(YIELDS):
        run = nudge(ctx, x=0.1 * i, y=-0.2)
        try:
            while True:
                step(next(run))
        except StopIteration as end:
            dict(end.value)


def workloads() -> dict[str, Callable[[], None]]:
    """What is timed, by name; each does :data:`YIELDS` requests but ``start``, which is a call with one."""
    task = Task(id="bench/nudge", goal="None.", horizon=1_000_000, success="never")
    ctx = Context(task, None, {}, 0, np.random.default_rng(0), None)
    parameters = tuple(Parameter(name=n, low=-9.0, high=9.0, default=0.0, doc="m") for n in "xy")
    outcome = {"reached": "whether it is there", "distance": "m"}
    signature = Signature(name="nudge", doc="Move a little.", parameters=parameters, outcome=outcome)
    primitive = Primitive("nudge", "Move a little.", nudge, parameters, outcome)

    def sandboxed(source: str, view: dict[str, Plain]) -> Callable[[], None]:
        action = CodedAction(name="bench", doc="Repeat.", source=source, max_steps=1000)
        library = Library(primitives=(signature,), view=tuple(ViewDoc(name=key, doc="a value") for key in view))
        guest = Sandbox().open(library, [action], seed=0)
        execution = Execution({"nudge": primitive}, lambda: view, step, keep_calls=False)

        def work() -> None:
            ended = execution.run(guest, action, {}, ctx).ended
            if ended != "returned":
                raise AssertionError(f"the coded action ended by {ended}")

        return work

    seen = views()
    return {
        "plain": lambda: plain(ctx),
        "start": sandboxed(ONE, {}),
        "primitive": sandboxed(NUDGE, {}),
        **{f"observe_{size}": sandboxed(LOOK, view) for size, view in seen.items()},
    }


UNITS = {
    "plain": "CPU microseconds of a primitive called plainly",
    "primitive": "CPU microseconds of a primitive that sandboxed code asks for: request, checks, run, outcome",
    "observe_small": "CPU microseconds of an observe() by sandboxed code, the kitchen's view of one element",
    "observe_large": "CPU microseconds of an observe() by sandboxed code, the kitchen's view of four elements",
    "observe_limit": "CPU microseconds of an observe() by sandboxed code, a view near the limit of 8,192 bytes",
    "start": "CPU microseconds of a whole call of a coded action that asks for one primitive",
}


def measure(*, quick: bool) -> None:
    repeats, blocks = (1, 6) if quick else (3, 150)
    now = commit()
    found = [_repeat(blocks) for _ in range(repeats)]
    print(f"primitive: {repeats} repeats", file=sys.stderr, flush=True)
    for name, unit in UNITS.items():
        emit(f"overhead/primitive/{name}", unit=unit, **figures([micros[name] for micros in found], now, digits=2))


def _repeat(blocks: int) -> dict[str, list[float]]:
    """CPU microseconds of a request (of the call, for ``start``), block by block, each workload in turn."""
    work = workloads()
    found: dict[str, list[float]] = {name: [] for name in work}
    for do in work.values():
        do()
    for number in range(blocks):
        for name in turns(tuple(work), number):
            before = time.process_time()
            work[name]()
            found[name].append(1e6 * (time.process_time() - before) / (1 if name == "start" else YIELDS))
    return found
