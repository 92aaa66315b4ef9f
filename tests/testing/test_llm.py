"""``FakeLLM``, the scripted language model for tests."""

import pytest
from rlgpt.errors import BudgetExceeded, LLMError
from rlgpt.llm.base import Message, Reply, Request, RequestKey
from rlgpt.testing.llm import FakeLLM


def _request(role="slow", **key) -> Request:
    messages = (Message(role="user", content="?"),)
    return Request(key=RequestKey(task="grid/key", role=role, **key), messages=messages, fingerprint="0")


def test_fake_llm_prefers_the_answer_for_a_request_key_to_the_answer_for_a_role() -> None:
    llm = FakeLLM({RequestKey(task="grid/key", role="slow", iteration=1): "second", "slow": "any"})
    assert [llm.complete(_request(iteration=i)).text for i in (0, 1, 2)] == ["any", "second", "any"]
    assert [k.iteration for k in llm.keys] == [0, 1, 2]


def test_fake_llm_raises_an_error_after_the_last_answer_of_a_sequence() -> None:
    llm = FakeLLM({"fast": ["a", "b"]})
    assert [llm.complete(_request("fast")).text for _ in range(2)] == ["a", "b"]
    with pytest.raises(LLMError, match="2 answers to fast, but this is request 3"):
        llm.complete(_request("fast"))


def test_fake_llm_error_names_a_request_key_without_an_answer() -> None:
    with pytest.raises(LLMError, match="role='critic'"):
        FakeLLM({"slow": "x"}).complete(_request("critic"))


def test_fake_llm_accepts_functions_replies_and_exceptions() -> None:
    reply = Reply(text="x", model="m")
    assert FakeLLM(lambda request: reply).complete(_request()) is reply
    with pytest.raises(BudgetExceeded):
        FakeLLM({"slow": BudgetExceeded("spent")}).complete(_request())
    assert FakeLLM({"slow": "x"}).complete(_request()).usage.tokens == 120
