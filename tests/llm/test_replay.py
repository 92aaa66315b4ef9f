"""A replay returns the recorded replies, reports changed prompts, and ends cleanly."""

from __future__ import annotations

from pathlib import Path

import pytest
from rlgpt.domain import Review
from rlgpt.errors import TranscriptEnded, TranscriptError
from rlgpt.llm.base import Request, Usage
from rlgpt.llm.budget import Budgeted, LLMBudget
from rlgpt.llm.record import Recorder
from rlgpt.llm.replay import Replay, drift
from rlgpt.llm.structured import ask
from rlgpt.llm.transcript import Transcript, export
from rlgpt.testing.llm import FakeLLM


@pytest.fixture
def recording(tmp_path: Path, request_: Request) -> Path:
    """A transcript of two requests: the first took two asks, and the second differs only in its attempt."""
    recorder = Recorder(FakeLLM({"review": ["bad", '{"works": true}', '{"works": false}']}), tmp_path / "llm.jsonl")
    ask(recorder, request_, Review)
    ask(recorder, attempt(request_, 1), Review)
    export(tmp_path / "llm.jsonl", tmp_path / "t.jsonl", note="by hand")
    return tmp_path / "t.jsonl"


def attempt(request: Request, n: int) -> Request:
    return request.model_copy(update={"key": request.key.model_copy(update={"attempt": n})})


def test_recording_replays_with_its_failed_attempts(recording: Path, request_: Request) -> None:
    header = Transcript.read(recording).header
    assert (header.task, header.model, header.note) == ("kitchen/kettle", "fake", "by hand")
    assert len(header.date) == 10
    replay = Replay(recording)
    answer = ask(replay, request_, Review)
    assert [r.text for r in answer.replies] == ["bad", '{"works": true}']
    assert not ask(replay, attempt(request_, 1), Review).parsed.works


def test_replayed_usage_is_marked_and_costs_nothing_now(recording: Path, request_: Request, tmp_path: Path) -> None:
    recorder = Recorder(Budgeted(Replay(recording), LLMBudget(calls=1, dollars=0.0001)), tmp_path / "again.jsonl")
    replies = ask(recorder, request_, Review).replies
    assert replies[0].usage == Usage(
        prompt_tokens=100, completion_tokens=20, dollars=0.001, tokens_source="recorded", cost_source="recorded"
    )
    assert (recorder.spending.calls, recorder.spending.dollars) == (0, 0)
    assert (recorder.spending.replayed_calls, recorder.spending.replayed_tokens) == (2, 240)


def test_a_replay_has_a_note_if_measured_numbers_differ_from_the_recording(recording: Path, request_: Request) -> None:
    drifted = request_.model_copy(update={"measured": {"success": 0.8}})
    assert Replay(recording).complete(drifted).note == "written about success 0.35; this run measured 0.80"
    assert Replay(recording).complete(request_).note == ""


def test_the_note_names_only_figures_that_differ() -> None:
    then = {"success": 0.35, "steps": 100, "same": 1.0, "gone": 3, "ended": "limit"}
    now = {"success": 0.8, "steps": 12345, "same": 1, "new": 4, "ended": "returned"}
    assert drift(then, now) == (
        "written about success 0.35, steps 100, ended limit; "
        "this run measured success 0.80, steps 12345, ended returned"
    )


def test_error_about_a_changed_prompt_says_record_again(recording: Path, request_: Request) -> None:
    with pytest.raises(TranscriptError, match=r"stub changed since .*t.jsonl was recorded: review on .*llm=record"):
        Replay(recording).complete(request_.model_copy(update={"fingerprint": "other"}))


def test_transcript_of_another_task_is_an_error_that_names_both_tasks(recording: Path, request_: Request) -> None:
    key = request_.key.model_copy(update={"task": "kitchen/microwave"})
    with pytest.raises(TranscriptError, match=r"no transcript of task 'kitchen/microwave'.*\(of kitchen/kettle\)") as e:
        Replay(recording).complete(request_.model_copy(update={"key": key}))
    assert e.value.exit_status == 2


def test_end_of_the_transcript_raises_transcript_ended(recording: Path, request_: Request) -> None:
    with pytest.raises(TranscriptEnded, match=r"no reply to review on 'lift' .*attempt 2") as caught:
        Replay(recording).complete(attempt(request_, 2))
    assert caught.value.exit_status == 3


def test_two_tasks_may_be_replayed_together_but_not_one_twice(recording: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(recording.read_text().replace("kitchen/kettle", "kitchen/microwave"))
    assert set(Replay([recording, other]).paths) == {"kitchen/kettle", "kitchen/microwave"}
    with pytest.raises(TranscriptError, match="both of task"):
        Replay([recording, recording])


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (1, "", "line 1, does not hold a valid Header"),
        (
            1,
            '{"format": "rlgpt-transcript", "schema_version": 2}',
            r"line 1, does not hold a valid Header",
        ),
        (2, '{"key": 1}', "line 2, does not hold a valid Entry"),
        (3, '{"key": {"task": "kitchen/ke', "line 3, does not hold a valid Entry"),
        (3, "", "line 3, does not hold a valid Entry"),
    ],
)
def test_error_about_a_corrupt_transcript_names_the_line(recording: Path, line: int, text: str, said: str) -> None:
    lines = recording.read_text().splitlines()
    lines[line - 1] = text
    recording.write_text("\n".join(lines) + "\n")
    with pytest.raises(TranscriptError, match=f"t.jsonl, {said}"):
        Replay(recording)


def test_second_reply_to_a_request_is_an_error(recording: Path) -> None:
    recording.write_text(recording.read_text() + recording.read_text().splitlines()[1] + "\n")
    with pytest.raises(TranscriptError, match="line 5: a second reply to review on 'lift'"):
        Replay(recording)


def test_missing_or_binary_transcript_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="missing"):
        Replay(tmp_path / "none.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(TranscriptError, match="UTF-8"):
        Replay(tmp_path / "binary")


def test_the_newer_reply_to_a_key_is_exported(tmp_path: Path, request_: Request) -> None:
    recorder = Recorder(FakeLLM({"review": ["old", "new"]}), tmp_path / "llm.jsonl")
    recorder.complete(request_)
    recorder.complete(request_.model_copy(update={"fingerprint": "newer"}))
    transcript = export(tmp_path / "llm.jsonl", tmp_path / "t.jsonl")
    assert [(e.text, e.fingerprint) for e in transcript.entries] == [("new", "newer")]
    assert Transcript.read(tmp_path / "t.jsonl") == transcript


def test_export_of_a_run_without_replies_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="holds no reply"):
        export(tmp_path / "llm.jsonl", tmp_path / "t.jsonl")
