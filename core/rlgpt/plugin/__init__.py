"""Environments, and what agents may know and use of them. Light: imports no simulator."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.hookspecs import hookimpl
from rlgpt.plugin.manager import PluginManager
from rlgpt.plugin.types import Check, Context, EnvLimits, Labels, LowLevel, Primitive, ResetOption, RewardTerm, ViewKey

if TYPE_CHECKING:
    from rlgpt.plugin.generic import GenericPlugin
    from rlgpt.plugin.judged import Judged
    from rlgpt.plugin.library import library_of

_HOMES = {
    "GenericPlugin": "rlgpt.plugin.generic",
    "Judged": "rlgpt.plugin.judged",
    "library_of": "rlgpt.plugin.library",
}
"""Name -> the module that holds it, imported with the first use."""

__all__ = [
    "Check",
    "Context",
    "EnvLimits",
    "EnvironmentPlugin",
    "GenericPlugin",
    "Judged",
    "Labels",
    "LowLevel",
    "PluginManager",
    "Primitive",
    "ResetOption",
    "RewardTerm",
    "ViewKey",
    "hookimpl",
    "library_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rlgpt.plugin' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
