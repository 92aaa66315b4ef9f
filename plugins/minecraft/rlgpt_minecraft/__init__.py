"""RL-GPT plugin for Minecraft tasks, which run on the voxel world ``voxeldojo`` or on MineDojo itself."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the Minecraft plugin (hook of pluggy, through which rlgpt finds plugins)."""
    from rlgpt_minecraft.plugin import MinecraftPlugin

    return [MinecraftPlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiments (hook of pluggy)."""
    return "pkg://rlgpt_minecraft.conf"
