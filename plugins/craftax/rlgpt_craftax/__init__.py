"""RL-GPT plugin for the benchmark Craftax-Symbolic-v1."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """The hook by which rlgpt finds this plugin."""
    from rlgpt_craftax.plugin import CraftaxPlugin

    return [CraftaxPlugin()]


@hookimpl
def rlgpt_config() -> str:
    """The folder with the plugin's experiment, ``craftax_1m``."""
    return "pkg://rlgpt_craftax.conf"
