"""A run with several plans in the real kitchen, with the replies of a recording."""

from __future__ import annotations

from pathlib import Path

import pytest
from rlgpt.cli import main
from rlgpt.llm.transcript import Entry, Transcript
from rlgpt.runs import Run
from rlgpt_kitchen.plugin import KitchenPlugin

WAIT = """{"thoughts": "", "doc": "Wait.", "parameters": [], "max_steps": 20}
```python
def run():
    yield observe()
```"""


def waiting(entry: Entry) -> Entry:
    """A plan whose code does nothing, and which differs from the recorded plan."""
    if entry.key.role == "fast":
        return entry.model_copy(update={"text": WAIT})
    return entry.model_copy(
        update={"text": entry.text.replace("May be started anywhere", "May be started at any time")}
    )


@pytest.mark.slow
def test_plan_whose_code_pushes_the_kettle_beats_a_plan_whose_code_waits(tmp_path: Path) -> None:
    plugin = KitchenPlugin()
    recorded = Transcript.read(Path(plugin.transcripts(plugin.tasks()["kitchen/kettle"])[0]))
    second = tuple(e.model_copy(update={"key": e.key.model_copy(update={"plan": 1})}) for e in recorded.entries)
    recorded.model_copy(update={"entries": (*map(waiting, recorded.entries), *second)}).write(tmp_path / "two.jsonl")
    settings = ("iterations=1", "repairs=0", "rehearsal_episodes=1", "selection_episodes=2", "confirmation_episodes=0")
    status = main(
        [
            *("train", "task=kitchen/kettle", "llm=replay", f"llm.transcript={tmp_path / 'two.jsonl'}"),
            *("plans=3", "report_episodes=1", "trainer=ppo", *settings, f"folder={tmp_path / 'run'}"),
        ]
    )
    assert status == 0
    run = Run.open(tmp_path / "run")
    (iteration,) = run.iterations()
    waits, pushes = iteration.plans
    assert (waits.kept, pushes.kept) == (False, True)
    (lost,), (won,) = waits.rounds, pushes.rounds
    assert [e.seed for e in lost.episodes] == [e.seed for e in won.episodes]
    assert (lost.success_rate, won.success_rate) == (0.0, 1.0)
    assert iteration.plan == pushes.plan
    assert iteration.steps == run.record.steps
    assert iteration.steps.code == waits.played + pushes.played + iteration.evaluation.primitive_steps
