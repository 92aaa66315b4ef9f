"""A ``Lane`` is the state of the coded actions of one environment, without the environment itself. A lane computes what
happens in each decision; the caller of the lane (the driver) takes the primitive steps (:mod:`rlgpt.options.effects`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from rlgpt.domain import Decision, Plain, Verdict
from rlgpt.options.calls import Calls
from rlgpt.options.decision import Decided, DecisionState
from rlgpt.options.effects import LOOK, Code, Effects, Step, look
from rlgpt.options.execution import Call
from rlgpt.options.guards import Choices, Offer
from rlgpt.options.lane_setup import LaneSetup
from rlgpt.options.measurement import Measurement
from rlgpt.options.shaping import Shaping
from rlgpt.options.space import Choice
from rlgpt.options.violations import Quarantine
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.types import Context

if TYPE_CHECKING:
    from rlgpt.sandbox import Guest


class Lane:
    """The state of one environment with coded actions, over its episodes.

    :param model: the environment's model (:meth:`~rlgpt.plugin.base.EnvironmentPlugin.model`).
    :param quarantined: names of quarantined coded actions, which are masked, and of quarantined functions, which are
        not called. If ``quarantined`` is given, the caller counts violations; if it is None, the lane counts them.
    :param on_step: a function that is called at the start of each episode and after each primitive step, with the
        number of primitive steps of the episode.
    :ivar context: the state of the episode that the plugin reads; ``context.step`` counts the episode's primitive
        steps.
    :ivar measurement: metrics and score of the episode so far.
    :ivar verdicts: the verdicts on code in the current decision so far.
    :ivar on_reward: a function that is called after each primitive step, with the step's low-level action and reward.
    :ivar interrupts: a function that is called between two primitives of a coded action, and says whether the coded
        action ends there; None if nothing interrupts coded actions.
    """

    def __init__(
        self,
        setup: LaneSetup,
        model: Any,
        *,
        quarantined: Iterable[str] | None,
        on_step: Callable[[int], None] | None = None,
    ) -> None:
        self.setup, self._on_step, self._begun = setup, on_step, 0
        self._rng = np.random.default_rng()
        self.context = Context(setup.whole, None, {}, 0, self._rng, model)
        self.functions, self._done = setup.functions(), setup.done()
        terms = (*reward_terms_of(setup.plugin, setup.task), *(self.functions.reward_terms if self.functions else ()))
        self._shaping = None if setup.reward_weights is None else Shaping(terms, setup.reward_weights)
        self.measurement = Measurement(setup.task)
        self._calls = Calls(setup) if setup.actions else None
        self._guest: Guest | None = None
        self._state = DecisionState(None, {})
        self._choices: Choices | None = None
        self.verdicts: list[Verdict] = []
        self._guarded: Mapping[str, Plain] | None = None
        self._quarantine = Quarantine(quarantined)
        self.on_reward: Callable[[Any, float], None] | None = None
        self.interrupts: Callable[[], bool] | None = None
        setup.check_names(quarantined or ())

    # -- episodes -----------------------------------------------------------------------------------------------------

    def begin(self, observation: Any, info: Mapping[str, Any], seed: int | None) -> Effects[dict[str, Any]]:
        """Begin an episode after a reset of the environment.

        :param seed: seed of the reset. If ``seed`` is None, the random generator of the lane continues.
        :returns: the info dict of the reset.
        """
        if seed is not None:
            self._rng = np.random.default_rng([seed, 0x0B710])
        ctx = self.context
        ctx.observation, ctx.info, ctx.step, ctx.rng = observation, {**info, "env_reward": 0.0}, 0, self._rng
        ctx.previous = None
        ctx.memory.clear()
        yield from self._play_from_here(info)
        if self._shaping is not None:
            self._shaping.reset(ctx)
        return (yield from self._first_report())

    def resume(self) -> Effects[dict[str, Any]]:
        """Begin an episode from a restored state, which the caller has put into ``context``.

        :returns: the info dict of the reset.
        """
        ctx = self.context
        self._rng = ctx.rng
        info = {key: value for key, value in ctx.info.items() if key != "env_reward"}
        yield from self._play_from_here(info)
        if self._shaping is not None:
            self._shaping.restore(ctx)
        return (yield from self._first_report())

    def close(self) -> None:
        """Close the guest, so that no state of the code remains after the episode."""
        self._guest = None
        if self._calls is not None:
            self._calls.reset()

    def _play_from_here(self, info: Mapping[str, Any]) -> Effects[None]:
        self.close()
        self._quarantine.begin()
        self.verdicts, self._guarded = [], None
        self._state, self._begun = DecisionState(self.context.observation, info), self.context.step
        self.measurement.reset(info)
        if self._on_step is not None:
            self._on_step(0)
        if self.functions is not None:
            seed = int(self._rng.integers(2**31))
            view = yield LOOK
            reset = partial(self.functions.reset, view, seed=seed, quarantined=self._quarantine.now)
            self.verdicts += yield Code(reset)
        if self._done is not None:
            view = yield LOOK
            self.verdicts += yield Code(partial(self._done.reset, view, seed=0, quarantined=()))
            self._state.info = self._judged(self._state.info)

    def _first_report(self) -> Effects[dict[str, Any]]:
        self._choices = yield from self._find_choices()
        return {**self._report(self._state.new_info(), self._choices), "duration": 0, "total_reward": 0.0}

    def _judged(self, info: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``info`` with the answer of the sub-goal's predicate as ``success``. The context of the lane gets the
        same value of ``success``.
        """
        assert self._done is not None
        success = {"success": self._done.answers.predicates[self._done.names[0]]}
        self.context.info = {**self.context.info, **success}
        return {**info, **success}

    # -- one decision -------------------------------------------------------------------------------------------------

    def decide(self, choice: Choice) -> Effects[Decided]:
        """Carry out one action of the extended action space (:meth:`ExtendedSpace.read` reads it).

        :raises ResetNeeded: no episode of the lane has begun.
        """
        if (choices := self._choices) is None:
            raise gymnasium.error.ResetNeeded(
                "step() before reset(): call env.reset() first; it returns the observation."
            )
        setup = self.setup
        state = self._state = DecisionState(self._state.observation, self._state.info)
        self.verdicts, self._guarded = [], None
        before, memory = (dict((yield from self.see())), self._memory) if setup.trace else ({}, {})
        call = yield from self._carry_out(choice, choices)
        vary = setup.guards.vary or setup.interrupt_every is not None or self._masked != self._quarantine.now
        if vary and not state.episode_over:
            choices = self._choices = yield from self._find_choices()
        info = state.new_info()
        info.update(
            duration=state.duration,
            primitive_steps=self.primitive_steps,
            action=setup.layout.branches[choice.branch],
            ended=call.ended,
            total_reward=state.total_reward,
        )
        if state.success or "success" in info:
            info["success"] = state.success
        if self._shaping is not None:
            info["reward_terms"] = state.terms
        if setup.trace:
            after = dict((yield from self.see()))
            changed = {k: v for k, v in self._memory.items() if k not in memory or memory[k] != v}
            info["decision"] = Decision(
                action=info["action"],
                parameters=choice.parameters,
                duration=state.duration,
                reward=state.total_reward,
                ended=call.ended,
                before=before,
                after=after,
                reward_terms=state.terms,
                calls=tuple(call.calls),
                verdict=call.verdict,
                memory=changed,
            )
        return Decided(state.observation, state.reward, state.terminated, state.truncated, self._report(info, choices))

    def _carry_out(self, choice: Choice, choices: Choices) -> Effects[Call]:
        calls = self._calls
        if choice.coded is None or calls is None:
            over = yield from self.advance(choice.base)
            if calls is not None and calls.current is not None:
                return (yield from calls.stand_aside(over, self))
            return Call(ended="episode" if over else "base")
        calls.order.chose(choice.branch - self.setup.offset)
        name = choice.coded.name
        if not (choices.allowed[choice.branch] or name == self.running):
            over = yield from self._idle()
            stood = Call() if calls.current is None else (yield from calls.stand_aside(over, self))
            return Call(ended="masked", verdict=choices.why_masked(name, self._masked), calls=stood.calls)
        call = yield from calls.play(choice, self)
        if self._state.duration == 0:  # Every decision takes at least one primitive step.
            yield from self._idle()
        return call

    def _idle(self) -> Effects[bool]:
        return self.advance(self.setup.plugin.noop(self.setup.action_space, self.context))

    def advance(self, low_level: Any) -> Effects[bool]:
        """Take one primitive step. Return whether the episode ended in this primitive step."""
        observation, env_reward, terminated, truncated, info = yield Step(low_level)
        state, ctx, horizon = self._state, self.context, self.setup.horizon
        ctx.previous, ctx.observation = ctx.observation, observation
        ctx.info, ctx.step = {**info, "env_reward": float(env_reward)}, ctx.step + 1
        if self._on_step is not None:
            self._on_step(self.primitive_steps)
        if self._guest is not None:
            self._guest.add_step()
        if self._done is not None:
            view = yield LOOK
            self.verdicts += yield Code(partial(self._done.update, view))
            info = self._judged(info)
            terminated = terminated or info["success"]
        state.observation, state.info = observation, info
        state.terminated, state.truncated = bool(terminated), bool(truncated)
        if horizon is not None and self.primitive_steps >= horizon and not terminated:
            state.truncated = True
        state.success = state.success or bool(info.get("success", False))
        reward = float(env_reward)
        self.measurement.add(info, reward)
        if self.functions is not None:
            view = yield LOOK
            self.verdicts += yield Code(partial(self.functions.update, view))
        if self._shaping is not None:
            reward, paid = self._shaping.pay(ctx)
            for name, value in paid.items():
                state.terms[name] = state.terms.get(name, 0.0) + value
        state.pay(reward, self.setup.gamma)
        if self.on_reward is not None:
            self.on_reward(low_level, reward)
        return state.episode_over

    # -- masks --------------------------------------------------------------------------------------------------------

    @property
    def _masked(self) -> frozenset[str]:
        """The coded actions that are in quarantine or have used up their fuel of the episode."""
        return self._quarantine.now if self._guest is None else self._quarantine.now | self._guest.exhausted

    def _find_choices(self) -> Effects[Choices]:
        """Find the branches of the action space that the policy may choose in the next decision."""
        guards, guest = self.setup.guards, None
        if not guards.vary:
            offer = guards.unconditional(self._masked)
        else:
            if guards.ask_code:
                guest = self.open_guest()
            view = self._guarded = yield from self.see()
            applicable = guards.applicable(self._masked, view)
            offer = Offer(frozenset(applicable))
            if guest is not None:
                offer = yield Code(partial(guards.offer, applicable, view, guest))
        self.verdicts += offer.refusals.values()
        return guards.choices(offer, self.running, len(self.setup.layout.branches))

    def _report(self, info: dict[str, Any], choices: Choices) -> dict[str, Any]:
        info["action_mask"] = choices.mask.copy()
        if self._calls is not None:
            info["plan"] = self.setup.offset + self._calls.following(choices.allowed[self.setup.offset :])
        if self.setup.interrupt_every is not None:
            info["running"] = self.running
        self.measurement.report(info)
        if self.functions is not None:
            info["predicates"] = dict(self.functions.answers.predicates)
        if self.verdicts:
            info["verdicts"] = tuple(self.verdicts)
        self._quarantine.add(self.verdicts, info)
        return info

    # -- read by the owner of the lane --------------------------------------------------------------------------------

    @property
    def action_mask(self) -> np.ndarray:
        """The newest ``action_mask`` of the lane, which is never all zeros; all ones before the first episode."""
        return np.ones(len(self.setup.layout.branches), np.int8) if self._choices is None else self._choices.mask.copy()

    def view(self) -> dict[str, Plain]:
        """The plugin's view of the newest observation, with the outputs of coded features.

        If the lane has no coded functions, each call of ``view`` builds the view. If the lane has coded functions, the
        view is built once for each primitive step.
        """
        return self.setup.plugin.view(self.context) if self.functions is None else dict(self.functions.view)

    @property
    def newest_view(self) -> Mapping[str, Plain] | None:
        """The view between two decisions if it is already built, else None."""
        return self._guarded if self.functions is None else self.functions.view

    def see(self) -> Effects[Mapping[str, Plain]]:
        """Ask the driver for the view that :meth:`view` returns, as an effect (:mod:`rlgpt.options.effects`)."""
        if self.functions is not None:
            return self.functions.view
        return (yield from look())

    @property
    def _memory(self) -> dict[str, Plain]:
        """The content of the dict ``memory`` that the coded actions share."""
        return {} if self._guest is None else self._guest.memory

    @property
    def unpaid(self) -> tuple[str, ...]:
        """The reward terms with the weight 0."""
        return () if self._shaping is None else self._shaping.unpaid

    @property
    def primitive_steps(self) -> int:
        """Number of primitive steps since the reset or the restored state that began the episode."""
        return self.context.step - self._begun

    @property
    def duration(self) -> int:
        """Number of primitive steps of the decision so far."""
        return self._state.duration

    @property
    def running(self) -> str:
        """The name of the coded action in progress; empty if no coded action is in progress."""
        return "" if self._calls is None or self._calls.current is None else self._calls.current.name

    @property
    def proposal(self) -> Any:
        """The low-level action that the coded action in progress proposes for the next primitive step, or None."""
        return None if self._calls is None or self._calls.current is None else self._calls.current.proposal

    def quarantine(self, names: Iterable[str]) -> None:
        """Mask coded actions as :meth:`rlgpt.options.env.ExtendedEnv.quarantine` does."""
        names = frozenset(names)
        self.setup.check_names(names)
        self._quarantine.set(names)

    def open_guest(self) -> Guest:
        """The guest of this episode. If the episode has no guest yet, a new guest is made."""
        if self._guest is None:
            self._guest = self.setup.open_guest(seed=int(self._rng.integers(2**31)))
        return self._guest
