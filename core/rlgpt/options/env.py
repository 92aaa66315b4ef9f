"""``ExtendedEnv`` is a gymnasium environment with additional actions, each of which runs a program in the sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, Unpack

import gymnasium as gym

from rlgpt.domain import CodedAction, Plain
from rlgpt.errors import StateError
from rlgpt.options.decision import OnStep
from rlgpt.options.effects import Effects, perform
from rlgpt.options.lane import Lane
from rlgpt.options.lane_setup import LaneSetup, Settings
from rlgpt.plugin.states import EpisodeState, restore_episode, save_episode
from rlgpt.plugin.types import Context, StateCodec, ViewKey

T = TypeVar("T")


class ExtendedEnv(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """The environment ``env`` with K coded actions. The function :func:`rlgpt.extend` makes an ``ExtendedEnv``.

    A chosen coded action runs until it returns, reaches its step limit or violates a limit of the sandbox, or until the
    episode ends. If ``interrupt_every`` is given, a decision takes at most ``interrupt_every`` primitive steps of a
    coded action. If the next decision chooses the same action, the action continues, with the parameters of its start.
    If it chooses a base action, this action replaces the action that the code proposes for the next step. If it chooses
    another coded action, this action interrupts the coded action in progress (Sutton, Precup and Singh 1999, section
    4).

    One decision of k primitive steps returns ``sum(gamma**i * r_i)`` (options, section 3 of the same paper), the newest
    observation, and in ``info``:

    ``duration``        k >= 1, the number of primitive steps of this decision; 0 in the info of a reset
    ``primitive_steps`` number of primitive steps of the episode, since the reset or :meth:`restore_episode`
    ``success``         bool: whether any of the k steps had ``info["success"]``, if the environment reports it
    ``action``, ``ended``   the chosen branch, and how it ended (:data:`rlgpt.domain.Ending`)
    ``total_reward``    the sum of the rewards of the k steps, without discount; 0 in the info of a reset
    ``predicates``      name -> bool, if there are coded predicates
    ``metrics``, ``score``  the values for the episode so far, if the task declares them (:class:`rlgpt.domain.Metric`)
    ``action_mask``     int8, shape (branches,): 1 for each branch that may start now
    ``reward_terms``    reward term -> its weighted sum over the k steps, without discount (the values of a term of
    weight 0 are not weighted), if there are reward weights
    ``verdicts``        tuple of :class:`~rlgpt.domain.Verdict`, if there are any
    ``plan``            the branch that the plan's code would choose next, if there are coded actions
    ``running``         name of the coded action in progress, with ``interrupt_every``; "" if there is none
    ``decision``        a :class:`~rlgpt.domain.Decision`, with ``trace=True``; its ``verdict`` also explains why a
    choice was masked (``can_start`` failed, or quarantine)

    An error in a coded action ends the action and is recorded as a verdict. An exception in ``env.step`` propagates.

    :ivar context: the state of the episode that the plugin reads; ``context.step`` counts the episode's primitive
        steps.
    :ivar interrupt_every: maximal number of primitive steps of a coded action in one decision. If ``interrupt_every``
        is None, a decision for a coded action lasts until the action ends.
    :ivar measurement: metrics and score of the episode so far.
    :ivar on_step: a function that is called after each reset and each primitive step (:data:`rlgpt.options.OnStep`).
    :ivar setup: the objects that :func:`extend` makes from its arguments.
    :ivar lane: the state of this environment's coded actions.
    :ivar load_verdicts: for each coded action whose source cannot be loaded, the verdict on the source.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        actions: Sequence[CodedAction],
        *,
        on_step: OnStep | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        quarantined = settings.get("quarantined")
        settings["quarantined"] = quarantined = None if quarantined is None else tuple(quarantined)
        gym.utils.RecordConstructorArgs.__init__(
            self, actions=actions, on_step=on_step, **settings, _disable_deepcopy=True
        )
        gym.Wrapper.__init__(self, env)
        model = settings["plugin"].model(env)
        self.setup = setup = LaneSetup(env.action_space, env.observation_space, model, actions, settings)
        counted = None if on_step is None else partial(on_step, env)
        self.lane = Lane(setup, model, quarantined=quarantined, on_step=counted)
        self.plugin, self.task, self.gamma = setup.plugin, setup.task, setup.gamma
        self.extension, self.layout, self.actions = setup.extension, setup.layout, setup.actions
        self.action_space = setup.extension.space
        self.interrupt_every, self.load_verdicts = setup.interrupt_every, setup.load_verdicts
        self.context, self.measurement = self.lane.context, self.lane.measurement
        self.on_step = on_step

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        part = self.setup.sub_task
        return self.reset_whole(seed, options) if part is None else part.begin(self, seed, options)

    def reset_whole(self, seed: int | None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode as :meth:`reset` does. If the task is a part of another task, the episode begins at the
        start of that other task.
        """
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._perform(self.lane.begin(observation, info, seed))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._perform(self.lane.decide(self.extension.read(action)))

    def close(self) -> None:
        self.lane.close()
        super().close()

    def _perform(self, effects: Effects[T]) -> T:
        return perform(effects, look=lambda: self.plugin.views([self.context])[0], step=self.env.step)

    # -- states ------------------------------------------------------------------------------------------------------

    def save_episode(self) -> EpisodeState:
        """The state of the episode between two decisions, which :meth:`restore_episode` can restore. The saved state of
        an episode does not contain the globals of coded actions and functions.

        :raises StateError: the plugin cannot save the state of this task, or the environment's state cannot be saved.
        """
        return save_episode(self._codec(), self.env, self.context)

    def restore_episode(self, state: EpisodeState, *, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode from a saved state instead of the task's start.

        The environment's time limit continues from the saved state of the episode. The step count for the ``horizon``
        of :func:`extend` restarts at zero.

        :param seed: seed of all random numbers after the state is restored. If ``seed`` is None, the saved random
            generators continue.
        :returns: the pair of observation and info, as :meth:`reset` returns it.
        :raises StateError: the saved state belongs to another task, or is damaged.
        """
        restore_episode(self._codec(), self.env, self.context, state, seed=seed)
        try:
            info = self._perform(self.lane.resume())
        except Exception as fault:  # A plugin may raise any exception for an observation that its episodes never have.
            raise StateError(f"the saved state cannot be played: {type(fault).__name__}: {fault}.") from fault
        return self.context.observation, info

    def take_over(self, context: Context, info: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in the current state of the base environment, which another ``ExtendedEnv`` has played so
        far.

        :param context: the context of the other ``ExtendedEnv``; the random generator of the context continues.
        :param info: the newest info dict of the environment.
        :returns: the pair of observation and info, as :meth:`reset` returns it.
        """
        ctx = self.context
        ctx.observation, ctx.previous = context.observation, context.previous
        ctx.step, ctx.rng = context.step, context.rng
        ctx.info = {"env_reward": 0.0, **info}
        memory = dict(context.memory)
        ctx.memory.clear()
        ctx.memory.update(memory)
        return ctx.observation, self._perform(self.lane.resume())

    def _codec(self) -> StateCodec:
        codec = self.plugin.states(self.task)
        if codec is None:
            raise StateError(f"the plugin {self.plugin.name!r} cannot save and restore {self.task.id}.")
        return codec

    # -- for trainers and the loop ------------------------------------------------------------------------------------

    @property
    def primitive_steps(self) -> int:
        """Number of primitive steps since the reset or the :meth:`restore_episode` that began the episode."""
        return self.lane.primitive_steps

    def view(self) -> dict[str, Plain]:
        """The plugin's view of the newest observation, with the outputs of coded features.

        If the environment has no coded functions, each call of ``view`` builds the view. If the environment has coded
        functions, the view is built once at each primitive step.
        """
        return self.lane.view()

    @property
    def view_keys(self) -> tuple[ViewKey, ...]:
        """The keys of the view, which are the keys that the plugin documents and the outputs of coded features."""
        return self.setup.view_keys

    def quarantine(self, names: Iterable[str]) -> None:
        """From the next reset on, mask exactly the coded actions in ``names``. A coded function in ``names`` is not
        called; its answer is zero or False instead.

        After a call of ``quarantine``, the caller counts violations, and the environment no longer masks actions by
        itself.

        :raises UnknownNameError: the environment has no coded action and no function with one of the names.
        """
        self.lane.quarantine(names)

    @property
    def unpaid(self) -> tuple[str, ...]:
        """The reward terms of weight 0."""
        return self.lane.unpaid

    @property
    def running(self) -> str:
        """The name of the coded action in progress; empty if no coded action is in progress."""
        return self.lane.running

    @property
    def proposal(self) -> Any:
        """The low-level action that the coded action in progress proposes for the next primitive step, or None."""
        return self.lane.proposal
