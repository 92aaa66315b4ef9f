"""The part of a run's budget that is reserved for evaluations, and what remains for learning."""

from __future__ import annotations

import math

from rlgpt.agents.build import Agents
from rlgpt.domain import Task
from rlgpt.errors import ConfigError
from rlgpt.loop.settings import LoopSettings

MIN_TRAINING_FRACTION = 0.1
"""A run that can only learn needs at least this share of its budget for learning."""


def max_iterations(settings: LoopSettings, agents: Agents) -> int:
    """Most iterations of the outer loop: one if no agent revises anything."""
    return settings.iterations if agents.revise else 1


def reserve(settings: LoopSettings, task: Task, agents: Agents, iterations: int) -> int:
    """Most primitive steps that the evaluations of the next ``iterations`` iterations take.

    Each policy is evaluated once, and so is the code of each further iteration. Before a further iteration a critic
    with vision receives the frames of one more episode. Every episode counts with the task's horizon.
    """
    episodes = (2 * iterations - 1) * settings.selection_episodes + _filmed_episodes(agents, iterations)
    return episodes * task.horizon


def check_budget(settings: LoopSettings, task: Task, agents: Agents) -> None:
    """Check a budget before anything is spent.

    A run with coded actions can succeed without learning, so :func:`warning` suffices for it. It also suffices for a
    single selection episode, which only tries every stage.

    :raises ConfigError: less than :data:`MIN_TRAINING_FRACTION` of the budget remains for a run that can only learn.
    """
    reserved_steps = reserve(settings, task, agents, max_iterations(settings, agents))
    only_learns = agents.train and not agents.rehearse and settings.selection_episodes > 1
    if only_learns and settings.budget - reserved_steps < MIN_TRAINING_FRACTION * settings.budget:
        smallest = math.ceil(reserved_steps / (1 - MIN_TRAINING_FRACTION))
        raise ConfigError(
            f"{_remainder(settings, task, agents)} The smallest accepted budget is budget={smallest}. "
            f"{_advice(settings, task, agents)}"
        )


def warning(settings: LoopSettings, task: Task, agents: Agents) -> str:
    """A warning where evaluations may take more than half of the budget of a run that learns; else ""."""
    if not agents.train or 2 * reserve(settings, task, agents, max_iterations(settings, agents)) <= settings.budget:
        return ""
    return f"warning: {_remainder(settings, task, agents)} {_advice(settings, task, agents)}"


def _filmed_episodes(agents: Agents, iterations: int) -> int:
    """Episodes that are played for a critic with vision: one before each further iteration."""
    return iterations - 1 if agents.critic.supports_vision else 0


def _remainder(settings: LoopSettings, task: Task, agents: Agents) -> str:
    iterations = max_iterations(settings, agents)
    reserved_steps = reserve(settings, task, agents, iterations)
    left = max(0, settings.budget - reserved_steps)
    rest = f"{left:,} primitive steps" if left else "nothing"
    episodes = f"{2 * iterations - 1} x selection_episodes={settings.selection_episodes}"
    if filmed := _filmed_episodes(agents, iterations):
        episodes = f"({episodes} + {filmed} for the critic's frames)"
    return (
        f"budget={settings.budget:,} leaves {rest} for learning: evaluations "
        f"may take {reserved_steps:,} ({episodes} x horizon={task.horizon:,})."
    )


def _advice(settings: LoopSettings, task: Task, agents: Agents) -> str:
    """For each setting the value that alone leaves half of the budget for learning."""
    iterations = max_iterations(settings, agents)
    reserved_steps = reserve(settings, task, agents, iterations)
    filmed = _filmed_episodes(agents, iterations)
    episodes = (settings.budget // (2 * task.horizon) - filmed) // (2 * iterations - 1)
    horizon = settings.budget // (2 * reserved_steps // task.horizon)
    ways = [f"budget={2 * reserved_steps} or more"]
    ways += [f"selection_episodes={episodes} or fewer"] if episodes > 0 else []
    ways += [f"a horizon of {horizon} or less"] if horizon else []
    ways += ["iterations=1"] if iterations > 1 else []
    return f"Half of the budget remains with {', or '.join(ways)}."
