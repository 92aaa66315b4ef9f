"""The complete interface between rlgpt and its plugins.

A plugin is an installed distribution with one entry point of the group ``rlgpt``, which names a module:

    [project.entry-points.rlgpt]
    kitchen = "rlgpt_kitchen"

The module of a plugin imports nothing heavy and implements at least one hook:

    @rlgpt.plugin.hookspecs.hookimpl
    def rlgpt_plugins():
        return [KitchenPlugin()]

If the entry point has the plugin's name, ``rlgpt`` can make the plugin's environments without loading other plugins.

All hooks except ``rlgpt_plugins`` and ``rlgpt_config`` return a mapping from a name to the dotted name
(``package.module.Class``) of a class or function that makes the object. The module of a dotted name is imported only
when the user selects its name (``trainer=NAME``). rlgpt registers its own trainers, agents and other components through
the same hooks (:mod:`rlgpt.plugin.builtin`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin

GROUP = "rlgpt"

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def rlgpt_plugins() -> list[EnvironmentPlugin]:  # type: ignore[empty-body]
    """The environment plugins of this module. The hook must be fast, so it must not import a simulator or make an
    environment.
    """


@hookspec
def rlgpt_agents() -> Mapping[str, str]:  # type: ignore[empty-body]
    """A mapping from name (``agents=NAME``) to dotted name of ``f(context, **settings) -> Agents``, where the context
    is a :class:`rlgpt.agents.TeamContext`.
    """


@hookspec
def rlgpt_planners() -> Mapping[str, str]:  # type: ignore[empty-body]
    """A mapping from name (``planner=NAME``) to dotted name of ``f(context, **settings) -> Planner``, where the context
    is a :class:`rlgpt.planner.PlannerContext`.
    """


@hookspec
def rlgpt_trainers() -> Mapping[str, str]:  # type: ignore[empty-body]
    """A mapping from name to dotted name of ``f(**settings) -> rlgpt.rl.Trainer`` (``trainer=NAME``)."""


@hookspec
def rlgpt_llms() -> Mapping[str, str]:  # type: ignore[empty-body]
    """A mapping from name to dotted name of ``f(settings, context) -> LLM`` (``llm=NAME``), where the context is a
    :class:`rlgpt.llm.LLMContext`.
    """


@hookspec
def rlgpt_observers() -> Mapping[str, str]:  # type: ignore[empty-body]
    """A mapping from name to dotted name of ``f(**settings) -> rlgpt.loop.Observer`` (``observers.NAME.KEY=VALUE``)."""


@hookspec
def rlgpt_executors() -> Mapping[str, str]:  # type: ignore[empty-body]
    """A mapping from name to dotted name of ``f(work, **settings) -> rlgpt.executors.Executor`` (``executor=NAME``)."""


@hookspec
def rlgpt_config() -> str:  # type: ignore[empty-body]
    """A folder with configuration groups in the plugin's distribution, in Hydra's notation, such as
    ``pkg://rlgpt_kitchen.conf``.
    """
