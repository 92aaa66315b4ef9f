"""RL-GPT plugin for furniture assembly with a Panda arm, in plain MuJoCo."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the furniture plugin (hook of pluggy, through which rlgpt finds plugins)."""
    from rlgpt_furniture.plugin import FurniturePlugin

    return [FurniturePlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiments (hook of pluggy)."""
    return "pkg://rlgpt_furniture.conf"
