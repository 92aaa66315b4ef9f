"""Recorded exchanges are not lost in a crash, and no recorded request is sent again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rlgpt.domain import Value
from rlgpt.errors import BudgetExceeded, LLMError, RunError, UnusableReplyError
from rlgpt.llm.base import Message, Reply, Request, Usage
from rlgpt.llm.budget import Spending
from rlgpt.llm.exchange import Exchange, Journal, read_exchanges
from rlgpt.llm.record import Recorder
from rlgpt.llm.structured import ask
from rlgpt.secrets import redact
from rlgpt.testing.llm import FakeLLM


class Verdictless(Value):
    works: bool


def echo(request: Request) -> str:
    return f"reply to {request.messages[-1].content}"


def numbered(request: Request, n: int) -> Request:
    return request.model_copy(update={"key": request.key.model_copy(update={"attempt": n})})


def test_recorded_exchange_contains_request_and_reply(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "run" / "llm.jsonl"
    Recorder(FakeLLM(echo), path).complete(request_)
    (line,) = path.read_text().splitlines()
    raw = json.loads(line)
    assert raw["request"]["key"]["sub_action"] == "lift"
    assert raw["request"]["fingerprint"] == "f"
    assert raw["request"]["measured"] == {"success": 0.35}
    assert raw["request"]["messages"][1]["content"] == "judge"
    assert raw["reply"]["text"] == "reply to judge"
    assert raw["reply"]["model"] == "fake"
    assert raw["reply"]["usage"]["dollars"] == 0.001
    assert raw["time"].endswith("+00:00")


def test_recorder_does_not_send_recorded_requests_again(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "llm.jsonl"
    first = FakeLLM(echo)
    replies = [Recorder(first, path).complete(numbered(request_, n)) for n in range(3)]
    second = FakeLLM({})
    resumed = Recorder(second, path)
    assert [resumed.complete(numbered(request_, n)) for n in range(3)] == replies
    assert second.requests == []
    assert len(read_exchanges(path)) == 3


@pytest.mark.parametrize(
    "change",
    [{"fingerprint": "g"}, {"messages": (Message(role="user", content="other"),)}],
)
def test_recorder_sends_a_request_with_a_changed_prompt(
    tmp_path: Path, request_: Request, change: dict[str, object]
) -> None:
    recorder = Recorder(llm := FakeLLM(echo), tmp_path / "llm.jsonl")
    recorder.complete(request_)
    recorder.complete(request_.model_copy(update=change))
    assert len(llm.requests) == 2


def test_resumed_run_sends_a_request_again_after_unusable_replies(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "llm.jsonl"
    other = numbered(request_, 7)
    first = Recorder(FakeLLM(lambda r: "no JSON here"), path)
    first.complete(other)
    with pytest.raises(UnusableReplyError, match="Resume the run to ask again") as caught:
        ask(first, request_, Verdictless, retries=1)
    assert caught.value.exit_status == 2
    again = FakeLLM(lambda r: '{"works": true}')
    resumed = Recorder(again, path)
    assert ask(resumed, request_, Verdictless).parsed.works
    assert resumed.complete(other).text == "no JSON here"
    assert len(again.requests) == 1
    assert len(read_exchanges(path)) == 4, "the cost of earlier replies is still counted"


def test_recorder_does_not_record_a_failed_request(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "llm.jsonl"
    recorder = Recorder(FakeLLM({"review": [LLMError("down"), "up"]}), path)
    with pytest.raises(LLMError):
        recorder.complete(request_)
    assert recorder.complete(request_).text == "up"
    assert len(read_exchanges(path)) == 1


def test_recorder_with_a_nearly_full_journal_sends_no_request_and_keeps_its_replies(
    tmp_path: Path, request_: Request
) -> None:
    path = tmp_path / "llm.jsonl"
    recorder = Recorder(llm := FakeLLM(echo), path)
    known = recorder.complete(request_)
    os.truncate(path, (512 - 63) << 20)
    with pytest.raises(BudgetExceeded, match=r"llm\.jsonl is nearly full.*start a new run in another folder"):
        recorder.complete(numbered(request_, 1))
    assert len(llm.requests) == 1
    assert recorder.complete(request_) == known


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(cut=st.integers(min_value=0, max_value=10_000))
def test_llm_journal_cut_at_any_byte_keeps_its_complete_lines(tmp_path: Path, request_: Request, cut: int) -> None:
    path = tmp_path / "llm.jsonl"
    path.unlink(missing_ok=True)
    recorder = Recorder(FakeLLM(echo), path)
    for n in range(3):
        recorder.complete(numbered(request_, n))
    whole = path.read_bytes()
    torn = whole[: cut % (len(whole) + 1)]
    path.write_bytes(torn)
    kept = torn.count(b"\n")
    assert len(read_exchanges(path)) == kept
    resumed = Recorder(llm := FakeLLM(echo), path)
    for n in range(3):
        resumed.complete(numbered(request_, n))
    assert len(llm.requests) == 3 - kept
    assert [e.request.key.attempt for e in read_exchanges(path)] == [0, 1, 2]


def test_llm_journal_error_names_the_number_of_a_corrupt_line(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "llm.jsonl"
    Recorder(FakeLLM(echo), path).complete(request_)
    path.write_text(path.read_text() + '{"time": 5}\n' + path.read_text())
    with pytest.raises(RunError, match=r"llm.jsonl, line 2, does not contain a valid value.*Restore the file"):
        Journal(path)


def test_recorder_stores_control_characters_and_replaces_invalid_unicode(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "llm.jsonl"
    text = 'a\x00b\u2028\ud800"\\\n{'
    Recorder(FakeLLM(lambda _: Reply(text=text, model="m")), path).complete(request_)
    (exchange,) = read_exchanges(path)
    assert exchange.reply.text == text.replace("\ud800", "?")


def test_recorder_counts_the_spending_of_earlier_processes_of_the_run(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "llm.jsonl"
    for n in range(3):
        Recorder(FakeLLM(echo), path).complete(numbered(request_, n))
    spending = Recorder(FakeLLM({}), path).spending
    assert (spending.calls, spending.tokens, spending.by_role) == (3, 360, {"review": 3})
    assert spending.dollars == pytest.approx(0.003)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("key sk-ant-api03-abcDEF_123", "key [redacted]"),
        ("Authorization: Bearer abcdef.123456", "Authorization: [redacted]"),
        ("http://me:secret@host/v1", "http://[redacted]@host/v1"),
        ("the value hunter2hunter2 of it", "the value [redacted] of it"),
        ("task-oriented disk-based masks, sk-8", "task-oriented disk-based masks, sk-8"),
        ("a short one: none", "a short one: none"),
    ],
)
def test_redact_removes_api_keys_and_keeps_other_text(monkeypatch: pytest.MonkeyPatch, text: str, clean: str) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2hunter2")
    monkeypatch.setenv("EMPTY_API_KEY", "")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    assert redact(text) == clean


def test_spending_counts_paid_estimated_and_replayed_usage_separately(request_: Request) -> None:
    usages = [
        Usage(prompt_tokens=10, completion_tokens=1, dollars=0.5, cost_source="price_table", seconds=2),
        Usage(prompt_tokens=20, completion_tokens=2, tokens_source="estimated"),
        Usage(prompt_tokens=40, completion_tokens=4, dollars=0.25, tokens_source="recorded", cost_source="recorded"),
    ]
    total = Spending.of(Exchange.of(request_, Reply(text="", model="m", usage=u)) for u in usages)
    assert (total.calls, total.tokens, total.dollars, total.unpriced, total.estimated) == (2, 33, 0.5, 1, 1)
    assert (total.replayed_calls, total.replayed_tokens, total.replayed_dollars) == (1, 44, 0.25)
    assert total.by_role == {"review": 3}
    assert str(total) == (
        "2 calls, about 33 tokens, $0.5000 and 1 calls of unknown cost; 1 replayed (44 tokens, $0.2500 when recorded)"
    )
    assert str(Spending()) == "0 calls, 0 tokens, $0.0000"
