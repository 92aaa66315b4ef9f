"""A scripted language model for the grid world. The first version of one of its two coded actions fails."""

from __future__ import annotations

import json
from typing import Any

from rlgpt.llm.base import LLM, Request
from rlgpt.testing.grid import FETCH
from rlgpt.testing.llm import FakeLLM

PARTS = [
    {"name": name, "description": "walk", "kind": "code", "reason": "geometry"} for name in ("fetch_key", "step_up")
]
BROKEN = "def run():\n    view = yield observe()\n    yield go(direction=view['key'][7], cells=1)\n"
MENDED = "def run():\n    yield go(direction='up', cells=1)\n"
SETUP = {"reward_weights": {"env_reward": 1.0}, "observation_keys": ["agent", "key"], "coded_actions": ["fetch_key"]}


def code(request: Request) -> str:
    source = FETCH if request.key.sub_action == "fetch_key" else MENDED if request.key.attempt else BROKEN
    head = json.dumps({"thoughts": "", "doc": "walk", "parameters": [], "max_steps": 40})
    return f"{head}\n```python\n{source}```"


def reply(request: Request) -> str:
    if request.key.role == "fast":
        return code(request)
    return json.dumps(
        {
            "slow": {"thoughts": "", "sub_actions": PARTS},
            "setup": {**SETUP, "base_actions": None, "reason": "few keys"},
            "review": {"thoughts": "", "works": True, "findings": []},
            "critic": {"thoughts": "", "summary": "fine", "for_slow": [], "for_fast": []},
        }[request.key.role]
    )


def scripted(settings: Any, context: Any) -> LLM:
    """The factory that ``llm._target_`` names."""
    return FakeLLM(reply, model=settings.model or "scripted")
