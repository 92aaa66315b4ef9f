"""RL-GPT: a language model writes options, PPO learns with them.

``rlgpt.extend(env, actions=...)`` adds coded actions to any gymnasium environment; ``rlgpt.design(...)`` has them
written. Names are imported late, so that ``import rlgpt`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rlgpt.design import design

if TYPE_CHECKING:
    from rlgpt.domain import Bundle, CodedAction, Parameter, RLSetup, Task
    from rlgpt.options import extend, flat_view

__version__ = "0.1.0"

_HOMES = {
    "extend": "rlgpt.options",
    "flat_view": "rlgpt.options",
    "Bundle": "rlgpt.domain",
    "CodedAction": "rlgpt.domain",
    "Parameter": "rlgpt.domain",
    "RLSetup": "rlgpt.domain",
    "Task": "rlgpt.domain",
}

__all__ = ["Bundle", "CodedAction", "Parameter", "RLSetup", "Task", "design", "extend", "flat_view"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rlgpt' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
