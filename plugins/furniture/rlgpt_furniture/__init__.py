"""RL-GPT plugin for furniture assembly with a Panda arm, in plain MuJoCo."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the plugin to rlgpt (pluggy hook)."""
    from rlgpt_furniture.plugin import FurniturePlugin

    return [FurniturePlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiments (pluggy hook)."""
    return "pkg://rlgpt_furniture.conf"
