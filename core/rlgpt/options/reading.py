"""Reads the arguments of ``extend()`` and ``extend_vector()``, takes their defaults from the bundle and the plugin, and
checks all values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import gymnasium
from gymnasium import spaces

from rlgpt.domain import Bundle, CodedAction, CodedFunction, RLSetup, Task, Verdict
from rlgpt.errors import ConfigError
from rlgpt.options.arguments import (
    check_names,
    merge_custom_names,
    plugin_and_task,
    read_actions,
    read_sandbox,
    share,
    warn_of_broken,
    warn_of_faults,
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
        """Warn about code that cannot be loaded. Warn about all other code in which lint finds a mistake."""
        warn_of_broken(load_verdicts)
        library = self.settings["library"]
        functions = self.settings["functions"]
        sound = [*functions, *(action for action in self.actions if action.name not in load_verdicts)]
        if sound and library is not None:
            tested = None if self.bundle is None else self.bundle.tested_on
            origin = " of the bundle" * (self.bundle is not None) + (f" for {tested.task}" if tested else "")
            warn_of_faults(sound, library, self.settings["sandbox"], origin)


def read(
    env: gymnasium.Env[Any, Any],
    actions: Bundle | str | Path | Sequence[CodedAction],
    **arguments: Unpack[Arguments],
) -> Given:
    """Read the arguments of :func:`rlgpt.extend`, which documents the errors.

    :param env: the environment to extend, or one environment of a vector.
    """
    from rlgpt.plugin.library import library_of

    base_actions, quarantined = arguments.get("base_actions"), arguments.get("quarantined")
    check_names("base_actions", base_actions)
    check_names("quarantined", quarantined)
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
    functions = arguments.get("functions")
    functions = tuple(functions if functions is not None else bundle.functions if bundle is not None else ())
    gamma, interrupt_every, residual = _numbers(env, arguments, setup)
    plugin, task = _world(env, arguments, bundle)
    settings = Settings(
        plugin=plugin,
        task=task,
        gamma=gamma,
        base_actions=base_actions,
        reward_weights=arguments.get("reward_weights"),
        sandbox=sandbox,
        quarantined=quarantined,
        horizon=arguments.get("horizon"),
        trace=arguments.get("trace", False),
        library=library_of(plugin, task) if chosen or functions else None,
        functions=functions,
        interrupt_every=interrupt_every,
        residual=residual,
    )
    return Given(chosen, settings, bundle)


def _numbers(
    env: gymnasium.Env[Any, Any], arguments: Arguments, setup: RLSetup | None
) -> tuple[float, int | None, float]:
    """The values of ``gamma``, ``interrupt_every`` and ``residual``. An argument that was not given has the value of
    the bundle's setup; without a bundle, it has its default.
    """
    gamma, every, residual = arguments.get("gamma"), arguments.get("interrupt_every"), arguments.get("residual")
    if setup is not None:
        gamma = setup.gamma if gamma is None else gamma
        every = setup.interrupt_every if every is None else every
        if residual is None and isinstance(env.action_space, spaces.Box):
            residual = setup.residual
    gamma, residual = 0.99 if gamma is None else gamma, 0.0 if residual is None else residual
    if not 0 < gamma <= 1:
        raise ConfigError(f"gamma is {gamma}; valid: a discount per primitive step in (0, 1].")
    if not 0 <= residual <= 1:
        raise ConfigError(f"residual is {residual}; valid: a share of half the action's range, in [0, 1].")
    if every is not None and every < 1:
        raise ConfigError(f"interrupt_every is {every}; valid: at least 1 primitive step, or None.")
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
            f"extend_vector() takes a gymnasium vector of environments, got {venv!r:.80} (of type "
            f"{type(venv).__name__}). For one environment use extend(env, ...)."
        )
    envs = getattr(venv, "envs", None)
    one: gymnasium.Env[Any, Any] = _One(venv) if envs is None else envs[0]
    return one
