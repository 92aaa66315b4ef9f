"""Plays the events of a run to a tracker, and writes the run's folder meanwhile."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from rlgpt.domain import CurvePoint, Iteration
from rlgpt.llm.budget import Spending
from rlgpt.observers import Several
from rlgpt.observers.tracker import Tracker
from rlgpt.options import save_bundle
from rlgpt.runs import Report, Run

_STORIES = Path(__file__).parents[1] / "report" / "stories.py"
_SPEC = importlib.util.spec_from_file_location("report_stories", _STORIES)
assert _SPEC is not None
assert _SPEC.loader is not None
stories = sys.modules.setdefault(_SPEC.name, importlib.util.module_from_spec(_SPEC))
if not hasattr(stories, "iteration"):
    _SPEC.loader.exec_module(stories)

CURVE = ((3000, 0.2), (6000, 0.4), (9000, 0.6))


def iteration(index: int) -> Iteration:
    made: Iteration = stories.iteration(index, curve=CURVE)
    usage = {"base": 0.6, "grasp_handle": 0.4}
    assert made.training is not None
    curve = tuple(p.model_copy(update={"usage": usage, "metrics": {"angle": 0.1}}) for p in made.training.curve)
    return made.model_copy(update={"training": made.training.model_copy(update={"curve": curve})})


def session(run: Run, tracker: Tracker, *indices: int, points: int = 3, end: bool = False) -> None:
    """One session of a run: the training and the end of each iteration; with ``end`` the report and a bundle."""
    with Several([tracker]) as watching:
        watching.begins(run)
        for index in indices:
            made = iteration(index)
            before = sum(i.steps.total for i in run.iterations())
            start = before + made.steps.before_training
            watching.spent(Spending(calls=index + 1, prompt_tokens=100 * (index + 1), dollars=0.01))
            watching.stage("train", iteration=index, budget=9000, start=start)
            curve: tuple[CurvePoint, ...] = made.training.curve if made.training else ()
            for point in curve[:points]:
                watching.training(point, 9000)
            if points < len(curve):
                return  # The session was killed here.
            run.rewrite(f"iterations/{index}/iteration", made)
            run.update(steps=sum((i.steps for i in run.iterations()), type(made.steps)()))
            watching.finished("iteration", index=index, best=0)
        if end:
            _end(run, watching)


def _end(run: Run, watching: Several) -> None:
    from rlgpt.domain import Bundle

    last = run.iterations()[-1]
    run.rewrite("report", Report(iteration=last.index, evaluation=stories.evaluation(9, 10)))
    save_bundle(Bundle(actions=last.actions), run.folder / "bundle")
    run.update(status="finished", success_rate=0.9)
    watching.finished("report", success=0.9)
