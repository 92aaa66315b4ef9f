"""Tools for authors of plugins and trainers, such as the plugin contract (tests that need pytest), small environments,
and a scripted language model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = [
    "Call",
    "Effort",
    "FakeLLM",
    "GridPlugin",
    "Laws",
    "Player",
    "PluginContract",
    "Stage",
    "TrainerSuite",
    "broken_laws",
]

if TYPE_CHECKING:
    from rlgpt.testing.contract import Effort, Laws, PluginContract, broken_laws
    from rlgpt.testing.grid import GridPlugin
    from rlgpt.testing.llm import FakeLLM
    from rlgpt.testing.player import Player
    from rlgpt.testing.stage import Call, Stage
    from rlgpt.testing.trainer_suite import TrainerSuite
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.testing.contract": ("Effort", "Laws", "PluginContract", "broken_laws"),
            "rlgpt.testing.grid": ("GridPlugin",),
            "rlgpt.testing.llm": ("FakeLLM",),
            "rlgpt.testing.player": ("Player",),
            "rlgpt.testing.stage": ("Call", "Stage"),
            "rlgpt.testing.trainer_suite": ("TrainerSuite",),
        },
    )
