"""The benchmark Crafter as an example plugin of rlgpt."""

from rlgpt.plugin import EnvironmentPlugin, hookimpl


@hookimpl
def rlgpt_plugins() -> list[EnvironmentPlugin]:
    from rlgpt_crafter.plugin import CrafterPlugin

    return [CrafterPlugin()]
