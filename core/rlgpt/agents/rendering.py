"""Renders plans, setups, findings, figures, learning curves and attempts as text for prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rlgpt.agents.text import bullets, number, shorten, signature
from rlgpt.agents.traces import failure_of, render_verdict
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CodedFeatures,
    CodedFunction,
    CodedReward,
    Evaluation,
    Finding,
    Metric,
    Rehearsal,
    RLSetup,
    SearchRecord,
    TrainingRecord,
    Verdict,
    kept_attempt,
)
from rlgpt.rl.terms import term_curves


def render_plan(plan: ActionPlan) -> str:
    """A plan as text. The text of a plan lists the sub-actions, numbered from 1 in the order of use, and then the coded
    functions.
    """
    rows = [
        f"{i}. `{s.name}` ({s.kind}{', kept' if s.keep else ''}): {s.description} (Why {s.kind}: {s.reason})"
        for i, s in enumerate(plan.sub_actions, start=1)
    ]
    rows += [
        f"- function `{f.name}` ({f.kind}{', kept' if f.keep else ''}): {f.description}"
        + (f" (Why: {f.reason})" if f.reason else "")
        for f in plan.functions
    ]
    return "\n".join(rows)


def render_setup(setup: RLSetup) -> str:
    return setup.model_dump_json(exclude_defaults=True)


def render_findings(findings: Iterable[Finding]) -> str:
    lines = [f"- {f.action or 'the whole'}: {f.problem} -> {f.suggestion}" for f in findings]
    return "\n".join(lines) or "- nothing"


def render_functions(functions: Sequence[CodedFunction], remarks: Mapping[str, Sequence[str]] | None = None) -> str:
    """Text about the purpose and the outputs of each coded function of an iteration; empty if the iteration has no
    coded function.

    :param remarks: for the name of a coded function, remarks on its rehearsal, in words.
    """
    if not functions:
        return ""
    showed = {name: f" In its rehearsal: {'; '.join(said)}." for name, said in (remarks or {}).items() if said}
    return "# The functions\n" + "\n".join(f"- {_function(f)}{showed.get(f.name, '')}" for f in functions)


def _function(function: CodedFunction) -> str:
    match function:
        case CodedFeatures(outputs=outputs):
            outputs_text = ", ".join(
                f"{o.name} {number(o.low)} to {number(o.high)} {o.unit}".rstrip() + (f" ({o.doc})" if o.doc else "")
                for o in outputs
            )
            return f"feature `{function.name}`: {function.doc} Keys of the view and observation keys: {outputs_text}."
        case CodedReward(kind=kind, low=low, high=high):
            return f"reward term `{function.name}` ({kind}, {number(low)} to {number(high)}): {function.doc}"
    return f"predicate `{function.name}`: {function.doc}"


def render_found(search: SearchRecord | None, actions: Sequence[CodedAction]) -> str:
    """Text with the parameter values that a search found, and with the defaults of the parameters. The text leaves out
    parameters that keep their defaults.

    :param actions: the coded actions with their own defaults of the parameters.
    """
    tuned = () if search is None else search.tuned(actions)
    return ", ".join(
        f"{action.name}.{p.name} {number(float(q.default))} (default {number(float(p.default))})"
        for action, other in zip(actions, tuned, strict=False)
        for p, q in zip(action.parameters, other.parameters, strict=True)
        if p != q
    )


def policy_name(evaluation: Evaluation) -> str:
    """The words for a policy in the mode of ``evaluation``."""
    return "policy without coded actions" if evaluation.mode == "base_only" else f"policy ({evaluation.mode})"


def render_result(evaluation: Evaluation) -> str:
    """The result of an evaluation as text, with success rate, mean score and number of episodes. For a task without
    success, the text has only the score; for a task without a score, it has only the success rate.
    """
    episodes = len(evaluation.episodes)
    if not episodes:
        return "not played"
    parts = [f"success {evaluation.success_rate:.2f}"] if evaluation.has_success else []
    if (score := evaluation.score) is not None:
        mean = evaluation.mean_score
        shown = "none measured" if mean is None else f"{number(mean)} {score.unit}".rstrip()
        parts.append(f"score {shown} ({'more' if score.maximize else 'less'} is better)")
    return f"{', '.join(parts)} in {episodes} episode{'s' if episodes > 1 else ''}"


def render_metrics(evaluation: Evaluation, metrics: Sequence[Metric]) -> str:
    """The mean of each metric over the episodes that report the metric, as text; empty without such an episode."""
    means = {}
    for metric in metrics:
        values = [e.metrics[metric.name] for e in evaluation.episodes if metric.name in e.metrics]
        if values:
            means[metric.name] = f"{number(sum(values) / len(values))} {metric.unit}".rstrip()
    return bullets(means) if means else ""


def render_usage(evaluation: Evaluation) -> str:
    """The share of each action among the decisions, in percent, as text. The largest share comes first."""
    return _shares(evaluation.usage) or "(not measured)"


def marked(name: str, weights: Mapping[str, float]) -> str:
    """The name of a reward term, with a note if the weight of the term is 0."""
    return name if weights.get(name) else f"{name} (weight 0)"


def render_curve(
    training: TrainingRecord | None, weights: Mapping[str, float], *, has_success: bool = True, points: int = 8
) -> str:
    """A learning curve as text of at most ``points`` lines. A line of the learning curve has the result, the episode
    return, the reward terms and the use of each action.

    :param weights: the weight of each reward term in the training.
    :param has_success: whether the task has a success.
    """
    if training is None or not training.curve:
        return "(no training)"
    curve = training.curve
    count = min(points, len(curve))
    chosen = [curve[round(i * (len(curve) - 1) / max(1, count - 1))] for i in range(count)]
    if count == 1:
        chosen = [curve[-1]]
    rows = []
    for p in chosen:
        terms = ", ".join(f"{marked(k, weights)} {number(v)}" for k, v in p.reward_terms.items())
        used = _shares(p.usage)
        results = [f"success {p.success:.2f}"] if has_success else []
        results += [f"score {number(p.score)}"] if p.score is not None else []
        rows.append(
            f"- at {p.primitive_steps} primitive steps ({p.decisions} decisions): "
            f"{', '.join([*results, f'reward {number(p.total_reward)}'])}"
            + (f"; terms: {terms}" if terms else "")
            + (f"; used: {used}" * bool(used))
        )
    return "\n".join(rows)


def render_terms(
    training: TrainingRecord | None,
    evaluation: Evaluation,
    functions: Sequence[CodedFunction],
    weights: Mapping[str, float],
    points: int = 6,
) -> str:
    """Text with one line for each reward term. A line has the sums of a reward term over training episodes, and its
    correlation with success, or with the score if the task has no success. Empty if there is no reward term.

    :param functions: the coded functions. All reward terms that are not among these coded functions are the plugin's.
    :param weights: the weight of each reward term in the training.
    """
    coded = {f.name for f in functions if isinstance(f, CodedReward)}
    scored = not evaluation.has_success and evaluation.score is not None
    lines = []
    for curve in term_curves(training, evaluation):
        count = min(points, len(curve.points))
        chosen = [curve.points[round(i * (len(curve.points) - 1) / max(1, count - 1))] for i in range(count)]
        parts = [f"{marked(curve.name, weights)}{' (coded)' if curve.name in coded else ''}"]
        if chosen:
            parts.append(f"sum in an episode of training, in order of time: {', '.join(number(y) for _, y in chosen)}")
        if curve.correlation is not None:
            result = "a better score" if scored else "success"
            parts.append(f"correlation with {result} over the evaluated episodes {curve.correlation:+.2f}")
        if curve.without_success:
            result = "A BETTER SCORE" if scored else "MORE SUCCESS"
            parts.append(f"PAYS MORE AND MORE WITHOUT {result}: the policy may have found a way to be paid for nothing")
        lines.append("- " + "; ".join(parts))
    return (
        "Each reward term (times its weight; of weight 0: unweighted, not paid):\n" + "\n".join(lines) if lines else ""
    )


def render_verdicts(verdicts: Iterable[Verdict], most: int = 8) -> str:
    """Text about at most ``most`` different verdicts of the sandbox, with their counts. The most frequent verdict comes
    first.
    """
    counted = Counter((v.action, v.kind, v.line, v.message) for v in verdicts)
    lines = [
        f"- {n} times: {render_verdict(Verdict(action=action, kind=kind, line=line, message=message))}"
        for (action, kind, line, message), n in counted.most_common(most)
    ]
    if len(counted) > most:
        lines.append(f"- and {len(counted) - most} other errors, which are rarer")
    return "\n".join(lines)


def render_attempts(rehearsals: Sequence[Rehearsal], actions: Iterable[CodedAction] = ()) -> str:
    """Text with the number of attempts to write a coded action, and the result of the attempt that is used, which is
    the last one unless ``actions`` has the action of an earlier one. If this attempt works, the critic's findings on it
    follow.
    """
    if not rehearsals:
        return "not rehearsed"
    used = kept_attempt(rehearsals, actions)
    which = "the last one" if used is rehearsals[-1] else f"the best one, number {used.attempt + 1}, is used; it"
    tries = f"{len(rehearsals)} attempt{'s' if len(rehearsals) > 1 else ''}, {which}"
    if used.failed:
        return f"{tries} failed: {shorten(failure_of(used), 400, 'the finding')}"
    if used.trace is not None and not used.exercised:
        return f"{tries} never ran: it could not start at any moment of its rehearsals"
    findings = used.review.findings if used.review is not None else ()
    said = "; ".join(f"{f.problem} -> {f.suggestion}" for f in findings)
    return f"{tries} worked" + (f"; the critic added: {shorten(said, 400, 'the findings')}" if said else "")


def render_signatures(actions: Iterable[CodedAction], notes: Mapping[str, str]) -> str:
    """Coded actions without their sources.

    :param notes: for the name of a coded action, a text about its rehearsals or about its origin.
    """
    rows = [f"`{a.name}`{f': {notes[a.name]}' if a.name in notes else ''}\n{signature(a)}" for a in actions]
    return "\n\n".join(rows) or "(none)"


def _shares(usage: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in sorted(usage.items(), key=lambda pair: -pair[1]))
