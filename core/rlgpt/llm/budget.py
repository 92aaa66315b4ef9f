"""Computes and limits the cost of the language models in a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import Field

from rlgpt.domain import Value
from rlgpt.errors import BudgetExceeded
from rlgpt.llm.base import LLM, Reply, Request, Role, Usage
from rlgpt.llm.estimate import prompt_tokens
from rlgpt.llm.exchange import Exchange


class LLMBudget(Value):
    """Limits on the cost of the language models in a run. The limits cover the whole run with all of its sessions. None
    means that there is no limit. Only replies count: a try that times out is not counted, although the provider may
    charge for it.
    """

    tokens: int | None = Field(
        default=None, ge=0, description="maximal number of prompt and completion tokens together"
    )
    dollars: float | None = Field(
        default=None, ge=0, description="maximal cost; the price must be known, see llm.price"
    )
    calls: int | None = Field(
        default=None, ge=0, description="maximal number of requests, including those after an unusable reply"
    )


class Spending(Value):
    """The cost of a run's exchanges with language models. Replayed exchanges cost nothing; they are counted separately,
    and no budget limits their number.

    :ivar dollars: cost, in dollars, of the calls of language models whose price is known.
    :ivar unpriced: number of calls whose price is unknown.
    :ivar estimated: number of calls whose tokens are estimated, because the provider did not report them.
    :ivar seconds: wall-clock time of all calls together.
    :ivar by_role: for each role of the language model, the number of exchanges, including replayed exchanges.
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
        """The cost of all ``exchanges`` together."""
        total = cls()
        for exchange in exchanges:
            total = total.plus(exchange.request.key.role, exchange.reply.usage)
        return total

    @property
    def tokens(self) -> int:
        """Number of prompt tokens and completion tokens together, without the tokens of replayed exchanges."""
        return self.prompt_tokens + self.completion_tokens

    def plus(self, role: Role, usage: Usage) -> Spending:
        """The cost of a run so far plus the cost of one more exchange."""
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
        """The cost of a run as text, for example ``3 calls, 9,150 tokens, $0.0120``. The text contains no dollars if no
        price is known.
        """
        parts = []
        if self.calls or not self.replayed_calls:
            about = "about " if self.estimated else ""
            price = f", ${self.dollars:.4f}" if self.unpriced < self.calls or not self.calls else ""
            missing = f" and {self.unpriced} calls of unknown cost" if 0 < self.unpriced < self.calls else ""
            parts.append(f"{self.calls} calls, {about}{self.tokens:,} tokens{price}{missing}")
        if self.replayed_calls:
            cost = f", ${self.replayed_dollars:.4f}" if self.replayed_dollars else ""
            parts.append(f"{self.replayed_calls} replayed ({self.replayed_tokens:,} tokens{cost} when recorded)")
        return "; ".join(parts)


class Budgeted(LLM):
    """A language model that passes requests to another model, and refuses requests that a budget does not cover.

    A request is refused before it is sent if one more call, or the estimated tokens of its prompt, would exceed the
    limit, or if the dollars are spent. The cost of a reply is known only afterwards, so the last reply may exceed the
    limit in tokens or dollars. After a call of unknown price, a budget in dollars refuses all requests, because the
    limit cannot be checked.

    :param spent: the cost of the run before its resumption, as ``Spending.of(read_exchanges(path))`` computes it.
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
                f"the budget of ${budget.dollars:g} cannot be enforced: the price of {spent.unpriced} of the run's "
                f"calls is unknown ({spent}). Give the model's price (llm.price=[PROMPT, COMPLETION], dollars per "
                "million tokens) in a new run, or resume with llm.budget.dollars=null and a budget in tokens."
            )
        if budget.dollars is not None and spent.dollars >= budget.dollars:
            self._refuse("dollars", f"${budget.dollars:g}")

    def _refuse(self, what: str, limit: str, more: str = "") -> None:
        raise BudgetExceeded(
            f"the budget of {limit} in {what} is spent: the run has used {self.spending}{more}. "
            f"Resume the run with a larger llm.budget.{what} to continue."
        )
