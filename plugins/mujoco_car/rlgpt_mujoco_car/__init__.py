"""RL-GPT plugin for a 1:10 car on winding roads, in plain MuJoCo."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """Return the car plugin (hook of pluggy, through which rlgpt finds plugins)."""
    from rlgpt_mujoco_car.plugin import CarPlugin

    return [CarPlugin()]


@hookimpl
def rlgpt_config() -> str:
    """Return the folder with the plugin's experiments (hook of pluggy)."""
    return "pkg://rlgpt_mujoco_car.conf"
