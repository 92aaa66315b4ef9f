"""Adds coded actions to an action space (``extend()``), makes it flat for other trainers, and stores bundles on disk. A
*coded action* is an option whose program usually comes from a language model; it runs in the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from rlgpt.domain import Bundle, CodedAction, CodedFunction, Task
from rlgpt.errors import ConfigError
from rlgpt.options.arguments import BrokenActionWarning, check_environment
from rlgpt.options.bundle import load_bundle, save_bundle
from rlgpt.options.decision import OnStep
from rlgpt.options.env import ExtendedEnv
from rlgpt.options.flat import flat_view
from rlgpt.options.layout import ActionLayout, Head
from rlgpt.options.reading import Arguments, one_of, read
from rlgpt.options.space import ExtendedSpace
from rlgpt.options.vector_env import Arrival, ExtendedVectorEnv, OnLaneStep

if TYPE_CHECKING:
    import gymnasium

    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.plugin.defaults import Named
    from rlgpt.sandbox import Sandbox, SandboxLimits

__all__ = [
    "ActionLayout",
    "Arguments",
    "Arrival",
    "BrokenActionWarning",
    "ExtendedEnv",
    "ExtendedSpace",
    "ExtendedVectorEnv",
    "Head",
    "OnStep",
    "extend",
    "extend_vector",
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
    horizon: int | None = None,
    on_step: OnStep | None = None,
    trace: bool = False,
    functions: Sequence[CodedFunction] | None = None,
    interrupt_every: int | None = None,
    residual: float | None = None,
    shared: str | None = None,
) -> ExtendedEnv:
    """Add coded actions to any gymnasium environment.

    :param actions: a :class:`~rlgpt.Bundle`, the folder of one, or coded actions. The bundle's RLSetup decides which
        coded actions and base actions are offered, and the discount, unless an argument below does.
    :param plugin: provides primitives, views and labels. Default: a GenericPlugin, made from the spaces of ``env`` and
        from the names in a bundle of :func:`rlgpt.design`. For custom primitives, or ``docs`` for a language model that
        writes actions: ``plugin=GenericPlugin.of(env, primitives=..., docs=...)``.
    :param task: one of the plugin's tasks, or its id; optional if the plugin has one task.
    :param labels: only without a plugin: names of the action's parts, or name -> meaning, as for :func:`rlgpt.design`.
        Code then calls ``act(action="left")``. Default: the names in the bundle; else the names that the environment
        gives; else ``action_0``, ...
    :param observations: only without a plugin: names of the numbers of a one-dimensional observation, or name ->
        meaning. Code then reads ``view["speed"]`` instead of ``view["observation"][1]``. Default: the names in the
        bundle; else no names.
    :param idle: only without a plugin: the base environment's action that does nothing. The idle action is used for a
        decision whose coded action is masked or calls no primitive. Either a label of a Discrete space, or an action of
        the space. Default: the idle action of the bundle; else a label that means "do nothing" (``noop``, ``idle``,
        ``stay``, ...); else zeros, which is value 0 of a Discrete.
    :param gamma: discount per primitive step, in (0, 1]; 0.99 by default.
    :param base_actions: labels of the base actions that are kept; None keeps all.
    :param reward_weights: reward term -> weight. The weighted sum of these terms replaces the environment's reward.
        None: the environment's reward is kept.
    :param sandbox: runs the coded actions; or its :class:`~rlgpt.sandbox.SandboxLimits`, or some of them by name:
        ``{"yields": 100}``. Default: ``Sandbox()``.
    :param quarantined: names of the coded actions that are masked. The caller then counts the violations of sandbox
        limits, for example over many environments (see :meth:`ExtendedEnv.quarantine`). None, the default: this
        environment counts the violations itself, and masks an action from the next reset after three violations.
    :param horizon: number of primitive steps (steps of ``env``) after which an episode is truncated, even within a
        decision. None, the default: only ``env`` ends episodes.
    :param on_step: called with ``env`` and the number of primitive steps of the episode: after a reset (0) and after
        every step.
    :param trace: whether ``info["decision"]`` contains a :class:`~rlgpt.domain.Decision` with the views before and
        after.
    :param functions: coded features, reward terms and predicates, evaluated at each primitive step. Features become
        keys of the view, reward terms may have a weight in ``reward_weights``, and the values of predicates are in
        ``info["predicates"]``. Default: the functions of the bundle.
    :param interrupt_every: primitive steps of a coded action after which the policy decides whether the action
        continues. None, the default: the value in the bundle; without a bundle, the policy decides only when the action
        ends.
    :param residual: in [0, 1], for a Box: the policy also chooses a correction of each number that a coded action
        proposes, at most this share of half its range. Default: the value in the bundle, else 0.
    :param shared: source with helper functions and constants, loaded before the source of each action. This source
        replaces the shared code of the actions. Each action has a separate instance of it.
    :returns: the environment with its action space extended as :mod:`rlgpt.options.space` tabulates. With no actions
        and all base actions it has the same spaces and trajectories, bit for bit. If the environment reports
        ``info["success"]``, the ``info`` of every step has ``success``: whether it was true at any primitive step of
        the decision. :class:`ExtendedEnv` lists the other keys. An action whose source cannot be loaded, or an action
        or function whose source contains a certain mistake, causes a :class:`BrokenActionWarning`.
    :raises rlgpt.errors.ConfigError: an argument is of another kind, the action space has no extension, ``gamma`` is
        out of range, or names do not fit their space or are given together with a plugin, which has names of its own.
    :raises rlgpt.errors.UnknownNameError: there is no such task, base action, reward term or coded action.
    :raises rlgpt.errors.SandboxError: two functions, or two outputs of functions, have the same name, or there are too
        many functions.
    :raises rlgpt.errors.BundleError: the bundle's folder cannot be read, or the actions in the bundle call custom
        primitives and no plugin provides these primitives.
    """

    check_environment(env)
    given = read(
        env,
        actions,
        plugin=plugin,
        task=task,
        labels=labels,
        observations=observations,
        idle=idle,
        gamma=gamma,
        base_actions=base_actions,
        reward_weights=reward_weights,
        sandbox=sandbox,
        quarantined=quarantined,
        horizon=horizon,
        trace=trace,
        functions=functions,
        interrupt_every=interrupt_every,
        residual=residual,
        shared=shared,
    )
    extended = ExtendedEnv(env, given.actions, on_step=on_step, **given.settings)
    given.warn(extended.load_verdicts)
    return extended


def extend_vector(
    venv: gymnasium.vector.VectorEnv[Any, Any, Any],
    actions: Bundle | str | Path | Sequence[CodedAction] = (),
    *,
    threads: int = 1,
    on_step: OnLaneStep | None = None,
    **arguments: Unpack[Arguments],
) -> ExtendedVectorEnv:
    """Add coded actions to each environment of a gymnasium vector.

    Each *lane* is one environment of the vector. A lane gives exactly the same values as a single environment that
    :func:`extend` makes with the same seed.

    :param venv: any vector with one of gymnasium's autoreset modes in its metadata. The environments of a
        ``SyncVectorEnv`` step separately; every other vector is a batch simulator, which steps all lanes in one call.
        With ``horizon``, a batch simulator must accept ``options["reset_mask"]`` in ``reset``, as gymnasium's vectors
        do.
    :param threads: number of threads for coded actions. The results do not depend on this number.
    :param on_step: called with a lane and the number of primitive steps of its episode: at its start (0) and after
        every step.
    :param arguments: the other arguments of :func:`extend`. Without ``quarantined``, each lane counts its violations
        separately.
    :raises rlgpt.errors.ConfigError: see :func:`extend`; or ``venv`` is not a vector, or has no autoreset mode.
    """
    if threads < 1:
        raise ConfigError(f"threads is {threads}; valid: at least 1.")
    given = read(one_of(venv), actions, **arguments)
    extended = ExtendedVectorEnv(venv, given.actions, threads=threads, on_step=on_step, **given.settings)
    given.warn(extended.load_verdicts)
    return extended
