"""A team whose slow agent draws plans at random. The team needs no language model."""

from __future__ import annotations

import random
from collections.abc import Sequence

from rlgpt.agents import (
    Agents,
    Brief,
    FixedActions,
    History,
    NoCritic,
    SlowAgent,
    TeamContext,
    primitive_actions,
)
from rlgpt.domain import ActionPlan, CodedAction, SubAction


class RandomSlow(SlowAgent):
    """A slow agent whose plans are random sets of the plugin's primitives as coded actions. A policy learns when to use
    each coded action.

    :param actions: the coded actions to choose from.
    :param size: the maximal number of coded actions in a plan.
    """

    def __init__(self, actions: Sequence[CodedAction], size: int) -> None:
        self._actions, self._size = actions, size

    def plan(self, brief: Brief, history: History) -> ActionPlan:
        """Make a plan that depends only on the task and the iteration, so that a resumed run has the same plan."""
        rng = random.Random(f"{brief.task.id} {len(history)}")
        chosen = rng.sample(self._actions, min(self._size, len(self._actions)))
        coded = [SubAction(name=a.name, description=a.doc, kind="code", reason="drawn at random") for a in chosen]
        rest = SubAction(name="choice", description="which action when", kind="rl", reason="it depends on the state")
        return ActionPlan(sub_actions=(*coded, rest))


def random_plans(context: TeamContext, *, size: int = 3) -> Agents:
    """Make the team of the setting ``agents=random_plans``. The setting ``agents.size=N`` is the maximal number of
    coded actions in a plan.

    A factory of teams receives a context and the settings of the team. A factory of teams may also change a team of
    rlgpt, as in ``dataclasses.replace(rlgpt.agents.build.slow_fast_critic(context), slow=MySlow())``.
    """
    actions = primitive_actions(context.plugin.primitives(context.task), context.plugin.labels(context.task).actions)
    return Agents(context.kind, RandomSlow(actions, size), FixedActions(actions), NoCritic(), rehearse=False)
