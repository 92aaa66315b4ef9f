"""RL-GPT plugin for a 1:10 car on winding roads, in plain MuJoCo."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("rlgpt")


@hookimpl
def rlgpt_plugins() -> list[object]:
    """The hook by which rlgpt finds this plugin."""
    from rlgpt_mujoco_car.plugin import CarPlugin

    return [CarPlugin()]
