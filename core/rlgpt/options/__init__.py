"""The action-space extension: ``extend()``, the flat view for any trainer, bundles on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.domain import Bundle, CodedAction, Task
from rlgpt.errors import ConfigError
from rlgpt.options.arguments import (
    BrokenActionWarning,
    check_environment,
    check_names,
    merge_custom_names,
    plugin_and_task,
    read_actions,
    read_sandbox,
    warn_of_broken,
    warn_of_faults,
)
from rlgpt.options.bundle import load_bundle, save_bundle
from rlgpt.options.env import ExtendedEnv
from rlgpt.options.flat import flat_view
from rlgpt.options.layout import Head, Layout
from rlgpt.options.space import ExtendedSpace

if TYPE_CHECKING:
    import gymnasium

    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.plugin.defaults import Named
    from rlgpt.sandbox import Sandbox, SandboxLimits

__all__ = [
    "BrokenActionWarning",
    "ExtendedEnv",
    "ExtendedSpace",
    "Head",
    "Layout",
    "extend",
    "flat_view",
    "load_bundle",
    "save_bundle",
]


def extend(
    env: gymnasium.Env[Any, Any],
    actions: Bundle | str | Path | Sequence[CodedAction] = (),
    *,
    plugin: EnvironmentPlugin | None = None,
    task: Task | str | None = None,
    labels: Named | None = None,
    observations: Named | None = None,
    idle: Any = None,
    gamma: float | None = None,
    base_actions: Sequence[str] | None = None,
    reward_weights: Mapping[str, float] | None = None,
    sandbox: Sandbox | SandboxLimits | Mapping[str, Any] | None = None,
    quarantined: Iterable[str] | None = None,
    trace: bool = False,
) -> ExtendedEnv:
    """Add coded actions to any gymnasium environment.

    :param actions: a :class:`~rlgpt.Bundle`, the folder of one, or coded actions. A bundle's setup says which of its
        actions are offered, which base actions are kept, and the discount, where the arguments below do not.
    :param plugin: whose primitives, views and labels are used. Default: a GenericPlugin made from ``env``'s spaces, and
        from the names that a bundle of :func:`rlgpt.design` carries. With primitives of your own, or ``docs`` for a
        language model that writes actions: ``plugin=GenericPlugin.of(env, primitives=..., docs=...)``.
    :param task: one of the plugin's tasks, or its id; may be left out where the plugin has only one.
    :param labels: without a plugin: names of the action's parts, or name -> meaning, as for :func:`rlgpt.design`; code
        then calls ``act(action="left")``. Default: the bundle's; else what the environment says, else ``action_0``, ...
    :param observations: without a plugin: names of the numbers of a one-dimensional observation, or name -> meaning;
        code then reads ``view["speed"]`` instead of ``view["observation"][1]``. Default: the bundle's, else none.
    :param idle: without a plugin: what a masked choice, or a coded action that asks for nothing, does for its one step:
        a label of a Discrete's value, or an action of the space. Default: what the bundle says, else a label that says
        so (``noop``, ``idle``, ``stay``, ...), else zeros: value 0 of a Discrete, whatever that does.
    :param gamma: discount per primitive step, in (0, 1]; 0.99 by default.
    :param base_actions: labels of the base actions that stay; None keeps all.
    :param reward_weights: replace the environment's reward by the plugin's terms, so weighted.
    :param sandbox: where coded actions run, or its :class:`~rlgpt.sandbox.SandboxLimits`, or some of them by name:
        ``{"yields": 100}``. Default: ``Sandbox()``.
    :param quarantined: names of coded actions that are masked, all that are: the caller counts violations, over many
        environments, say (see :meth:`ExtendedEnv.quarantine`). None, the default: this environment counts its own, and
        masks what has violated three times from the next reset on.
    :param trace: put a :class:`~rlgpt.domain.Decision` with the views before and after into ``info["decision"]``.
    :returns: the environment with its action space extended as :mod:`rlgpt.options.space` tabulates. With no actions
        and all base actions it has the same spaces and trajectories, bit for bit.
        An action whose source cannot be loaded, or surely holds a mistake, is taken with a
        :class:`BrokenActionWarning`.
    :raises rlgpt.errors.ConfigError: an argument is of another kind, the action space has no extension, ``gamma`` is
        out of range, or names do not fit their space or are given beside a plugin, which has its own.
    :raises rlgpt.errors.UnknownNameError: a task, base action, reward term or coded action there is not.
    :raises rlgpt.errors.BundleError: the bundle's folder cannot be read, or its actions call primitives of its
        designer's own and no plugin brings them.
    """
    from rlgpt.plugin.library import library_of

    check_environment(env)
    check_names("base_actions", base_actions)
    check_names("quarantined", quarantined)
    sandbox = read_sandbox(sandbox)
    given = read_actions(actions)
    world = None
    if isinstance(given, Bundle):
        chosen, setup, world = given.actions, given.setup, given.world
        if setup is not None:
            chosen = tuple(a for a in chosen if a.name in setup.coded_actions)
            gamma = setup.gamma if gamma is None else gamma
            base_actions = setup.base_actions if base_actions is None else base_actions
    else:
        chosen = given
    gamma = 0.99 if gamma is None else gamma
    if not 0 < gamma <= 1:
        raise ConfigError(f"gamma is {gamma}; valid: a discount per primitive step in (0, 1].")
    world = merge_custom_names(plugin, world, labels=labels, observations=observations, idle=idle)
    plugin, task = plugin_and_task(env, plugin, task, world, bundled=isinstance(given, Bundle))
    library = library_of(plugin, task) if chosen else None
    extended = ExtendedEnv(
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
        library=library,
    )
    warn_of_broken(extended.load_verdicts)
    sound = [action for action in chosen if action.name not in extended.load_verdicts]
    if sound and library is not None:
        tested = given.tested_on if isinstance(given, Bundle) else None
        origin = " of the bundle" * isinstance(given, Bundle) + (f" for {tested.task}" if tested is not None else "")
        warn_of_faults(sound, library, sandbox, origin)
    return extended
