"""``Stage`` plays a plugin's environment and primitives without a sandbox, for tests."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rlgpt.domain import Parameter, Plain, Task
from rlgpt.errors import PluginError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.types import Context, Primitive
from rlgpt.rl.policy_env import on_error

COMPUTING_SECONDS = 30.0
"""Maximal time for which a primitive may compute before it yields its next action or returns: processor time of this
process in seconds, so that time in which the process waits does not count.
"""


@dataclass
class Call:
    """The record of one call of a primitive.

    :ivar outcome: the dict that the primitive returned; None if the primitive did not return.
    :ivar actions: the low-level actions that the primitive yielded, in order.
    :ivar invalid: the first yielded low-level action that is outside its space; empty if all yielded actions are valid.
        The call ends at such an action.
    :ivar overran: whether the primitive yielded more than ``max_steps`` low-level actions.
    :ivar success: whether ``info["success"]`` was True at one of the steps of the primitive's call.
    """

    outcome: Mapping[str, Plain] | None = None
    actions: list[Any] = field(default_factory=list)
    invalid: list[Any] = field(default_factory=list)
    overran: bool = False
    success: bool = False


class Stage:
    """One environment of a task, with the context that the plugin's methods get.

    :param seed: seed of the environment and of its first episode, which begins at once.
    :ivar env: the environment that the plugin made.
    :ivar context: the context, which :meth:`reset` and :meth:`step` update.
    :ivar over: whether the episode has ended.
    """

    def __init__(self, plugin: EnvironmentPlugin, task: Task, *, seed: int = 0) -> None:
        self.plugin, self.task = plugin, task
        self.env = plugin.make_env(task, seed=seed)
        self.over = False
        with on_error(self.env.close):
            self._low_level = plugin.low_level_space(self.env)
            self.context = Context(task, None, {}, 0, np.random.default_rng(seed), plugin.model(self.env))
            self.reset(seed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.env.close()

    def reset(self, seed: int, options: Mapping[str, Any] | None = None) -> Any:
        """Begin an episode.

        :returns: the first observation.
        """
        observation, info = self.env.reset(seed=seed, options=dict(options) if options is not None else None)
        ctx = self.context
        ctx.previous, ctx.observation, ctx.info, ctx.step = None, observation, {**info, "env_reward": 0.0}, 0
        ctx.rng = np.random.default_rng(seed)
        ctx.memory.clear()
        self.env.action_space.seed(seed)
        self.over = False
        return observation

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one primitive step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        ctx = self.context
        ctx.previous, ctx.observation = ctx.observation, observation
        ctx.info, ctx.step = {**info, "env_reward": float(reward)}, ctx.step + 1
        self.over = terminated or truncated
        return observation, float(reward), terminated, truncated, info

    def random(self, steps: int) -> list[Any]:
        """Take random actions until ``steps`` actions are taken or the episode ends.

        :returns: the actions that were taken.
        """
        actions: list[Any] = []
        while len(actions) < steps and not self.over:
            actions.append(self.env.action_space.sample())
            self.step(actions[-1])
        return actions

    def call(self, primitive: Primitive, args: Mapping[str, Plain]) -> Call:
        """Run a primitive until it returns, yields too many actions or an invalid action, or until the episode ends.

        :raises PluginError: the primitive is not a generator function, or it computes for
            :data:`COMPUTING_SECONDS` without an action. The time is limited only in the main thread of a POSIX system.
        """
        call = Call()
        with _limited(primitive, args):
            run = primitive.start(self.context, args)
        try:
            while not self.over:
                with _limited(primitive, args):
                    action = next(run)
                if len(call.actions) == primitive.max_steps:
                    call.overran = True
                    break
                if action not in self._low_level:
                    call.invalid.append(action)
                    break
                call.actions.append(action)
                info = self.step(action)[4]
                call.success |= bool(info.get("success"))
        except StopIteration as end:
            call.outcome = end.value if end.value is not None else {}
        finally:
            run.close()
        return call


class _Endless(BaseException):
    """Raised in a primitive that computes for too long. It is not an Exception, so the primitive does not catch it."""


@contextmanager
def _limited(primitive: Primitive, args: Mapping[str, Plain]) -> Iterator[None]:
    """Limit the time for which the primitive computes to :data:`COMPUTING_SECONDS`."""
    if not hasattr(signal, "SIGVTALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _Endless

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, COMPUTING_SECONDS)
    try:
        yield
    except _Endless:
        given = ", ".join(f"{k}={v!r}" for k, v in args.items())
        raise PluginError(
            f"the primitive {primitive.name}({given}) computes for {COMPUTING_SECONDS:g} s without yielding an action "
            "or returning. Yield an action in each pass of its loop, or return."
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def arguments(parameters: Sequence[Parameter], count: int, seed: int = 0) -> list[dict[str, Plain]]:
    """At most ``count`` different combinations of values for the primitive's parameters. The first combination has the
    defaults, the next two have the ends of all ranges, and all others have random values. The choices of a parameter
    are used in turn, so that each choice occurs if ``count`` is large enough.
    """
    rng = np.random.default_rng(seed)
    settings: list[dict[str, Plain]] = []
    for turn in range(4 * count):
        args = {p.name: _value(p, turn, rng) for p in parameters}
        if args not in settings:
            settings.append(args)
        if len(settings) == count:
            break
    return settings


def _value(p: Parameter, turn: int, rng: np.random.Generator) -> Plain:
    if turn == 0:
        return p.default
    if p.kind == "bool":
        return bool(rng.integers(2))
    if p.kind == "choice":
        return p.choices[(turn + p.choices.index(str(p.default))) % len(p.choices)]
    assert p.low is not None
    assert p.high is not None
    if p.kind == "int":
        return int({1: p.low, 2: p.high}.get(turn, rng.integers(int(p.low), int(p.high) + 1)))
    return float({1: p.low, 2: p.high}.get(turn, rng.uniform(p.low, p.high)))
