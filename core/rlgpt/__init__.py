"""RL-GPT, a method in which a language model writes options as code, and PPO learns when to use the options.

``rlgpt.extend(env, actions=...)`` adds coded actions to any gymnasium environment, and ``rlgpt.extend_vector(...)``
adds them to a vector of environments. With ``rlgpt.design(...)``, a language model writes the coded actions. The
package ``rlgpt`` also exports the values that these functions take and return, such as ``CodedAction``, ``Task`` and
``Bundle``. All other names are in subpackages, such as ``rlgpt.rl``, ``rlgpt.llm``, ``rlgpt.agents`` and
``rlgpt.plugin``. Modules that load slowly are imported only when they are first used.
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
