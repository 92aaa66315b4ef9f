"""RL-GPT plugin for FrankaKitchen-v1 (gymnasium-robotics)."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the kitchen plugin (hook of pluggy, through which rlgpt finds plugins)."""
    from rlgpt_kitchen.plugin import KitchenPlugin

    return [KitchenPlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiments (hook of pluggy)."""
    return "pkg://rlgpt_kitchen.conf"
