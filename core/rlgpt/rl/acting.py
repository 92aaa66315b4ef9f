"""Ways to act in an evaluation, in which a policy chooses, or the plan's code plays without a policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgpt.domain import CodedAction, Mode
from rlgpt.errors import ConfigError
from rlgpt.options.progress import PlanOrder
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.play import Acting, Chooser
from rlgpt.rl.policy_lane import Observation, PolicyFormat


def by_policy(policy: Policy, mode: Mode = "sampled", sharpness: float | None = None) -> Acting:
    """Make the way to act by a policy.

    :param mode: the mode in which the policy acts. In the mode ``base_only``, the recipe of the environment must mask
        the coded actions.
    :param sharpness: in the mode ``sharpened``, the power to which each probability is raised before a sample is drawn.
        In the other modes, ``sharpness`` is ignored.
    """
    power = (sharpness or 1.0) if mode == "sharpened" else 1.0

    def chooser(form: PolicyFormat) -> Chooser:
        greedy = mode in ("greedy", "base_only")
        return lambda observation, rng: policy.act(observation, greedy=greedy, rng=rng, sharpness=power)

    return Acting(mode, chooser, power)


def by_code(actions: Sequence[CodedAction], *, may_stop: bool = False, mode: Mode = "code") -> Acting:
    """Make the way to act that plays the plan's coded actions in order, again and again. An action that may not start
    is skipped. If no action may start, the next one in the order takes one idle step.

    :param may_stop: whether a stuck episode ends early. An episode is stuck if every action was masked, or if the view
        did not change, in :data:`~rlgpt.rl.play.STUCK_ROUNDS` successive rounds of the plan.
    :param mode: the mode that evaluations record, ``code`` or ``tuned``.
    """
    names = tuple(a.name for a in actions)

    def chooser(form: PolicyFormat) -> Chooser:
        sequence = [form.coded(name) for name in names]
        order = PlanOrder(len(sequence))

        def choose(observation: Observation, rng: np.random.Generator) -> Any:
            if observation["duration"][0] == 0:
                order.reset()
            index = order.next(observation["action_mask"][-len(sequence) :])
            order.chose(index)
            return sequence[index]

        return choose

    return Acting(mode, chooser, may_stop=may_stop)


def code_spec(spec: EnvSpec, actions: Sequence[CodedAction]) -> EnvSpec:
    """The recipe of the environment in which ``actions`` play without a policy.

    :raises ConfigError: the tuple ``actions`` is empty.
    """
    if not actions:
        raise ConfigError("code alone needs at least one coded action; the plan has none.")
    alone = {"base_actions": None, "interrupt_every": None, "residual": 0.0, "plan_prior": 0.0}
    setup = spec.setup.model_copy(update={"coded_actions": tuple(a.name for a in actions), **alone})
    return dataclasses.replace(spec, setup=setup, actions=tuple(actions))
