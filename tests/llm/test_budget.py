"""Budgets of the language model limit a run, also across resumes. Their messages say how to continue."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.errors import BudgetExceeded
from rlgpt.llm.base import Message, Reply, Request, RequestKey, Usage
from rlgpt.llm.budget import Budgeted, LLMBudget, Spending
from rlgpt.llm.estimate import prompt_tokens
from rlgpt.llm.exchange import read_exchanges
from rlgpt.llm.record import Recorder
from rlgpt.testing.llm import FakeLLM


def request(n: int = 0, text: str = "hello") -> Request:
    key = RequestKey(task="a/b", role="slow", attempt=n)
    return Request(key=key, messages=(Message(role="user", content=text),), fingerprint="")


def priced(prompt: int = 100, completion: int = 20, dollars: float | None = 0.001) -> FakeLLM:
    usage = Usage(prompt_tokens=prompt, completion_tokens=completion, dollars=dollars)
    return FakeLLM(lambda _: Reply(text="x", model="m", usage=usage))


@pytest.mark.parametrize(
    ("budget", "calls", "said"),
    [
        (LLMBudget(calls=3), 3, r"budget of 3 in calls is spent: .*3 calls, 360 tokens.*larger llm.budget.calls"),
        (LLMBudget(tokens=300), 3, r"budget of 300 in tokens .*360 tokens"),
        (LLMBudget(dollars=0.0035), 4, r"budget of \$0.0035 in dollars .*\$0.0040"),
        (LLMBudget(calls=0), 0, "budget of 0 in calls"),
        (LLMBudget(tokens=100, calls=9), 1, "in tokens"),
    ],
)
def test_spent_llm_budget_refuses_the_next_request_with_the_amounts(budget: LLMBudget, calls: int, said: str) -> None:
    llm = Budgeted(inner := priced(), budget)
    for n in range(calls):
        llm.complete(request(n))
    with pytest.raises(BudgetExceeded, match=said) as caught:
        llm.complete(request(calls))
    assert len(inner.requests) == calls
    assert caught.value.exit_status == 3


def test_llm_budget_without_limits_refuses_no_request() -> None:
    llm = Budgeted(priced(dollars=None), LLMBudget())
    for n in range(20):
        llm.complete(request(n))
    assert llm.spending.calls == 20


def test_prompt_that_exceeds_the_token_budget_is_not_sent() -> None:
    llm = Budgeted(inner := priced(), LLMBudget(tokens=500))
    with pytest.raises(BudgetExceeded, match="the next prompt takes about 1,004 tokens"):
        llm.complete(request(text="four" * 1000))
    assert inner.requests == []


def test_dollar_budget_refuses_the_next_request_after_a_call_of_unknown_price() -> None:
    llm = Budgeted(inner := priced(dollars=None), LLMBudget(dollars=5))
    llm.complete(request(0))
    with pytest.raises(BudgetExceeded, match=r"price of 1 of the run's calls is unknown .*llm.price"):
        llm.complete(request(1))
    assert len(inner.requests) == 1


def test_resumed_run_includes_earlier_calls_in_its_budget_and_accepts_a_larger_budget(tmp_path: Path) -> None:
    path = tmp_path / "llm.jsonl"

    def run(calls: int) -> tuple[int, bool]:
        """Return the number of requests that the model received, and whether the budget ended the run."""
        spent = Spending.of(read_exchanges(path))
        llm = Recorder(Budgeted(inner := priced(), LLMBudget(calls=calls), spent), path)
        try:
            for n in range(5):
                llm.complete(request(n))
        except BudgetExceeded:
            return len(inner.requests), True
        return len(inner.requests), False

    assert [run(2), run(2), run(4), run(9)] == [(2, True), (0, True), (2, True), (1, False)]


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), max_size=20), st.integers(0, 3000))
def test_token_budget_is_exceeded_by_at_most_one_reply(sizes: list[tuple[int, int]], limit: int) -> None:
    usages = iter([Usage(prompt_tokens=p, completion_tokens=c) for p, c in sizes])
    llm = Budgeted(FakeLLM(lambda _: Reply(text="", model="m", usage=next(usages))), LLMBudget(tokens=limit))
    answered = [0]
    for n in range(len(sizes)):
        try:
            llm.complete(request(n))
        except BudgetExceeded:
            assert llm.spending.tokens + prompt_tokens(request().messages) > limit
            break
        answered.append(llm.spending.tokens)
    assert all(total <= limit for total in answered[:-1])
