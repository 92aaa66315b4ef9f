"""For plugin authors: the contract (needs pytest), tiny worlds, a scripted language model.

``PluginContract`` is imported when it is asked for, so that the tiny worlds work without pytest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlgpt.testing.contract import PluginContract

__all__ = ["PluginContract"]


def __getattr__(name: str) -> Any:
    if name == "PluginContract":
        from rlgpt.testing.contract import PluginContract

        return PluginContract
    raise AttributeError(f"module 'rlgpt.testing' has no attribute {name!r}")
