"""Measures workers that run sandboxed code at the same time, and the memory of each worker.

If this module is run as a script, the process is one worker of the benchmark. The worker prints that it is ready, waits
for a line on standard input, and prints its measurements.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from interleaved import block_figures
from reporting import commit, emit
from sandbox_calls import NUDGE, ONE, SEE, SIGNATURES, VIEWS, YIELDS, plain, plain_started, sandboxed, timed

WORKERS = 8
INSTANCES = 10
NAMESPACES = 2000
"""Number of coded actions that are started outside the sandbox, for comparison. The memory of a single one is too small
to measure.
"""
UNITS = {
    "plain": "CPU microseconds of a primitive called plainly",
    "primitive": "CPU microseconds of a primitive that sandboxed code asks for",
    "large": "CPU microseconds of a primitive that sandboxed code asks for, and the view of 125 numbers after it",
}
MEMORY = {
    "runtime": "MB of a process's own memory for the compiled guest and its first instance",
    "instance": "MB of each further instance with one action that has run",
    "plain": "MB of each plain twin of an instance: the source, run plainly, up to its first request",
    "mapped": "MB of memory in use, what processes share included, for the compiled guest and its first instance",
}


def measure(*, quick: bool) -> None:
    workers, blocks = (2, 4) if quick else (WORKERS, 60)
    now = commit()
    results = _at_once(workers, blocks)
    print(f"workers: {workers} at once", file=sys.stderr, flush=True)
    for name, unit in UNITS.items():
        lines = block_figures([result["micros"][name] for result in results], now, digits=2)
        emit(f"sandbox/workers/{name}", unit=f"{unit}, {workers} workers at once", **lines)
    ratios = [
        [own / bare for own, bare in zip(result["micros"]["primitive"], result["micros"]["plain"], strict=True)]
        for result in results
    ]
    emit("sandbox/workers/ratio", unit="sandboxed primitive / plain one, workers at once", **block_figures(ratios, now))
    for name, unit in MEMORY.items():
        values = [result["memory"][name] for result in results]
        emit(f"sandbox/memory/{name}", round(float(np.median(values)), 4), unit, rows=values, commit=now)


def _at_once(workers: int, blocks: int) -> list[dict[str, Any]]:
    command = [sys.executable, str(Path(__file__)), str(blocks)]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(workers)
    ]
    for child in children:
        assert child.stdout is not None
        if child.stdout.readline() != "ready\n":
            raise SystemExit("a worker did not start")
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    return [json.loads(child.communicate()[0]) for child in children]


def _memory() -> tuple[float, float]:
    """Return the memory of this process in MB, without and with shared mappings."""
    info = psutil.Process().memory_full_info()
    return info.uss / 1e6, info.rss / 1e6


def main(blocks: int) -> None:
    """Run one worker."""
    from rlgpt.domain import CodedAction
    from rlgpt.sandbox import Library, Sandbox

    def opened() -> Any:
        guest = Sandbox().open(Library(primitives=SIGNATURES), [CodedAction(name="bench", doc="", source=ONE)], seed=0)
        guest.start("bench", {})
        return guest

    plain_started()
    bare = _memory()
    # The objects are kept alive, so that later objects do not reuse their memory.
    twins = [plain_started() for _ in range(NAMESPACES)]
    before = _memory()
    kept = [opened()]
    first = _memory()
    kept += [opened() for _ in range(INSTANCES)]
    all_of_them = _memory()
    kept.clear()
    twins.clear()
    work = {
        "plain": (plain, YIELDS),
        "primitive": (sandboxed(NUDGE, {}), YIELDS),
        "large": (sandboxed(SEE, VIEWS["large"]), YIELDS),
    }
    print("ready", flush=True)
    sys.stdin.readline()
    memory = {
        "runtime": first[0] - before[0],
        "mapped": first[1] - before[1],
        "instance": (all_of_them[0] - first[0]) / INSTANCES,
        "plain": (before[0] - bare[0]) / NAMESPACES,
    }
    print(json.dumps({"micros": timed(work, blocks), "memory": {k: round(v, 4) for k, v in memory.items()}}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
