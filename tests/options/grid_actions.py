"""Coded actions for the task ``grid/key``, and a function that extends the grid world by them."""

from __future__ import annotations

from typing import Any

from rlgpt import extend
from rlgpt.domain import CodedAction, Parameter
from rlgpt.options import ExtendedEnv
from rlgpt.testing.grid import TASKS, GridPlugin

KEY = TASKS["grid/key"]


def action(name: str, source: str, **more: Any) -> CodedAction:
    return CodedAction(name=name, doc="", source=source, **more)


TO_KEY = action(
    "to_key",
    """
def run():
    view = yield observe()
    rows, columns = (k - a for k, a in zip(view["key"], view["agent"]))
    if rows:
        yield go(direction="down" if rows > 0 else "up", cells=abs(rows))
    if columns:
        yield go(direction="right" if columns > 0 else "left", cells=abs(columns))
""",
)
USE = action("pick", "def can_start(view):\n    return view['agent'] == view['key']\n\ndef run():\n    yield use()\n")
WALK = action(
    "walk",
    "def run(cells=2.0):\n    yield [go(direction='up', cells=round(cells)), go(direction='left', cells=1)]\n",
    parameters=(Parameter(name="cells", low=1.0, high=6.0, default=2.0, unit="cells"),),
)
LOOP = action("loop", "def run():\n    while True:\n        pass\n    yield use()\n")
IDLE = action("idle", "def run():\n    yield observe()\n")
FOREVER = action("forever", "def run():\n    while True:\n        yield go(direction='up', cells=1)\n", max_steps=7)


def grid(*actions: CodedAction, **more: Any) -> ExtendedEnv:
    plugin = GridPlugin()
    return extend(plugin.make_env(KEY, seed=0), actions, plugin=plugin, task=KEY, **more)
