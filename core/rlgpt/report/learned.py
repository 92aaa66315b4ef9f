"""Describes in words how a policy learned, with its start states, first behaviour, hyperparameters and parameter
search.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import CodedAction, RLSetup, SearchRecord, TrainingRecord

Fact = tuple[str, str]
"""A name and a text."""


def learning_facts(setup: RLSetup, training: TrainingRecord | None, actions: Sequence[CodedAction]) -> list[Fact]:
    """The facts about a training that differ from plain PPO, each with its name.

    :param actions: the coded actions, whose default parameters are shown beside the values that a search found.
    """
    facts = []
    if setup.reset_option is not None:
        facts.append(("starts", f"{setup.reset_share:.0%} of training episodes begin at {setup.reset_option}"))
    if guided := _guided(setup):
        facts.append(("begins as the code", guided))
    if setup.trainer:
        facts.append(("hyperparameters", ", ".join(f"{name} {value:g}" for name, value in setup.trainer.items())))
    if training is not None and training.search is not None:
        facts.append(("searched", _searched(training.search, actions)))
    return facts


def _guided(setup: RLSetup) -> str:
    parts = []
    if setup.plan_prior:
        parts.append(f"the plan's choice has the probability {setup.plan_prior:g} at first")
    if setup.interrupt_every is not None:
        parts.append(f"decides again after {setup.interrupt_every} steps of a coded action")
    if setup.residual:
        parts.append(f"corrects a step of code by up to {setup.residual:.0%} of half the range")
    return "; ".join(parts)


def _searched(search: SearchRecord, actions: Sequence[CodedAction]) -> str:
    share = f", {search.successes / search.episodes:.0%} succeeded" if search.episodes else ""
    played = f"{search.episodes:,} episodes{share}"
    if search.ended is None:
        return f"{played}; the training stopped before the search ended"
    played = f"{played}, in the first {search.ended:,} steps"
    if not search.found:
        return f"{played}: too few, so the parameters keep their defaults"
    defaults = {f"{a.name}.{p.name}": p.default for a in actions for p in a.parameters}
    found = [
        f"{name} {value:.4g}" + (f" (default {defaults[name]:.4g})" if name in defaults else "")
        for name, value in search.found.items()
    ]
    return f"{played}: {', '.join(found)}"
