"""Renders the results of an iteration as text for the critic. The text has figures, a table of episodes, and the
decisions of a few episodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgpt.agents.base import Brief, Outcome
from rlgpt.agents.rendering import (
    marked,
    policy_name,
    render_found,
    render_metrics,
    render_result,
    render_usage,
    render_verdicts,
)
from rlgpt.agents.text import bullets, number
from rlgpt.agents.traces import render_outline, render_trace
from rlgpt.domain import Episode, Evaluation, Metric
from rlgpt.domain.evaluations import quality

ROWS = 40
"""Maximal number of episodes in a table. If there are more episodes, the failed ones have priority."""

DETAIL_LIMIT, OUTLINE_LIMIT = 6_000, 2_500
"""Maximal length, in characters, of the episode that is shown in detail, and of each other episode."""

CUTS = {"stuck": "ended early: stuck, nothing changed any more", "limit": "ended early: the budget pays for no more"}

CODE = "The code alone (the coded actions in the plan's order, repeatedly)"
TUNED = "The code alone with the parameter values that a search found"


def render_results(outcome: Outcome, weights: Mapping[str, float], metrics: Sequence[Metric] = ()) -> str:
    """Text with result, episode return, reward terms, metrics, use of each action and errors, for the policy, for tuned
    code and for code alone. Figures about the training follow.

    :param weights: the weight of each reward term in evaluations.
    """
    lines = [_evaluated(who, evaluation, weights, metrics) for who, evaluation in _parties(outcome)]
    if (training := outcome.training) is not None:
        lines.append(f"Training took {training.primitive_steps:,} primitive steps, {training.decisions:,} decisions.")
        if training.quarantined:
            lines.append(f"Masked after three errors: {', '.join(training.quarantined)}.")
        if training.base_only:
            names = ", ".join(training.base_only)
            lines.append(f"Masked, because training episodes with base actions only were better: {names}.")
        if training.verdicts:
            lines.append(f"Errors while training:\n{render_verdicts(training.verdicts)}")
    else:
        lines.append("No policy was trained.")
    return "\n\n".join(lines)


def render_episodes(outcome: Outcome, horizon: int, weights: Mapping[str, float]) -> str:
    """Text with a table of the episodes of the policy, of tuned code and of code alone, followed by the traced
    episodes.

    One traced episode is shown in detail. Stuck episodes have priority, then failed episodes, then episodes of the
    policy; among these, the worst one is shown. Of each other traced episode, the text shows the decisions
    without their calls of primitives.

    :param weights: the weight of each reward term in evaluations.
    """
    parties = _parties(outcome)
    tables = [f"{who}:\n{render_table(evaluation, horizon, weights)}" for who, evaluation in parties]
    traces = [(who, trace) for who, evaluation in parties for trace in evaluation.traces]
    if not traces:
        return "\n\n".join([*tables, "(no episode was traced)"])
    worst = [(who, min(e.traces, key=lambda t: quality(t, e.score))) for who, e in parties if e.traces]
    detailed = min(worst, key=lambda pair: (not pair[1].stuck, pair[1].success))
    shown = [f"In detail, {_who(detailed[0])}\n{render_trace(detailed[1], DETAIL_LIMIT)}"]
    shown += [f"{_who(pair[0])}\n{render_outline(pair[1], OUTLINE_LIMIT)}" for pair in traces if pair != detailed]
    return "\n\n".join([*tables, *shown])


def render_code(brief: Brief) -> str:
    """Text about the evaluation of the iteration's code without a policy. The text has figures, the reason why the run
    continues, and a table of the episodes.
    """
    if brief.code is None or not brief.code.episodes:
        return "It was not played alone."
    weights = brief.default_setup.reward_weights
    table = render_table(brief.code, brief.task.horizon, weights)
    figures = _evaluated(CODE, brief.code, weights, brief.task.metrics)
    return "\n".join(filter(None, (figures, _why_on(brief, brief.code), f"Its episodes:\n{table}")))


def _why_on(brief: Brief, code: Evaluation) -> str:
    """The reason, as text, why the run continues after the evaluation of code; empty if no training is planned, or if
    code does not reach the target success rate.
    """
    training = brief.training
    if training is None:
        return ""
    if training.target is None:
        return "The score has no target, so the run goes on: a policy may be better."
    if not brief.task.success:
        return f"The run goes on because the target is a mean score of {number(training.target)}."
    if code.success_rate < training.target:
        return ""
    count = len(code.episodes)
    return (
        f"The run goes on although this reaches the target of {training.target:g}: {count} episode"
        f"{'s are' if count > 1 else ' is'} too few to be sure, and the budget for judging code pays for no more."
    )


def render_table(evaluation: Evaluation, horizon: int, weights: Mapping[str, float]) -> str:
    """A table with one line for each of at most :data:`ROWS` episodes. A line shows the seed, the result and the length
    of an episode, and how the episode ended.

    :param weights: the weight of each reward term in evaluations.
    """
    terms = _telling(evaluation)
    ordered = sorted(evaluation.episodes, key=lambda e: e.success)[:ROWS]
    rows = [_row(e, evaluation, {name: marked(name, weights) for name in terms}, horizon) for e in ordered]
    if left := len(evaluation.episodes) - len(rows):
        rows.append(f"- and {left} more")
    return "\n".join(rows)


def _row(episode: Episode, evaluation: Evaluation, terms: Mapping[str, str], horizon: int) -> str:
    parts = [("success" if episode.success else "no success")] if evaluation.has_success else []
    if episode.score is not None:
        parts.append(f"score {number(episode.score)}")
    parts += [f"{episode.primitive_steps} steps", f"{episode.decisions} decisions", _end(episode, horizon)]
    parts += [f"{shown} {number(episode.reward_terms.get(name, 0.0))}" for name, shown in terms.items()]
    parts += [f"{name} {number(value)}" for name, value in list(episode.metrics.items())[:6]]
    parts += [f"{name} true after {steps} steps" for name, steps in episode.reached.items()]
    return f"- seed {episode.seed}: {', '.join(parts)}"


def _end(episode: Episode, horizon: int) -> str:
    if episode.cut is not None:
        return CUTS[episode.cut]
    if episode.ending:
        return episode.ending
    return "time limit" if episode.primitive_steps >= horizon else "ended by the environment"


def _telling(evaluation: Evaluation, most: int = 4) -> list[str]:
    """The names of the ``most`` reward terms whose sums differ most between the episodes."""
    names = dict.fromkeys(name for e in evaluation.episodes for name in e.reward_terms)
    spans = {}
    for name in names:
        values = [e.reward_terms.get(name, 0.0) for e in evaluation.episodes]
        spans[name] = (max(values) - min(values)) / (max(map(abs, values)) or 1.0)
    return [name for name in sorted(spans, key=lambda n: -spans[n]) if spans[name] > 0][:most]


def _parties(outcome: Outcome) -> list[tuple[str, Evaluation]]:
    """The evaluations of the policy, of tuned code and of code alone, each with a title. An evaluation that was not
    made is left out.
    """
    code_only = outcome.evaluation.mode == "code"
    code = outcome.code_evaluation or (outcome.evaluation if code_only else None)
    policy = [] if code_only else [(f"The {policy_name(outcome.evaluation)}", outcome.evaluation)]
    tuned = outcome.tuned_evaluation
    search = None if outcome.training is None else outcome.training.search
    found = [] if tuned is None else [(f"{TUNED} ({render_found(search, outcome.actions)})", tuned)]
    return [*policy, *found, *([(CODE, code)] if code is not None else [])]


def _who(who: str) -> str:
    return f"{who.partition(' (')[0].lower()}:"


def _evaluated(who: str, evaluation: Evaluation, weights: Mapping[str, float], metrics: Sequence[Metric]) -> str:
    episodes = evaluation.episodes
    names = dict.fromkeys(name for e in episodes for name in e.reward_terms)
    terms = {
        marked(n, weights): number(sum(e.reward_terms.get(n, 0.0) for e in episodes) / len(episodes)) for n in names
    }
    steps = evaluation.primitive_steps / max(1, len(episodes))
    lines = [
        f"{who}: {render_result(evaluation)}, mean reward {number(evaluation.mean_reward)}, "
        f"{steps:.0f} primitive steps an episode.",
    ]
    if evaluation.usage:
        lines.append(f"Used: {render_usage(evaluation)}.")
    if terms:
        lines.append(f"Mean sum of each reward term over an episode:\n{bullets(terms)}")
    if measured := render_metrics(evaluation, metrics):
        lines.append(f"Mean of each metric:\n{measured}")
    if evaluation.verdicts:
        lines.append(f"Errors:\n{render_verdicts(evaluation.verdicts)}")
    return "\n".join(lines)
