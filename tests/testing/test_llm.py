"""The scripted language model."""

import pytest
from rlgpt.errors import BudgetExceeded, LLMError
from rlgpt.llm.base import Message, Reply, Request, RequestKey
from rlgpt.testing.llm import FakeLLM


def _request(role="slow", **key) -> Request:
    messages = (Message(role="user", content="?"),)
    return Request(key=RequestKey(task="grid/key", role=role, **key), messages=messages, fingerprint="0")


def test_fake_llm_prefers_answers_by_key() -> None:
    llm = FakeLLM({RequestKey(task="grid/key", role="slow", iteration=1): "second", "slow": "any"})
    assert [llm.complete(_request(iteration=i)).text for i in (0, 1, 2)] == ["any", "second", "any"]
    assert [k.iteration for k in llm.keys] == [0, 1, 2]


def test_fake_llm_reports_the_end_of_a_sequence() -> None:
    llm = FakeLLM({"fast": ["a", "b"]})
    assert [llm.complete(_request("fast")).text for _ in range(2)] == ["a", "b"]
    with pytest.raises(LLMError, match="2 answers to fast, this is request 3"):
        llm.complete(_request("fast"))


def test_fake_llm_names_an_unknown_key() -> None:
    with pytest.raises(LLMError, match="role='critic'"):
        FakeLLM({"slow": "x"}).complete(_request("critic"))


def test_fake_llm_accepts_functions_replies_and_exceptions() -> None:
    reply = Reply(text="x", model="m")
    assert FakeLLM(lambda request: reply).complete(_request()) is reply
    with pytest.raises(BudgetExceeded):
        FakeLLM({"slow": BudgetExceeded("spent")}).complete(_request())
    assert FakeLLM({"slow": "x"}).complete(_request()).usage.tokens == 120
