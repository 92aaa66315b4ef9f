"""Environments, and what agents may know and use of them. Light: imports no simulator."""

from rlgpt.plugin.base import (
    Check,
    Context,
    EnvironmentPlugin,
    EnvLimits,
    Labels,
    LowLevel,
    Primitive,
    ResetOption,
    RewardTerm,
    ViewKey,
)
from rlgpt.plugin.hookspecs import hookimpl
from rlgpt.plugin.manager import PluginManager

__all__ = [
    "Check",
    "Context",
    "EnvLimits",
    "EnvironmentPlugin",
    "Labels",
    "LowLevel",
    "PluginManager",
    "Primitive",
    "ResetOption",
    "RewardTerm",
    "ViewKey",
    "hookimpl",
]
