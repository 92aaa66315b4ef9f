"""Measures calls into the sandbox in microseconds, and compares each call with the same work in Python outside the
sandbox.

Outside the sandbox, a deep copy of the view takes the place of sending the view, because code outside a sandbox would
also need a copy.
"""

from __future__ import annotations

import copy
import itertools
import sys
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

import numpy as np
from interleaved import block_figures, block_order
from reporting import commit, emit
from rlgpt.domain import CodedAction, Parameter, Plain, Task
from rlgpt.options.effects import perform
from rlgpt.options.execution import Call, Execution
from rlgpt.plugin.types import Context, Primitive
from rlgpt.sandbox import Library, Sandbox, SandboxLimits, Signature, ViewDoc
from rlgpt.sandbox.runtime import Instance

YIELDS = 40
"""Number of primitives, or views, of one call. At most 50 yields are allowed."""

NUDGE = "def run():\n    for i in range(40):\n        yield nudge(x=0.1 * i, y=-0.2)\n"
CHUNK = "def run():\n    for i in range(5):\n        yield [nudge(x=0.1 * j, y=-0.2) for j in range(8)]\n"
LOOK = "def run():\n    for i in range(40):\n        view = yield observe()\n        len(view)\n"
"""Code that gets the whole view, because it reads the number of its keys."""

READ = "def run():\n    for i in range(40):\n        view = yield observe()\n        view['key00'], view['key01']\n"
"""Code that gets the two keys of the view that it reads."""

SEE = (
    "def run():\n    for i in range(40):\n"
    "        outcome, view = yield [nudge(x=0.1 * i, y=-0.2), observe()]\n        len(view)\n"
)
COUNT = "def run():\n    for i in range(40):\n        yield count(times=i, on=True)\n"
ONE = "def run():\n    yield nudge(x=0.1, y=-0.2)\n"
GUARD = "def can_start(view):\n    return view['key00'][0] < 2\n"
Workload = Callable[[], object]


def view(keys: int, numbers: int) -> dict[str, Plain]:
    """Return a view with ``keys * numbers`` numbers of four decimals."""
    drawn = np.random.default_rng(0).uniform(-1, 1, (keys, numbers)).round(4)
    return {f"key{i:02}": [float(v) for v in row] for i, row in enumerate(drawn)}


VIEWS = {"small": view(2, 4), "large": view(25, 5), "limit": view(64, 16)}
"""Views of 8 numbers, of 125 numbers, and of nearly 8,192 bytes, the limit of a view."""


def nudge(ctx: Context, x: float, y: float) -> Generator[Any, None, Mapping[str, Plain]]:
    """A primitive that takes one step and does no work, so that the benchmark measures only the cost of the call."""
    yield (x, y)
    return {"reached": True, "distance": 0.25}


def count(ctx: Context, times: int, on: bool) -> Generator[Any, None, Mapping[str, Plain]]:
    """A primitive as :func:`nudge`, with an int and a bool."""
    yield (times, on)
    return {"reached": True, "distance": 0.25}


def step(action: Any) -> bool:
    return False


PARAMETERS = tuple(Parameter(name=n, low=-9.0, high=9.0, default=0.0, doc="m") for n in "xy")
COUNTS = (
    Parameter(name="times", kind="int", low=0, high=99, default=0, doc="steps"),
    Parameter(name="on", kind="bool", default=False, doc="the switch"),
)
OUTCOME = {"reached": "whether it is there", "distance": "m"}
SIGNATURES = (
    Signature(name="nudge", doc="Move a little.", parameters=PARAMETERS, outcome=OUTCOME),
    Signature(name="count", doc="Move a little.", parameters=COUNTS, outcome=OUTCOME),
)
CONTEXT = Context(
    Task(id="bench/nudge", goal="None.", horizon=1_000_000, success="never"),
    None,
    {},
    0,
    np.random.default_rng(0),
    None,
)


def plain() -> None:
    """Run primitives' generators directly in Python, which is the work of a primitive outside the sandbox."""
    for i in range(YIELDS):
        run = nudge(CONTEXT, x=0.1 * i, y=-0.2)
        try:
            while True:
                step(next(run))
        except StopIteration as end:
            dict(end.value)


def plain_seeing(seen: dict[str, Plain]) -> Workload:
    """Run primitives' generators directly in Python, with a copy of the view after each primitive."""

    def work() -> None:
        plain()
        for _ in range(YIELDS):
            copy.deepcopy(seen)

    return work


def sandboxed(source: str, seen: dict[str, Plain]) -> Workload:
    """Call a coded action that is already loaded in the sandbox."""
    action = CodedAction(name="bench", doc="Repeat.", source=source, max_steps=1000)
    primitives = {
        "nudge": Primitive("nudge", "Move a little.", nudge, PARAMETERS, OUTCOME),
        "count": Primitive("count", "Move a little.", count, COUNTS, OUTCOME),
    }
    guest = Sandbox().open(_library(seen), [action], seed=0)
    execution = Execution(primitives, keep_calls=False)

    def work() -> None:
        call = Call()
        perform(execution.run(guest, action, {}, CONTEXT, call), look=lambda: seen, step=step)
        if call.ended != "returned":
            raise AssertionError(f"the coded action ended by {call.ended}")

    return work


def crossings() -> Workload:
    """Return calls of an exported function that does nothing, which measure the time of a call into WebAssembly."""
    instance = Instance(SandboxLimits())
    return lambda: [instance.call("cancel-action", fuel=SandboxLimits().turn_fuel) for _ in range(YIELDS)]


def fresh(sandbox: Sandbox | None = None) -> Workload:
    """Begin an episode with one coded action and run the action to its first request. Without ``sandbox``, a new
    WebAssembly instance is made each time. With it, the memory of the last episode's instance is restored.
    """
    action, library = CodedAction(name="bench", doc="", source=ONE), _library({})
    return lambda: (sandbox or Sandbox()).open(library, [action], seed=0).start("bench", {})


def plain_started() -> Generator[Any, Any, Any]:
    """Start a coded action without a sandbox, by executing its source and running its generator to the first
    request.
    """
    space: dict[str, Any] = {"nudge": lambda **arguments: arguments}
    exec(compile(ONE, "bench.py", "exec"), space)
    started: Generator[Any, Any, Any] = space["run"]()
    next(started)
    return started


def asked(size: str, count: int) -> Workload:
    """Call the ``can_start`` of each of ``count`` coded actions with one view. The view keys that ``can_start`` reads
    change at each call.
    """
    names = [f"bench_{i}" for i in range(count)]
    actions = [CodedAction(name=name, doc="", source=GUARD + ONE) for name in names]
    library, sandbox, numbers = _library(VIEWS[size]), Sandbox(), itertools.count()
    guest = sandbox.open(library, actions, seed=0, guards=sandbox.open_guards(library, actions))
    return lambda: guest.can_start_each(names, VIEWS[size] | {"key00": [float(next(numbers)), 0.5, 0.25, 0.125]})


def _library(seen: Mapping[str, Plain]) -> Library:
    return Library(primitives=SIGNATURES, view=tuple(ViewDoc(name=key, doc="a value") for key in seen))


def workloads() -> dict[str, tuple[Workload, int]]:
    """Return the timed workloads by name, each with its number of primitives, views or calls."""
    seeing = {size: VIEWS[size] for size in ("small", "large")}
    copies = {
        f"plain/look/{size}": (lambda seen=seen: [copy.deepcopy(seen) for _ in range(YIELDS)], YIELDS)
        for size, seen in VIEWS.items()
    }
    return {
        "plain/primitive": (plain, YIELDS),
        "plain/fresh": (plain_started, 1),
        **{f"plain/{size}": (plain_seeing(seen), YIELDS) for size, seen in seeing.items()},
        **copies,
        "crossing": (crossings(), YIELDS),
        "primitive": (sandboxed(NUDGE, {}), YIELDS),
        "chunk": (sandboxed(CHUNK, {}), YIELDS),
        **{size: (sandboxed(SEE, seen), YIELDS) for size, seen in seeing.items()},
        "primitive/int": (sandboxed(COUNT, {}), YIELDS),
        **{f"look/{size}": (sandboxed(LOOK, seen), YIELDS) for size, seen in VIEWS.items()},
        **{f"read/{size}": (sandboxed(READ, seen), YIELDS) for size, seen in VIEWS.items()},
        "call": (sandboxed(ONE, {}), 1),
        "can_start": (asked("small", 1), 1),
        "can_start/large": (asked("large", 1), 1),
        "can_start/six": (asked("large", 6), 1),
        "fresh": (fresh(Sandbox()), 1),
        "fresh/new": (fresh(), 1),
    }


UNITS = {
    "plain/primitive": "a primitive called plainly",
    "plain/fresh": "the source run plainly, up to its first request",
    "plain/small": "a primitive called plainly and a deep copy of a view of 8 numbers",
    "plain/large": "a primitive called plainly and a deep copy of a view of 125 numbers",
    "plain/look/small": "a deep copy of a view of 8 numbers",
    "plain/look/large": "a deep copy of a view of 125 numbers",
    "plain/look/limit": "a deep copy of a view of 1,024 numbers",
    "crossing": "a call into the guest that does nothing",
    "primitive": "a primitive that sandboxed code asks for: request, checks, run, outcome",
    "primitive/int": "a primitive with an int and a bool as arguments that sandboxed code asks for",
    "chunk": "a primitive of eight in one yield",
    "small": "a primitive that sandboxed code asks for, and the view of 8 numbers after it, in one yield",
    "large": "a primitive that sandboxed code asks for, and the view of 125 numbers after it, in one yield",
    "look/small": "a request that is answered with a view of 8 numbers",
    "look/large": "a request that is answered with a view of 125 numbers",
    "look/limit": "a request that is answered with a view of 1,024 numbers, near the limit of 8,192 bytes",
    "read/small": "a request that is answered with a view of 8 numbers, of which the code reads all 2 keys",
    "read/large": "a request that is answered with a view of 125 numbers, of which the code reads 2 of 25 keys",
    "read/limit": "a request that is answered with a view of 1,024 numbers, of which the code reads 2 of 64 keys",
    "call": "a whole call of a coded action that asks for one primitive",
    "can_start": "an answer of can_start to a view that changed, of 8 numbers",
    "can_start/large": "an answer of can_start to a view that changed, of 125 numbers",
    "can_start/six": "the answers of six actions' can_start to a view that changed, of 125 numbers",
    "fresh": "a fresh instance (restored after an episode) with one action, up to its first request",
    "fresh/new": "a fresh instance that did not exist before, with one action, up to its first request",
}
GOALS = {
    "small": 40,
    "large": 60,
    "look/limit": 150,
    "chunk": 8,
    "can_start/six": 100,
    "fresh": 1000,
    "fresh/new": 1000,
}


def measure(*, quick: bool) -> None:
    """Measure all workloads. The figure ``least`` is the time of the fastest block, in which probably no other process
    used the processor's caches.
    """
    repeats, blocks = (1, 6) if quick else (3, 60)
    now = commit()
    found = [timed(workloads(), blocks) for _ in range(repeats)]
    print(f"calls: {repeats} repeats", file=sys.stderr, flush=True)
    for name, words in UNITS.items():
        lines = block_figures([micros[name] for micros in found], now, digits=2)
        least = round(min(value for micros in found for value in micros[name]), 2)
        unit = f"CPU microseconds of {words}"
        emit(f"sandbox/calls/{name}", unit=unit, goal=GOALS.get(name), least=least, **lines)


def timed(work: Mapping[str, tuple[Workload, int]], blocks: int) -> dict[str, list[float]]:
    """Return the CPU microseconds per primitive, view or call of each workload, in interleaved blocks."""
    found: dict[str, list[float]] = {name: [] for name in work}
    for do, _ in work.values():
        do()
    for number in range(blocks):
        for name in block_order(tuple(work), number):
            do, count = work[name]
            before = time.process_time()
            do()
            found[name].append(1e6 * (time.process_time() - before) / count)
    return found
