"""RL-GPT plugin for FrankaKitchen-v1 (gymnasium-robotics)."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the plugin to rlgpt (pluggy hook)."""
    from rlgpt_kitchen.plugin import KitchenPlugin

    return [KitchenPlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiments (pluggy hook)."""
    return "pkg://rlgpt_kitchen.conf"
