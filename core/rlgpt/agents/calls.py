"""Renders, as text for prompts, the calls of primitives within a decision. The text of a primitive's call has the
outcome of the call, and the changes of the view that code observed after the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rlgpt.agents.text import fields, most_changed, plain
from rlgpt.domain import Plain, PrimitiveCall
from rlgpt.domain.changes import numbers

OBSERVE = "observe"

RUN = 3
"""Minimal number of successive calls of one primitive that are shown as one series."""

SAMPLES = 7
"""Maximal number of values of a series that are shown."""

SEEN, SHORT = 6, 6
"""``SEEN`` is the maximal number of keys of the view whose changes are shown; these are the keys that change most. A
series of values is shown only if each value has at most ``SHORT`` numbers.
"""

VIEW = "view "
"""Prefix that distinguishes a key of the view from a key of the outcome."""

SAMPLED = "(sampled)"
"""The text after a series that has only the values of some calls."""

MISSING = "-"
"""The text that stands for a value that a call did not return."""


@dataclass(frozen=True)
class _Seen:
    """A call of a primitive, and the changes of the view that code observed after the call.

    :ivar view: the keys of the view that changed, with their new values.
    :ivar before: the keys of the view that changed, with their earlier values.
    """

    call: PrimitiveCall
    view: Mapping[str, Plain]
    before: Mapping[str, Plain]


def render_calls(calls: Sequence[PrimitiveCall], start: Mapping[str, Plain], limit: int, room: int) -> list[str]:
    """Lines of text about calls of primitives. Successive calls of the same primitive share a line if there are at
    least :data:`RUN` of them.

    If there are more than ``limit`` lines, or more than ``room`` characters, the result has only the first line, the
    last line, and the lines whose calls changed the view most. In the place of other lines, a line says how many were
    left out.

    :param start: the view before the first call.
    :param limit: maximal number of lines.
    :param room: approximate maximal number of characters of all lines together.
    """
    lines: list[tuple[float, str]] = []
    for name, group in groupby(_looked(calls, start) if limit else [], key=lambda seen: seen.call.name):
        run = list(group)
        if len(run) >= RUN and name != OBSERVE:
            lines.append((sum(map(_size, run)), _series(name, run)))
        else:
            lines += [(_size(seen), _call(seen)) for seen in run]
    ends = {0, len(lines) - 1}
    kept: set[int] = set()
    for i in sorted(range(len(lines)), key=lambda i: (i not in ends, -lines[i][0])):
        cost = len(lines[i][1]) + 4
        if len(kept) < limit and (cost <= room or i in ends):
            kept.add(i)
            room -= cost
    texts: list[str] = []
    for shown, indices in groupby(range(len(lines)), key=lambda i: i in kept):
        hidden = list(indices)
        texts += [lines[i][1] for i in hidden] if shown else [_left_out(len(hidden))]
    return texts


def _left_out(count: int) -> str:
    return f"({count} {'calls that changed less are' if count > 1 else 'call that changed less is'} left out)"


def _size(seen: _Seen) -> float:
    """The size of the change of the view. The change of each key of the view is divided by the key's largest number,
    and the quotients are summed.
    """
    return sum(_spread([old, new]) for new, old in ((v, seen.before.get(k, v)) for k, v in seen.view.items()))


def _looked(calls: Sequence[PrimitiveCall], start: Mapping[str, Plain]) -> list[_Seen]:
    """The calls of primitives, each with those changes of the view that the code observed after the call. Keys of the
    view that are also in the outcome of the call are left out.
    """
    known, seen = dict(start), list[_Seen]()
    for call in calls:
        if call.name != OBSERVE:
            seen.append(_Seen(call, {}, {}))
            continue
        last = seen[-1].call.outcome if seen else {}
        new = {k: v for k, v in call.outcome.items() if (k not in known or known[k] != v) and k not in last}
        if new and seen:
            before = {key: value for key, value in known.items() if key in new}
            latest = seen[-1]
            seen[-1] = _Seen(latest.call, {**latest.view, **new}, {**before, **latest.before})
        elif new:
            seen.append(_Seen(call, new, {key: value for key, value in known.items() if key in new}))
        known.update(call.outcome)
    return seen


def _call(seen: _Seen) -> str:
    call = seen.call
    view = "; ".join(most_changed(seen.before, seen.view, SEEN, 100))
    if call.name == OBSERVE:
        return f"observe() -> {view}"
    return f"{call.name}({fields(call.args)}) took {call.steps} steps -> {plain(call.outcome, 400)}" + (
        f"; {VIEW}{view}" if view else ""
    )


def _series(name: str, run: Sequence[_Seen]) -> str:
    """Successive calls of one primitive as one line of text. A value that is equal in all calls is written only in one
    place. A value that varies between the calls is written as a series in order of time.
    """
    calls = [seen.call for seen in run]
    args = {key: [c.args.get(key) for c in calls] for key in dict.fromkeys(k for c in calls for k in c.args)}
    keys = [k for k in dict.fromkeys(k for c in calls for k in c.outcome) if k != "steps"]
    outcome = {key: [c.outcome.get(key, MISSING) for c in calls] for key in keys}
    views = dict.fromkeys(k for seen in run for k in seen.view)
    looked = {key: _filled(key, run) for key in views}
    most = sorted((k for k in views if _spread(looked[k]) >= 0), key=lambda key: -_spread(looked[key]))[:SEEN]
    steps = sum(c.steps for c in calls)
    given = ", ".join(f"{key}={_varying(values)}" for key, values in args.items())
    came = [f"{key}: {_varying(outcome[key])}" for key in keys]
    came += [f"{VIEW}{key}: {_varying(looked[key])}" for key in views if key in most]
    if left := len(views) - len(most):
        came.append(f"{left} more key{'s' if left > 1 else ''} of the view changed")
    text = f"{len(calls)} times {name}({given}), {steps} steps in all -> {'; '.join(came) or 'nothing'}"
    if SAMPLED in text:
        text += f"; {SAMPLED} are the calls {', '.join(str(i + 1) for i in _sampled(len(calls)))}"
    return text


def _filled(key: str, run: Sequence[_Seen]) -> list[Plain]:
    """The values of one key of the view, one value after each call. If a call did not change the key of the view, the
    earlier value is repeated.
    """
    value = next((seen.before[key] for seen in run if key in seen.before), MISSING)
    return [value := seen.view.get(key, value) for seen in run]


def _spread(values: Sequence[Plain]) -> float:
    """The range of a series of numbers, divided by the largest absolute number of the series; 0.5 for values without
    numbers. If each value has several numbers, the largest of the quotients counts. A series is not shown, and its
    spread is -1, if a value has more than :data:`SHORT` numbers, or if the values have different counts of numbers.
    """
    flat = [numbers(v) for v in values if v != MISSING]
    if not flat or len(flat[0]) > SHORT or any(len(f) != len(flat[0]) for f in flat):
        return -1.0
    columns = list(zip(*flat, strict=True))
    return max(((max(c) - min(c)) / (max(map(abs, c)) or 1.0) for c in columns), default=0.5)


def _varying(values: Sequence[Plain]) -> str:
    """A series of values as text, such as ``1, 2, 3 (x4), 5``. Equal neighbours are written only once, with their
    count. Of a long series, only the values of some calls are written (:func:`_sampled`).
    """
    texts = [MISSING if v == MISSING else plain(v, 60) for v in values]
    runs = [(text, len(list(group))) for text, group in groupby(texts)]
    if len(runs) > SAMPLES:
        return f"{', '.join(texts[i] for i in _sampled(len(texts)))} {SAMPLED}"
    return ", ".join(f"{text} (x{count})" if count > 1 and len(runs) > 1 else text for text, count in runs)


def _sampled(count: int) -> list[int]:
    """The indices of :data:`SAMPLES` evenly spaced calls of ``count`` calls, with the first and the last call. All long
    series of a line have the same indices, so that values of the same call can be compared.
    """
    return [round(i * (count - 1) / (SAMPLES - 1)) for i in range(SAMPLES)]
