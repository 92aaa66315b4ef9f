"""Compares the keys of info that the rules of success and score name with the keys that occurred in the trial."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from rlgpt.config.trial import Trial
from rlgpt.domain import RETURN, Task
from rlgpt.errors import UnknownNameError
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.rules import WORDS, SuccessRule

ALIKE = 0.8
"""Minimal similarity, 0 to 1, of a key to a name for which the key counts as a misspelling of this name."""


def missing(trial: Trial, keys: Sequence[str]) -> list[str]:
    """The keys that no step of the trial reported. Of a key with dots, only the first part is compared."""
    return [key for key in dict.fromkeys(keys) if not {key, key.partition(".")[0]} & {*trial.keys}]


def alike(key: str, names: Sequence[str]) -> list[str]:
    """The names of which ``key`` may be a misspelling, the most similar first."""
    return difflib.get_close_matches(key, names, n=3, cutoff=ALIKE)


def refuse_misspelt(trial: Trial, task: Task, plugin: GenericPlugin, *, own_limit: bool, no_trial: str) -> None:
    """Refuse a rule of success, or a score, whose keys never occurred in the trial, if a similar name did.

    An environment may report a key only at the end of an episode. Therefore, a similar key of info counts only if the
    environment itself ended an episode of the trial. A similar word of the rules always counts; a key of info with
    such a name can be written as ``info.KEY``.

    :param own_limit: whether the horizon is the environment's own limit of steps.
    :param no_trial: the argument for a run without a trial, as the caller of the run gives it.
    :raises UnknownNameError: a key is misspelt.
    """
    steps = [e.primitive_steps for e in trial.episodes if e.ended == "truncated"]
    ended = any(e.ended == "terminated" for e in trial.episodes) or any(own_limit or n < task.horizon for n in steps)
    seen = trial.keys if ended else ()
    rule = plugin.rule
    if isinstance(rule, SuccessRule) and not (rule.unless_reported and trial.reported):
        plain = {c.key for c in rule.conditions if c.key == c.word}
        if len(unread := missing(trial, rule.keys)) == len(set(rule.keys)):
            for key in unread:
                _refuse("success", key, [*seen, *(WORDS if key in plain else ())], trial, no_trial)
    if task.score is not None and task.score.metric != RETURN:
        key = next(key for key, metric in plugin.world.metrics.items() if metric.name == task.score.metric)
        if missing(trial, [key]):
            _refuse("score", key, [*seen, RETURN], trial, no_trial)


def _refuse(rule: str, key: str, names: Sequence[str], trial: Trial, no_trial: str) -> None:
    if alike(key, names):
        hint = f"No step of the trial reported info[{key!r}]; if the environment reports it later, set {no_trial}."
        raise UnknownNameError(f"key of {rule}", key, {*names, *trial.keys}, hint)
