"""The messages about the cost of the language model that a user reads during a run."""

from __future__ import annotations

from pathlib import Path

from rlgpt.llm.base import Reply, Request, Usage
from rlgpt.llm.budget import Spending
from rlgpt.llm.record import Recorder
from rlgpt.llm.reporting import ReportingLLM
from rlgpt.testing.llm import FakeLLM


class Heard:
    """An observer that stores the reported messages and costs."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.spendings: list[Spending] = []

    def message(self, text: str) -> None:
        self.messages.append(text)

    def spent(self, spending: Spending) -> None:
        self.spendings.append(spending)


def ask_twice(usage: Usage, request: Request, folder: Path) -> Heard:
    heard = Heard()
    answers = FakeLLM(lambda _: Reply(text="x", model="openai/m", usage=usage))
    llm = ReportingLLM(Recorder(answers, folder / "llm.jsonl"), heard)
    for fingerprint in "ab":
        llm.complete(request.model_copy(update={"fingerprint": fingerprint}))
    return heard


def test_unknown_model_price_is_reported_once_with_advice(request_: Request, tmp_path: Path) -> None:
    heard = ask_twice(Usage(prompt_tokens=10), request_, tmp_path)
    (line,) = heard.messages
    assert "price of openai/m is unknown" in line
    assert "llm.price=" in line
    assert [str(s) for s in heard.spendings] == ["1 calls, 10 tokens", "2 calls, 20 tokens"]


def test_every_spending_report_contains_a_known_price(request_: Request, tmp_path: Path) -> None:
    heard = ask_twice(Usage(prompt_tokens=10, dollars=0.5), request_, tmp_path)
    assert heard.messages == []
    assert [str(s) for s in heard.spendings] == ["1 calls, 10 tokens, $0.5000", "2 calls, 20 tokens, $1.0000"]
