"""RL-GPT plugin for the benchmark Craftax-Symbolic-v1."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the plugin to rlgpt (pluggy hook)."""
    from rlgpt_craftax.plugin import CraftaxPlugin

    return [CraftaxPlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiment ``craftax_1m`` (pluggy hook)."""
    return "pkg://rlgpt_craftax.conf"
