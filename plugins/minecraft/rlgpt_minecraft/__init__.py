"""RL-GPT plugin for Minecraft: an embedded voxel world with MineDojo's spaces, and MineDojo itself."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """The hook by which rlgpt finds Minecraft."""
    from rlgpt_minecraft.plugin import MinecraftPlugin

    return [MinecraftPlugin()]
