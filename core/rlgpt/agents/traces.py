"""Renders episodes as text for prompts: each decision with its calls of primitives, and the keys of the view that it
changed.

What is shown in full is chosen by the size of the change in the view: a decision that changed much is worth more words
than one that changed nothing. The first and the last one, and those with an error, come before all others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rlgpt.agents.text import changes, fields, number, plain, shorten
from rlgpt.domain import Decision, Plain, PrimitiveCall, Rehearsal, Trace, Verdict, VerdictKind

OBSERVE = "observe"

RUN = 3
"""So many successive calls of one primitive are told as one series."""

SAMPLES = 7
"""Values of a series that are shown."""

SEEN, SHORT = 6, 3
"""Keys of the view of which a series is shown, those that vary most; and most numbers of such a key."""

VIEW = "view "
"""Begins the name of a key that code observed, beside the outcome's own keys."""

MISSING = "-"
"""Stands for a value that a call did not return."""

ENDINGS = {
    "base": "base action",
    "returned": "returned by itself",
    "episode": "the episode ended while it ran",
    "limit": "stopped at its max_steps",
    "violation": "stopped by an error",
    "masked": "refused: it may not start here; one idle step instead",
    "interrupted": "interrupted for another choice",
    "yields": "stopped: it had yielded as often as it may",
    "running": "still running: the policy decides again",
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
    """A verdict as one line: the kind of error, where it occurred, and its message."""
    where = f", line {verdict.line}" if verdict.line is not None else ""
    when = f", {verdict.step} primitive steps into the call" if verdict.step else ""
    return f"{FAULTS[verdict.kind]} in {verdict.action}{where}{when}: {verdict.message}"


def render_decision(decision: Decision, index: int, *, calls: int = 40) -> str:
    """One decision: the action, how it ended, the primitives it called (at most ``calls``), the changes of the view."""
    return "\n".join(_Entry((decision,), index).lines(calls))


def render_trace(trace: Trace, limit: int = 6000, *, calls: int = 40, of_last: bool = False) -> str:
    """An episode in about ``limit`` characters.

    :param calls: of primitives, shown of one decision at most; 0: none.
    :param of_last: show them of the last decision only.
    """
    head = f"Episode with seed {trace.seed}: {_result(trace)}, total reward {number(trace.total_reward)}."
    if not trace.decisions:
        return f"{head}\n(no decision was traced)"
    start = trace.decisions[0].before
    lines = [head, *(["view at the start: " + shorten(fields(start), limit // 3, "the view")] if start else [])]
    if trace.omitted:
        lines.append(f"({trace.omitted} decisions in the middle were not traced)")
    room = limit - sum(map(len, lines))
    return "\n".join([*lines, *_chosen(_entries(trace.decisions), room, calls, of_last)])


def render_outline(trace: Trace, limit: int = 2500) -> str:
    """An episode with a line for each decision, and its changes of the view, without primitives."""
    return render_trace(trace, limit, calls=0)


def render_rehearsal(rehearsal: Rehearsal, limit: int = 6000) -> str:
    """One attempt at a coded action: what stopped it, its trace of about ``limit`` characters, the other starts."""
    parts = []
    if rehearsal.verdict is not None:
        parts.append(f"It was stopped. {render_verdict(rehearsal.verdict)}")
    elif rehearsal.stopped_by is not None:
        parts.append(f"From another start it was stopped. {render_verdict(rehearsal.stopped_by)}")
    if rehearsal.trace is not None:
        parts.append(render_trace(rehearsal.trace, limit, of_last=True))
    for other in rehearsal.others:
        success = "; the task succeeded" if other.success else ""
        parts.append(f"From the start of seed {other.seed}: {ENDINGS[other.ended]}{success}.")
    return "\n".join(parts) or "It was not run."


def failure_of(rehearsal: Rehearsal) -> str:
    """A description of how an attempt failed; "worked" if it did not fail."""
    if rehearsal.verdict is not None:
        return render_verdict(rehearsal.verdict)
    if rehearsal.stopped_by is not None:
        return f"from another start: {render_verdict(rehearsal.stopped_by)}"
    if rehearsal.failed and rehearsal.review is not None:
        findings = rehearsal.review.findings
        return "; ".join(f.problem for f in findings) or "the critic says it does not work, without saying why"
    return "worked"


def _result(trace: Trace) -> str:
    result = "success" if trace.success else "no success"
    return f"{result} after {trace.primitive_steps} primitive steps, {len(trace.decisions) + trace.omitted} decisions"


@dataclass(frozen=True)
class _Entry:
    """Successive decisions that share one text: of one call, of the same base action, or that changed nothing."""

    decisions: tuple[Decision, ...]
    index: int

    @property
    def numbers(self) -> str:
        last = self.index + len(self.decisions) - 1
        return f"{self.index}." if last == self.index else f"{self.index} to {last}."

    @property
    def changed(self) -> list[str]:
        return changes(self.decisions[0].before, self.decisions[-1].after)

    def head(self) -> str:
        first = self.decisions[0]
        steps, reward = sum(d.duration for d in self.decisions), sum(d.reward for d in self.decisions)
        names = dict.fromkeys(name for d in self.decisions for name in d.reward_terms)
        sums = {name: sum(d.reward_terms.get(name, 0.0) for d in self.decisions) for name in names}
        terms = ", ".join(f"{name} {number(paid)}" for name, paid in sums.items() if paid)
        return (
            f"{self.numbers} {first.action}({fields(dict(first.parameters))}): {ENDINGS[self.decisions[-1].ended]} "
            f"after {steps} primitive step{'s' if steps != 1 else ''}, reward {number(reward)}"
            f"{f' ({terms})' * bool(terms)}"
        )

    def lines(self, calls: int) -> list[str]:
        first, last = self.decisions[0], self.decisions[-1]
        every = [call for decision in self.decisions for call in decision.calls]
        lines = [self.head(), *(f"   {line}" for line in _calls(every, calls))]
        if last.verdict is not None:
            lines.append(f"   {render_verdict(last.verdict)}")
        if first.before or last.after:
            lines.append("   view: " + ("; ".join(self.changed) or "nothing changed"))
        return lines


def _entries(decisions: Sequence[Decision]) -> list[_Entry]:
    """An entry for each call of an action: decisions that let it go on share one.

    More than two successive calls share an entry as well, if they are the same base action, or if they end in the same
    way and change nothing.
    """

    def kind(call: _Entry) -> tuple[str, str, bool]:
        first, last = call.decisions[0], call.decisions[-1]
        idle = not last.calls and last.verdict is None and first.before == last.after
        return last.action, last.ended, idle or last.ended == "base"

    entries: list[_Entry] = []
    for (_, _, alike), group in groupby(_whole_calls(decisions), key=kind):
        run = list(group)
        if alike and len(run) > 2:
            entries.append(_Entry(tuple(d for e in run for d in e.decisions), run[0].index))
        else:
            entries += run
    return entries


def _whole_calls(decisions: Sequence[Decision]) -> Iterator[_Entry]:
    """The decisions of each call of an action together: those in which it was still running, and the one after them."""
    call: list[Decision] = []
    for index, decision in enumerate(decisions, start=1):
        if call and decision.action != call[-1].action:
            yield _Entry(tuple(call), index - len(call))
            call = []
        call.append(decision)
        if decision.ended != "running":
            yield _Entry(tuple(call), index - len(call) + 1)
            call = []
    if call:
        yield _Entry(tuple(call), len(decisions) - len(call) + 1)


def _chosen(entries: Sequence[_Entry], room: int, calls: int, of_last: bool) -> list[str]:
    """The entries in order. Those that matter most are shown with their calls, as far as ``room`` allows, the others
    without; what does not fit even so is counted."""
    order = _by_weight(entries)
    short = {i: shorten("\n".join(entries[i].lines(0)), max(200, room // 2), "this entry") for i in order}
    shown: dict[int, str] = {}
    for i in order:
        if shown and len(short[i]) + 1 > room:
            continue
        shown[i] = short[i]
        room -= len(short[i]) + 1
    for i in (i for i in order[: 1 if of_last else None] if i in shown and calls):
        full = "\n".join(entries[i].lines(calls))
        if len(full) - len(shown[i]) > room:
            full = shorten(full, len(shown[i]) + room, "this entry") if room > 200 or i == order[0] else shown[i]
        room -= len(full) - len(shown[i])
        shown[i] = full
    lines: list[str] = []
    for hidden, group in groupby(range(len(entries)), key=lambda i: i not in shown):
        run = list(group)
        if hidden:
            count = sum(len(entries[i].decisions) for i in run)
            lines.append(f"({count} decisions that changed less are left out here)")
        else:
            lines += [shown[i] for i in run]
    return lines


def _by_weight(entries: Sequence[_Entry]) -> list[int]:
    """Indices: the last entry (of a rehearsal, what it is about), the first, those with an error, then by their change.

    The change of a key counts by its share of the range that the key has in the episode; one without numbers counts 1.
    """
    views = [v for e in entries for v in (e.decisions[0].before, e.decisions[-1].after) if v]
    spans: dict[str, float] = {}
    for key in dict.fromkeys(k for v in views for k in v):
        flat = [_numbers(v[key]) for v in views if key in v]
        if flat and all(len(f) == len(flat[0]) for f in flat):
            spans[key] = max((max(column) - min(column) for column in zip(*flat, strict=True)), default=0.0)

    def weight(i: int) -> tuple[bool, bool, bool, float]:
        entry = entries[i]
        before, after = entry.decisions[0].before, entry.decisions[-1].after
        size = sum(_change(before.get(k), after.get(k), spans.get(k, 0.0)) for k in after)
        return i == len(entries) - 1, i == 0, entry.decisions[-1].verdict is not None, size

    return sorted(range(len(entries)), key=weight, reverse=True)


def _change(old: Plain, new: Plain, span: float) -> float:
    if old == new:
        return 0.0
    ours, theirs = _numbers(old), _numbers(new)
    if span <= 0 or not ours or len(ours) != len(theirs):
        return 1.0
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / span


def _numbers(value: Plain) -> list[float]:
    """The numbers of a value, flat; those of text and dicts do not count."""
    if isinstance(value, list):
        return [n for item in value for n in _numbers(item)]
    return [float(value)] if isinstance(value, bool | int | float) and math.isfinite(value) else []


def _calls(calls: Sequence[PrimitiveCall], limit: int) -> list[str]:
    """A line for each call, or for several successive calls of one primitive; at most ``limit`` lines."""
    lines: list[str] = []
    for name, group in groupby(_looked(calls) if limit else [], key=lambda call: call.name):
        run = list(group)
        lines += [_series(name, run)] if len(run) >= RUN else [_call(c) for c in run]
    if len(lines) <= limit:
        return lines
    tail = limit // 3
    return [*lines[: limit - tail], f"({len(lines) - limit} calls in between left out)", *lines[-tail:]]


def _looked(calls: Sequence[PrimitiveCall]) -> list[PrimitiveCall]:
    """``calls`` in which what code observed is part of the outcome of the primitive before it, if that did not tell."""
    told: list[PrimitiveCall] = []
    for call in calls:
        if call.name == OBSERVE and told and told[-1].name != OBSERVE:
            before = told[-1].outcome
            seen = {f"{VIEW}{key}": value for key, value in call.outcome.items() if key not in before}
            told[-1] = told[-1].model_copy(update={"outcome": {**before, **seen}})
        elif call.name != OBSERVE or call.outcome:
            told.append(call)
    return told


def _call(call: PrimitiveCall) -> str:
    if call.name == OBSERVE:
        return f"observe() -> changed: {fields(call.outcome, 100)}"
    return f"{call.name}({fields(call.args)}) took {call.steps} steps -> {plain(call.outcome, 400)}"


def _series(name: str, calls: Sequence[PrimitiveCall]) -> str:
    """Successive calls of one primitive: what stays the same once, what varies as a series in order of time."""
    args = {key: [c.args.get(key) for c in calls] for key in dict.fromkeys(k for c in calls for k in c.args)}
    keys = [k for k in dict.fromkeys(k for c in calls for k in c.outcome) if k != "steps"]
    outcome = {key: _filled([c.outcome.get(key, MISSING) for c in calls], view=key.startswith(VIEW)) for key in keys}
    views = [key for key in keys if key.startswith(VIEW)]
    most = sorted(views, key=lambda key: -_spread(outcome[key]))[:SEEN]
    steps = sum(c.steps for c in calls)
    given = ", ".join(f"{key}={_varying(values)}" for key, values in args.items())
    came = "; ".join(f"{key}: {_varying(outcome[key])}" for key in keys if key not in views or key in most)
    others = f"; {len(views) - len(most)} more keys of the view changed" if len(views) > len(most) else ""
    return f"{len(calls)} times {name}({given}), {steps} steps in all -> {came}{others}"


def _filled(values: Sequence[Plain], *, view: bool) -> list[Plain]:
    """A series in which a key of the view that is not told again keeps its value."""
    filled: list[Plain] = []
    for value in values:
        filled.append(filled[-1] if view and value == MISSING and filled else value)
    return filled


def _spread(values: Sequence[Plain]) -> float:
    """How much a series varies, as a share of its largest number; long lists do not count, they cannot be told."""
    flat = [_numbers(v) for v in values if v != MISSING]
    if not flat or len(flat[0]) > SHORT or any(len(f) != len(flat[0]) for f in flat):
        return -1.0
    columns = list(zip(*flat, strict=True))
    return max(((max(c) - min(c)) / (max(map(abs, c)) or 1.0) for c in columns), default=0.5)


def _varying(values: Sequence[Plain]) -> str:
    """``1, 2, 3 (x4), 5``: equal neighbours once, of many a few, evenly spread."""
    runs = [(text, len(list(group))) for text, group in groupby(plain(v, 40) for v in values)]
    told = [f"{text} (x{count})" if count > 1 and len(runs) > 1 else text for text, count in runs]
    if len(told) <= SAMPLES:
        return ", ".join(told)
    chosen = [told[round(i * (len(told) - 1) / (SAMPLES - 1))] for i in range(SAMPLES)]
    return f"{', '.join(chosen)} ({SAMPLES} of {len(told)})"
