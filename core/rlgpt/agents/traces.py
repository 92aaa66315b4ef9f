"""Episodes as text for prompts: each decision with its primitives, and the keys of the view that it changed.

Of a long episode the middle is left out first, then the beginning. The end is always kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from rlgpt.agents.text import changes, fields, number, plain, shorten
from rlgpt.domain import Decision, PrimitiveCall, Rehearsal, Trace, Verdict, VerdictKind

ENDINGS = {
    "base": "base action",
    "returned": "returned by itself",
    "episode": "the episode ended while it ran",
    "limit": "stopped at its max_steps",
    "violation": "stopped by an error",
    "masked": "refused: it may not start here; one idle step instead",
}

FAULTS: Mapping[VerdictKind, str] = {
    "lint": "refused by lint",
    "load": "failed to load",
    "error": "Python error",
    "type": "wrong use of a primitive or of yield",
    "fuel": "computed too long",
    "memory": "used too much memory",
    "yields": "yielded too often",
    "reply": "handed over too much",
    "view": "view or outcome too large",
    "wall": "took too long",
    "primitive": "unknown primitive",
    "quarantined": "taken out after earlier errors",
}


def render_verdict(verdict: Verdict) -> str:
    """One line: the kind of error, where it occurred, and its message."""
    where = f", line {verdict.line}" if verdict.line is not None else ""
    when = f", {verdict.step} primitive steps into the call" if verdict.step else ""
    return f"{FAULTS[verdict.kind]} in {verdict.action}{where}{when}: {verdict.message}"


def render_decision(decision: Decision, index: int, *, calls: int = 40) -> str:
    """One decision: the action, how it ended, the primitives it called (at most ``calls``), the changes of the view."""
    head = (
        f"{index}. {decision.action}({fields(dict(decision.parameters))}): {ENDINGS[decision.ended]} after "
        f"{decision.duration} primitive steps, reward {number(decision.reward)}"
    )
    lines = [head, *(f"   {line}" for line in _calls(decision.calls, calls))]
    if decision.verdict is not None:
        lines.append(f"   {render_verdict(decision.verdict)}")
    if decision.before or decision.after:
        changed = changes(decision.before, decision.after)
        lines.append("   view: " + ("; ".join(changed) if changed else "nothing changed"))
    return "\n".join(lines)


def render_trace(trace: Trace, limit: int = 6000) -> str:
    """An episode in about ``limit`` characters."""
    result = "success" if trace.success else "no success"
    head = (
        f"Episode with seed {trace.seed}: {result} after {trace.primitive_steps} primitive steps, "
        f"{len(trace.decisions) + trace.omitted} decisions, total reward {number(trace.total_reward)}."
    )
    if not trace.decisions:
        return f"{head}\n(no decision was traced)"
    start = trace.decisions[0].before
    lines = [head, *(["view at the start: " + shorten(fields(start), limit // 3)] if start else [])]
    if trace.omitted:
        lines.append(f"({trace.omitted} decisions in the middle were not traced)")
    room = limit - sum(map(len, lines))
    return "\n".join([*lines, *_bounded(_decisions(trace.decisions), room)])


def render_rehearsal(rehearsal: Rehearsal, limit: int = 6000) -> str:
    """One attempt at a coded action: the verdict that stopped it, and its trace of about ``limit`` characters."""
    parts = []
    if rehearsal.verdict is not None:
        parts.append(f"It was stopped. {render_verdict(rehearsal.verdict)}")
    elif rehearsal.stopped_by is not None:
        parts.append(f"From another start it was stopped. {render_verdict(rehearsal.stopped_by)}")
    if rehearsal.trace is not None:
        parts.append(render_trace(rehearsal.trace, limit))
    return "\n".join(parts) or "It was not run."


def failure_of(rehearsal: Rehearsal) -> str:
    """How an attempt failed; "worked" if it did not."""
    if rehearsal.verdict is not None:
        return render_verdict(rehearsal.verdict)
    if rehearsal.stopped_by is not None:
        return f"from another start: {render_verdict(rehearsal.stopped_by)}"
    if rehearsal.failed and rehearsal.review is not None:
        findings = rehearsal.review.findings
        return "; ".join(f.problem for f in findings) or "the critic says it does not work, without saying why"
    return "worked"


def _calls(calls: Sequence[PrimitiveCall], limit: int) -> list[str]:
    lines = [f"{c.name}({fields(c.args)}) took {c.steps} steps -> {plain(c.outcome, 400)}" for c in calls]
    if len(lines) <= limit:
        return lines
    tail = limit // 3
    return [*lines[: limit - tail], f"({len(lines) - limit} calls left out)", *lines[-tail:]]


def _decisions(decisions: Sequence[Decision]) -> list[str]:
    """A text for each decision. More than two successive decisions for the same base action share one text."""
    texts: list[str] = []
    index = 1
    for key, group in groupby(decisions, key=lambda d: (d.action, d.ended)):
        run = list(group)
        if key[1] == "base" and len(run) > 2:
            merged = run[0].model_copy(
                update={
                    "after": run[-1].after,
                    "duration": sum(d.duration for d in run),
                    "reward": sum(d.reward for d in run),
                }
            )
            text = render_decision(merged, index)
            texts.append(text.replace(f"{index}. ", f"{index} to {index + len(run) - 1}. ", 1))
        else:
            texts += [render_decision(d, index + i) for i, d in enumerate(run)]
        index += len(run)
    return texts


def _bounded(texts: list[str], room: int) -> list[str]:
    """As many texts from both ends as fit into ``room`` characters. The last one is always kept: a repair is about it.

    A single text that is too long is shortened.
    """
    head: list[str] = []
    tail: list[str] = []
    rest = [shorten(t, max(200, room * 2 // 3)) for t in texts]
    while rest:
        from_tail = len(tail) <= len(head)
        text = rest[-1] if from_tail else rest[0]
        if (head or tail) and len(text) > room:
            break
        room -= len(text) + 1
        if from_tail:
            tail.insert(0, rest.pop())
        else:
            head.append(rest.pop(0))
    return [*head, *([f"({len(rest)} more entries left out here)"] if rest else []), *tail]
