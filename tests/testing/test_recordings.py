"""The contract tests of recordings fail for a plugin whose prompts changed after the recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from rlgpt.agents.brief import make_brief
from rlgpt.domain import Task
from rlgpt.llm.base import RequestKey
from rlgpt.llm.transcript import Entry, Header, Transcript
from rlgpt.testing.contract.broken import broken_laws
from rlgpt.testing.contract.recordings import fingerprints, kind_of
from rlgpt.testing.grid import GridPlugin

PROMPTS = "test_transcripts_answer_the_current_prompts"
OWN = "test_transcripts_differ"


class Shipping(GridPlugin):
    """The grid plugin with recordings of its first task."""

    paths: tuple[Path, ...] = ()

    def transcripts(self, task: Task) -> tuple[Path, ...]:
        return self.paths if task == first(self) else ()


class Reworded(Shipping):
    def knowledge(self, task: Task) -> str:
        return f"{super().knowledge(task)} Mind the step."


def first(plugin: GridPlugin) -> Task:
    return next(iter(plugin.tasks().values()))


def requests(task: Task) -> Iterable[RequestKey]:
    """Yield one request key of each kind."""
    for role, sub_action, attempt in (
        *(("slow", "", 0), ("fast", "fetch", 0), ("fast", "fetch", 1), ("setup", "", 0)),
        *(("review", "fetch", 1), ("critic", "", 0)),
        *(("solo", "", 0), ("solo", "fetch", 0), ("solo", "fetch", 2), ("solo", "setup", 0)),
    ):
        yield RequestKey(task=task.id, role=role, sub_action=sub_action, attempt=attempt)


@pytest.fixture
def shipped(tmp_path: Path) -> Mapping[str, Path]:
    """Two recordings of the unchanged grid plugin, and a copy of one of these recordings."""
    plugin = GridPlugin()
    task = first(plugin)
    now = fingerprints(plugin, make_brief(plugin, task))
    paths = {}
    for name, text in (("a", "left"), ("b", "right"), ("copy", "right")):
        entries = tuple(Entry(key=k, fingerprint=now[kind_of(k)], model="m", text=text) for k in requests(task))
        paths[name] = tmp_path / f"{name}.jsonl"
        Transcript(header=Header(task=task.id, model="m", date="2026-01-01"), entries=entries).write(paths[name])
    return paths


def laws_broken_by(plugin: type[Shipping], *paths: Path) -> Mapping[str, str]:
    return broken_laws(type("Shipped", (plugin,), {"paths": paths})(), laws=[PROMPTS, OWN])


def test_contract_tests_accept_recordings_of_the_current_prompts(shipped: Mapping[str, Path]) -> None:
    assert laws_broken_by(Shipping, shipped["a"], shipped["b"]) == {}


def test_contract_tests_name_a_recording_of_outdated_prompts(shipped: Mapping[str, Path]) -> None:
    said = laws_broken_by(Reworded, shipped["a"])
    assert list(said) == [PROMPTS]
    assert "a.jsonl" in said[PROMPTS]
    assert "Record it again" in said[PROMPTS]


def test_contract_tests_report_two_identical_recordings(shipped: Mapping[str, Path]) -> None:
    assert list(laws_broken_by(Shipping, shipped["b"], shipped["copy"])) == [OWN]
