"""Finds the distribution that contains a plugin, and the version of the distribution. The record of a run contains
distribution and version of the plugin, because another version may give other results.
"""

from __future__ import annotations

from importlib import metadata
from typing import Any, NamedTuple

import gymnasium

from rlgpt.plugin import hookspecs
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.generic import GenericPlugin


class Origin(NamedTuple):
    """The name of a distribution and its version; empty texts if they are unknown."""

    distribution: str
    version: str


def origin(plugin: EnvironmentPlugin) -> Origin:
    """The distribution that contains the plugin ``plugin``. For a generic plugin, the result is the distribution that
    contains the environment.
    """
    plugin = plugin.base or plugin
    if isinstance(plugin, GenericPlugin):
        return _of_module(_module_of(plugin))
    for point in metadata.entry_points(group=hookspecs.GROUP, name=plugin.name):
        if point.dist is not None:
            return Origin(point.dist.name, point.dist.version)
    return _of_module(type(plugin).__module__)


def installed(distribution: str) -> Origin | None:
    """The installed version of the distribution ``distribution``; None if it is not installed. If the name of the
    distribution is empty, the result is an origin without name and version.
    """
    try:
        return Origin(distribution, metadata.version(distribution) if distribution else "")
    except (metadata.PackageNotFoundError, ValueError):
        return None


def _module_of(plugin: GenericPlugin) -> str:
    task = next(iter(plugin.tasks().values()))
    env: gymnasium.Env[Any, Any] = plugin.make_env(task, seed=0)
    try:
        return type(env.unwrapped).__module__
    finally:
        env.close()


def _of_module(module: str) -> Origin:
    found = metadata.packages_distributions().get(module.partition(".")[0], ())
    return Origin(found[0], metadata.version(found[0])) if found else Origin("", "")
