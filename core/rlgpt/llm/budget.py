"""What a run has spent on language models, and the limits it may not pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import Field

from rlgpt.domain import Value
from rlgpt.errors import BudgetExceeded
from rlgpt.llm.base import LLM, Reply, Request, Role, Usage
from rlgpt.llm.estimate import prompt_tokens
from rlgpt.llm.exchange import Exchange


class LLMBudget(Value):
    """Hard limits of a run, from its beginning and over every resume. None: no limit."""

    tokens: int | None = Field(default=None, ge=0, description="prompt and completion together")
    dollars: float | None = Field(default=None, ge=0)
    calls: int | None = Field(default=None, ge=0)


class Spending(Value):
    """What exchanges cost. Replayed ones cost nothing now: they stand apart, and no budget counts them.

    :ivar dollars: of the calls whose price is known; ``unpriced`` counts the others.
    :ivar estimated: calls whose tokens were estimated, as the provider told none.
    :ivar by_role: exchanges of each role, replayed ones included.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    estimated: int = 0
    seconds: float = 0.0
    replayed_calls: int = 0
    replayed_tokens: int = 0
    replayed_dollars: float = 0.0
    by_role: Mapping[str, int] = Field(default_factory=dict)

    @classmethod
    def of(cls, exchanges: Iterable[Exchange]) -> Spending:
        total = cls()
        for exchange in exchanges:
            total = total.plus(exchange.request.key.role, exchange.reply.usage)
        return total

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def plus(self, role: Role, usage: Usage) -> Spending:
        by_role = {**self.by_role, role: self.by_role.get(role, 0) + usage.calls}
        if usage.tokens_source == "recorded":
            changes: dict[str, object] = {
                "replayed_calls": self.replayed_calls + usage.calls,
                "replayed_tokens": self.replayed_tokens + usage.tokens,
                "replayed_dollars": self.replayed_dollars + (usage.dollars or 0.0),
            }
        else:
            changes = {
                "calls": self.calls + usage.calls,
                "prompt_tokens": self.prompt_tokens + usage.prompt_tokens,
                "completion_tokens": self.completion_tokens + usage.completion_tokens,
                "dollars": self.dollars + (usage.dollars or 0.0),
                "unpriced": self.unpriced + (usage.calls if usage.dollars is None else 0),
                "estimated": self.estimated + (usage.calls if usage.tokens_source == "estimated" else 0),
                "seconds": self.seconds + usage.seconds,
            }
        return self.model_copy(update={**changes, "by_role": by_role})

    def __str__(self) -> str:
        parts = []
        if self.calls or not self.replayed_calls:
            about = "about " if self.estimated else ""
            price = f"${self.dollars:.4f}" if self.unpriced < self.calls or not self.calls else "cost unknown"
            missing = f" and {self.unpriced} calls of unknown cost" if 0 < self.unpriced < self.calls else ""
            parts.append(f"{self.calls} calls, {about}{self.tokens:,} tokens, {price}{missing}")
        if self.replayed_calls:
            cost = f", ${self.replayed_dollars:.4f}" if self.replayed_dollars else ""
            parts.append(f"{self.replayed_calls} replayed ({self.replayed_tokens:,} tokens{cost} when recorded)")
        return "; ".join(parts)


class Budgeted(LLM):
    """Refuses requests that a budget no longer covers.

    A request is refused before it is sent where one more call, or its prompt's estimated tokens, would pass the limit,
    or where the dollars are spent. What a reply will cost nobody knows beforehand: the last one may overshoot tokens or
    dollars by itself. Calls of unknown price cannot be held to a budget in dollars: after one the next is refused.

    :param spent: what the run had spent before it was resumed: ``Spending.of(read_exchanges(path))``.
    """

    def __init__(self, llm: LLM, budget: LLMBudget, spent: Spending | None = None) -> None:
        self.llm, self.supports_vision, self.budget = llm, llm.supports_vision, budget
        self.spending = spent or Spending()

    def complete(self, request: Request) -> Reply:
        self._check(prompt_tokens(request.messages))
        reply = self.llm.complete(request)
        self.spending = self.spending.plus(request.key.role, reply.usage)
        return reply

    def _check(self, prompt: int) -> None:
        spent, budget = self.spending, self.budget
        if budget.calls is not None and spent.calls + 1 > budget.calls:
            self._refuse("calls", f"{budget.calls}")
        if budget.tokens is not None and spent.tokens + prompt > budget.tokens:
            self._refuse("tokens", f"{budget.tokens:,}", f" and the next prompt takes about {prompt:,} tokens")
        if budget.dollars is not None and spent.unpriced:
            raise BudgetExceeded(
                f"the budget of ${budget.dollars:g} cannot be held: nobody knows what {spent.unpriced} of the run's "
                f"calls cost ({spent}). Give the model's price (llm.price=[PROMPT, COMPLETION], dollars per million "
                "tokens) in a new run, or resume with llm.budget.dollars=null and a budget in tokens."
            )
        if budget.dollars is not None and spent.dollars >= budget.dollars:
            self._refuse("dollars", f"${budget.dollars:g}")

    def _refuse(self, what: str, limit: str, more: str = "") -> None:
        raise BudgetExceeded(
            f"the budget of {limit} in {what} is spent: the run has used {self.spending}{more}. "
            f"Resume the run with a larger llm.budget.{what} to go on."
        )
