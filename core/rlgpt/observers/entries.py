"""Computes the entries that trackers write about a run: named numbers at a step, and tables. The entries are computed
from the run's points of the learning curve, iterations and report.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlgpt.domain import CurvePoint, Evaluation, Iteration, kept_attempt
from rlgpt.llm.budget import Spending
from rlgpt.runs import Report

FILE = "events.jsonl"
"""The file in the run's folder to which ``observers=jsonl`` writes the entries."""
Numbers = dict[str, float]
"""Numbers of an entry: name -> finite number. A ``/`` separates the parts of a name."""
Row = dict[str, Any]
"""A row of a table: column -> None, bool, number or text."""


def of_point(point: CurvePoint) -> Numbers:
    """The numbers that a tracker writes for a point of the learning curve."""
    return _finite(
        {
            "train/success": point.success,
            "train/return": point.total_reward,
            "train/score": point.score,
            "train/episodes": point.episodes,
            "train/decisions": point.decisions,
            **_under("train/usage", point.usage),
            **_under("train/reward_terms", point.reward_terms),
            **_under("train/metrics", point.metrics),
        }
    )


def of_spending(spending: Spending) -> Numbers:
    """The numbers that a tracker writes about the cost of the language models. In these numbers, a replayed reply has
    the cost of the recorded reply.
    """
    return _finite(
        {
            "llm/calls": spending.calls + spending.replayed_calls,
            "llm/tokens": spending.tokens + spending.replayed_tokens,
            "llm/dollars": spending.dollars + spending.replayed_dollars,
            "llm/seconds": spending.seconds,
        }
    )


def of_iteration(iteration: Iteration) -> Numbers:
    """The numbers that a tracker writes about a finished iteration, from its evaluations and its steps by purpose."""
    code, tuned = iteration.code_evaluation, iteration.tuned_evaluation
    return {
        **of_evaluation("selection", iteration.kept),
        **({} if code is None else of_evaluation("code", code)),
        **({} if tuned is None else of_evaluation("tuned", tuned)),
        **_finite(_under("steps", iteration.steps.model_dump())),
        "iteration/index": float(iteration.index),
    }


def of_report(report: Report) -> Numbers:
    """The numbers that a tracker writes about the episodes of the report."""
    return of_evaluation("report", report.evaluation)


def of_evaluation(name: str, evaluation: Evaluation) -> Numbers:
    """Success rate, score, return, steps and the mean of each metric of an evaluation; empty if the evaluation has no
    episodes.
    """
    played = evaluation.episodes
    if not played:
        return {}
    names = dict.fromkeys(metric for episode in played for metric in episode.metrics)
    means = {n: _mean([e.metrics[n] for e in played if n in e.metrics]) for n in names}
    return _finite(
        {
            f"{name}/success": evaluation.success_rate if evaluation.has_success else None,
            f"{name}/score": evaluation.mean_score,
            f"{name}/return": evaluation.mean_reward,
            f"{name}/episode_steps": evaluation.primitive_steps / len(played),
            **_under(f"{name}/metrics", means),
            **_under(f"{name}/usage", evaluation.usage),
        }
    )


def episode_rows(iteration: Iteration) -> list[Row]:
    """The rows of a table with one row for each evaluated episode of an iteration."""
    return [
        row for e in iteration.evaluations for row in report_rows(e, iteration=iteration.index, purpose="selection")
    ]


def report_rows(evaluation: Evaluation, *, iteration: int, purpose: str = "report") -> list[Row]:
    """A row for each episode of an evaluation. All rows of the table about an evaluation have the same columns."""
    names = dict.fromkeys(name for e in evaluation.episodes for name in e.metrics)
    return [
        {
            "iteration": iteration,
            "purpose": purpose,
            "mode": evaluation.mode,
            "seed": e.seed,
            "success": e.success if evaluation.has_success else None,
            "score": _number(e.score),
            "return": _number(e.total_reward),
            "primitive_steps": e.primitive_steps,
            "decisions": e.decisions,
            "ending": e.cut or e.ending,
            **{name: _number(e.metrics.get(name)) for name in names},
        }
        for e in evaluation.episodes
    ]


def action_rows(iteration: Iteration) -> list[Row]:
    """The rows of a table about the actions that were rehearsed or played in an iteration, one row for each action. A
    row says whether the action is a coded action, whether the iteration kept it, how its rehearsals ended, and its
    share of the decisions.
    """
    usage, coded = iteration.kept.usage, [a.name for a in iteration.actions]
    return [_action_row(iteration, name, usage) for name in dict.fromkeys([*iteration.rehearsals, *coded, *usage])]


def _action_row(iteration: Iteration, name: str, usage: Mapping[str, float]) -> Row:
    tried = iteration.rehearsals.get(name, ())
    stopped = [r.stopped_by.kind for r in tried if r.stopped_by is not None]
    made = next((a for a in iteration.actions if a.name == name), None)
    return {
        "iteration": iteration.index,
        "action": name,
        "coded": bool(tried) or made is not None,
        "kept": made is not None,
        "attempts": len(tried),
        "works": kept_attempt(tried, iteration.actions).works if tried else None,
        "stopped_by": ", ".join(stopped),
        "rehearsal_steps": sum(r.steps for r in tried),
        "source_lines": len(made.source.splitlines()) if made is not None else None,
        "usage": _number(usage.get(name)),
    }


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration as a flat dict. The keys of nested settings are joined with dots (``llm.model``)."""
    return dict(_leaves(config))


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            yield from _leaves(value, f"{prefix}.{key}" if prefix else str(key))
    elif prefix:
        yield prefix, node


def _under(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}/{name}": value for name, value in values.items()}


def _finite(values: Mapping[str, Any]) -> Numbers:
    return {name: float(v) for name, v in values.items() if _number(v) is not None}


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and math.isfinite(value) else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
