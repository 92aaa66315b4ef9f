"""What a run puts by for judging, and what that leaves of its budget to learn with."""

from __future__ import annotations

import math

from rlgpt.agents.build import Agents
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.loop.settings import LoopSettings

MIN_TRAINING_FRACTION = 0.1
"""Part of the budget below which a run that is to learn does not begin."""


def turns_of(settings: LoopSettings, agents: Agents) -> int:
    """Turns of the outer loop at most: one where nobody would revise anything."""
    return settings.iterations if agents.revise else 1


def reserve(settings: LoopSettings, task: Task, agents: Agents, turns: int) -> int:
    """Primitive steps that judging can cost at most over the ``turns`` to come.

    That is one judgement of each policy, and one of the code of each further iteration, before which a critic with
    eyes is shown one more episode.
    """
    return ((2 * turns - 1) * settings.selection_episodes + _looks(agents, turns)) * task.horizon


def _looks(agents: Agents, turns: int) -> int:
    """Episodes that are played for the critic to look at."""
    return turns - 1 if agents.critic.supports_vision else 0


def check_budget(settings: LoopSettings, task: Task, agents: Agents) -> None:
    """Before anything is spent. Where code is written it may do without learning, and :func:`warning` is enough; so it
    is with a single selection episode, which makes a run a mere trial of every stage.

    :raises ConfigError: less than :data:`MIN_TRAINING_FRACTION` of the budget is left for a run that can only learn.
    """
    reserved_steps = reserve(settings, task, agents, turns_of(settings, agents))
    only_learns = agents.train and not agents.rehearse and settings.selection_episodes > 1
    if only_learns and settings.budget - reserved_steps < MIN_TRAINING_FRACTION * settings.budget:
        least = math.ceil(reserved_steps / (1 - MIN_TRAINING_FRACTION))
        raise ConfigError(
            f"{_told(settings, task, agents)} A run begins from budget={least}. {_advice(settings, task, agents)}"
        )


def warning(settings: LoopSettings, task: Task, agents: Agents) -> str:
    """One line where judging may take more than half of the budget of a run that is to learn; else nothing."""
    if not agents.train or 2 * reserve(settings, task, agents, turns_of(settings, agents)) <= settings.budget:
        return ""
    return f"warning: {_told(settings, task, agents)} {_advice(settings, task, agents)}"


def _told(settings: LoopSettings, task: Task, agents: Agents) -> str:
    turns = turns_of(settings, agents)
    reserved_steps = reserve(settings, task, agents, turns)
    left = max(0, settings.budget - reserved_steps)
    rest = f"{left:,} primitive steps" if left else "nothing"
    episodes = f"{2 * turns - 1} x selection_episodes={settings.selection_episodes}"
    if looks := _looks(agents, turns):
        episodes = f"({episodes} + {looks} for the critic to look at)"
    return (
        f"budget={settings.budget:,} leaves {rest} to learn with: judging "
        f"may take {reserved_steps:,} ({episodes} x horizon={task.horizon:,})."
    )


def _advice(settings: LoopSettings, task: Task, agents: Agents) -> str:
    """What each setting would have to be, alone, for half of the budget to be left."""
    turns = turns_of(settings, agents)
    reserved_steps = reserve(settings, task, agents, turns)
    episodes = (settings.budget // (2 * task.horizon) - _looks(agents, turns)) // (2 * turns - 1)
    horizon = settings.budget // (2 * reserved_steps // task.horizon)
    ways = [f"budget={2 * reserved_steps} or more"]
    ways += [f"selection_episodes={episodes} or fewer"] if episodes > 0 else []
    ways += [f"a horizon of {horizon} or less"] if horizon else []
    ways += ["iterations=1"] if turns > 1 else []
    return f"Half of it is left with {', or '.join(ways)}."
