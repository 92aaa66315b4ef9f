"""Adds coded actions to an action space (``extend()``), makes the action space flat for other trainers, and stores
bundles on disk. A *coded action* is an option whose program usually comes from a language model; the program runs in
the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from rlgpt.domain import Bundle, CodedAction, CodedFunction, Task
from rlgpt.errors import UnknownNameError
from rlgpt.options.arguments import BrokenActionWarning, check_environment, check_function, check_number
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

    Episodes begin at the environment's own start, also if the setup of a bundle names start states;
    :meth:`ExtendedEnv.restore_episode` begins an episode in a saved state.

    :param actions: a :class:`~rlgpt.Bundle`, a path (the folder of a bundle or of a run, or an archive of ``rlgpt
        bundle pack``), or a list of coded actions. The bundle's RLSetup decides the discount and which coded actions
        and base actions the policy may choose, unless another argument of ``extend`` does.
    :param plugin: provides primitives, views and labels. Default: a GenericPlugin, made from the spaces of ``env`` and
        from the names in a bundle of :func:`rlgpt.design`. Custom primitives, and ``docs`` for a language model that
        writes actions, need ``plugin=GenericPlugin.of(env, primitives=..., docs=...)``.
    :param task: a task of the plugin, or the id of this task; optional if the plugin has only one task.
    :param labels: names of the base action's parts, or a dict from each name to its meaning, as for
        :func:`rlgpt.design`. Code then calls ``act(action="left")``. Default: the names in the bundle, else the names
        that the environment gives, else ``action_0``, ``action_1`` and so on. Not allowed together with a plugin.
    :param observations: names of the numbers of a one-dimensional observation, or a dict from each name to its meaning.
        With these names, code reads ``view["speed"]`` instead of ``view["observation"][1]``. Default: the names in the
        bundle, else no names. Not allowed together with a plugin.
    :param idle: the idle action, which is a label of a Discrete space, or an action of the space. The environment takes
        the idle action in a decision whose coded action is masked or calls no primitive. Default: the idle action of
        the bundle, else a label that means "do nothing" (such as ``noop``, ``idle`` or ``stay``), else zeros (value 0
        of a Discrete). Not allowed together with a plugin.
    :param gamma: discount per primitive step, in (0, 1]. Default: the value in the bundle, else 0.99.
    :param base_actions: labels of the base actions that the policy may choose. Default: those in the bundle, else all.
    :param reward_weights: reward term -> weight. The weighted sum of the reward terms in ``reward_weights`` replaces
        the environment's reward. If ``reward_weights`` is None, the environment's reward stays.
    :param sandbox: the sandbox that runs the coded actions, or its :class:`~rlgpt.sandbox.SandboxLimits`, or a dict
        with some of these limits, such as ``dict(yields=100)``. Default: ``Sandbox()``.
    :param quarantined: names of the coded actions that are masked from the beginning. If ``quarantined`` is given, the
        caller counts the violations, for example over many environments (see :meth:`ExtendedEnv.quarantine`). If
        ``quarantined`` is None, this environment counts the violations. It masks an action with three violations or
        more from the next reset on, if at least a tenth of the action's calls had a violation.
    :param horizon: number of primitive steps after which an episode is truncated, even within a decision. If
        ``horizon`` is None, only ``env`` ends episodes.
    :param on_step: a function that is called after each reset and each primitive step, with ``env`` and the number of
        primitive steps of the episode (0 after a reset).
    :param trace: whether ``info["decision"]`` contains a :class:`~rlgpt.domain.Decision` with the views before and
        after the decision.
    :param functions: coded features, reward terms and predicates, which the environment evaluates at each primitive
        step. Features become keys of the view, reward terms may have a weight in ``reward_weights``, and
        ``info["predicates"]`` contains the values of predicates. Default: the functions of the bundle.
    :param interrupt_every: number of primitive steps of a coded action after which the policy decides whether the
        action continues. If ``interrupt_every`` is None, the value in the bundle holds; without a bundle, the policy
        decides only when the coded action ends.
    :param residual: the largest correction of a proposal, as a share of half the range of the Box, in [0, 1]. If
        ``residual`` is above 0, the policy also chooses a correction of each number that a coded action proposes.
        Default: the value in the bundle, else 0. Only for a base action that is a Box.
    :param shared: source of helper functions and constants, which is loaded before the source of each coded action. The
        source ``shared`` replaces the shared code that the coded actions have. Each coded action has a separate
        instance of the shared code.
    :returns: the environment with its action space extended as the table in :mod:`rlgpt.options.space` says. With no
        coded actions and all base actions, the extended environment has the same spaces and trajectories as ``env``,
        bit for bit. If ``env`` reports ``info["success"]``, the ``info`` of every decision has ``success``. In the
        ``info`` of a decision, ``success`` is true if ``info["success"]`` of ``env`` was true at any primitive step of
        the decision. :class:`ExtendedEnv` lists the other keys of ``info``. A coded action whose source cannot be
        loaded, or code in which lint finds a mistake, causes a :class:`BrokenActionWarning`.
    :raises rlgpt.errors.ConfigError: an argument has a wrong type, the action space cannot be extended, ``gamma`` is
        out of range, or names do not fit their space. The error is also raised if names are given together with a
        plugin, because a plugin has its own names.
    :raises rlgpt.errors.UnknownNameError: a task, base action, reward term or coded action with a given name does not
        exist.
    :raises rlgpt.errors.SandboxError: two functions, or two outputs of functions, have the same name, or there are too
        many functions.
    :raises rlgpt.errors.BundleError: the bundle cannot be read, the actions in the bundle call custom primitives that
        no plugin provides, or all actions of a bundle for another task are broken in this environment.
    """

    check_environment(env)
    check_function("on_step", on_step)
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

    :param venv: any gymnasium vector environment whose metadata contain an autoreset mode of gymnasium. The
        environments of a ``SyncVectorEnv`` step separately; every other vector is a batch simulator, which steps all
        its environments in one call. If ``horizon`` is given, a batch simulator must accept ``options["reset_mask"]``
        in ``reset``, as gymnasium's vectors do.
    :param threads: number of threads for coded actions. The results do not depend on the number of threads.
    :param on_step: a function that is called at the start of each episode and after each primitive step, with the
        number of the lane and the number of primitive steps of the lane's episode.
    :param arguments: the other arguments of :func:`extend`. If ``quarantined`` is not given, each lane counts its
        violations separately.
    :raises rlgpt.errors.ConfigError: ``venv`` is not a gymnasium vector environment or has no autoreset mode,
        ``threads`` is below 1, or :func:`extend` would raise the error for an argument.
    :raises rlgpt.errors.UnknownNameError: there is no argument with a name in ``arguments``.
    """
    check_number("threads", threads, lambda x: x >= 1, "a whole number, at least 1", Integral)
    check_function("on_step", on_step)
    valid = (*Arguments.__annotations__, "threads", "on_step")
    for name in arguments:
        if name not in valid:
            raise UnknownNameError("argument of extend_vector()", name, valid)
    given = read(one_of(venv), actions, **arguments)
    extended = ExtendedVectorEnv(venv, given.actions, threads=threads, on_step=on_step, **given.settings)
    given.warn(extended.load_verdicts)
    return extended
