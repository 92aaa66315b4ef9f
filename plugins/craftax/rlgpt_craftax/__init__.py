"""RL-GPT plugin for the benchmark Craftax-Symbolic-v1."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the Craftax plugin (hook of pluggy, through which rlgpt finds plugins)."""
    from rlgpt_craftax.plugin import CraftaxPlugin

    return [CraftaxPlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiment ``craftax_1m`` (hook of pluggy)."""
    return "pkg://rlgpt_craftax.conf"
