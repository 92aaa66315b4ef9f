"""Runs with ``planner=graph`` record the replies of a model and replay them, with a plugin and by ``design()``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planner_llm import model
from rlgpt import design
from rlgpt.llm.transcript import Transcript
from rlgpt.planner.stored import kept_of
from rlgpt.runs import Run
from rlgpt.testing.grid import GridEnv

Call = Callable[..., tuple[int, str, str]]
SMALL = {
    "budget": 1500,
    "iterations": 1,
    "repairs": 0,
    "selection_episodes": 2,
    "confirmation_episodes": 0,
    "rehearsal_episodes": 1,
    "report_episodes": 3,
    "video": False,
}
GIVEN = ("task=grid/door", "planner=graph", *(f"{key}={value}" for key, value in SMALL.items()))


def check(folder: Path) -> None:
    """The run divided the task, and code reached both sub-goals in every episode of the report."""
    run = Run.open(folder)
    assert (run.record.status, run.record.success_rate) == ("finished", 1)
    kept = kept_of(run)
    assert kept is not None
    assert {f.name: (f.calls, f.done) for f in kept.evidence.figures} == {"key_held": (3, 3), "door_open": (3, 3)}


def test_run_of_a_plugin_with_a_planner_is_recorded_and_replayed(rlgpt: Call) -> None:
    status, _, err = rlgpt("train", *GIVEN, "llm._target_=planner_llm.scripted", "folder=made")
    assert status == 0, err
    check(Path("made"))
    transcript = Transcript.read(Path("made/transcript.jsonl"))
    assert transcript.header.task == "grid/door"
    assert {e.key.task for e in transcript.entries} == {"grid/door", "grid/door.key_held", "grid/door.door_open"}
    status, _, err = rlgpt("train", *GIVEN, "llm.transcript=made/transcript.jsonl", "folder=again")
    assert status == 0, err
    check(Path("again"))
    assert Run.open(Path("again")).record.steps == Run.open(Path("made")).record.steps


@pytest.mark.parametrize("repeat", ["resume", "replay"])
def test_design_with_a_planner_is_recorded(tmp_path: Path, repeat: str) -> None:
    names = ("agent_row", "agent_column", "key_row", "key_column", "door_row", "door_column", "holding")

    def designed(folder: str, llm: Any) -> None:
        design(
            lambda: GridEnv("door", 80),
            goal="Open the door with the key.",
            labels=("up", "down", "left", "right", "use"),
            observations=names,
            idle="use",
            planner="graph",
            llm=llm,
            trial=0,
            observers={},
            folder=tmp_path / folder,
            **{key: value for key, value in SMALL.items() if key != "video"},
        )

    designed("made", model(named=True))
    check(tmp_path / "made")
    made = tmp_path / "made" / "transcript.jsonl"
    again = {"kind": "replay", "transcript": str(made)} if repeat == "replay" else model(named=True)
    designed("again" if repeat == "replay" else "made", again)
    check(tmp_path / ("again" if repeat == "replay" else "made"))
