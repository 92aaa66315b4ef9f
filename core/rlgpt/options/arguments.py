"""Checks of the arguments of ``extend()``. Each error message about an argument lists the valid values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium

from rlgpt.domain import (
    Bundle,
    CodedAction,
    CodedFeatures,
    CodedFunction,
    CodedPredicate,
    CodedReward,
    Task,
    Verdict,
    World,
)
from rlgpt.domain.validated import validated
from rlgpt.errors import BundleError, ConfigError, UnknownNameError
from rlgpt.options.sharing import read_bundle

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.plugin.defaults import Named
    from rlgpt.sandbox import Library, Sandbox, SandboxLimits


MAX_LINTED = 16
"""Maximal number of sources that are linted. Lint of one source may take half a second, and an untrusted bundle may
contain hundreds of sources.
"""


class BrokenActionWarning(UserWarning):
    """Warns that the source of a coded action or function cannot be loaded, or that lint finds a mistake in it, for
    example a primitive that is never yielded. The environment contains the coded action or function in spite of this
    warning.
    """


def check_environment(env: object) -> None:
    """Check that ``env`` is one gymnasium environment.

    :raises ConfigError: ``env`` is not a gymnasium environment, or ``env`` is a vector of environments.
    """
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise ConfigError(
            "extend() takes one environment, got a vector of environments. Use extend_vector(venv, actions)."
        )
    if not isinstance(env, gymnasium.Env):
        hint = f"extend(gymnasium.make({env!r}), ...)" if isinstance(env, str) else "extend(gymnasium.make(...), ...)"
        raise ConfigError(f"extend() takes a gymnasium environment, got {_describe(env)}. Make it first: {hint}.")


def read_actions(actions: object) -> Bundle | tuple[CodedAction, ...]:
    """Convert ``actions`` to a bundle (from a bundle or a path), or to a tuple of coded actions.

    :raises ConfigError: ``actions`` is not a bundle, a path or a list of coded actions.
    :raises BundleError: the bundle at the path cannot be read.
    """
    if isinstance(actions, (str, Path)):
        return read_bundle(Path(actions))
    if isinstance(actions, Bundle):
        return actions
    valid = "Valid: a Bundle, the path of one, or a list of CodedAction(name=..., doc=..., source=...)"
    if isinstance(actions, CodedAction):
        raise ConfigError(f"actions is one CodedAction, {actions.name!r}. {valid}: put it into a list.")
    if isinstance(actions, Mapping) or not isinstance(actions, Iterable):
        raise ConfigError(f"actions is {_describe(actions)}. {valid}.")
    listed = tuple(actions)
    for action in listed:
        if not isinstance(action, CodedAction):
            raise ConfigError(f"actions contains {_describe(action)}. {valid}.")
    return listed


def read_functions(functions: object) -> tuple[CodedFunction, ...]:
    """:raises ConfigError: ``functions`` is not a list of coded functions."""
    listed = tuple(functions) if isinstance(functions, Iterable) else (functions,)
    for function in listed:
        if not isinstance(function, CodedFeatures | CodedReward | CodedPredicate):
            raise ConfigError(
                f"functions contains {_describe(function)}. Valid: a list of CodedFeatures, CodedReward and "
                "CodedPredicate, whose source is text."
            )
    return listed


def read_weights(weights: object) -> Mapping[str, float] | None:
    """:raises ConfigError: ``weights`` is not a mapping from names to finite numbers."""
    if weights is None:
        return None
    valid = "Valid: reward term -> weight, such as {'env_reward': 1.0}; another reward is a CodedReward in functions="
    if not isinstance(weights, Mapping):
        raise ConfigError(f"reward_weights is {_describe(weights)}. {valid}.")
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, Real) or not math.isfinite(weight):
            raise ConfigError(f"reward_weights[{name!r}] is {_describe(weight)}. {valid}.")
    return weights


def check_number(
    argument: str, value: object, inside: Callable[[Any], bool], valid: str, kind: type[Real | Integral] = Real
) -> None:
    """:raises ConfigError: ``value`` is not a number of the type ``kind``, or not ``inside`` the valid range."""
    if isinstance(value, bool) or not isinstance(value, kind) or not inside(value):
        raise ConfigError(f"{argument} is {value!r:.80}; valid: {valid}.")


def check_function(argument: str, value: object) -> None:
    """:raises ConfigError: ``value`` is neither a function nor None."""
    if value is not None and not callable(value):
        raise ConfigError(f"{argument} is {_describe(value)}; valid: a function, or None.")


def read_sandbox(sandbox: Sandbox | SandboxLimits | Mapping[str, Any] | None) -> Sandbox | None:
    """Return the given sandbox, or a new sandbox with the given limits. For None, ``read_sandbox`` returns None, which
    means the default sandbox.

    :raises ConfigError: the argument ``sandbox`` has none of the valid types, or a limit has an invalid value.
    :raises UnknownNameError: the sandbox has no limit with a given name.
    """
    from rlgpt.sandbox import Sandbox, SandboxLimits

    if sandbox is None or isinstance(sandbox, Sandbox):
        return sandbox
    if isinstance(sandbox, SandboxLimits):
        return Sandbox(sandbox)
    if isinstance(sandbox, Mapping):
        return Sandbox(validated(SandboxLimits, sandbox, "sandbox"))
    raise ConfigError(
        f'sandbox is {_describe(sandbox)}. Valid: a Sandbox, SandboxLimits, or some by name: {{"yields": 100}}.'
    )


def read_names(argument: str, names: Iterable[str] | None) -> tuple[str, ...] | None:
    """:raises ConfigError: the argument ``names`` is not a list of strings."""
    if names is None:
        return None
    if isinstance(names, str):
        raise ConfigError(f"{argument} is the text {names!r}; give a list of names: {argument}=[{names!r}].")
    listed = tuple(names) if isinstance(names, Iterable) else ()
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in listed):
        raise ConfigError(f"{argument} is {_describe(names)}; give a list of names.")
    return listed


def share(actions: Sequence[CodedAction], shared: str) -> tuple[CodedAction, ...]:
    """Return ``actions`` with the source ``shared`` as their shared code.

    :raises ConfigError: ``shared`` is not text.
    """
    if not isinstance(shared, str):
        raise ConfigError(f"shared is {_describe(shared)}. Valid: the source of helper functions, as text.")
    return tuple(action.model_copy(update={"shared": shared}) for action in actions)


def merge_custom_names(
    plugin: EnvironmentPlugin | None,
    world: World | None,
    *,
    labels: Named | None,
    observations: Named | None,
    idle: Any,
) -> World | None:
    """Return the names of actions and observations in the bundle, with the user's names in place of the bundle's names.

    :raises ConfigError: names of actions or observations are given together with a plugin; a plugin has its own names.
    """
    from rlgpt.plugin.defaults import with_meanings
    from rlgpt.plugin.idle import plain_idle

    names = {k: v for k, v in (("labels", labels), ("observations", observations)) if v is not None}
    given = [*names, *(["idle"] if idle is not None else [])]
    if plugin is not None and given:
        raise ConfigError(
            f"{' and '.join(given)} cannot be given together with plugin={plugin.name!r}, which has its own. Leave "
            "them out, or give them to the plugin: GenericPlugin.of(env, labels=..., observations=..., idle=...)."
        )
    if not given:
        return world
    for argument, of_argument in names.items():
        read_names(argument, of_argument)
    custom: dict[str, Any] = {key: with_meanings(given_names) for key, given_names in names.items()}
    if idle is not None:
        custom["idle"] = plain_idle(idle)
    return (world or World()).model_copy(update=custom)


def plugin_and_task(
    env: gymnasium.Env[Any, Any],
    plugin: EnvironmentPlugin | None,
    task: Task | str | None,
    world: World | None,
    *,
    bundled: bool,
) -> tuple[EnvironmentPlugin, Task]:
    """Return the plugin and the chosen task. If no plugin is given, a generic plugin for the environment is returned.

    :param bundled: whether the coded actions come from a bundle.
    :raises BundleError: the bundle's actions call custom primitives that no plugin provides.
    :raises UnknownNameError: the plugin has no task with the given id.
    :raises ConfigError: the plugin has several tasks, and no task is given.
    """
    from rlgpt.plugin.base import EnvironmentPlugin

    if not isinstance(plugin, EnvironmentPlugin | None):
        raise ConfigError(
            f"plugin is {_describe(plugin)}. Valid: an EnvironmentPlugin, such as "
            "rlgpt.plugin.PluginManager().plugin(NAME) for an installed one, or None."
        )
    if not isinstance(task, Task | str | None):
        raise ConfigError(f"task is {_describe(task)}. Valid: a Task of the plugin, or its id.")
    hint = ""
    if plugin is None:
        from rlgpt.plugin.generic import GenericPlugin

        world = world or World()
        if world.primitives:
            raise BundleError(
                f"this bundle's actions call custom primitives: {', '.join(world.primitives)}. A bundle does not "
                "contain primitives. Pass them: extend(env, actions, plugin=GenericPlugin.of(env, primitives=[...], "
                "labels=..., ...))."
            )
        own_task = task if isinstance(task, Task) else None
        try:
            plugin = GenericPlugin.of(
                env,
                own_task,
                labels=world.labels,
                observations=world.observations,
                idle=world.idle,
                success=world.success,
                score=world.score,
                metrics=world.metrics,
            )
        except ConfigError as fault:
            if bundled and world != World():
                raise ConfigError(
                    f"{fault} The names are those of the bundle, replaced by labels=, observations=, idle= if given. "
                    "The bundle was made for another environment, or for one with other wrappers."
                ) from fault
            raise
        hint = "Without plugin= there is only one task, that of the environment: leave task= out, or give the plugin."
    if isinstance(task, Task):
        return plugin, task
    tasks = plugin.tasks()
    if isinstance(task, str):
        if task not in tasks:
            raise UnknownNameError("task", task, tasks, hint)
        return plugin, tasks[task]
    if len(tasks) != 1:
        raise ConfigError(f"plugin {plugin.name!r} has {len(tasks)} tasks; choose one with task=: {sorted(tasks)}.")
    return plugin, next(iter(tasks.values()))


def load_warnings(verdicts: Mapping[str, Verdict]) -> Iterator[tuple[str, str]]:
    """For each coded action whose source cannot be loaded, its name and a warning with the message of its verdict."""
    for name, verdict in verdicts.items():
        where = f", line {verdict.line}" if verdict.line is not None else ""
        yield (
            name,
            f"coded action {name!r} cannot be loaded{where}: {verdict.message}. Fix its source: a decision for "
            "this action costs one step and ends with a violation.",
        )


def lint_warnings(
    codes: Sequence[CodedAction | CodedFunction], library: Library, sandbox: Sandbox | None, origin: str
) -> Iterator[tuple[str, str]]:
    """For each action and function in whose source lint finds a mistake, its name and a warning with lint's message.

    :param origin: the text " of the bundle" or " of the bundle for TASK" for code of a bundle; an empty text for other
        code.
    """
    from rlgpt.sandbox import SandboxLimits, faults

    limits = SandboxLimits() if sandbox is None else sandbox.limits
    for code in codes[:MAX_LINTED]:
        messages = [f"line {v.line}: {v.message}" if v.line else v.message for v in faults(code, library, limits)]
        kind = "coded action" if isinstance(code, CodedAction) else code.type
        if messages:
            more = f" And {len(messages) - 1} more." if messages[1:] else ""
            yield code.name, f"{kind} {code.name!r}{origin} has a fault, {messages[0]}.{more} Fix its source."


def unreadable_warnings(space: gymnasium.Space[Any]) -> Iterator[str]:
    """For each part of an observation that the view of a GenericPlugin leaves out, a warning."""
    from rlgpt.plugin.parts import parts

    for part in parts(space):
        if part.kind == "unreadable":
            yield (
                f"the observation's part {part.name!r} is {part.space!s:.120}; code cannot read it, and its view "
                "leaves it out. If code needs it, turn it into numbers with gymnasium.wrappers.TransformObservation."
            )


def _describe(value: object) -> str:
    return f"{value!r:.80} (of type {type(value).__name__})"
