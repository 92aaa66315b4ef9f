"""RL-GPT plugin for a 1:10 car on winding roads, in plain MuJoCo."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the plugin to rlgpt (pluggy hook)."""
    from rlgpt_mujoco_car.plugin import CarPlugin

    return [CarPlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiments (pluggy hook)."""
    return "pkg://rlgpt_mujoco_car.conf"
