"""``ExtendedEnv``: a gymnasium environment with additional actions, each of which runs a program in the sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from rlgpt.domain import CodedAction, CodedFunction, Decision, Plain, Task, Verdict
from rlgpt.errors import StateError, UnknownNameError
from rlgpt.options.decision import DecisionState, OnStep
from rlgpt.options.execution import Call, Execution, settled
from rlgpt.options.functions import StepFunctions, Taken
from rlgpt.options.guards import Guards
from rlgpt.options.layout import ActionLayout
from rlgpt.options.measurement import Measurement
from rlgpt.options.progress import InProgress, PlanOrder
from rlgpt.options.shaping import Shaping
from rlgpt.options.space import Choice, ExtendedSpace
from rlgpt.options.violations import Violations
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.states import EpisodeState, restore_episode, save_episode
from rlgpt.plugin.types import Context, StateCodec, ViewKey

if TYPE_CHECKING:
    from rlgpt.sandbox import Guest, Library, Sandbox


class ExtendedEnv(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """``env`` with K coded actions. Made by :func:`rlgpt.extend`.

    A chosen coded action runs until it returns, the episode ends, its step limit, or a violation. With
    ``interrupt_every``, a decision takes at most so many of its primitive steps. The next decision may choose the same
    action, which then goes on (parameters are read at its start only); a base action, which takes the place of what the
    coded action proposes for the next step; or another coded action, which interrupts it (Sutton, Precup and Singh
    1999, section 4).

    One decision of k primitive steps returns ``sum(gamma**i * r_i)`` (options: the same, section 3), the newest
    observation, and in ``info``:

    ``duration``        k >= 1, the primitive steps of this decision
    ``primitive_steps`` of the episode so far; after :meth:`restore_episode`, since then
    ``success``         bool: whether any of the k steps had ``info["success"]``, if the environment reports it
    ``action``, ``ended``   the chosen branch, and how it ended (:data:`rlgpt.domain.Ending`)
    ``total_reward``    undiscounted
    ``predicates``      name -> bool, if there are coded predicates
    ``metrics``, ``score``  of the episode so far, if the task declares them (:class:`rlgpt.domain.Metric`)
    ``action_mask``     int8, shape (branches,): which may start now
    ``reward_terms``    weighted (unweighted where the weight is 0), undiscounted, if there are reward weights
    ``verdicts``        tuple of :class:`~rlgpt.domain.Verdict`, if there are any
    ``plan``            the branch that the plan's code would choose next, if there are coded actions
    ``running``         name of the coded action in progress, with ``interrupt_every``; "" without any
    ``decision``        a :class:`~rlgpt.domain.Decision`, with ``trace=True``; its ``verdict`` also explains a choice
                        that was masked because its ``can_start`` failed, or by quarantine

    An error in a coded action ends the action and is recorded as a verdict. An exception in ``env.step`` propagates.

    :param library: the plugin's primitives and view keys for this task; None if there are no coded actions.
    :ivar context: the state that the plugin reads; ``context.step`` is the one count of the episode's primitive steps.
    :ivar interrupt_every: primitive steps of a coded action in one decision, at most; None: until it ends.
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
        interrupt_every: int | None = None,
        residual: float = 0.0,
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
            interrupt_every=interrupt_every,
            residual=residual,
            _disable_deepcopy=True,
        )
        gym.Wrapper.__init__(self, env)
        self.plugin, self.task, self.gamma, self.trace = plugin, task, gamma, trace
        self._horizon, self._on_step, self._begun = horizon, on_step, 0
        self._rng = np.random.default_rng()
        self.context = Context(task, None, {}, 0, self._rng, plugin.model(env))
        self.extension = ExtendedSpace(
            env.action_space,
            [settled(action, plugin, task) for action in actions],
            plugin.labels(task).actions,
            base_actions,
            plugin.noop(env.action_space, self.context),
            residual > 0,
        )
        self.action_space = self.extension.space
        self.actions = self.extension.actions
        self.layout: ActionLayout = self.extension.layout
        self._sandbox, self._functions = sandbox, None
        if functions:
            assert library is not None, "functions need the task's library"
            taken = Taken.of(plugin, task, env.observation_space, [a.name for a in self.actions])
            self._functions = StepFunctions(functions, library, self._open_sandbox(), taken)
            library, self._sandbox = self._functions.library, self._functions.sandbox
        terms = (*reward_terms_of(plugin, task), *(self._functions.reward_terms if self._functions else ()))
        self._shaping = None if reward_weights is None else Shaping(terms, reward_weights)
        self.measurement = Measurement(task)
        self._offset = len(self.layout.branches) - len(self.actions)
        self.interrupt_every, self._residual = interrupt_every, residual
        self._in_progress: InProgress | None = None
        self._order = PlanOrder(len(self.actions)) if self.actions else None
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
        """Prepare the guards, the execution and the guest. Returns the names of the actions that define
        ``can_start``.
        """
        primitives = {p.name: p for p in self.plugin.primitives(self.task)}
        self._execution = Execution(primitives, self.view, keep_calls=self.trace)
        guest = self._open(seed=0)
        states = {a.name: guest.load(a.name) for a in self.actions}
        self.load_verdicts = {n: s for n, s in states.items() if isinstance(s, Verdict) and s.kind != "wall"}
        # After a wall-clock timeout it is unknown whether the source defines ``can_start``. Guests of later episodes
        # find out.
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
        ctx.previous = None
        ctx.memory.clear()
        self._begin(info)
        if self._shaping is not None:
            self._shaping.reset(ctx)
        self._choices = self._find_choices()
        return observation, self._report(dict(info), self._choices)

    def _begin(self, info: Mapping[str, Any]) -> None:
        """Begin to play from the state in ``context``."""
        self._close_guest()
        if self._order is not None:
            self._order.reset()
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
        before, memory = (self.view(), self._memory) if self.trace else ({}, {})
        call = self._carry_out(choice, choices)
        if (self._guards.vary or self.interrupt_every is not None) and not state.episode_over:
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
                reward_terms=state.terms,
                calls=tuple(call.calls),
                verdict=call.verdict,
                memory={k: v for k, v in self._memory.items() if k not in memory or memory[k] != v},
            )
        return state.observation, state.reward, state.terminated, state.truncated, self._report(info, choices)

    def close(self) -> None:
        self._close_guest()
        super().close()

    # -- states ------------------------------------------------------------------------------------------------------

    def save_episode(self) -> EpisodeState:
        """The state of the episode between two decisions. It does not contain the globals of coded actions and
        functions.

        :raises StateError: the plugin cannot save this task, or the environment's state cannot be saved.
        """
        return save_episode(self._codec(), self.env, self.context)

    def restore_episode(self, state: EpisodeState, *, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode from a saved state instead of the task's start.

        The environment's time limit continues from the saved state. The ``horizon`` of :func:`extend` begins to count
        anew.

        :param seed: seeds all randomness from here on. None: the saved random generators continue.
        :returns: observation and info, as :meth:`reset` does.
        :raises StateError: the state belongs to another task, or is damaged.
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
        except Exception as fault:  # A plugin may raise any exception for an observation that its episodes never have.
            raise StateError(f"the saved state cannot be played: {type(fault).__name__}: {fault}.") from fault
        return ctx.observation, self._report(info, self._choices)

    def _codec(self) -> StateCodec:
        codec = self.plugin.states(self.task)
        if codec is None:
            raise StateError(f"the plugin {self.plugin.name!r} cannot save and restore {self.task.id}.")
        return codec

    @property
    def primitive_steps(self) -> int:
        """Number of primitive steps since the reset or the :meth:`restore_episode` that began the episode."""
        return self.context.step - self._begun

    # -- for trainers and the loop ------------------------------------------------------------------------------------

    def view(self) -> dict[str, Plain]:
        """The plugin's view of the newest observation, with the features of code.

        Without functions it is built at each call; with them, once at each primitive step.
        """
        return self.plugin.view(self.context) if self._functions is None else dict(self._functions.view)

    @property
    def view_keys(self) -> tuple[ViewKey, ...]:
        """The keys of the view: the plugin's keys and the outputs of coded features."""
        return (*self.plugin.view_keys(self.task), *(self._functions.view_keys if self._functions else ()))

    def quarantine(self, names: Iterable[str]) -> None:
        """From the next reset on, mask exactly these coded actions; coded functions among the names give neutral
        answers.

        After this call the caller counts violations, and the environment no longer masks an action by itself.

        :raises UnknownNameError: a name is neither a coded action nor a function of this environment.
        """
        names = frozenset(names)
        self._check_names(names)
        self._next_quarantine, self._violations = names, None

    def _check_names(self, names: Iterable[str]) -> None:
        known = (*(a.name for a in self.actions), *(self._functions.names if self._functions else ()))
        for name in names:
            if name not in known:
                raise UnknownNameError("coded action", name, known)

    @property
    def unpaid(self) -> tuple[str, ...]:
        """The reward terms of weight 0."""
        return () if self._shaping is None else self._shaping.unpaid

    @property
    def running(self) -> str:
        """The name of the coded action in progress; empty if there is none."""
        return "" if self._in_progress is None else self._in_progress.name

    @property
    def proposal(self) -> Any:
        """The low-level action that the coded action in progress proposes for the next primitive step, or None."""
        return None if self._in_progress is None else self._in_progress.proposal

    # -- one decision -------------------------------------------------------------------------------------------------

    def _carry_out(self, choice: Choice, choices: _Choices) -> Call:
        state, here = self._state, self._in_progress
        if choice.coded is None:
            if here is not None:
                here.advance(self._advance, choice.base)
                return self._after(here)
            self._advance(choice.base)
            return Call(ended="episode" if state.episode_over else "base")
        assert self._order is not None
        self._order.chose(choice.branch - self._offset)
        if here is None or here.name != choice.coded.name:
            if not choices.allowed[choice.branch]:
                self._idle()
                return Call(ended="masked", verdict=self._why_masked(choice.coded.name, choices))
            self._interrupt()
            call = Call()
            running = self._execution.run(self._open_guest(), choice.coded, choice.parameters, self.context, call)
            here = self._in_progress = InProgress(choice.coded.name, call, running)
        while not here.is_over and (self.interrupt_every is None or state.duration < self.interrupt_every):
            here.advance(self._advance, self._corrected(here.proposal, choice.residual))
        call = self._after(here)
        if state.duration == 0:  # an action that calls nothing still costs a step
            self._idle()
        return call

    def _after(self, here: InProgress) -> Call:
        """What the action in progress has done in this decision."""
        call = here.report()
        if here.is_over:
            self._in_progress = None
            if call.verdict is not None:
                self._verdicts.append(call.verdict)
        return call

    def _interrupt(self) -> None:
        """End the action in progress, if there is one."""
        if self._in_progress is not None:
            self._in_progress.interrupt()
            self._after(self._in_progress)

    def _corrected(self, proposal: Any, residual: np.ndarray | None) -> Any:
        """``proposal`` plus the policy's correction, within the bounds of the Box."""
        box = self.env.action_space
        if residual is None or not isinstance(box, gym.spaces.Box) or np.shape(proposal) != box.shape:
            return proposal
        low, high = box.low.astype(np.float64), box.high.astype(np.float64)
        moved = np.asarray(proposal, np.float64) + self._residual * residual * (high - low) / 2
        return np.clip(moved, low, high).astype(box.dtype)

    def _idle(self) -> None:
        self._advance(self.plugin.noop(self.env.action_space, self.context))

    def _advance(self, low_level: Any) -> bool:
        """Take one primitive step. True if the episode ended."""
        observation, env_reward, terminated, truncated, info = self.env.step(low_level)
        state, ctx = self._state, self.context
        ctx.previous, ctx.observation = ctx.observation, observation
        ctx.info, ctx.step = {**info, "env_reward": float(env_reward)}, ctx.step + 1
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
            reward, paid = self._shaping.pay(ctx)
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

    @property
    def _memory(self) -> dict[str, Plain]:
        """The memory that the coded actions share."""
        return {} if self._guest is None else self._guest.memory

    def _close_guest(self) -> None:
        """Drop the instance, so that no state of the code outlives the episode."""
        self._guest = self._in_progress = None

    # -- masks --------------------------------------------------------------------------------------------------------

    def _find_choices(self) -> _Choices:
        """Find the branches (choices of the policy) that may start now. If none may start, all are offered, and
        choosing one costs an idle step.
        """
        offer = self._guards.offer(self._quarantined, self.view, self._open_guest)
        self._verdicts += offer.refusals.values()
        allowed = np.ones(len(self.layout.branches), np.int8)
        for i, action in enumerate(self.actions, start=self._offset):
            allowed[i] = action.name in offer.allowed or action.name == self.running
        return _Choices(allowed, allowed if allowed.any() else np.ones_like(allowed), offer.refusals)

    def _why_masked(self, name: str, choices: _Choices) -> Verdict | None:
        """The verdict that explains why a coded action is masked. None if the plugin or the action's own ``can_start``
        answered False.
        """
        if name in self._quarantined:
            return Verdict(kind="quarantined", action=name, message="its earlier verdicts say what was wrong")
        return choices.refusals.get(name)

    def _report(self, info: dict[str, Any], choices: _Choices) -> dict[str, Any]:
        info["action_mask"] = choices.mask.copy()
        if self._order is not None:
            own = choices.allowed[self._offset :]
            names = [a.name for a in self.actions]
            following = names.index(self.running) if self.running else self._order.next(own)
            info["plan"] = self._offset + following
        if self.interrupt_every is not None:
            info["running"] = self.running
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
    """What the policy may choose at one moment.

    :ivar allowed: int8, shape (branches,): 1 if the branch may start.
    :ivar mask: the mask that the policy gets: ``allowed``, or all ones if no branch may start.
    :ivar refusals: name -> verdict, for each coded action whose ``can_start`` failed.
    """

    allowed: np.ndarray
    mask: np.ndarray
    refusals: Mapping[str, Verdict]
