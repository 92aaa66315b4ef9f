"""RL-GPT, a method in which a language model writes options as code, and PPO learns when to use the options.

``rlgpt.extend(env, actions=...)`` adds coded actions to any gymnasium environment, and ``rlgpt.extend_vector(...)``
adds them to a vector of environments. With ``rlgpt.design(...)``, a language model writes the coded actions. All names
except ``extend``, ``extend_vector`` and ``design`` come from subpackages, such as ``rlgpt.rl``, ``rlgpt.llm``,
``rlgpt.agents`` and ``rlgpt.plugin``. The package ``rlgpt`` imports modules that load slowly only when they are used
first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.design import design
from rlgpt.lazy import lazy_exports

__version__ = "0.1.0"

__all__ = [
    "Bundle",
    "CodedAction",
    "CodedFeatures",
    "CodedPredicate",
    "CodedReward",
    "Metric",
    "Output",
    "Parameter",
    "RLSetup",
    "Score",
    "Task",
    "design",
    "extend",
    "extend_vector",
    "flat_view",
]

if TYPE_CHECKING:
    from rlgpt.domain import (
        Bundle,
        CodedAction,
        CodedFeatures,
        CodedPredicate,
        CodedReward,
        Metric,
        Output,
        Parameter,
        RLSetup,
        Score,
        Task,
    )
    from rlgpt.options import extend, extend_vector, flat_view
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.domain": (
                "Bundle",
                "CodedAction",
                "CodedFeatures",
                "CodedPredicate",
                "CodedReward",
                "Metric",
                "Output",
                "Parameter",
                "RLSetup",
                "Score",
                "Task",
            ),
            "rlgpt.options": ("extend", "extend_vector", "flat_view"),
        },
    )
