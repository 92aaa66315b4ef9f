"""Collects the primitive steps of training episodes for the networks that choose each primitive step
(:mod:`rlgpt.rl.base_only`), as if these networks had chosen them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlgpt.options.lane import Lane
from rlgpt.rl.base_only import Kind
from rlgpt.rl.policy_lane import PolicyFormat

Numbers = NDArray[np.float32]


class Columns(NamedTuple):
    """K primitive steps, each in the form of a decision that takes one primitive step.

    :ivar observations: the numbers that the network observes before each step, float32 ``[K, D]``. These are the
        numbers of the setup's observation keys, and for override episodes also those about the plan's code.
    :ivar following: the same numbers after each step.
    :ivar actions: the flat actions of the steps, float32 ``[K, action_size]``.
    :ivar rewards: the rewards of the steps, float32 ``[K]``.
    :ivar returns: the discounted sums of the rewards of the episode up to each step, float32 ``[K]``.
    :ivar terminated: whether the step led to a terminal state, bool ``[K]``.
    """

    observations: NDArray[np.float32]
    following: NDArray[np.float32]
    actions: NDArray[np.float32]
    rewards: NDArray[np.float32]
    returns: NDArray[np.float32]
    terminated: NDArray[np.bool_]


class PrimitiveSteps(NamedTuple):
    """Primitive steps for the network of one kind of episodes.

    :ivar kind: the kind of episodes whose network learns from the steps.
    :ivar rows: the steps.
    """

    kind: Kind
    rows: Columns


class _Step(NamedTuple):
    """A primitive step.

    :ivar before: the numbers of the setup's observation keys before the step.
    :ivar after: the same numbers after the step.
    :ivar base: the flat action that takes the step as a base action; None if the policy cannot choose it so.
    :ivar override: the flat action that takes the step in place of a proposal; None if the policy cannot choose it so,
        or if no coded action was in progress.
    :ivar plan: the numbers about the plan's code before the step; None if no coded action was in progress.
    """

    before: Numbers
    after: Numbers
    base: Numbers | None
    override: Numbers | None
    plan: Numbers | None
    reward: float
    total: float


class PrimitiveLog:
    """The primitive steps of one lane's decision in progress.

    :param gamma: discount per primitive step.
    """

    def __init__(self, form: PolicyFormat, lane: Lane, gamma: float) -> None:
        self._form, self._lane, self._gamma = form, lane, gamma
        self._newest = np.zeros(0, np.float32)
        self._steps: list[_Step] = []
        self._held: list[_Step] = []
        self._return, self._kinds = 0.0, tuple[Kind, ...]()

    def begin(self, kinds: tuple[Kind, ...]) -> None:
        """Begin an episode.

        :param kinds: the kinds of episodes whose networks learn from the primitive steps of the episode.
        """
        self._kinds = kinds
        self._lane.on_reward = self._add if kinds else None
        if kinds:
            self._newest = self._form.numbers(self._lane)
        self._steps, self._held, self._return = [], [], 0.0

    def take(self, terminated: bool, truncated: bool) -> tuple[PrimitiveSteps, ...]:
        """Return the primitive steps since the last call, for each kind of episodes for which there are steps. A step
        that the policy cannot choose is left out.

        :param terminated: whether the last step led to a terminal state.
        :param truncated: whether a time limit ended the episode with the last step.
        """
        steps, self._steps = self._steps, []
        found: list[tuple[Kind, Columns | None]] = []
        if Kind.BASE_ONLY in self._kinds:
            seen, following = [step.before for step in steps], [step.after for step in steps]
            found.append((Kind.BASE_ONLY, _columns(steps, seen, following, [s.base for s in steps], terminated)))
        if Kind.OVERRIDE in self._kinds:
            found.append((Kind.OVERRIDE, self._overriding(steps, terminated, terminated or truncated)))
        return tuple(PrimitiveSteps(kind, rows) for kind, rows in found if rows is not None)

    def _overriding(self, steps: list[_Step], terminated: bool, ended: bool) -> Columns | None:
        """The steps for the network of override episodes. The last step of a call belongs to the next decision, because
        in override episodes the next call begins at once: its proposal is known when its first step is taken. After the
        last step of an episode, the proposal of this step counts as the next one.
        """
        steps = [*self._held, *steps]
        if not steps:
            return None
        plans: list[Numbers | None] = [step.plan for step in steps[1:]]
        plans.append(steps[-1].plan if ended else self._form.plan_numbers(self._lane) if self._lane.running else None)
        self._held = [steps[-1]] if plans[-1] is None and steps[-1].override is not None else []
        seen = [None if s.plan is None else np.concatenate([s.before, s.plan]) for s in steps]
        following = [None if p is None else np.concatenate([s.after, p]) for s, p in zip(steps, plans, strict=True)]
        actions = [None if f is None else step.override for step, f in zip(steps, following, strict=True)]
        return _columns(steps, seen, following, actions, terminated)

    def _add(self, low_level: Any, reward: float) -> None:
        form, lane = self._form, self._lane
        self._return = self._return * self._gamma + reward
        base = form.base_action(low_level) if Kind.BASE_ONLY in self._kinds else None
        override = plan = None
        if Kind.OVERRIDE in self._kinds and lane.running:
            override, plan = form.override(lane, low_level), form.plan_numbers(lane)
        before, self._newest = self._newest, form.numbers(lane)
        self._steps.append(_Step(before, self._newest, base, override, plan, reward, self._return))


def _columns(
    steps: Sequence[_Step],
    seen: Sequence[Numbers | None],
    following: Sequence[Numbers | None],
    actions: Sequence[Numbers | None],
    terminated: bool,
) -> Columns | None:
    """The steps that have an action; None if there are none."""
    kept = [i for i, action in enumerate(actions) if action is not None]
    if not kept:
        return None

    def stacked(numbers: Sequence[Numbers | None]) -> Numbers:
        return np.stack([n for i in kept if (n := numbers[i]) is not None])

    return Columns(
        stacked(seen),
        stacked(following),
        stacked(actions),
        np.array([steps[i].reward for i in kept], np.float32),
        np.array([steps[i].total for i in kept], np.float32),
        np.array([terminated and i == len(steps) - 1 for i in kept]),
    )
