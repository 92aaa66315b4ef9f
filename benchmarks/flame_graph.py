"""Draws a flame graph of a training, which shows how much CPU time each part of the code takes. The measured training
uses Craftax in a batch of 64 lanes, with six coded actions and the built-in PPO.

    python benchmarks/flame_graph.py docs/assets/lanes.svg      # takes some minutes, mostly for JAX's compilation

A timer samples the call stack at every millisecond of CPU time, or as soon as a longer call of compiled code returns.
The CPU time since the previous sample counts for the parts of rlgpt whose functions are in the call stack, from the
outermost part inwards.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any
from xml.sax.saxutils import escape

import lanes
from rlgpt.plugin.manager import PluginManager

PARTS = (
    ("rl/learner.py", "update", "learning"),
    ("rl/rollout.py", "collect", "rollout"),
    ("rl/network.py", "distribution", "policy"),
    ("rl/policy_lane.py", "observe", "observations"),
    ("rlgpt_craftax/vector.py", "step", "simulator"),
    ("rlgpt_craftax/vector.py", "reset", "new worlds"),
    ("rlgpt_craftax/views.py", "", "views"),
    ("rlgpt_craftax/columns.py", "", "views"),
    ("options/guards.py", "offer", "can_start"),
    ("sandbox/host.py", "start", "code"),
    ("sandbox/host.py", "send", "code"),
    ("rlgpt_craftax/primitives/common.py", "counted", "primitives"),
    ("options/lane.py", "advance", "steps"),
    ("options/lane.py", "decide", "decisions"),
    ("sandbox/encode.py", "", "encoding"),
    ("sandbox/runtime.py", "__init__", "new instance"),
    ("sandbox/runtime.py", "call", "guest"),
)
"""Rows of: the end of a file's path, a function in it ("": all functions), and the name of the part in the graph."""

Stack = tuple[str, ...]
WIDTH, ROW, LEAST = 1000, 24, 0.004
COLOURS = ("#d7e3f4", "#f6d9c9", "#dcedc8", "#f7e7b5", "#e3d6ee", "#cfe8e8")


def sampled(work: Callable[[], object], seconds: float) -> dict[Stack, float]:
    """Run the function ``work``, and return each sampled stack of parts with its CPU seconds."""
    found: dict[Stack, float] = defaultdict(float)
    last = time.process_time()

    def sample(_: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.process_time()
        found[tuple(dict.fromkeys(reversed([*_parts(frame)])))] += now - last
        last = now

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return found


def _parts(frame: FrameType | None) -> Iterator[str]:
    """Return the parts of rlgpt in a call stack, beginning with the innermost part."""
    while frame is not None:
        code = frame.f_code
        for file, function, part in PARTS:
            if code.co_filename.endswith(file) and function in ("", code.co_name):
                yield part
        frame = frame.f_back


def drawn(found: Mapping[Stack, float], title: str) -> str:
    """Return the samples as an SVG picture. Each box of the picture is a part of rlgpt (see :data:`PARTS`); the
    boxes below it are the parts that it called.
    """
    total, boxes = sum(found.values()), list[str]()

    def draw(prefix: Stack, left: float) -> int:
        inner = {stack: n for stack, n in found.items() if stack[: len(prefix)] == prefix}
        share = sum(inner.values()) / total
        if share < LEAST:
            return 0
        name = prefix[-1] if prefix else title
        width, top = share * WIDTH, len(prefix) * ROW
        label = f"{name} {share:.0%}" if width > 9 * len(name) + 30 else name if width > 8 * len(name) else ""
        boxes.append(
            f'<g><title>{escape(name)}: {share:.1%}</title><rect x="{left:.1f}" y="{top}" width="{width:.1f}" '
            f'height="{ROW - 1}" fill="{COLOURS[len(prefix) % len(COLOURS)]}" stroke="white"/>'
            f'<text x="{left + 4:.1f}" y="{top + 16}">{escape(label)}</text></g>'
        )
        children = sorted({stack[: len(prefix) + 1] for stack in inner if len(stack) > len(prefix)})
        deepest = len(prefix) + 1
        for child in children:
            deepest = max(deepest, draw(child, left))
            left += WIDTH * sum(n for stack, n in inner.items() if stack[: len(child)] == child) / total
        return deepest

    height = draw((), 0.0) * ROW
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif"'
    return f'{head} font-size="13">\n' + "\n".join(boxes) + "\n</svg>\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("file", type=Path, help="the SVG to write")
    parser.add_argument("--steps", type=int, default=20_000, help="primitive steps of the training")
    parser.add_argument("--title", default="training", help="text of the outermost box")
    given = parser.parse_args()
    plugin, task = PluginManager().task(lanes.TASK)
    lanes.measure_training(task, plugin, 2_000)  # compiles
    rates: list[Any] = []
    found = sampled(lambda: rates.append(lanes.measure_training(task, plugin, given.steps)), 0.001)
    given.file.write_text(drawn(found, f"{given.title}: {1e6 / rates[0]:,.0f} µs of CPU time a primitive step"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
