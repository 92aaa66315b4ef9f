"""The action-space extension: ``extend()``, the flat view for any trainer, bundles on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.domain import Bundle, CodedAction, Task, World
from rlgpt.errors import BundleError, ConfigError, UnknownNameError
from rlgpt.options.bundle import load_bundle, save_bundle
from rlgpt.options.env import ExtendedEnv
from rlgpt.options.flat import flat_view
from rlgpt.options.layout import Head, Layout
from rlgpt.options.space import ExtendedSpace

if TYPE_CHECKING:
    import gymnasium

    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.sandbox import Sandbox

__all__ = ["ExtendedEnv", "ExtendedSpace", "Head", "Layout", "extend", "flat_view", "load_bundle", "save_bundle"]


def extend(
    env: gymnasium.Env[Any, Any],
    actions: Bundle | str | Path | Sequence[CodedAction] = (),
    *,
    plugin: EnvironmentPlugin | None = None,
    task: Task | str | None = None,
    gamma: float | None = None,
    base_actions: Sequence[str] | None = None,
    reward_weights: Mapping[str, float] | None = None,
    sandbox: Sandbox | None = None,
    quarantined: Iterable[str] = (),
    trace: bool = False,
) -> ExtendedEnv:
    """Add coded actions to any gymnasium environment.

    :param actions: a :class:`~rlgpt.Bundle`, the folder of one, or coded actions. A bundle's setup says which of its
        actions are offered, which base actions are kept, and the discount, where the arguments below do not.
    :param plugin: whose primitives, views and labels are used. Default: a GenericPlugin made from ``env``'s spaces, and
        from the names that a bundle of :func:`rlgpt.design` carries.
    :param task: one of the plugin's tasks, or its id; may be left out where the plugin has only one.
    :param gamma: discount per primitive step, in (0, 1]; 0.99 by default.
    :param base_actions: labels of the base actions that stay; None keeps all.
    :param reward_weights: replace the environment's reward by the plugin's terms, so weighted.
    :param sandbox: where coded actions run; its budgets are set there. Default: ``Sandbox()``.
    :param quarantined: names of coded actions that are masked.
    :param trace: put a :class:`~rlgpt.domain.Decision` with the views before and after into ``info["decision"]``.
    :returns: the environment with its action space extended as :mod:`rlgpt.options.space` tabulates. With no actions
        and all base actions it has the same spaces and trajectories, bit for bit.
    :raises rlgpt.errors.ConfigError: the action space has no extension, or ``gamma`` is out of range.
    :raises rlgpt.errors.BundleError: the bundle's folder cannot be read, or its actions call primitives of its
        designer's own and no plugin brings them.
    """
    bundle = load_bundle(Path(actions)) if isinstance(actions, (str, Path)) else actions
    world = None
    if isinstance(bundle, Bundle):
        chosen, setup, world = bundle.actions, bundle.setup, bundle.world
        if setup is not None:
            chosen = tuple(a for a in chosen if a.name in setup.coded_actions)
            gamma = setup.gamma if gamma is None else gamma
            base_actions = setup.base_actions if base_actions is None else base_actions
    else:
        chosen = tuple(bundle)
    gamma = 0.99 if gamma is None else gamma
    if not 0 < gamma <= 1:
        raise ConfigError(f"gamma is {gamma}; valid: a discount per primitive step in (0, 1].")
    plugin, task = _plugin_and_task(env, plugin, task, world)
    return ExtendedEnv(
        env,
        chosen,
        plugin=plugin,
        task=task,
        gamma=gamma,
        base_actions=base_actions,
        reward_weights=reward_weights,
        sandbox=sandbox,
        quarantined=quarantined,
        trace=trace,
    )


def _plugin_and_task(
    env: gymnasium.Env[Any, Any], plugin: EnvironmentPlugin | None, task: Task | str | None, world: World | None
) -> tuple[EnvironmentPlugin, Task]:
    if plugin is None:
        from rlgpt.plugin.generic import GenericPlugin

        world = world or World()
        if world.primitives:
            raise BundleError(
                f"this bundle's actions call primitives of their designer's own: {', '.join(world.primitives)}. "
                "Give them: extend(env, actions, plugin=GenericPlugin.of(env, primitives=[...], labels=..., ...))."
            )
        plugin = GenericPlugin.of(
            env, task if isinstance(task, Task) else None, labels=world.labels, observations=world.observations
        )
        task = None
    if isinstance(task, Task):
        return plugin, task
    tasks = plugin.tasks()
    if isinstance(task, str):
        if task not in tasks:
            raise UnknownNameError("task", task, tasks)
        return plugin, tasks[task]
    if len(tasks) != 1:
        raise ConfigError(f"plugin {plugin.name!r} has {len(tasks)} tasks; say which one with task=: {sorted(tasks)}.")
    return plugin, next(iter(tasks.values()))
