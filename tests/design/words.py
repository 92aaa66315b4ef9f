"""Scripted replies for any environment: one coded action, and the default setup of the request."""

from __future__ import annotations

import json
import re

from rlgpt.llm.base import Request
from rlgpt.testing.llm import FakeLLM

RANDOM = "def run(steps=3.0):\n    view = yield observe()\n    for _ in range(int(steps)):\n        yield act()\n"
PARAMETER = {"name": "steps", "low": 1.0, "high": 5.0, "default": 3.0}


def speaker(source: str = RANDOM, *, parameters: bool = True, works: bool = True) -> FakeLLM:
    """Return a scripted model. It plans the coded action ``go`` and a learned sub-action, writes ``source`` for ``go``,
    and gives the default setup unchanged.
    """

    def reply(request: Request) -> str:
        role = request.key.role
        if role == "slow":
            parts = [("go", "code", "do something simple"), ("rest", "rl", "whatever is left of it")]
            said = [{"name": n, "kind": k, "description": d, "reason": "it is simple"} for n, k, d in parts]
            return json.dumps({"thoughts": "", "sub_actions": said})
        if role == "fast":
            declared = [PARAMETER] if parameters else []
            meta = {"thoughts": "", "doc": "go", "parameters": declared, "max_steps": 30}
            return f"{json.dumps(meta)}\n```python\n{source}\n```"
        if role == "setup":
            return json.dumps(
                {"base_actions": None, **default_setup(request), "coded_actions": ["go"], "reason": "as it was"}
            )
        if role == "review":
            return json.dumps({"thoughts": "", "works": works, "findings": []})
        return json.dumps({"thoughts": "", "summary": "go on", "for_slow": [], "for_fast": []})

    return FakeLLM(reply)


def default_setup(request: Request) -> dict:
    """Return the default setup that the request shows."""
    found = re.search(r'^\{"reward_weights".*\}$', text(request), flags=re.MULTILINE)
    assert found is not None
    return json.loads(found[0])


def text(request: Request) -> str:
    """Return the whole text of a request."""
    return "\n".join(message.content for message in request.messages)
