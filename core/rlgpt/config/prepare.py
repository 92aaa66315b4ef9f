"""Makes a plugin for an environment that has none, and tests the environment before a run spends steps or tokens."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium

from rlgpt.domain import CodedAction, Metric, Plain, Score, Task
from rlgpt.errors import ConfigError, RlgptError
from rlgpt.options import ExtendedSpace
from rlgpt.plugin.defaults import Named
from rlgpt.plugin.generic import GenericPlugin, MakeEnv
from rlgpt.plugin.judged import Success
from rlgpt.plugin.parts import unusable
from rlgpt.plugin.rules import REPORTED
from rlgpt.plugin.types import Primitive, StateCodec
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.policy_env import PolicyEnv, build
from rlgpt.sandbox import SandboxLimits

_API = (
    "It must follow gymnasium's API (reset -> observation, info; step -> observation, reward, terminated, truncated, "
    "info): gymnasium.utils.env_checker.check_env(make_env()) shows the faults."
)
_ANY = CodedAction(name="any", doc="a placeholder", source="")


@dataclass(frozen=True)
class ConstantPluginFactory:
    """A function ``f(task) -> plugin`` for :class:`~rlgpt.rl.base.EnvSpec` that always returns the same plugin.

    Trainers with worker processes pickle this function, which is possible if the plugin's ``make_env`` can be pickled.
    For example, ``functools.partial(gymnasium.make, ID)`` can be pickled, but a lambda cannot.
    """

    plugin: GenericPlugin

    def __call__(self, task: Task) -> GenericPlugin:
        return self.plugin


def prepare(
    make_env: MakeEnv | str,
    goal: str,
    *,
    docs: str | None = None,
    labels: Named | None = None,
    observations: Named | None = None,
    success: Success | str | float | None = None,
    score: Score | None = None,
    metrics: Mapping[str, Metric] | None = None,
    horizon: int | None = None,
    primitives: Sequence[Primitive] = (),
    idle: Any = None,
    states: StateCodec | None = None,
    limits: SandboxLimits | None = None,
    recorded_in: str | None = None,
) -> tuple[GenericPlugin, Task]:
    """Make the plugin and the task for the environments that the function ``make_env`` makes. One step is taken in one
    environment.

    The other arguments are those of :func:`rlgpt.design`. If the user gives neither success nor score, the first step
    of the environment decides. If this step reports ``success`` or ``is_success`` in ``info``, the reported value is
    the success; otherwise the return is the score.

    :param recorded_in: the folder of the existing run that has this environment; None for a new run.
    :raises ConfigError: ``make_env`` raises an exception, or its environment cannot be played, observed, extended or
        judged.
    """
    make = functools.partial(gymnasium.make, make_env) if isinstance(make_env, str) else make_env
    if not isinstance(goal, str) or not goal.strip():
        raise ConfigError(f"goal is {goal!r}; it must be a sentence that describes what the policy must achieve.")
    first = _make(make, recorded_in)
    first.close()
    faults = unusable(first.observation_space)
    if faults:
        raise ConfigError(" ".join(faults))
    plugin = GenericPlugin.of(
        make,
        goal=goal.strip(),
        labels=labels,
        observations=observations,
        docs=docs or "",
        success=REPORTED if success is None and score is None else success,
        score=score,
        metrics=metrics,
        horizon=horizon,
        primitives=primitives,
        idle=idle,
        states=states,
    )
    reported = _play(plugin, only(plugin.tasks()), first, limits or SandboxLimits())
    if success is None and score is None and not reported:
        plugin = plugin.judged_by(None, Score())
    return plugin, only(plugin.tasks())


def only(tasks: Mapping[str, Task]) -> Task:
    """The only task of a plugin."""
    (task,) = tasks.values()
    return task


def _make(make: Callable[..., Any], recorded_in: str | None) -> gymnasium.Env[Any, Any]:
    if isinstance(make, gymnasium.Env) or not callable(make):
        raise ConfigError(
            f"make_env is {make!r}; give a function that makes a new environment each time, such as "
            "functools.partial(gymnasium.make, ID), or an environment's registered id."
        )
    if isinstance(make, functools.partial) and make.func is gymnasium.make and make.args:
        env_id = str(make.args[0])
        env = guarded(f"gymnasium.make({env_id!r}) raised", _registered(env_id, recorded_in), make)
    else:
        env = guarded("make_env() raised", "It is called without arguments and returns a new environment.", make)
    if not isinstance(env, gymnasium.Env):
        raise ConfigError(
            f"make_env() returned {env!r}, a {type(env).__name__}; it must return a gymnasium.Env. {_API}"
        )
    return env


def _registered(env_id: str, recorded_in: str | None) -> str:
    """Advice for a user whose environment id is unknown to gymnasium."""
    module, colon, name = env_id.rpartition(":")
    if colon:
        return (
            f"{module!r} must be installed, or be importable (start with PYTHONPATH=. in the folder of its module), "
            f"and must register {name!r} when it is imported."
        )
    if recorded_in is not None and env_id not in gymnasium.registry:
        return (
            "The script that began this run registered the environment itself. Move the registration to a module, and "
            f"repeat the call of design() once with the id 'MODULE:{env_id}' and folder={recorded_in!r}; it repeats no "
            "finished stage. Then this command finds the environment, if MODULE can be imported."
        )
    return (
        "Valid are gymnasium's own environments and those of imported modules. Write MODULE:ENV_ID to import a "
        "module first, for example highway_env:merge-v0 or ale_py:ALE/Freeway-v5. `python -c 'import gymnasium; "
        "gymnasium.pprint_registry()'` lists gymnasium's own."
    )


def _play(plugin: GenericPlugin, task: Task, other: gymnasium.Env[Any, Any], limits: SandboxLimits) -> bool:
    """Take one step in the environment as a policy does, and check the view. The function returns whether the
    environment reported ``success``.
    """
    spec = EnvSpec(task, plugin.default_setup(task), (), ConstantPluginFactory(plugin))
    env: PolicyEnv = guarded("the environment's reset(seed=0) raised", _API, build, spec, seed=0, evaluation=True)
    try:
        if env.unwrapped is other.unwrapped:
            raise ConfigError(
                "make_env() returned the same environment twice; it must make a new environment at each call."
            )
        guarded("the environment's reset(seed=0) raised", _API, env.reset, seed=0)
        base, ctx = env.extended.env.action_space, env.extended.context
        ExtendedSpace(base, [_ANY], plugin.labels(task).actions, None, plugin.noop(base, ctx))
        _fits(guarded("the view of its first observation raised", _API, plugin.view, ctx), limits)
        env.action_space.seed(0)
        guarded("the environment's step() raised", _API, env.step, env.action_space.sample())
        _fits(guarded("the view after its first step raised", _API, plugin.view, ctx), limits)
        return bool(env.get_wrapper_attr("reported"))
    finally:
        env.close()


def _fits(view: Mapping[str, Plain], limits: SandboxLimits) -> None:
    """Check the size of the view.

    :raises ConfigError: the view is too large for the sandbox.
    """
    sizes = {name: len(json.dumps(value)) for name, value in view.items()}
    total = len(json.dumps(view).encode())
    if total > limits.view_bytes:
        largest = ", ".join(f"{name} {sizes[name]:,}" for name in sorted(sizes, key=sizes.__getitem__)[:-4:-1])
        raise ConfigError(
            f"the view for code has {total:,} bytes ({largest}); the sandbox accepts at most {limits.view_bytes:,}. "
            "Leave parts out (gymnasium.wrappers.FilterObservation), make them smaller "
            "(TransformObservation, ResizeObservation), name fewer numbers, or allow more: "
            "sandbox.view_bytes=BYTES, or design(..., sandbox={'view_bytes': BYTES})."
        )


def guarded(what: str, advice: str, call: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """Call a function of the user. An exception that the user's function raises becomes a ConfigError.

    :param what: the beginning of the error message, which says what raised the exception.
    :param advice: the end of the error message, which tells the user what to do.
    """
    try:
        return call(*args, **more)
    except RlgptError:
        raise
    except Exception as fault:
        text = " ".join(str(fault).split())[:500].rstrip(".") or "no message"
        raise ConfigError(f"{what} {type(fault).__name__}: {text}. {advice}") from fault
