"""Renders the earlier iterations as text of limited length for each agent, and computes the figures in prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rlgpt.agents.base import History
from rlgpt.agents.rendering import (
    policy_name,
    render_attempts,
    render_curve,
    render_findings,
    render_found,
    render_result,
    render_setup,
    render_usage,
    render_verdicts,
)
from rlgpt.agents.skills_text import skill_action, skill_function, skill_of
from rlgpt.agents.text import code_block, number, shorten, signature, source_block
from rlgpt.agents.traces import render_verdict
from rlgpt.domain import CodedAction, CodedFunction, Evaluation, Iteration, Plain, Verdict, best_of
from rlgpt.skills import Offered

FIRST = "Nothing: this is the first iteration."
LIMIT = 14_000
"""Approximate maximal length of a history, in characters. A note about omitted text may be added."""

SAME = 60
"""Number of characters of a long line that are repeated if the same line stands in an earlier text."""

N = TypeVar("N", CodedAction, CodedFunction)


def measured(history: History) -> dict[str, Plain]:
    """The figures of the last finished iteration; empty if no iteration is finished."""
    if not history:
        return {}
    return figures(history[-1].evaluation, history[-1].code_evaluation)


def figures(evaluation: Evaluation, code: Evaluation | None) -> dict[str, Plain]:
    """Success rate, mean score and mean return of ``evaluation``, and the success rate of ``code``, the evaluation of
    code alone, if there is one.
    """
    result: dict[str, Plain] = {
        "success": round(evaluation.success_rate, 3),
        "reward": round(evaluation.mean_reward, 3),
    }
    if evaluation.mean_score is not None:
        result["score"] = round(evaluation.mean_score, 3)
    if code is not None:
        result["code_success"] = round(code.success_rate, 3)
    return result


def for_slow(history: History, limit: int = LIMIT) -> str:
    """Text about the history for the slow agent. It has one line for each iteration. For the last and the best
    iteration, the text also shows the result of each sub-action and the critic's findings.
    """
    return _render(
        history, limit, lambda it: [_sub_actions(it, history), _errors(it), _critique(it, slow=True, fast=False)]
    )


def for_setup(history: History, limit: int = LIMIT) -> str:
    """Text about the history for the fast agent's setup. It has one line for each iteration. For the last and the best
    iteration, the text also shows setup, use of actions, learning curve and findings.
    """
    return _render(
        history,
        limit,
        lambda it: [
            "setup: " + render_setup(it.setup),
            "usage: " + render_usage(it.evaluation),
            _curve(it),
            _errors(it),
            _critique(it, slow=False, fast=True),
        ],
    )


def for_critic(history: History, limit: int = LIMIT // 2) -> str:
    """Text about the history for the critic. It has one line for each iteration. For the last and the best iteration,
    the text also shows how each coded action went, the setup and the critic's findings.
    """
    return _render(
        history,
        limit,
        lambda it: [
            *(f"- `{s.name}`: {_fate(it, s.name, history)}." for s in it.plan.coded),
            "setup: " + render_setup(it.setup),
            _critique(it, slow=True, fast=True),
        ],
    )


def for_solo(history: History, limit: int = LIMIT) -> str:
    """Text about the history for the single agent, with the content of :func:`for_slow` and :func:`for_setup` without
    the use of actions, and with the newest source of each coded action.
    """
    actions = {a.name: a for it in history for a in it.actions}
    room = max(200, limit // 2 // max(1, len(actions)) - 100)
    sources = [f"The newest `{a.name}`:\n{source_block(a.source, room)}" for a in actions.values()]
    text = _render(
        history,
        limit - sum(map(len, sources)),
        lambda it: [
            _sub_actions(it, history),
            "setup: " + render_setup(it.setup),
            _curve(it),
            _errors(it),
            _critique(it, slow=True, fast=True),
        ],
    )
    return "\n\n".join([text, *sources])


def for_action(history: History, name: str, limit: int = LIMIT, *, source: bool = True) -> str:
    """Text about the newest coded action ``name``, with attempts, source, errors and the critic's findings.

    :param source: whether the text contains the source. ``source`` is False for a repair, whose prompt shows the source
        in another place.
    """
    if not history:
        return FIRST
    lines = [_summary(history)]
    last = newest(history, name)
    if last is None:
        return "\n".join([*lines, f"No earlier iteration had a `{name}`.", *_found(history, name)])
    action = _named(last.actions, name)
    had = f"Iteration {last.index + 1} had a `{name}`: {_fate(last, name, history)}."
    lines.append(f"{had} Keep what worked of it. It was:\n{code_block(action)}" if source else had)
    best = best_of(history)
    if source and any(a.name == name and a.source != action.source for a in best.actions):
        older = _named(best.actions, name)
        had = f"In iteration {best.index + 1}, the best so far, it was ({_fate(best, name, history)}):"
        lines.append(f"{had}\n{code_block(older, 4_000)}")
    lines += [f"error in training or evaluation: {v}" for v in _verdicts_of(_all_verdicts(last), name)]
    rest = "\n".join(_found(history, name))
    return "\n".join([*lines, shorten(rest, max(1_000, limit - sum(map(len, lines))), "the findings")])


def for_function(history: History, name: str, *, source: bool = True) -> str:
    """Text about the newest coded function ``name``, with source, errors and the critic's findings.

    :param source: whether the text contains the source. ``source`` is False for a repair, whose prompt shows the source
        in another place.
    """
    if not history:
        return FIRST
    lines = [_summary(history)]
    had = [it for it in history if any(f.name == name for f in it.functions)]
    if had:
        known = f"Iteration {had[-1].index + 1} had a `{name}`."
        code = source_block(_named(had[-1].functions, name).source)
        lines.append(f"{known} Keep what worked of it. It was:\n{code}" if source else known)
        lines += [f"error in training or evaluation: {v}" for v in _verdicts_of(_all_verdicts(had[-1]), name)]
    else:
        lines.append(f"No earlier iteration had a `{name}`.")
    return "\n".join([*lines, *_found(history, name)])


def newest(history: History, name: str) -> Iteration | None:
    """The last iteration that has a coded action with the name ``name``; None if no iteration has such an action."""
    return next((it for it in reversed(history) if any(a.name == name for a in it.actions)), None)


def kept_action(history: History, name: str, offered: Sequence[Offered] = ()) -> CodedAction | None:
    """The code of a kept sub-action: the newest coded action with the name ``name`` in the history, or else the coded
    action with this name in the offered skills. None if there is no such action. If the iteration of the newest coded
    action kept tuned code, the tuned parameter values become the defaults of the coded action.
    """
    last = newest(history, name)
    return _named(last.kept_actions, name) if last is not None else skill_action(offered, name)


def kept_function(history: History, name: str, offered: Sequence[Offered] = ()) -> CodedFunction | None:
    """The code of a kept function: the newest coded function with the name ``name`` in the history, or else the coded
    function with this name in the offered skills. None if there is no such function.
    """
    had = next((f for it in reversed(history) for f in it.functions if f.name == name), None)
    return had or skill_function(offered, name)


def origin(history: History, name: str) -> Iteration | None:
    """The iteration that wrote the newest coded action with the name ``name``. Later iterations may have kept this
    code. The result is None if the code comes from the skill library.
    """
    had = [it for it in reversed(history) if any(a.name == name for a in it.actions)]
    kept = [any(s.name == name and s.keep for s in it.plan.sub_actions) for it in had]
    return next((it for it, was_kept in zip(had, kept, strict=True) if not was_kept), None)


def kept_from(history: History, name: str, offered: Sequence[Offered] = ()) -> str:
    """Text about the iteration or skill from which a plan keeps a coded action, with the results there."""
    wrote, last = origin(history, name), newest(history, name)
    if wrote is None:
        skill = skill_of(offered, name)
        share = f"; in iteration {last.index + 1}: {_share(last.evaluation, name)}" if last is not None else ""
        return f"taken from the library of skills ({skill}), not rehearsed in this run{share}"
    assert last is not None, "an iteration wrote it"
    share = _share(last.evaluation, name)
    return (
        f"kept from iteration {wrote.index + 1} and not rehearsed since; there: "
        f"{render_attempts(wrote.rehearsals.get(name, ()), wrote.actions)}; in iteration {last.index + 1}: {share}"
    )


def _named(values: Sequence[N], name: str) -> N:
    return next(v for v in values if v.name == name)


def _found(history: History, name: str) -> list[str]:
    critique = history[-1].critique
    if critique is None:
        return []
    about = [f for f in (*critique.for_fast, *critique.for_slow) if f.action in (name, "")]
    return ["What the critic found about it and the whole:", render_findings(about)]


def _render(history: History, limit: int, parts: Callable[[Iteration], list[str]]) -> str:
    if not history:
        return FIRST
    best = best_of(history)
    last = history[-1]
    shown = {best.index: best, last.index: last}
    room = (limit - len(_summary(history))) // len(shown)
    blocks = [_summary(history)]
    for it in (last, *([best] if best.index != last.index else [])):
        title = "the last" if it is last else "the best so far"
        if it is last and it is best and len(history) > 1:
            title = "the last and the best so far"
        body = "\n".join(part for part in parts(it) if part)
        blocks.append(shorten(_once(f"Iteration {it.index + 1}, {title}:\n{body}", blocks), room, "this iteration"))
    return "\n\n".join(blocks)


def _once(text: str, earlier: Sequence[str]) -> str:
    """``text`` without repetitions. If a long line of ``text`` is also in an earlier text, only the beginning of the
    line is kept.
    """
    known = {line for block in earlier for line in block.splitlines() if len(line) > 2 * SAME}
    return "\n".join(f"{line[:SAME]}... (as above)" if line in known else line for line in text.splitlines())


def _summary(history: History) -> str:
    return "\n".join(_row(it) for it in history)


def _row(it: Iteration) -> str:
    results = []
    if it.code_evaluation is not None:
        results.append(f"code alone: {render_result(it.code_evaluation)}")
    if it.evaluation.mode != "code":
        reward = f"mean reward {number(it.evaluation.mean_reward)}"
        results.append(f"{policy_name(it.evaluation)}: {render_result(it.evaluation)}, {reward}")
    elif it.code_evaluation is None:
        results.append(f"code alone: {render_result(it.evaluation)}")
    if it.tuned_evaluation is not None and it.training is not None:
        found = render_found(it.training.search, it.actions)
        results.append(f"code alone with {found}, found by a search: {render_result(it.tuned_evaluation)}")
    if it.training is None:
        trained = "no policy was trained"
    else:
        trained = f"trained {it.training.primitive_steps:,} steps, {it.training.decisions:,} decisions"
    code = {"code": " (kept: code)", "tuned": " (kept: code with the found values, which are now its defaults)"}
    kept = code.get(it.kept.mode, "") if it.training is not None else ""
    plan = ", ".join(f"{s.name} ({s.kind}{', kept' if s.keep else ''})" for s in it.plan.sub_actions)
    more = ", ".join(f"{f.name} ({f.kind}{', kept' if f.keep else ''})" for f in it.plan.functions)
    return (
        f"- iteration {it.index + 1}: {'; '.join(results)}{kept}; {trained}; {it.steps.total:,} primitive steps spent "
        f"in all; plan: {plan}" + (f"; functions: {more}" if more else "")
    )


def _sub_actions(it: Iteration, history: History) -> str:
    actions = {a.name: a for a in it.actions}
    blocks = []
    for s in it.plan.sub_actions:
        line = f"- `{s.name}` ({s.kind}): {shorten(s.description, 400, 'the description')}"
        if s.kind == "code":
            line += f"\n  {_fate(it, s.name, history)}."
            line += "\n" + signature(actions[s.name]) if s.name in actions else "\n  It was left out."
        blocks.append(line)
    for f in it.plan.functions:
        state = "in use" if any(f.name == g.name for g in it.functions) else "left out"
        blocks.append(f"- function `{f.name}` ({f.kind}, {state}): {shorten(f.description, 400, 'the description')}")
    return f"thoughts: {shorten(it.plan.thoughts, 800, 'the thoughts')}\n" + "\n".join(blocks)


def _fate(it: Iteration, name: str, history: History) -> str:
    """Text that says whether an iteration wrote or kept a coded action, and how often the iteration's policy chose the
    action.
    """
    use = "masked in the policy" if name in it.masked else _share(it.evaluation, name)
    if any(s.name == name and s.keep for s in it.plan.sub_actions):
        wrote = origin(history[: it.index + 1], name)
        where = "the library of skills" if wrote is None else f"iteration {wrote.index + 1}"
        return f"kept from {where}; {use}"
    return f"{render_attempts(it.rehearsals.get(name, ()), it.actions)}; {use}"


def _share(evaluation: Evaluation, name: str) -> str:
    if not evaluation.usage:
        return "use not measured"
    return f"chosen in {100 * evaluation.usage.get(name, 0.0):.0f} % of decisions"


def _curve(it: Iteration) -> str:
    curve = render_curve(it.training, it.setup.reward_weights, has_success=it.evaluation.has_success)
    return f"learning curve:\n{curve}"


def _all_verdicts(it: Iteration) -> list[Verdict]:
    code = it.code_evaluation.verdicts if it.code_evaluation and it.evaluation.mode != "code" else ()
    tuned = it.tuned_evaluation.verdicts if it.tuned_evaluation else ()
    return [*code, *tuned, *it.evaluation.verdicts, *(it.training.verdicts if it.training else ())]


def _verdicts_of(verdicts: Iterable[Verdict], name: str) -> list[str]:
    return list(dict.fromkeys(render_verdict(v) for v in verdicts if v.action == name))[:4]


def _errors(it: Iteration) -> str:
    counts = render_verdicts(_all_verdicts(it))
    gone = ", ".join(it.training.quarantined) if it.training else ""
    lines = ([f"errors in training and evaluation:\n{counts}"] if counts else []) + (
        [f"masked after three errors: {gone}"] if gone else []
    )
    return "\n".join(lines)


def _critique(it: Iteration, *, slow: bool, fast: bool) -> str:
    if it.critique is None:
        return ""
    lines = [f"critic: {it.critique.summary}"]
    if slow:
        lines.append("findings about the plan:\n" + render_findings(it.critique.for_slow))
    if fast:
        lines.append("findings about code and learning setup:\n" + render_findings(it.critique.for_fast))
    return "\n".join(lines)
