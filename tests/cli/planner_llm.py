"""A scripted language model that divides the grid world's door into two sub-goals and writes code for both."""

from __future__ import annotations

import json
from typing import Any

from rlgpt.llm.base import LLM, Request
from rlgpt.testing.llm import FakeLLM

KEYS = {False: ["agent", "key", "holding"], True: ["agent_row", "agent_column", "holding"]}
HELD = {False: "view['holding']", True: "view['holding'] > 0.5"}
GRAPH = """```json
{{"thoughts": "a key, then the door",
 "sub_goals": [{{"name": "key_held", "goal": "the key is held", "horizon": 30, "kind": "code"}},
               {{"name": "door_open", "goal": "the door is open", "needs": ["key_held"], "horizon": 30,
                 "kind": "code"}}]}}
```
```python
# sub-goal: key_held
def done(view, memory):
    return {held}
# sub-goal: door_open
def done(view, memory):
    return False
```"""
GO = """
def run():
    view = yield observe()
    for axis, names in ((0, ("up", "down")), (1, ("left", "right"))):
        delta = view["{goal}"][axis] - view["agent"][axis]
        if delta:
            yield go(direction=names[delta > 0], cells=abs(delta))
    yield use()
"""
GO_BY_NUMBERS = """
def run():
    view = yield observe()
    for axis, names in (("row", ("up", "down")), ("column", ("left", "right"))):
        delta = round(6 * (view["{goal}_" + axis] - view["agent_" + axis]))
        for _ in range(abs(delta)):
            yield act(action=names[delta > 0])
    yield act(action="use")
"""


def model(*, named: bool = False) -> FakeLLM:
    """:param named: whether the numbers of the observation have names and there are no primitives but ``act``."""

    def reply(request: Request) -> str:
        role, goal = request.key.role, request.key.task.rpartition(".")[2].partition("_")[0]
        if role == "planner":
            return GRAPH.format(held=HELD[named])
        if role == "fast":
            head = json.dumps({"thoughts": "", "doc": "Go there.", "parameters": [], "max_steps": 30})
            return f"{head}\n```python\n{(GO_BY_NUMBERS if named else GO).format(goal=goal)}```"
        part = {"name": "go_there", "description": "walk and use", "kind": "code", "reason": "geometry"}
        setup = {"reward_weights": {"env_reward": 1.0}, "observation_keys": KEYS[named], "base_actions": None}
        replies = {
            "slow": {"thoughts": "", "sub_actions": [part]},
            "setup": {**setup, "coded_actions": ["go_there"], "reason": "simple"},
            "review": {"thoughts": "", "works": True, "findings": []},
            "critic": {"thoughts": "", "summary": "fine", "for_slow": [], "for_fast": []},
        }
        return json.dumps(replies[role])

    return FakeLLM(reply, model="scripted")


def scripted(settings: Any, context: Any) -> LLM:
    """The factory that ``llm._target_`` names."""
    return model()
