"""Rehearses one coded function. To rehearse a coded function, the module calls it on every view of stored episodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from rlgpt.domain import (
    AnswerSummary,
    CodedFeatures,
    CodedFunction,
    CodedPredicate,
    CodedReward,
    FunctionRehearsal,
    Verdict,
)
from rlgpt.errors import SandboxError
from rlgpt.loop.played import Episode, Played
from rlgpt.options.functions import StepFunctions
from rlgpt.sandbox import Library, Sandbox

SAMPLES = 8
"""Maximal number of answers that a summary contains."""

WIDEST = 1e300
"""Bound (positive and negative) of the answers in a rehearsal, which is so large that no answer is clipped."""

Answers = Mapping[str, list[float]]
"""The answers in an episode, one for each view, by the name of the output (for a feature) or of the function."""


def rehearse_function(
    function: CodedFunction,
    features: Sequence[CodedFunction],
    played: Played,
    *,
    attempt: int,
    sandbox: Sandbox,
    library: Library,
) -> FunctionRehearsal:
    """Call ``function`` on every view of the stored episodes ``played``. The first verdict on ``function`` ends the
    rehearsal.

    :param features: the coded features whose outputs a reward term or a predicate may read in the view.
    :param library: the plugin's library for this task, without functions.
    """
    rehearsal = FunctionRehearsal(attempt=attempt, function=function, played=str(played))
    try:
        asked = StepFunctions((*features, _widened(function)), library, sandbox, played.taken)
    except SandboxError as fault:
        return rehearsal.model_copy(update={"fault": str(fault)})
    answers: list[Answers] = []
    fuel, verdict = 0, None
    for episode in played.episodes:
        given, used, verdict = _ask(asked, function, episode)
        answers.append(given)
        fuel = max(fuel, used)
        if verdict is not None:
            break
    summaries = [s for name in _bounds(function) if (s := _summary(function, name, answers)) is not None]
    done = verdict is None
    return rehearsal.model_copy(
        update={
            "moments": sum(len(next(iter(a.values()))) for a in answers),
            "fuel": fuel,
            "answers": tuple(summaries),
            "verdict": verdict,
            "fault": _fault(function, summaries) if done else "",
            "remarks": _remarks(function, summaries, answers, played.episodes) if done else (),
        }
    )


def _widened(function: CodedFunction) -> CodedFunction:
    if isinstance(function, CodedFeatures):
        wide = {"low": -WIDEST, "high": WIDEST}
        return function.model_copy(update={"outputs": tuple(o.model_copy(update=wide) for o in function.outputs)})
    if isinstance(function, CodedReward):
        return function.model_copy(update={"low": -WIDEST, "high": WIDEST})
    return function


def _bounds(function: CodedFunction) -> dict[str, tuple[float, float]]:
    if isinstance(function, CodedFeatures):
        return {o.name: (o.low, o.high) for o in function.outputs}
    if isinstance(function, CodedReward):
        return {function.name: (function.low, function.high)}
    return {function.name: (0.0, 1.0)}


def _ask(asked: StepFunctions, function: CodedFunction, episode: Episode) -> tuple[Answers, int, Verdict | None]:
    """Call ``function`` on the views of an episode, up to the first verdict on ``function``.

    :returns: the answers, the largest number of units of fuel that a call used, and the verdict (None if there was no
        verdict).
    """
    answers: dict[str, list[float]] = {name: [] for name in _bounds(function)}
    fuel = 0
    for step, view in enumerate(episode.views):
        verdicts = asked.update(view) if step else asked.reset(view, seed=episode.seed, quarantined=())
        given = asked.answers
        fuel = max(fuel, asked.fuel_used(function.name))
        if (verdict := next((v for v in verdicts if v.action == function.name), None)) is not None:
            return answers, fuel, verdict.model_copy(update={"step": step})
        numbers: Mapping[str, float] = {**given.features, **given.rewards, **given.predicates}
        for name, series in answers.items():
            series.append(float(numbers[name]))
    return answers, fuel, None


def _summary(function: CodedFunction, name: str, answers: Sequence[Answers]) -> AnswerSummary | None:
    low, high = _bounds(function)[name]
    series = [a[name] for a in answers if a[name]]
    if not series:
        return None
    flat = [x for one in series for x in one]
    count = min(SAMPLES, len(series[0]))
    spread = [series[0][round(i * (len(series[0]) - 1) / max(1, count - 1))] for i in range(count)]
    return AnswerSummary(
        name=name,
        low=min(flat),
        high=max(flat),
        mean=math.fsum(x / len(flat) for x in flat),
        changes=sum(a != b for one in series for a, b in pairwise(one)),
        outside=sum(not low <= x <= high for x in flat),
        samples=tuple(spread),
    )


def _fault(function: CodedFunction, summaries: Sequence[AnswerSummary]) -> str:
    """A text about the function's bounds if they exclude every answer; else empty. If the bounds exclude every answer,
    all answers are clipped to the same number.
    """
    beyond = [
        f"{s.name} was between {s.low:g} and {s.high:g}, but its bounds are {low:g} to {high:g}"
        for s, (low, high) in zip(summaries, _bounds(function).values(), strict=True)
        if s.high < low or s.low > high
    ]
    return f"every answer is outside its bounds and so clipped to one number: {'; '.join(beyond)}" if beyond else ""


def _remarks(
    function: CodedFunction, summaries: Sequence[AnswerSummary], answers: Sequence[Answers], episodes: Sequence[Episode]
) -> tuple[str, ...]:
    """Remarks on properties of the function that may or may not be faults, such as constant answers, answers outside
    the bounds, and reward without success.
    """
    remarks: list[str] = []
    for s in summaries:
        if s.low == s.high:
            said = str(bool(s.low)) if isinstance(function, CodedPredicate) else f"{s.low:g}"
            remarks.append(f"{s.name} was {said} at every moment")
        elif not s.changes:
            remarks.append(f"{s.name} never changed within an episode")
        if s.outside:
            remarks.append(f"{s.name} was outside its bounds, and so clipped, at {s.outside} moments")
    if isinstance(function, CodedReward):
        paid = [paid_in(function, a[function.name]) for a in answers]
        remarks += _pay(function.name, paid, [e.success for e in episodes])
    return tuple(remarks)


def paid_in(reward: CodedReward, answers: Sequence[float]) -> float:
    """The undiscounted sum of a reward term over an episode, with weight 1.

    :param answers: the answers of the reward term at the reset and after each primitive step, which ``paid_in`` clips.
    """
    values = [min(max(x, reward.low), reward.high) for x in answers]
    if reward.kind == "potential":
        return values[-1] - values[0]
    if reward.kind == "step":
        return math.fsum(values[1:])
    return next((x for x in values[1:] if x > 0), 0.0)


def _pay(name: str, paid: Sequence[float], success: Sequence[bool]) -> list[str]:
    won = [x for x, good in zip(paid, success, strict=True) if good]
    lost = [x for x, good in zip(paid, success, strict=True) if not good]
    if won and lost and fmean(lost) >= fmean(won):
        return [
            f"{name} pays without success: {fmean(lost):.3g} in an episode that failed, {fmean(won):.3g} in one that "
            "succeeded"
        ]
    return [f"{name} paid {fmean(paid):.3g} in an episode" + ("" if won else ", none of which succeeded")]
