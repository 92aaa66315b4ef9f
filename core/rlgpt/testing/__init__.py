"""For plugin authors: the contract (needs pytest), tiny environments, a scripted language model.

Names are imported with their first use, so that the tiny environments work without pytest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlgpt.testing.contract import PluginContract
    from rlgpt.testing.llm import FakeLLM
    from rlgpt.testing.stage import Stage

_HOMES = {
    "FakeLLM": "rlgpt.testing.llm",
    "PluginContract": "rlgpt.testing.contract",
    "Stage": "rlgpt.testing.stage",
}
"""Name -> the module that holds it."""

__all__ = ["FakeLLM", "PluginContract", "Stage"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rlgpt.testing' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
