"""The whole surface between rlgpt and what plugs into it: one hook.

A plugin is an installed distribution with one entry point of group ``rlgpt``, which names a module:

    [project.entry-points.rlgpt]
    kitchen = "rlgpt_kitchen"

The module imports nothing heavy and implements:

    @rlgpt.plugin.hookspecs.hookimpl
    def rlgpt_plugins():
        return [KitchenPlugin()]

Name the entry point as the plugin is named, and ``rlgpt`` loads no other plugin to run your tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin

GROUP = "rlgpt"

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def rlgpt_plugins() -> list[EnvironmentPlugin]:  # type: ignore[empty-body]
    """The plugins this module offers. Cheap: imports no simulator, makes no environment."""
