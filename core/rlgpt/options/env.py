"""The action-space extension: an ordinary gymnasium environment whose extra actions are sandboxed code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from rlgpt.domain import CodedAction, Decision, Plain, Task, Verdict
from rlgpt.errors import UnknownNameError
from rlgpt.options.execution import Call, Execution
from rlgpt.options.guards import Guards
from rlgpt.options.layout import Layout
from rlgpt.options.shaping import Shaping
from rlgpt.options.space import Choice, ExtendedSpace
from rlgpt.options.violations import Violations
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.types import Context

if TYPE_CHECKING:
    from rlgpt.sandbox import Guest, Library, Sandbox


class ExtendedEnv(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """``env`` with K coded actions. Made by :func:`rlgpt.extend`.

    A chosen coded action runs until it returns, the episode ends, its step limit, or a violation. One decision of k
    primitive steps returns ``sum(gamma**i * r_i)`` (options: Sutton, Precup and Singh 1999, section 3), the newest
    observation, and in ``info``:

    ``duration``        k >= 1, the primitive steps of this decision
    ``primitive_steps`` of the episode so far
    ``action``, ``ended``   which branch it was, and how it ended (:data:`rlgpt.domain.Ending`)
    ``total_reward``    undiscounted
    ``action_mask``     int8, shape (branches,): which may start now
    ``reward_terms``    weighted, undiscounted, where reward terms are paid
    ``verdicts``        tuple of :class:`~rlgpt.domain.Verdict`, only where some fell
    ``decision``        a :class:`~rlgpt.domain.Decision`, with ``trace=True``; its ``verdict`` also tells of a choice
                        that was masked because its ``can_start`` failed, or by quarantine

    Errors of coded actions end the action and are recorded; exceptions of ``env.step`` propagate.

    :param library: the plugin's for this task; None where there are no coded actions.
    :ivar load_verdicts: on the actions whose source cannot be loaded, by name.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        actions: Sequence[CodedAction],
        *,
        plugin: EnvironmentPlugin,
        task: Task,
        gamma: float,
        base_actions: Sequence[str] | None,
        reward_weights: Mapping[str, float] | None,
        sandbox: Sandbox | None,
        quarantined: Iterable[str] | None,
        trace: bool,
        library: Library | None,
    ) -> None:
        gym.utils.RecordConstructorArgs.__init__(
            self,
            actions=actions,
            plugin=plugin,
            task=task,
            gamma=gamma,
            base_actions=base_actions,
            reward_weights=reward_weights,
            sandbox=sandbox,
            quarantined=(quarantined := None if quarantined is None else tuple(quarantined)),
            trace=trace,
            library=library,
            _disable_deepcopy=True,
        )
        gym.Wrapper.__init__(self, env)
        self.plugin, self.task, self.gamma, self.trace = plugin, task, gamma, trace
        self._rng = np.random.default_rng()
        self.context = Context(task, None, {}, 0, self._rng, plugin.model(env))
        self.extension = ExtendedSpace(
            env.action_space,
            actions,
            plugin.labels(task).actions,
            base_actions,
            plugin.noop(env.action_space, self.context),
        )
        self.action_space = self.extension.space
        self.actions = self.extension.actions
        self.layout: Layout = self.extension.layout
        self._shaping = Shaping(plugin.reward_terms(task), reward_weights) if reward_weights is not None else None
        self._offset = len(self.layout.branches) - len(self.actions)
        self._guest: Guest | None = None
        self._sandbox, self._library = sandbox, library
        self._mask: np.ndarray | None = None
        self._quarantined: frozenset[str] = frozenset()
        self._next_quarantine = frozenset(quarantined or ())
        self._violations = Violations() if quarantined is None else None
        self._check_names(self._next_quarantine)
        self.load_verdicts: Mapping[str, Verdict] = {}
        conditional = self._prepare() if self.actions else ()
        asks_plugin = type(plugin).applicable is not EnvironmentPlugin.applicable
        names = tuple(a.name for a in self.actions)
        self._guards = Guards(names, conditional, plugin.applicable if asks_plugin else None)

    def _prepare(self) -> tuple[str, ...]:
        """Everything that coded actions need. Returns the names of those with a ``can_start``."""
        from rlgpt.sandbox import Sandbox

        primitives = {p.name: p for p in self.plugin.primitives(self.task)}
        self._sandbox = self._sandbox or Sandbox()
        self._execution = Execution(primitives, self.view, self._advance, keep_calls=self.trace)
        guest = self._open(seed=0)
        states = {a.name: guest.load(a.name) for a in self.actions}
        self.load_verdicts = {n: s for n, s in states.items() if isinstance(s, Verdict) and s.kind != "wall"}
        # Where the wall clock struck nobody knows yet what the source defines: the episodes' guests will tell.
        return tuple(n for n, state in states.items() if state is not False and n not in self.load_verdicts)

    # -- gymnasium ----------------------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._rng = np.random.default_rng([seed, 0x0B710])
        self._close_guest()
        self._quarantined = self._next_quarantine
        self._observation, self._info, self._over = observation, info, (False, False)
        ctx = self.context
        ctx.observation, ctx.info, ctx.step, ctx.rng = observation, {**info, "env_reward": 0.0}, 0, self._rng
        ctx.memory.clear()
        if self._shaping is not None:
            self._shaping.reset(ctx)
        self._verdicts: list[Verdict] = []
        return observation, self._report(dict(info), self._compute_mask())

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if (mask := self._mask) is None:
            raise gym.error.ResetNeeded("step() before reset(): call env.reset() first; it returns the observation.")
        choice = self.extension.read(action)
        self._reward, self._total, self._duration = 0.0, 0.0, 0
        self._terms: dict[str, float] = {}
        self._verdicts = []
        before = self.view() if self.trace else {}
        call = self._carry_out(choice)
        terminated, truncated = self._over
        if self._guards.vary and not (terminated or truncated):
            mask = self._compute_mask()
        info = dict(self._info)
        info.update(
            duration=self._duration,
            primitive_steps=self.context.step,
            action=self.layout.branches[choice.branch] if self.layout.branches else "base",
            ended=call.ended,
            total_reward=self._total,
        )
        if self._shaping is not None:
            info["reward_terms"] = self._terms
        if self.trace:
            info["decision"] = Decision(
                action=info["action"],
                parameters=choice.parameters,
                duration=self._duration,
                reward=self._total,
                ended=call.ended,
                before=before,
                after=self.view(),
                calls=tuple(call.calls),
                verdict=call.verdict,
            )
        return self._observation, self._reward, terminated, truncated, self._report(info, mask)

    def close(self) -> None:
        self._close_guest()
        super().close()

    # -- for trainers and the loop ------------------------------------------------------------------------------------

    def view(self) -> dict[str, Plain]:
        """The plugin's view of this moment, built anew."""
        return self.plugin.view(self.context)

    def quarantine(self, names: Iterable[str]) -> None:
        """Mask these coded actions from the next reset on, instead of those masked before.

        From here on the caller counts: the environment itself takes none out any more.
        """
        names = frozenset(names)
        self._check_names(names)
        self._next_quarantine, self._violations = names, None

    def _check_names(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in {a.name for a in self.actions}:
                raise UnknownNameError("coded action", name, (a.name for a in self.actions))

    # -- one decision -------------------------------------------------------------------------------------------------

    def _carry_out(self, choice: Choice) -> Call:
        if choice.coded is None:
            self._advance(choice.base)
            return Call(steps=1, ended="episode" if any(self._over) else "base")
        if not self._allowed[choice.branch]:
            self._idle()
            return Call(steps=1, ended="masked", verdict=self._why_masked(choice.coded.name))
        call = self._execution.run(self._open_guest(), choice.coded, choice.parameters, self.context)
        if call.verdict is not None:
            self._verdicts.append(call.verdict)
        if self._duration == 0:  # an action that asks for nothing still costs a step
            self._idle()
        return call

    def _idle(self) -> None:
        self._advance(self.plugin.noop(self.env.action_space, self.context))

    def _advance(self, low_level: Any) -> bool:
        """One primitive step; True where the episode ended."""
        observation, env_reward, terminated, truncated, info = self.env.step(low_level)
        self._observation, self._info, self._over = observation, info, (bool(terminated), bool(truncated))
        ctx = self.context
        ctx.observation, ctx.info, ctx.step = observation, {**info, "env_reward": float(env_reward)}, ctx.step + 1
        reward = float(env_reward)
        if self._shaping is not None:
            paid = self._shaping.pay(ctx)
            reward = sum(paid.values())
            for name, value in paid.items():
                self._terms[name] = self._terms.get(name, 0.0) + value
        self._reward += self.gamma**self._duration * reward
        self._total += reward
        self._duration += 1
        return any(self._over)

    def _open_guest(self) -> Guest:
        if self._guest is None:
            self._guest = self._open(seed=int(self._rng.integers(2**31)))
        return self._guest

    def _open(self, *, seed: int) -> Guest:
        assert self._sandbox is not None
        assert self._library is not None
        return self._sandbox.open(self._library, self.actions, seed=seed)

    def _close_guest(self) -> None:
        """Nothing leaks from one episode to the next: the instance goes with it."""
        self._guest = None

    # -- masks --------------------------------------------------------------------------------------------------------

    def _compute_mask(self) -> np.ndarray:
        """Which branches to offer. Where none may start all are offered: choosing one then costs a no-op."""
        offer = self._guards.offer(self._quarantined, self.view, self._open_guest)
        self._verdicts += offer.refusals.values()
        self._refusals = offer.refusals
        self._allowed = np.ones(len(self.layout.branches), np.int8)
        for i, action in enumerate(self.actions, start=self._offset):
            self._allowed[i] = action.name in offer.allowed
        self._mask = self._allowed if self._allowed.any() else np.ones_like(self._allowed)
        return self._mask

    def _why_masked(self, name: str) -> Verdict | None:
        """What kept a coded action from starting; None where it was the plugin, or its own ``can_start``."""
        if name in self._quarantined:
            return Verdict(kind="quarantined", action=name, message="its earlier verdicts say what was wrong")
        return self._refusals.get(name)

    def _report(self, info: dict[str, Any], mask: np.ndarray) -> dict[str, Any]:
        info["action_mask"] = mask.copy()
        if self._verdicts:
            info["verdicts"] = tuple(self._verdicts)
            if self._violations is not None:
                self._violations.add(self._verdicts)
                self._next_quarantine |= self._violations.caught
        return info
