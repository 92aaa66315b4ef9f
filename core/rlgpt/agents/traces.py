"""Renders episodes as text for prompts. The text of an episode shows each decision with its calls of primitives, and
with the keys of the view that the decision changed.

If the text would be too long, some decisions are shown without their calls of primitives, or are left out. The last
decision, the first decision and decisions with an error have priority; then the decisions with the largest changes of
the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rlgpt.agents.calls import render_calls
from rlgpt.agents.text import fields, most_changed, number, shorten
from rlgpt.domain import Decision, OtherStart, Plain, Rehearsal, Trace, Verdict, VerdictKind
from rlgpt.domain.changes import by_weight

KEYS, SEEN = 12, 6
"""Maximal number of keys of the view whose changes are shown; these are the keys that change most. ``KEYS`` is for a
decision in a trace, and ``SEEN`` is for a rehearsal from another start.
"""

LOGGED = 400
"""Maximal number of characters of each value in ``memory`` that a decision with its calls of primitives shows. Code can
use ``memory`` to log values.
"""

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
    """A verdict of the sandbox as one line of text, with the kind of error, the place of the error, and the message."""
    where = f", line {verdict.line}" if verdict.line is not None else ""
    when = f", {verdict.step} primitive steps into the call" if verdict.step else ""
    return f"{FAULTS[verdict.kind]} in {verdict.action}{where}{when}: {verdict.message}"


def render_trace(trace: Trace, limit: int = 6000, *, calls: int = 40, of_last: bool = False) -> str:
    """An episode as text of about ``limit`` characters.

    :param calls: maximal number of calls of primitives that are shown for one decision. With 0, no calls are shown.
    :param of_last: whether calls of primitives are shown for the last decision only.
    """
    head = f"Episode with seed {trace.seed}: {_result(trace)}, total reward {number(trace.total_reward)}."
    if not trace.decisions:
        return f"{head}\n(no decision was traced)"
    start = trace.decisions[0].before
    lines = [head, *(["view at the start: " + fields(start, limit // 4)] if start else [])]
    lines = [shorten(line, limit // 2, "the view") for line in lines]
    room = limit - sum(map(len, lines))
    return "\n".join([*lines, *_chosen(_entries(trace), room, calls, of_last)])


def render_outline(trace: Trace, limit: int = 2500) -> str:
    """An episode as text, with each decision and its changes of the view, without calls of primitives."""
    return render_trace(trace, limit, calls=0)


def render_rehearsal(rehearsal: Rehearsal, limit: int = 6000) -> str:
    """One attempt at a coded action as text. The text of an attempt has the verdict that stopped the coded action, the
    trace (about ``limit`` characters), and the results from other starts.
    """
    parts = []
    if rehearsal.verdict is not None:
        parts.append(f"It was stopped. {render_verdict(rehearsal.verdict)}")
    elif rehearsal.stopped_by is not None:
        parts.append(f"From another start it was stopped. {render_verdict(rehearsal.stopped_by)}")
    if rehearsal.trace is not None:
        parts.append(render_trace(rehearsal.trace, limit, of_last=True))
    start = rehearsal.trace.decisions[0].before if rehearsal.trace and rehearsal.trace.decisions else {}
    parts += [_other(other, start) for other in rehearsal.others]
    return "\n".join(parts) or "It was not run."


def _other(other: OtherStart, start: Mapping[str, Plain]) -> str:
    """The result of a coded action's rehearsal from another start, as text. The text also has keys of the view that the
    action did not change and whose values differ from those in ``start``, such as another goal.
    """
    who = f"From the start of seed {other.seed}"
    if other.ended == "masked":
        return f"{who}: it never ran, because it may not start at any moment of this episode."
    results = [f"{ENDINGS[other.ended]} after {other.steps} primitive step{'s' if other.steps != 1 else ''}"]
    if other.success or other.score is None:
        results.append("success" if other.success else "no success")
    if other.score is not None:
        results.append(f"score {number(other.score)}")
    seen = "; ".join(most_changed(other.before, other.after, SEEN, 80)) or "nothing changed"
    kept = {k: v for k, v in other.before.items() if k in start and start[k] != v and other.after.get(k) == v}
    there = fields(dict(list(kept.items())[:SEEN]), 80)
    view = f"; view: {seen}{f'; unchanged {there}' if there else ''}" if other.before or other.after else ""
    return f"{who}: {', '.join(results)}{view}."


def failure_of(rehearsal: Rehearsal) -> str:
    """Text that says how an attempt to write code failed, or "worked" if the attempt did not fail."""
    if rehearsal.verdict is not None:
        return render_verdict(rehearsal.verdict)
    if rehearsal.stopped_by is not None:
        return f"from another start: {render_verdict(rehearsal.stopped_by)}"
    if rehearsal.failed and rehearsal.review is not None:
        findings = rehearsal.review.findings
        return "; ".join(f.problem for f in findings) or "the critic says it does not work, without saying why"
    return "worked"


def _result(trace: Trace) -> str:
    parts = [("success" if trace.success else "no success")] if trace.has_success else []
    parts += [f"score {number(trace.score)}"] if trace.score is not None else []
    count = len(trace.decisions) + trace.omitted
    decisions = f"{count} decision{'s' if count != 1 else ''}"
    return f"{', '.join(parts) or 'ended'} after {trace.primitive_steps} primitive steps, {decisions}"


@dataclass(frozen=True)
class _Entry:
    """Successive decisions of an episode that share one text. Decisions share a text if they belong to one call of a
    coded action, or choose the same base action, or change nothing.

    :ivar index: number of the first decision in the episode, from 1.
    """

    decisions: tuple[Decision, ...]
    index: int
    unpaid: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """Number of the last decision in the episode."""
        return self.index + len(self.decisions) - 1

    @property
    def numbers(self) -> str:
        return f"{self.index}." if len(self.decisions) == 1 else f"{self.index} to {self.end}."

    def head(self) -> str:
        first = self.decisions[0]
        steps, reward = sum(d.duration for d in self.decisions), sum(d.reward for d in self.decisions)
        names = dict.fromkeys(name for d in self.decisions for name in d.reward_terms if name not in self.unpaid)
        sums = {name: sum(d.reward_terms.get(name, 0.0) for d in self.decisions) for name in names}
        terms = ", ".join(f"{name} {number(paid)}" for name, paid in sums.items() if paid)
        return (
            f"{self.numbers} {first.action}({fields(dict(first.parameters))}): {ENDINGS[self.decisions[-1].ended]} "
            f"after {steps} primitive step{'s' if steps != 1 else ''}, reward {number(reward)}"
            f"{f' ({terms})' * bool(terms)}"
        )

    def lines(self, calls: int, room: int = 1 << 30) -> list[str]:
        """The lines of the text. At most ``calls`` lines of the text are about primitives, and all lines together have
        about ``room`` characters.
        """
        first, last = self.decisions[0], self.decisions[-1]
        tail = [f"   {render_verdict(last.verdict)}"] if last.verdict is not None else []
        if memory := {key: value for d in self.decisions for key, value in d.memory.items()}:
            tail.append(f"   memory: {fields(memory, LOGGED if calls else 120)}")
        if first.before or last.after:
            tail.append("   view: " + ("; ".join(most_changed(first.before, last.after, KEYS)) or "nothing changed"))
        every = [call for decision in self.decisions for call in decision.calls]
        used = len(self.head()) + sum(map(len, tail))
        middle = render_calls(every, first.before, calls, room - used)
        return [self.head(), *(f"   {line}" for line in middle), *tail]


def _entries(trace: Trace) -> list[_Entry]:
    """One entry for each call of an action. Decisions that continue a call of a coded action share the entry of this
    call.

    Three or more successive calls share an entry if they are the same base action, or if they end in the same way and
    change nothing. Decisions that the trace does not contain separate entries.
    """

    def kind(call: _Entry) -> tuple[str, str, bool]:
        first, last = call.decisions[0], call.decisions[-1]
        idle = not last.calls and last.verdict is None and first.before == last.after
        return last.action, last.ended, idle or last.ended == "base"

    entries: list[_Entry] = []
    for _, part in groupby(enumerate(zip(trace.numbers, trace.decisions, strict=True)), lambda x: x[1][0] - x[0]):
        (start, _), *_ = numbered = [pair for _, pair in part]
        for (_, _, alike), group in groupby(_whole_calls([d for _, d in numbered], start), key=kind):
            run = list(group)
            if alike and len(run) > 2:
                entries.append(_Entry(tuple(d for e in run for d in e.decisions), run[0].index))
            else:
                entries += run
    return [replace(entry, unpaid=trace.unpaid) for entry in entries]


def _whole_calls(decisions: Sequence[Decision], start: int) -> Iterator[_Entry]:
    """Yield one entry for each call of an action, with all decisions of this call.

    :param start: number of the first of the decisions in the episode.
    """
    call: list[Decision] = []
    for index, decision in enumerate(decisions, start=start):
        if call and decision.action != call[-1].action:
            yield _Entry(tuple(call), index - len(call))
            call = []
        call.append(decision)
        if decision.ended != "running":
            yield _Entry(tuple(call), index - len(call) + 1)
            call = []
    if call:
        yield _Entry(tuple(call), start + len(decisions) - len(call))


def _chosen(entries: Sequence[_Entry], room: int, calls: int, of_last: bool) -> list[str]:
    """The entries of an episode in order, as text of at most ``room`` characters. Only the entries with the highest
    priority show their calls of primitives. Entries that do not fit are counted.
    """
    order = by_weight([(entry.decisions[0], entry.decisions[-1]) for entry in entries])
    short = {i: shorten("\n".join(entries[i].lines(0)), max(200, room // 2), "this entry") for i in order}
    shown: dict[int, str] = {}
    for i in order:
        if shown and len(short[i]) + 1 > room:
            continue
        shown[i] = short[i]
        room -= len(short[i]) + 1
    for i in (i for i in order[: 1 if of_last else None] if i in shown and calls):
        if room > 200 or i == order[0]:
            full = shorten("\n".join(entries[i].lines(calls, len(shown[i]) + room)), len(shown[i]) + max(room, 200))
            room -= len(full) - len(shown[i])
            shown[i] = full
    lines: list[str] = []
    end = 0
    for i in sorted(shown):
        if count := entries[i].index - end - 1:
            what = "decisions that changed less are" if count > 1 else "decision that changed less is"
            lines.append(f"({count} {what} left out here)")
        lines.append(shown[i])
        end = entries[i].end
    return lines
