"""Replies about the grid world, written like the replies of a language model."""

from __future__ import annotations

import json

PLAN = json.dumps(
    {
        "thoughts": "walking is geometry",
        "sub_actions": [
            {"name": "fetch_key", "description": "walk to the key and use", "kind": "code", "reason": "geometry"},
            {"name": "finish", "description": "all the rest of the way", "kind": "rl", "reason": "to be learnt"},
        ],
    }
)
SIGNATURE = {
    "doc": "walks up",
    "parameters": [{"name": "cells", "low": 1, "high": 6, "default": 2, "unit": "cells"}],
    "max_steps": 20,
}
SOURCE = 'def run(cells=2.0):\n    outcome = yield go(direction="up", cells=round(cells))\n    yield use()\n'
SETUP = {
    "reward_weights": {"env_reward": 5.0, "near_key": 1.0},
    "observation_keys": ["agent", "key", "holding"],
    "base_actions": None,
    "coded_actions": ["fetch_key"],
    "gamma": 0.98,
    "reason": "few keys",
}


def action(source: str = SOURCE, **changes: object) -> str:
    head = json.dumps({"thoughts": "go there", **SIGNATURE, **changes})
    return f"{head}\n```python\n{source}```"


def setup(**changes: object) -> str:
    return json.dumps({**SETUP, **changes})


def solo(source: str = f"# action: fetch_key\n{SOURCE}", **changes: object) -> str:
    whole = {
        **json.loads(PLAN),
        "actions": [{"name": "fetch_key", **SIGNATURE}],
        "setup": SETUP,
        **changes,
    }
    return f"{json.dumps(whole)}\n```python\n{source}```"


REVIEW = json.dumps(
    {"thoughts": "short", "works": False, "findings": [{"action": "fetch_key", "problem": "p", "suggestion": "s"}]}
)
CRITIQUE = json.dumps(
    {
        "thoughts": "usage",
        "summary": "half way",
        "for_slow": [{"action": "finish", "problem": "p1", "suggestion": "s1"}],
        "for_fast": [{"problem": "p2", "suggestion": "s2"}],
    }
)
