"""Renders the results of the trial, and the rules of success and score, as lines of text. Warnings point to rules that
may measure something other than the goal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from rlgpt.config.trial import Trial, TrialEpisode
from rlgpt.config.trial_keys import alike, missing
from rlgpt.domain import RETURN, Score, Task
from rlgpt.plugin.docstrings import LIMIT, readable
from rlgpt.plugin.generic import GenericPlugin
from rlgpt.plugin.judged import UNTOLD
from rlgpt.plugin.rules import WORDS, SuccessRule

KEYS = 12
"""Maximal number of keys of ``info`` that the report lists."""

SHORT = 4
"""A factor for warnings. A horizon that rlgpt assumed counts as too long if it has at least ``SHORT`` times as many
steps as the longest episode of the trial.
"""

TERSE = 1_000
"""Number of characters below which a description of the environment is too short to explain actions or numbers without
names.
"""

Spelling = Callable[..., str]
"""A function ``f(name, value="")`` that writes an argument of ``design()`` as the caller of the run gives it."""


def keyword(name: str, value: object = "") -> str:
    """The spelling of an argument in a call from Python."""
    return f"{name}={value}"


def description_lines(plugin: GenericPlugin, task: Task, spell: Spelling, *, docs: str | None) -> list[str]:
    """Lines of text about the description of the environment that the language model reads. If the description of the
    environment is short, a warning is added.

    :param spell: how the caller of the run gives an argument.
    :param docs: the user's own description; None if the user gave none.
    """
    known = plugin.knowledge(task)
    source = "as given" if docs else "the environment's docstring and settings"
    lines = [f"description: {source}, {len(known):,} characters"]
    if docs and len(docs) > LIMIT and (whole := len(readable(docs, len(docs)))) > LIMIT:
        lines.append(
            f"warning: docs has {whole:,} characters, and the language model reads at most {LIMIT:,}: the longest "
            "sections are cut. Make docs shorter."
        )
    missing = plugin.unnamed
    if missing and len(known) < TERSE:
        lines.append(
            f"warning: the language model is not told what {' and '.join(missing.values())} mean: give "
            f"{' and '.join(map(spell, missing))}"
        )
    return lines


def rule_lines(plugin: GenericPlugin, task: Task, spell: Spelling, *, chosen: bool, horizon: int | None) -> list[str]:
    """The rules of success and score, and the length of an episode, as lines of text.

    :param spell: how the caller of the run gives an argument.
    :param chosen: whether the user, and not rlgpt, defined success or score.
    :param horizon: the horizon that the user gave; None if the user gave no horizon.
    """
    lines = []
    rule, rules = plugin.rule, f"{spell('success')} or {spell('score')}"
    if rule is not None:
        text = f"{rule.text}, {rule.when}" if isinstance(rule, SuccessRule) else f"a function: {rule.words}"
        if isinstance(rule, SuccessRule) and rule.text.endswith(rule.when):
            text = rule.text
        source = "" if chosen else f" (the environment reports success itself; {rules} choose otherwise)"
        lines.append(f"success: {text}{source}")
    if (score := task.score) is not None:
        better = "more is better" if score.maximize else "less is better"
        unit = score.unit or next((m.unit for m in task.metrics if m.name == score.metric), "")
        name = "the return of the episode" if score.metric == RETURN else score.metric
        source = "" if chosen else f"; the environment reports no success and none was given ({rules} choose another)"
        lines.append(f"score: {name}{f' in {unit}' if unit else ''}, {better}{source}")
        threshold = plugin.threshold
        if not chosen and threshold is not None:
            lines.append(
                f"  (the environment is registered with a reward_threshold of {threshold:g}; "
                f"{spell('success', f'{threshold:g}')} uses this threshold)"
            )
    if task.metrics:
        metrics = ", ".join(f"{m.name} ({m.reduce}{f', {m.unit}' if m.unit else ''})" for m in task.metrics)
        lines.append(f"metrics: {metrics}")
    given = "as given" if horizon else "the environment's own limit" if plugin.has_limit else "assumed, since the "
    if given.startswith("assumed"):
        given += f"environment names no limit: {spell('horizon')} sets another"
    return [*lines, f"horizon: {task.horizon:,} primitive steps ({given})"]


def report(trial: Trial, task: Task, plugin: GenericPlugin, spell: Spelling, *, horizon: int | None) -> list[str]:
    """The results of the trial as lines of text. The warnings come last.

    :param spell: how the caller of the run gives an argument.
    :param horizon: the horizon that the user gave; None if the user gave no horizon.
    """
    rule = plugin.rule if isinstance(plugin.rule, SuccessRule) else None
    idle, measured = f"idle actions{plugin.idle_words}", tuple(plugin.world.metrics)
    assumed = horizon is None and not plugin.has_limit
    cut = sum(e.ended == "cut" for e in trial.episodes)
    lines = [f"trial of these rules: {trial.primitive_steps:,} primitive steps, which do not count towards the budget"]
    lines += [f"  {_row(trial.of('random'), 'random actions', task)}", f"  {_row(trial.of('idle'), idle, task)}"]
    if best := best_constant(trial, task):
        who = f"the best of {len(trial.of('constant'))} constant actions ({best.action})"
        lines.append(f"  {_row((best,), who, task)}")
    keys = [key for key in trial.keys if key not in UNTOLD]
    if keys:
        more = f" and {len(keys) - KEYS} more" if len(keys) > KEYS else ""
        users = f"{spell('success')}, {spell('score')} and {spell('metrics')}"
        lines.append(f"  info has {', '.join(keys[:KEYS])}{more}: {users} can use them")
    played = len(trial.of("random")) + len(trial.of("idle"))
    if cut or played < 2 * trial.planned:
        lines.append(
            f"  the trial ended early: {played} of {2 * trial.planned} episodes of random and idle actions, and "
            f"{cut} of all {len(trial.episodes)} episodes were cut before their end"
        )
    found = _warnings(trial, task, rule, idle, measured, spell, assumed=assumed)
    return [*lines, *(f"warning: {text}" for text in found)]


def best_constant(trial: Trial, task: Task) -> TrialEpisode | None:
    """The best episode with a constant action: success comes first, then the better score, then the higher return."""
    sign = -1.0 if task.score is not None and not task.score.maximize else 1.0

    def worth(episode: TrialEpisode) -> tuple[bool, float, float]:
        score = -math.inf if episode.score is None else sign * episode.score
        return episode.success, score, episode.total_reward

    return max(trial.of("constant"), key=worth, default=None)


def _row(episodes: Sequence[TrialEpisode], acting: str, task: Task) -> str:
    if not episodes:
        return f"{acting}: not tried"
    ends = []
    for name, chosen in _causes(episodes, bool(task.success)):
        if chosen:
            flags = Counter(flag for e in chosen for flag in e.flags)
            counts = "".join(f", {flag} {n}" for flag, n in flags.items())
            ends.append(f"{len(chosen)} {name} ({_span([e.primitive_steps for e in chosen])} steps{counts})")
    parts = [f"{sum(e.success for e in episodes)} of {len(episodes)} succeed"] if task.success else []
    parts += [f"ends: {', '.join(ends)}"]
    if task.score is not None and task.score.metric != RETURN:
        scores = [e.score for e in episodes if e.score is not None]
        parts.append(f"{task.score.metric} {_span(scores)}" if scores else f"{task.score.metric} never reported")
    parts.append(f"return {_span([e.total_reward for e in episodes])}")
    return f"{acting}: {'; '.join(parts)}"


def _causes(episodes: Sequence[TrialEpisode], judged: bool) -> Iterator[tuple[str, list[TrialEpisode]]]:
    """The episodes of the trial, grouped by the cause of their end. Each group comes with the name of its cause."""
    if judged:
        yield "goal", [e for e in episodes if e.ended == "terminated" and e.success]
        yield "terminated without success", [e for e in episodes if e.ended == "terminated" and not e.success]
    else:
        yield "terminated by the environment", [e for e in episodes if e.ended == "terminated"]
    yield "time", [e for e in episodes if e.ended == "truncated"]
    yield "cut by the trial", [e for e in episodes if e.ended == "cut"]


def _warnings(
    trial: Trial,
    task: Task,
    rule: SuccessRule | None,
    idle: str,
    measured: Sequence[str],
    spell: Spelling,
    *,
    assumed: bool,
) -> Iterator[str]:
    wins = [
        f"{sum(e.success for e in trial.of(acting))} of {len(trial.of(acting))} episodes of {name}"
        for acting, name in (("random", "random actions"), ("idle", idle))
        if any(e.success for e in trial.of(acting))
    ]
    if steady := [e.action for e in trial.of("constant") if e.success]:
        wins.append(f"{len(steady)} of {len(trial.of('constant'))} episodes of constant actions ({', '.join(steady)})")
    if wins:
        yield (
            f"{', '.join(wins)} already succeed by this rule. If the rule counts a crash, or an event that "
            f"happens by itself, give another rule: {spell('success', ', '.join(_other_rules(trial, rule)))}, or "
            f"{spell('score')}. If the task is that easy, only a result above these rates shows that something was "
            "learned."
        )
    whole = [e.primitive_steps for e in trial.episodes if e.ended != "cut"]
    if assumed and whole and max(whole) * SHORT <= task.horizon:
        yield (
            f"the horizon of {task.horizon:,} steps is assumed, and no episode of the trial took more than "
            f"{max(whole):,}. Give the length of a good episode as {spell('horizon')}. With a horizon that is far too "
            "long, fewer episodes are judged, and a policy deviates too seldom from the code to learn."
        )
    if assumed and whole and all(steps >= task.horizon for steps in whole):
        yield (
            f"the horizon of {task.horizon:,} steps is assumed, and no episode of the trial ended before it: the "
            f"environment's own end may come later, or never. {spell('horizon')} sets another horizon."
        )
    early = [e.primitive_steps for e in trial.episodes if e.ended == "truncated" and e.primitive_steps < task.horizon]
    if early:
        yield (
            f"the environment itself ends episodes for time after {max(early):,} steps, and the horizon is "
            f"{task.horizon:,}: {spell('horizon', max(early))} reserves less of the budget for judging."
        )
    if rule is not None and rule.needs_an_end and not any(e.ended == "terminated" for e in trial.episodes):
        yield (
            f"success needs an episode that the environment ends, and none of {len(trial.episodes)} episodes ended "
            f"within {task.horizon:,} steps: success may be impossible. Raise {spell('horizon')}, or give a "
            f"{spell('success')} or {spell('score')} that does not need an end."
        )
    read = [*(rule.keys if rule is not None else ()), *measured]
    for key in missing(trial, read):
        near = " or ".join(map(repr, alike(key, [*trial.keys, *WORDS])))
        yield (
            f"no step of the trial reported info[{key!r}].{f' Did you mean {near}?' if near else ''} Reported: "
            f"{', '.join(trial.keys) or 'nothing'}. Without this key, a condition is false, and a score or metric has "
            "no number."
        )
    yield from _score_warnings(trial, task.score)


def _other_rules(trial: Trial, rule: SuccessRule | None) -> list[str]:
    """Examples of rules of success that are stricter than ``rule``, in quotation marks."""
    given = "" if rule is None else f"{rule.text}, {rule.when}"
    flags = [flag for e in trial.episodes for flag in e.flags]
    crash = next((flag for flag in flags if "crash" in flag or "collision" in flag), "crashed")
    rules = [] if " not " in given else [f"terminated and not {crash}"]
    rules += [] if "at the end" in given else ["KEY at the end"]
    return [repr(text) for text in (*rules, "return >= NUMBER")]


def _score_warnings(trial: Trial, score: Score | None) -> Iterator[str]:
    whole = [e for e in trial.episodes if e.ended != "cut"]
    scores = {e.score for e in whole if e.score is not None}
    if score is not None and len(whole) > 2 and len(scores) == 1:
        yield (
            f"every episode of the trial has the score {scores.pop():g}: random and constant actions do not change the "
            "score, so a policy has nothing to learn from at first. Code may change it; reward terms or easier starts "
            "help."
        )


def _span(numbers: Sequence[float]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,.4g}" if low == high else f"{low:,.4g} to {high:,.4g}"
