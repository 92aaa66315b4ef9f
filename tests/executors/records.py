"""Compares the records of runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rlgpt.domain import Iteration
from rlgpt.runs import Run
from rlgpt.testing.counting import counted


def logs(folder: Path, name: str) -> list[str]:
    return (folder.with_name(f"{folder.name}_logs") / name).read_text().splitlines()


def without_lost(iteration: Iteration) -> Iteration:
    return iteration.model_copy(update={"steps": iteration.steps.model_copy(update={"lost": 0})})


def counts_and_pays_once(folder: Path) -> None:
    """Every step of the environment is counted once, and every request was sent once."""
    run = Run.open(folder)
    assert run.record.status == "finished"
    assert run.record.steps.total == counted(folder.with_name(f"{folder.name}_logs") / "steps")
    assert set(Counter(logs(folder, "calls")).values()) == {1}
    assert len(logs(folder, "calls")) == len((folder / "llm.jsonl").read_text().splitlines())


def same_record(folder: Path, undisturbed: Path) -> None:
    """The records agree, apart from the steps that the fault lost."""
    ours, theirs = Run.open(folder), Run.open(undisturbed)
    assert [without_lost(i) for i in ours.iterations()] == [without_lost(i) for i in theirs.iterations()]
    assert ours.report() == theirs.report()
    assert logs(folder, "calls") == logs(undisturbed, "calls")
    counts_and_pays_once(folder)
