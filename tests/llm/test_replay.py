"""A replay returns the recorded replies, and raises an error for a changed prompt or after the last reply."""

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
    """A recording of two requests. The first request needed two replies. The second has another attempt number."""
    recorder = Recorder(FakeLLM({"review": ["bad", '{"works": true}', '{"works": false}']}), tmp_path / "llm.jsonl")
    ask(recorder, request_, Review)
    ask(recorder, attempt(request_, 1), Review)
    export(tmp_path / "llm.jsonl", tmp_path / "t.jsonl", note="by hand")
    return tmp_path / "t.jsonl"


def attempt(request: Request, n: int) -> Request:
    return request.model_copy(update={"key": request.key.model_copy(update={"attempt": n})})


def test_replay_also_returns_the_unusable_replies_of_a_recording(recording: Path, request_: Request) -> None:
    header = Transcript.read(recording).header
    assert (header.task, header.model, header.note) == ("kitchen/kettle", "fake", "by hand")
    assert len(header.date) == 10
    replay = Replay(recording)
    answer = ask(replay, request_, Review)
    assert [r.text for r in answer.replies] == ["bad", '{"works": true}']
    assert not ask(replay, attempt(request_, 1), Review).parsed.works


def test_replayed_usage_is_marked_as_recorded_and_not_counted_in_the_budget(
    recording: Path, request_: Request, tmp_path: Path
) -> None:
    recorder = Recorder(Budgeted(Replay(recording), LLMBudget(calls=1, dollars=0.0001)), tmp_path / "again.jsonl")
    replies = ask(recorder, request_, Review).replies
    assert replies[0].usage == Usage(
        prompt_tokens=100, completion_tokens=20, dollars=0.001, tokens_source="recorded", cost_source="recorded"
    )
    assert (recorder.spending.calls, recorder.spending.dollars) == (0, 0)
    assert (recorder.spending.replayed_calls, recorder.spending.replayed_tokens) == (2, 240)


def test_replayed_reply_has_a_note_when_measured_figures_differ_from_the_recording(
    recording: Path, request_: Request
) -> None:
    drifted = request_.model_copy(update={"measured": {"success": 0.8}})
    assert Replay(recording).complete(drifted).note == "written about success 0.35; this run measured 0.80"
    assert Replay(recording).complete(request_).note == ""


def test_note_of_a_replayed_reply_names_only_figures_that_differ() -> None:
    then = {"success": 0.35, "steps": 100, "same": 1.0, "gone": 3, "ended": "limit"}
    now = {"success": 0.8, "steps": 12345, "same": 1, "new": 4, "ended": "returned"}
    assert drift(then, now) == (
        "written about success 0.35, steps 100, ended limit; "
        "this run measured success 0.80, steps 12345, ended returned"
    )


def test_replay_error_about_a_changed_prompt_advises_to_record_again(recording: Path, request_: Request) -> None:
    with pytest.raises(
        TranscriptError, match=r"since .*t.jsonl was recorded: the fingerprint of review on .*llm=record"
    ):
        Replay(recording).complete(request_.model_copy(update={"fingerprint": "other"}))


def test_replay_error_about_a_recording_of_another_task_names_both_tasks(recording: Path, request_: Request) -> None:
    key = request_.key.model_copy(update={"task": "kitchen/microwave"})
    with pytest.raises(TranscriptError, match=r"no recording of task 'kitchen/microwave'.*\(of kitchen/kettle\)") as e:
        Replay(recording).complete(request_.model_copy(update={"key": key}))
    assert e.value.exit_status == 2


def test_replay_raises_transcript_ended_when_the_recording_has_no_reply(recording: Path, request_: Request) -> None:
    with pytest.raises(TranscriptEnded, match=r"no reply to review on 'lift' .*attempt 2") as caught:
        Replay(recording).complete(attempt(request_, 2))
    assert caught.value.exit_status == 3


def test_replay_accepts_recordings_of_two_tasks_and_refuses_two_recordings_of_one_task(
    recording: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(recording.read_text().replace("kitchen/kettle", "kitchen/microwave"))
    assert set(Replay([recording, other]).paths) == {"kitchen/kettle", "kitchen/microwave"}
    with pytest.raises(TranscriptError, match="both record task"):
        Replay([recording, recording])


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (1, "", "line 1, does not contain a valid Header"),
        (
            1,
            '{"format": "rlgpt-transcript", "schema_version": 2}',
            r"line 1, does not contain a valid Header",
        ),
        (2, '{"key": 1}', "line 2, does not contain a valid Entry"),
        (3, '{"key": {"task": "kitchen/ke', "line 3, does not contain a valid Entry"),
        (3, "", "line 3, does not contain a valid Entry"),
    ],
)
def test_replay_error_about_a_corrupt_recording_names_the_line(
    recording: Path, line: int, text: str, said: str
) -> None:
    lines = recording.read_text().splitlines()
    lines[line - 1] = text
    recording.write_text("\n".join(lines) + "\n")
    with pytest.raises(TranscriptError, match=f"t.jsonl, {said}"):
        Replay(recording)


def test_replay_refuses_a_recording_with_two_replies_to_one_request(recording: Path) -> None:
    recording.write_text(recording.read_text() + recording.read_text().splitlines()[1] + "\n")
    with pytest.raises(TranscriptError, match="line 5: a second reply to review on 'lift'"):
        Replay(recording)


def test_replay_refuses_a_missing_or_binary_recording(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="missing"):
        Replay(tmp_path / "none.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(TranscriptError, match="UTF-8"):
        Replay(tmp_path / "binary")


def test_export_writes_the_newest_reply_to_each_request_key(tmp_path: Path, request_: Request) -> None:
    recorder = Recorder(FakeLLM({"review": ["old", "new"]}), tmp_path / "llm.jsonl")
    recorder.complete(request_)
    recorder.complete(request_.model_copy(update={"fingerprint": "newer"}))
    transcript = export(tmp_path / "llm.jsonl", tmp_path / "t.jsonl")
    assert [(e.text, e.fingerprint) for e in transcript.entries] == [("new", "newer")]
    assert Transcript.read(tmp_path / "t.jsonl") == transcript


def test_export_of_a_run_without_replies_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="contains no reply"):
        export(tmp_path / "llm.jsonl", tmp_path / "t.jsonl")
