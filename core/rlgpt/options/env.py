"""The action-space extension: an ordinary gymnasium environment whose extra actions are sandboxed code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from rlgpt.domain import CodedAction, CodedFunction, Decision, Plain, Task, Verdict
from rlgpt.errors import StateError, UnknownNameError
from rlgpt.options.decision import DecisionState, OnStep
from rlgpt.options.execution import Call, Execution
from rlgpt.options.functions import StepFunctions, Taken
from rlgpt.options.guards import Guards
from rlgpt.options.layout import ActionLayout
from rlgpt.options.measurement import Measurement
from rlgpt.options.shaping import Shaping
from rlgpt.options.space import Choice, ExtendedSpace
from rlgpt.options.violations import Violations
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.parts import shown
from rlgpt.plugin.states import EpisodeState, restore_episode, save_episode
from rlgpt.plugin.types import Context, StateCodec, ViewKey

if TYPE_CHECKING:
    from rlgpt.sandbox import Guest, Library, Sandbox


class ExtendedEnv(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """``env`` with K coded actions. Made by :func:`rlgpt.extend`.

    A chosen coded action runs until it returns, the episode ends, its step limit, or a violation. One decision of k
    primitive steps returns ``sum(gamma**i * r_i)`` (options: Sutton, Precup and Singh 1999, section 3), the newest
    observation, and in ``info``:

    ``duration``        k >= 1, the primitive steps of this decision
    ``primitive_steps`` of the episode so far; after :meth:`restore_episode`, since then
    ``success``         bool: whether any of the k steps had ``info["success"]``, if the environment reports it
    ``action``, ``ended``   the chosen branch, and how it ended (:data:`rlgpt.domain.Ending`)
    ``total_reward``    undiscounted
    ``predicates``      name -> bool, if there are coded predicates
    ``metrics``, ``score``  of the episode so far, if the task declares them (:class:`rlgpt.domain.Metric`)
    ``action_mask``     int8, shape (branches,): which may start now
    ``reward_terms``    weighted, undiscounted, if reward terms are paid
    ``verdicts``        tuple of :class:`~rlgpt.domain.Verdict`, if there are any
    ``decision``        a :class:`~rlgpt.domain.Decision`, with ``trace=True``; its ``verdict`` also explains a choice
                        that was masked because its ``can_start`` failed, or by quarantine

    Errors of coded actions end the action and are recorded; exceptions of ``env.step`` propagate.

    :param library: the plugin's for this task; None where there are no coded actions.
    :ivar context: the state that the plugin reads; ``context.step`` is the one count of the episode's primitive steps.
    :ivar measurement: metrics and score of the episode so far.
    :ivar load_verdicts: name -> verdict, for the actions whose source cannot be loaded.
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
        horizon: int | None,
        on_step: OnStep | None,
        trace: bool,
        library: Library | None,
        functions: Sequence[CodedFunction] = (),
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
            horizon=horizon,
            on_step=on_step,
            trace=trace,
            library=library,
            functions=functions,
            _disable_deepcopy=True,
        )
        gym.Wrapper.__init__(self, env)
        self.plugin, self.task, self.gamma, self.trace = plugin, task, gamma, trace
        self._horizon, self._on_step, self._begun = horizon, on_step, 0
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
        self.layout: ActionLayout = self.extension.layout
        self._sandbox, self._functions = sandbox, None
        if functions:
            assert library is not None, "functions need the task's library"
            keys = plugin.view_keys(task)
            parts = (*shown(env.observation_space, keys), *(key.name for key in keys if key.alone))
            own = [term.name for term in reward_terms_of(plugin, task)]
            taken = Taken([a.name for a in self.actions], own, parts)
            self._functions = StepFunctions(functions, library, self._open_sandbox(), taken)
            library, self._sandbox = self._functions.library, self._functions.sandbox
        terms = (*reward_terms_of(plugin, task), *(self._functions.reward_terms if self._functions else ()))
        self._shaping = None if reward_weights is None else Shaping(terms, reward_weights)
        self.measurement = Measurement(task)
        self._offset = len(self.layout.branches) - len(self.actions)
        self._guest: Guest | None = None
        self._library = library
        self._state = DecisionState(None, {})
        self._choices: _Choices | None = None
        self._verdicts: list[Verdict] = []
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
        """Make what coded actions need. Returns the names of those with a ``can_start``."""
        primitives = {p.name: p for p in self.plugin.primitives(self.task)}
        self._execution = Execution(primitives, self.view, self._advance, keep_calls=self.trace)
        guest = self._open(seed=0)
        states = {a.name: guest.load(a.name) for a in self.actions}
        self.load_verdicts = {n: s for n, s in states.items() if isinstance(s, Verdict) and s.kind != "wall"}
        # After a wall-clock timeout it is unknown what the source defines: the guests of the episodes find out.
        return tuple(n for n, state in states.items() if state is not False and n not in self.load_verdicts)

    def _open_sandbox(self) -> Sandbox:
        from rlgpt.sandbox import Sandbox

        self._sandbox = self._sandbox or Sandbox()
        return self._sandbox

    # -- gymnasium ----------------------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._rng = np.random.default_rng([seed, 0x0B710])
        ctx = self.context
        ctx.observation, ctx.info, ctx.step, ctx.rng = observation, {**info, "env_reward": 0.0}, 0, self._rng
        ctx.memory.clear()
        self._begin(info)
        if self._shaping is not None:
            self._shaping.reset(ctx)
        self._choices = self._find_choices()
        return observation, self._report(dict(info), self._choices)

    def _begin(self, info: Mapping[str, Any]) -> None:
        """Begin to play at the moment that the context describes."""
        self._close_guest()
        self._quarantined, self._verdicts = self._next_quarantine, []
        self._state, self._begun = DecisionState(self.context.observation, info), self.context.step
        self.measurement.reset(info)
        if self._on_step is not None:
            self._on_step(self.env, 0)
        if self._functions is not None:
            seed = int(self._rng.integers(2**31))
            view = self.plugin.view(self.context)
            self._verdicts += self._functions.reset(view, seed=seed, quarantined=self._quarantined)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if (choices := self._choices) is None:
            raise gym.error.ResetNeeded("step() before reset(): call env.reset() first; it returns the observation.")
        choice = self.extension.read(action)
        state = self._state = DecisionState(self._state.observation, self._state.info)
        self._verdicts = []
        before = self.view() if self.trace else {}
        call = self._carry_out(choice, choices)
        if self._guards.vary and not state.episode_over:
            choices = self._choices = self._find_choices()
        info = dict(state.info)
        info.update(
            duration=state.duration,
            primitive_steps=self.primitive_steps,
            action=self.layout.branches[choice.branch],
            ended=call.ended,
            total_reward=state.total_reward,
        )
        if state.success or "success" in info:
            info["success"] = state.success
        if self._shaping is not None:
            info["reward_terms"] = state.terms
        if self.trace:
            info["decision"] = Decision(
                action=info["action"],
                parameters=choice.parameters,
                duration=state.duration,
                reward=state.total_reward,
                ended=call.ended,
                before=before,
                after=self.view(),
                calls=tuple(call.calls),
                verdict=call.verdict,
            )
        return state.observation, state.reward, state.terminated, state.truncated, self._report(info, choices)

    def close(self) -> None:
        self._close_guest()
        super().close()

    # -- states ------------------------------------------------------------------------------------------------------

    def save_episode(self) -> EpisodeState:
        """This moment of the episode, between two decisions. What coded actions and functions remember is not
        in it.

        :raises StateError: the plugin cannot save this task, or the environment's state cannot be saved.
        """
        return save_episode(self._codec(), self.env, self.context)

    def restore_episode(self, state: EpisodeState, *, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode at a saved moment, as :meth:`reset` does at the task's start.

        The environment's time goes on from there, so that the task's horizon holds. ``horizon`` of :func:`extend`
        counts from here.

        :param seed: seeds all randomness from here on. None: the saved random generators continue.
        :returns: observation and info, as :meth:`reset` does.
        :raises StateError: the state is of another task, or damaged.
        """
        ctx = self.context
        restore_episode(self._codec(), self.env, ctx, state, seed=seed)
        self._rng = ctx.rng
        info = {key: value for key, value in ctx.info.items() if key != "env_reward"}
        try:
            self._begin(info)
            if self._shaping is not None:
                self._shaping.restore(ctx)
            self._choices = self._find_choices()
        except Exception as fault:  # whatever a plugin raises about an observation that no episode of it has
            raise StateError(f"the saved state cannot be played: {type(fault).__name__}: {fault}.") from fault
        return ctx.observation, self._report(info, self._choices)

    def _codec(self) -> StateCodec:
        codec = self.plugin.states(self.task)
        if codec is None:
            raise StateError(f"the plugin {self.plugin.name!r} cannot save and restore {self.task.id}.")
        return codec

    @property
    def primitive_steps(self) -> int:
        """Primitive steps of the episode so far; after :meth:`restore_episode`, since then."""
        return self.context.step - self._begun

    # -- for trainers and the loop ------------------------------------------------------------------------------------

    def view(self) -> dict[str, Plain]:
        """The plugin's view of the newest observation, with the features of code; built at each call."""
        view = self.plugin.view(self.context)
        return view if self._functions is None else {**view, **self._functions.answers.features}

    @property
    def view_keys(self) -> tuple[ViewKey, ...]:
        """The plugin's keys of the view, and the features of code."""
        return (*self.plugin.view_keys(self.task), *(self._functions.view_keys if self._functions else ()))

    def quarantine(self, names: Iterable[str]) -> None:
        """Mask these coded actions, and no others, from the next reset on; functions of code give neutral answers.

        From now on the caller counts violations; the environment itself quarantines nothing.

        :raises UnknownNameError: a name is no coded action, and no function, of this environment.
        """
        names = frozenset(names)
        self._check_names(names)
        self._next_quarantine, self._violations = names, None

    def _check_names(self, names: Iterable[str]) -> None:
        known = (*(a.name for a in self.actions), *(self._functions.names if self._functions else ()))
        for name in names:
            if name not in known:
                raise UnknownNameError("coded action", name, known)

    # -- one decision -------------------------------------------------------------------------------------------------

    def _carry_out(self, choice: Choice, choices: _Choices) -> Call:
        state = self._state
        if choice.coded is None:
            self._advance(choice.base)
            return Call(ended="episode" if state.episode_over else "base")
        if not choices.allowed[choice.branch]:
            self._idle()
            return Call(ended="masked", verdict=self._why_masked(choice.coded.name, choices))
        call = self._execution.run(self._open_guest(), choice.coded, choice.parameters, self.context)
        if call.verdict is not None:
            self._verdicts.append(call.verdict)
        if state.duration == 0:  # an action that calls nothing still costs a step
            self._idle()
        return call

    def _idle(self) -> None:
        self._advance(self.plugin.noop(self.env.action_space, self.context))

    def _advance(self, low_level: Any) -> bool:
        """Take one primitive step. True if the episode ended."""
        observation, env_reward, terminated, truncated, info = self.env.step(low_level)
        state, ctx = self._state, self.context
        ctx.observation, ctx.info, ctx.step = observation, {**info, "env_reward": float(env_reward)}, ctx.step + 1
        if self._on_step is not None:
            self._on_step(self.env, self.primitive_steps)
        state.observation, state.info = observation, info
        state.terminated, state.truncated = bool(terminated), bool(truncated)
        if self._horizon is not None and self.primitive_steps >= self._horizon and not terminated:
            state.truncated = True
        state.success = state.success or bool(info.get("success", False))
        reward = float(env_reward)
        self.measurement.add(info, reward)
        if self._functions is not None:
            self._verdicts += self._functions.update(self.plugin.view(ctx))
        if self._shaping is not None:
            paid = self._shaping.pay(ctx)
            reward = sum(paid.values())
            for name, value in paid.items():
                state.terms[name] = state.terms.get(name, 0.0) + value
        state.pay(reward, self.gamma)
        return state.episode_over

    def _open_guest(self) -> Guest:
        if self._guest is None:
            self._guest = self._open(seed=int(self._rng.integers(2**31)))
        return self._guest

    def _open(self, *, seed: int) -> Guest:
        assert self._library is not None
        return self._open_sandbox().open(self._library, self.actions, seed=seed)

    def _close_guest(self) -> None:
        """Drop the instance, so that no state of the code outlives the episode."""
        self._guest = None

    # -- masks --------------------------------------------------------------------------------------------------------

    def _find_choices(self) -> _Choices:
        """Which branches may start now. If none may, all are offered: choosing one then costs a no-op."""
        offer = self._guards.offer(self._quarantined, self.view, self._open_guest)
        self._verdicts += offer.refusals.values()
        allowed = np.ones(len(self.layout.branches), np.int8)
        for i, action in enumerate(self.actions, start=self._offset):
            allowed[i] = action.name in offer.allowed
        return _Choices(allowed, allowed if allowed.any() else np.ones_like(allowed), offer.refusals)

    def _why_masked(self, name: str, choices: _Choices) -> Verdict | None:
        """What kept a coded action from starting; None if it was the plugin, or its own ``can_start``."""
        if name in self._quarantined:
            return Verdict(kind="quarantined", action=name, message="its earlier verdicts say what was wrong")
        return choices.refusals.get(name)

    def _report(self, info: dict[str, Any], choices: _Choices) -> dict[str, Any]:
        info["action_mask"] = choices.mask.copy()
        self.measurement.report(info)
        if self._functions is not None:
            info["predicates"] = dict(self._functions.answers.predicates)
        if self._verdicts:
            info["verdicts"] = tuple(self._verdicts)
            if self._violations is not None:
                self._violations.add(self._verdicts)
                self._next_quarantine |= self._violations.caught
        return info


@dataclass(frozen=True)
class _Choices:
    """What may be chosen at one moment.

    :ivar allowed: int8, shape (branches,): 1 if the branch may start.
    :ivar mask: what is offered: ``allowed``, or ones if nothing may start.
    :ivar refusals: name -> verdict, for each coded action whose ``can_start`` failed.
    """

    allowed: np.ndarray
    mask: np.ndarray
    refusals: Mapping[str, Verdict]
