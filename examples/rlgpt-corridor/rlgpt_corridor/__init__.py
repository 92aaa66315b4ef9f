"""A corridor with a switch and a door: an example plugin for rlgpt."""

from rlgpt.plugin import EnvironmentPlugin, hookimpl


@hookimpl
def rlgpt_plugins() -> list[EnvironmentPlugin]:
    from rlgpt_corridor.plugin import CorridorPlugin

    return [CorridorPlugin()]
