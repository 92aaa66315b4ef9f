"""Plugins. A plugin describes to rlgpt the tasks of an environment, and the knowledge and skills that agents may use.
The import of the package ``rlgpt.plugin`` does not load a simulator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.hookspecs import hookimpl
from rlgpt.plugin.manager import PluginManager
from rlgpt.plugin.types import (
    Check,
    Context,
    EnvLimits,
    Labels,
    LowLevel,
    Primitive,
    ResetOption,
    RewardTerm,
    StateCodec,
    ViewKey,
)

__all__ = [
    "SUCCESS",
    "AttributeStates",
    "Check",
    "Context",
    "EnvLimits",
    "EnvironmentPlugin",
    "GenericPlugin",
    "Judged",
    "Labels",
    "LowLevel",
    "MakeEnv",
    "OwnStates",
    "PluginManager",
    "Primitive",
    "ResetOption",
    "RewardTerm",
    "StateCodec",
    "ViewKey",
    "hookimpl",
    "library_of",
]

if TYPE_CHECKING:
    from rlgpt.plugin.defaults import SUCCESS
    from rlgpt.plugin.generic import GenericPlugin, MakeEnv
    from rlgpt.plugin.judged import Judged
    from rlgpt.plugin.library import library_of
    from rlgpt.plugin.states import AttributeStates, OwnStates
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.plugin.defaults": ("SUCCESS",),
            "rlgpt.plugin.generic": ("GenericPlugin", "MakeEnv"),
            "rlgpt.plugin.judged": ("Judged",),
            "rlgpt.plugin.library": ("library_of",),
            "rlgpt.plugin.states": ("AttributeStates", "OwnStates"),
        },
    )
