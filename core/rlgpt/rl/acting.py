"""Ways to act in an evaluation, in which a policy chooses, or the plan's code plays without a policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rlgpt.domain import CodedAction, Mode
from rlgpt.errors import ConfigError
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.play import Acting, Chooser
from rlgpt.rl.policy_lane import PolicyFormat


def by_policy(policy: Policy, *, greedy: bool = False, sharpness: float = 1.0) -> Acting:
    """Make the way to act by a policy.

    :param greedy: whether the policy takes its most likely choices instead of samples.
    :param sharpness: the power to which each probability is raised before a sample is drawn.
    """

    def chooser(form: PolicyFormat) -> Chooser:
        return lambda observation, rng: policy.act(observation, greedy=greedy, rng=rng, sharpness=sharpness)

    mode: Mode = "greedy" if greedy else "sampled" if sharpness == 1 else "sharpened"
    return Acting(mode, chooser, 1.0 if greedy else sharpness)


def by_code(actions: Sequence[CodedAction], *, may_stop: bool = False, mode: Mode = "code") -> Acting:
    """Make the way to act that plays the plan's coded actions in order, again and again.

    :param may_stop: whether a stuck episode ends early. An episode is stuck if every action was masked, or if the view
        did not change, in :data:`~rlgpt.rl.play.STUCK_ROUNDS` successive rounds of the plan.
    :param mode: the mode that evaluations record, ``code`` or ``tuned``.
    """
    names = tuple(a.name for a in actions)

    def chooser(form: PolicyFormat) -> Chooser:
        sequence = [form.coded(name) for name in names]
        turn = _Turns(len(sequence))
        return lambda observation, rng: sequence[turn.next(fresh=observation["duration"][0] == 0)]

    return Acting(mode, chooser, sequence=len(names) if may_stop else 0)


def code_spec(spec: EnvSpec, actions: Sequence[CodedAction]) -> EnvSpec:
    """The recipe of the environment in which ``actions`` play without a policy.

    :raises ConfigError: the tuple ``actions`` is empty.
    """
    if not actions:
        raise ConfigError("code alone needs at least one coded action; the plan has none.")
    alone = {"base_actions": None, "interrupt_every": None, "residual": 0.0, "plan_prior": 0.0}
    setup = spec.setup.model_copy(update={"coded_actions": tuple(a.name for a in actions), **alone})
    return dataclasses.replace(spec, setup=setup, actions=tuple(actions))


class _Turns:
    """Chooses the numbers 0, 1, ..., n - 1 one after another, again and again. Each episode begins with 0."""

    def __init__(self, count: int) -> None:
        self._count, self._at = count, 0

    def next(self, *, fresh: bool) -> int:
        self._at = 0 if fresh else (self._at + 1) % self._count
        return self._at
