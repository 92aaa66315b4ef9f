"""Reads the content of the live page about one run, as plain values. Each part of the page's content is in a separate
file, and can be read while the run is in progress.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from rlgpt.domain import (
    ActionPlan,
    Critique,
    Decision,
    Evaluation,
    FunctionRehearsal,
    Iteration,
    Rehearsal,
    RLSetup,
    Trace,
    TrainingRecord,
)
from rlgpt.errors import RunError, UnknownNameError
from rlgpt.observers.entries import settings
from rlgpt.planner.stored import newest
from rlgpt.report import attempts, text
from rlgpt.report.figures import mean_score, metric_figures, score_name, success_range
from rlgpt.report.graph import boxes, drawing
from rlgpt.report.learned import learning_facts
from rlgpt.report.terms import HEIGHT, WIDTH, term_rows
from rlgpt.runs import Run
from rlgpt.view.plain import plain
from rlgpt.view.plans import compared, plan_folder, plans_of

VIEW_LIMIT = 64 << 20
"""Maximal size of a file of an iteration that the page shows, in bytes. The report also shows larger files."""
DECISIONS = 1_000
"""Maximal number of decisions of a trace that the page can show one after another."""
SEEN = 20_000
"""Maximal number of attempts whose state is kept in memory."""
Attempt = Rehearsal | FunctionRehearsal


def overview(run: Run, parts: Mapping[str, str]) -> dict[str, Any]:
    """The record of the run, its settings, its result, and the finished stages of each iteration.

    :param parts: label of a sub-goal -> id of its run.
    """
    record, report = run.record, run.report()
    outcome = report.evaluation if report is not None else None
    return {
        **plain(record.model_dump(exclude={"config", "seal"})),
        "steps": {**record.steps.model_dump(), "total": record.steps.total},
        "budget": plain(record.config.get("budget")),
        "settings": plain(settings(record.config), 500),
        "own": run.own,
        "report": None if outcome is None else evaluation(outcome),
        "iterations": [_part(run, index) for index in range(_count(run))],
        "videos": [n for n in run.files.names("videos") if n.endswith(".mp4") and n[0] != "."][:16],
        "bundle": run.files.exists("bundle/bundle.json"),
        "graph": _graph(run, parts),
    }


def _graph(run: Run, parts: Mapping[str, str]) -> dict[str, Any] | None:
    """The drawing of the graph of sub-goals, and the figures about each sub-goal; None if the run's task is not
    divided.
    """
    kept = newest(run)
    if kept is None:
        return None
    nodes, drawn = [], boxes(kept)
    for box in drawn:
        node = kept.graph[box.name]
        figures = {**box.figures.model_dump(), "failed": box.figures.failed}
        nodes.append({**node.model_dump(), **figures, "done_code": node.done, "run": parts.get(node.label)})
    evidence = kept.evidence.model_dump(include={"episodes", "successes", "edges", "disagreements"})
    known = {"thoughts": kept.graph.thoughts, "nodes": nodes, "drawing": drawing(drawn), **evidence}
    return plain(known)  # type: ignore[no-any-return]


def iteration(run: Run, index: int) -> dict[str, Any]:
    """Plan, code, learning, evaluation and critique of an iteration, as plain values. The value of a stage that is not
    finished is None.
    """
    here = f"iterations/{_checked(run, index)}"
    finished = _finished(run, index)
    critique = finished.critique if finished else run.stage(f"{here}/critique", Critique)
    setup = finished.setup if finished else run.stage(f"{here}/setup", RLSetup)
    training = finished.training if finished else run.stage(f"{here}/training", TrainingRecord)
    code = finished.code_evaluation if finished else run.stage(f"{here}/code", Evaluation)
    actions = finished.actions if finished else ()
    return {
        **_part(run, index),
        "setup": plain(setup),
        "learning": [] if setup is None else plain(learning_facts(setup, training, actions)),
        "training": None if training is None else plain(training.model_dump(exclude={"curve", "verdicts"})),
        "evaluations": [
            {"label": label, **evaluation(e)} for label, e in _evaluations(code, finished) if e is not None
        ],
        "terms": [plain(row._asdict()) for row in term_rows(finished)] if finished and finished.training else [],
        "term_size": [WIDTH, HEIGHT],
        "critique": plain(critique),
        "steps": plain(finished.steps.model_dump()) if finished else None,
        "finished": finished is not None,
    }


def evaluation(e: Evaluation) -> dict[str, Any]:
    """The results of an evaluation, with confidence intervals over its episodes."""
    shown = {
        "mode": e.mode,
        "episodes": len(e.episodes),
        "successes": sum(x.success for x in e.episodes) if e.has_success else None,
        "success": e.success_rate if e.has_success else None,
        "interval": success_range(e) if e.has_success else None,
        "score": None if e.score is None else {"name": score_name(e), "value": str(mean_score(e) or "-")},
        "return": e.mean_reward,
        "steps_per_success": e.steps_per_success,
        "usage": sorted(e.usage.items(), key=lambda pair: -pair[1]),
        "metrics": [[name, str(value), n] for name, value, n in metric_figures(e)],
    }
    return plain(shown)  # type: ignore[no-any-return]


def attempt(run: Run, index: int, kind: str, name: str, number: int) -> dict[str, Any]:
    """One attempt to write an action or a function, with source, changes, verdict, review and rehearsal."""
    found, before = _attempts(run, index, kind, name, number)
    source, old = _source(found), None if before is None else _source(before)
    state, tone = attempts.state(found)
    shown: dict[str, Any] = {
        "title": attempts.title(found),
        "state": state,
        "tone": tone,
        "steps": found.steps,
        "source": text.tokens(source),
        "diff": None if old is None else text.diff_lines(old, source),
        "verdict": plain(found.verdict),
    }
    if isinstance(found, FunctionRehearsal):
        return {**shown, **plain(found.model_dump(exclude={"function", "verdict"})), "doc": plain(found.function.doc)}
    trace = found.trace
    return {
        **shown,
        "doc": plain(found.action.doc),
        "parameters": plain(found.action.parameters),
        "review": plain(found.review),
        "others": plain(found.others),
        "trace": None if trace is None else plain(trace.model_dump(exclude={"decisions"})),
        "decisions": [] if trace is None else [_decision(d) for d in trace.decisions[:DECISIONS]],
        "moments": [] if trace is None else _moments(trace),
    }


def _moments(trace: Trace) -> list[dict[str, Any]]:
    """The moment of each frame of a rehearsal that a critic gets, as the primitive step of the episode and as a
    description in words.
    """
    from rlgpt.loop.frames import moments  # This imports the loops, which the rest of the page does not need.

    return [{"step": step, "text": plain(words, 200)} for step, words in sorted(moments(trace).items())]


def decision(run: Run, index: int, name: str, number: int, step: int) -> dict[str, Any]:
    """A decision of a rehearsal, with the view before and after the decision, and each call of a primitive."""
    found, _ = _attempts(run, index, "actions", name, number)
    assert isinstance(found, Rehearsal)
    decisions: Sequence[Decision] = found.trace.decisions if found.trace is not None else ()
    if not 0 <= step < len(decisions):
        raise UnknownNameError("decision", str(step), ())
    return plain(decisions[step], 2_000)  # type: ignore[no-any-return]


def _part(run: Run, index: int) -> dict[str, Any]:
    """The plan of an iteration, and the state of each sub-action and function in the plan, such as ``learned`` or ``not
    written yet``.
    """
    here, written = f"iterations/{index}", plan_folder(run, index)
    plan = run.stage(f"{written}/plan", ActionPlan)
    planned = [] if plan is None else [*(s.name for s in plan.sub_actions), *(f.name for f in plan.functions)]

    def order(name: str) -> int:
        return planned.index(name) if name in planned else len(planned)

    tried = {
        kind: {
            name: _states(run, f"{written}/{kind}/{name}", _KINDS[kind])
            for name in sorted(run.files.names(f"{written}/{kind}"), key=order)
        }
        for kind in ("actions", "functions")
    }
    trained = run.files.exists(f"{here}/training.json")
    learning = "learned" if trained else "not needed" if run.files.exists(f"{here}/iteration.json") else "to be learned"
    plans = compared(plans_of(run, index))
    return {"index": index, "plan": _plan(plan, tried, learning), "plans": plans, "trained": trained, **plain(tried)}


def _plan(plan: ActionPlan | None, tried: dict[str, Any], learning: str) -> dict[str, Any] | None:
    if plan is None:
        return None
    parts = [{**s.model_dump(), **_became(s, tried["actions"], learning)} for s in plan.sub_actions]
    functions = [{**f.model_dump(), **_became(f, tried["functions"], learning)} for f in plan.functions]
    return plain({"thoughts": plan.thoughts, "parts": parts, "functions": functions})  # type: ignore[no-any-return]


def _became(part: Any, tried: dict[str, Any], learning: str) -> dict[str, str]:
    """The state of a sub-action or function of a plan as text, and a word that sets the colour of the text (``good``,
    ``bad``, or empty).

    :param learning: the state of the sub-actions that the policy learns, such as ``not needed`` if the code was enough.
    """
    if part.kind == "rl":
        return {"became": learning, "tone": "good" if learning == "learned" else ""}
    if tried.get(part.name):
        last, count = tried[part.name][-1], len(tried[part.name])
        return {"became": f"{last['state']}, {count} {'version' if count == 1 else 'versions'}", "tone": last["tone"]}
    return {"became": "kept from an earlier iteration" if part.keep else "not written yet", "tone": ""}


def _states(run: Run, here: str, kind: type[Any]) -> list[dict[str, Any]]:
    numbers = [
        file.removesuffix(".json") for file in run.files.names(here) if file.endswith(".json") and file[0] != "."
    ]
    found = [_state(run, f"{here}/{number}", kind) for number in numbers]
    return sorted((state for state in found if state is not None), key=lambda state: state["attempt"])


_seen: dict[tuple[Any, ...], dict[str, Any]] = {}
"""File of an attempt, with its size and times -> its state. The page asks for all states at each change of a run."""


def _state(run: Run, name: str, kind: type[Any]) -> dict[str, Any] | None:
    try:
        status = os.lstat(run.folder / f"{name}.json")
    except OSError:
        return None
    key = (run.folder, name, status.st_ino, status.st_size, status.st_mtime_ns)
    if key not in _seen:
        if (a := run.stage(name, kind)) is None:
            return None
        state, tone = attempts.state(a)
        if len(_seen) >= SEEN:
            _seen.clear()
        _seen[key] = {"attempt": a.attempt, "title": attempts.title(a), "state": state, "tone": tone, "steps": a.steps}
    return _seen[key]


_KINDS: dict[str, type[Any]] = {"actions": Rehearsal, "functions": FunctionRehearsal}


def _attempts(run: Run, index: int, kind: str, name: str, number: int) -> tuple[Attempt, Attempt | None]:
    """The attempt with the number ``number``, and the previous attempt (None for the first attempt)."""
    above = plan_folder(run, _checked(run, index))
    if kind not in _KINDS or name not in run.files.names(f"{above}/{kind}"):
        raise UnknownNameError("action", name[:40], run.files.names(f"{above}/actions"))
    found: Attempt | None = run.stage(f"{above}/{kind}/{name}/{number}", _KINDS[kind])
    if found is None:
        raise UnknownNameError("attempt", str(number), ())
    before: Attempt | None = run.stage(f"{above}/{kind}/{name}/{number - 1}", _KINDS[kind]) if number else None
    return found, before


def _decision(d: Decision) -> dict[str, Any]:
    shown = {"action": d.action, "duration": d.duration, "reward": d.reward, "ended": d.ended, "calls": len(d.calls)}
    return plain(shown)  # type: ignore[no-any-return]


def _evaluations(code: Evaluation | None, finished: Iteration | None) -> list[tuple[str, Evaluation | None]]:
    if finished is None:
        return [("code alone", code)]
    rivals = [(f"not kept, {e.mode}", e) for e in finished.rivals]
    policy = (f"selection, {finished.evaluation.mode}", finished.evaluation)
    return [("code alone", code), ("tuned code", finished.tuned_evaluation), policy, *rivals]


def _finished(run: Run, index: int) -> Iteration | None:
    name = f"iterations/{index}/iteration"
    if not run.files.exists(f"{name}.json"):
        return None
    with run.files.open(f"{name}.json", limit=VIEW_LIMIT):
        return run.stage(name, Iteration)


def _count(run: Run) -> int:
    """The number of iterations of a run that have begun."""
    names = set(run.files.names("iterations"))
    return next(n for n in range(len(names) + 1) if str(n) not in names)


def _checked(run: Run, index: int) -> int:
    if not 0 <= index < _count(run):
        raise RunError(f"{run.folder} has no iteration {index}.")
    return index


def _source(attempt: Attempt) -> str:
    return attempt.function.source if isinstance(attempt, FunctionRehearsal) else attempt.action.source
