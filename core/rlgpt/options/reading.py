"""Reads the arguments of ``extend()`` and ``extend_vector()``, takes their defaults from the bundle and the plugin, and
checks all values.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import gymnasium
from gymnasium import spaces

from rlgpt.domain import Bundle, CodedAction, CodedFunction, RLSetup, Task, Verdict
from rlgpt.errors import BundleError, ConfigError
from rlgpt.options.arguments import (
    BrokenActionWarning,
    check_number,
    lint_warnings,
    load_warnings,
    merge_custom_names,
    plugin_and_task,
    read_actions,
    read_functions,
    read_names,
    read_sandbox,
    read_weights,
    share,
    unreadable_warnings,
)
from rlgpt.options.lane_setup import Settings

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.plugin.defaults import Named
    from rlgpt.sandbox import Sandbox, SandboxLimits


class Arguments(TypedDict, total=False):
    """The optional arguments of :func:`rlgpt.extend`, which documents them."""

    plugin: EnvironmentPlugin | None
    task: Task | str | None
    labels: Named | None
    observations: Named | None
    idle: Any
    gamma: float | None
    base_actions: Sequence[str] | None
    reward_weights: Mapping[str, float] | None
    sandbox: Sandbox | SandboxLimits | Mapping[str, Any] | None
    quarantined: Iterable[str] | None
    horizon: int | None
    trace: bool
    functions: Sequence[CodedFunction] | None
    interrupt_every: int | None
    residual: float | None
    shared: str | None


@dataclass(frozen=True)
class Given:
    """The checked arguments of :func:`rlgpt.extend`, with defaults for the arguments that were not given.

    :ivar bundle: the bundle that contains the coded actions; None if the coded actions were given as a list.
    """

    actions: tuple[CodedAction, ...]
    settings: Settings
    bundle: Bundle | None

    def warn(self, load_verdicts: Mapping[str, Verdict]) -> None:
        """Warn about code that cannot be loaded, and about all other code in which lint finds a mistake.

        :raises BundleError: all coded actions of a bundle for another task have a fault.
        """
        found = list(load_warnings(load_verdicts))
        library = self.settings["library"]
        functions = self.settings["functions"]
        sound = [*functions, *(action for action in self.actions if action.name not in load_verdicts)]
        tested = None if self.bundle is None else self.bundle.tested_on
        if sound and library is not None:
            origin = " of the bundle" * (self.bundle is not None) + (f" for {tested.task}" if tested else "")
            found += lint_warnings(sound, library, self.settings["sandbox"], origin)
        task, broken = self.settings["task"].id, {name for name, _ in found}
        if tested and tested.task != task and self.actions and broken.issuperset(a.name for a in self.actions):
            raise BundleError(
                f"this bundle is for the task {tested.task}, and all its coded actions are broken in {task}, for "
                f"example: {found[0][1]} Extend an environment of the bundle's task; if the task has a plugin, give it "
                "as plugin=."
            )
        for _, message in found:
            warnings.warn(message, BrokenActionWarning, stacklevel=3)


def read(
    env: gymnasium.Env[Any, Any],
    actions: Bundle | str | Path | Sequence[CodedAction],
    **arguments: Unpack[Arguments],
) -> Given:
    """Read the arguments of :func:`rlgpt.extend`, which documents the errors.

    :param env: the environment to extend, or one environment of a vector.
    """
    from rlgpt.plugin.library import library_of

    base_actions = read_names("base_actions", arguments.get("base_actions"))
    quarantined = read_names("quarantined", arguments.get("quarantined"))
    sandbox = read_sandbox(arguments.get("sandbox"))
    given = read_actions(actions)
    bundle = given if isinstance(given, Bundle) else None
    setup = None if bundle is None else bundle.setup
    chosen = given.actions if isinstance(given, Bundle) else given
    if setup is not None:
        chosen = tuple(a for a in chosen if a.name in setup.coded_actions)
        base_actions = setup.base_actions if base_actions is None else base_actions
    if (shared := arguments.get("shared")) is not None:
        chosen = share(chosen, shared)
    given_functions = arguments.get("functions")
    if given_functions is None:
        given_functions = () if bundle is None else bundle.functions
    functions = read_functions(given_functions)
    if not isinstance(trace := arguments.get("trace", False), bool):
        raise ConfigError(f"trace is {trace!r:.80}; valid: True or False.")
    gamma, interrupt_every, residual = _numbers(env, arguments, setup, has_coded=bool(chosen))
    plugin, task = _world(env, arguments, bundle)
    if arguments.get("plugin") is None and (chosen or functions):
        for message in unreadable_warnings(env.observation_space):
            warnings.warn(message, stacklevel=3)
    settings = Settings(
        plugin=plugin,
        task=task,
        gamma=gamma,
        base_actions=base_actions,
        reward_weights=read_weights(arguments.get("reward_weights")),
        sandbox=sandbox,
        quarantined=quarantined,
        horizon=arguments.get("horizon"),
        trace=trace,
        library=library_of(plugin, task) if chosen or functions else None,
        functions=functions,
        interrupt_every=interrupt_every,
        residual=residual,
    )
    return Given(chosen, settings, bundle)


def _numbers(
    env: gymnasium.Env[Any, Any], arguments: Arguments, setup: RLSetup | None, *, has_coded: bool
) -> tuple[float, int | None, float]:
    """The values of ``gamma``, ``interrupt_every`` and ``residual``. An argument that was not given has the value of
    the bundle's setup; without a bundle, it has its default.

    :param has_coded: whether there are coded actions. Without coded actions, ``interrupt_every`` and ``residual`` of
        the bundle's setup do not apply.
    :raises ConfigError: one of these arguments, or ``horizon``, is not a number or out of range.
    """
    gamma, every, residual = arguments.get("gamma"), arguments.get("interrupt_every"), arguments.get("residual")
    if setup is not None:
        gamma = setup.gamma if gamma is None else gamma
        every = setup.interrupt_every if every is None and has_coded else every
        if residual is None and has_coded and isinstance(env.action_space, spaces.Box):
            residual = setup.residual
    gamma, residual = 0.99 if gamma is None else gamma, 0.0 if residual is None else residual
    check_number("gamma", gamma, lambda x: 0 < x <= 1, "a discount per primitive step in (0, 1]")
    check_number("residual", residual, lambda x: 0 <= x <= 1, "a share of half the action's range, in [0, 1]")
    for name, steps in (("interrupt_every", every), ("horizon", arguments.get("horizon"))):
        if steps is not None:
            check_number(name, steps, lambda x: x >= 1, "at least 1 primitive step, or None", Integral)
    return gamma, every, residual


def _world(env: gymnasium.Env[Any, Any], arguments: Arguments, bundle: Bundle | None) -> tuple[EnvironmentPlugin, Task]:
    plugin = arguments.get("plugin")
    world = merge_custom_names(
        plugin,
        None if bundle is None else bundle.world,
        labels=arguments.get("labels"),
        observations=arguments.get("observations"),
        idle=arguments.get("idle"),
    )
    return plugin_and_task(env, plugin, arguments.get("task"), world, bundled=bundle is not None)


class _One(gymnasium.Env[Any, Any]):
    """Describes one environment of a batch simulator by its spaces. The names and the defaults of arguments follow from
    these spaces.
    """

    def __init__(self, venv: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
        self.action_space, self.observation_space = venv.single_action_space, venv.single_observation_space
        self.spec = venv.spec


def one_of(venv: object) -> gymnasium.Env[Any, Any]:
    """One environment of the vector ``venv``. For a batch simulator, ``one_of`` returns an object that has only the
    spaces of one environment.

    :raises ConfigError: ``venv`` is not a vector.
    """
    if not isinstance(venv, gymnasium.vector.VectorEnv):
        raise ConfigError(
            f"extend_vector() takes a gymnasium vector of environments, such as gymnasium.make_vec(ID, num_envs=8); "
            f"got {venv!r:.80} (of type {type(venv).__name__}). For one environment use extend(env, ...)."
        )
    envs = getattr(venv, "envs", None)
    one: gymnasium.Env[Any, Any] = _One(venv) if envs is None else envs[0]
    return one
