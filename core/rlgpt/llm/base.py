"""What a language model is to the agents: a request with a key goes in, a reply with its usage comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain import Plain, TaskId, Value

Role = Literal["slow", "fast", "setup", "review", "critic", "solo"]
"""Whose request it is. ``fast`` writes code, ``setup`` writes the RLSetup, ``review`` judges one rehearsal,
``critic`` an iteration, ``solo`` is the one agent of the ablation."""


class Message(Value):
    """One message of a chat. ``images`` are PNG data URLs, only where the model has eyes."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[str, ...] = ()


class RequestKey(Value):
    """Which request of a run this is: what a transcript is looked up by.

    :ivar attempt: which repair (0 is the first version).
    :ivar ask: how often the reply had to be asked for again because it could not be read.
    """

    task: TaskId
    iteration: int = 0
    role: Role
    sub_action: str = ""
    attempt: int = 0
    ask: int = 0


class Request(Value):
    """A request, rendered.

    :ivar fingerprint: hash of the prompt's template and of what the plugin rendered into it (stub, knowledge, goal);
        what a run measured stands in slots and is not in it.
    :ivar measured: the figures the prompt was written about (``{"success": 0.35}``), so that a replay can say where
        it drifts.
    """

    key: RequestKey
    messages: tuple[Message, ...]
    fingerprint: str
    measured: Mapping[str, Plain] = Field(default_factory=dict)


class Usage(Value):
    """What one exchange cost. ``dollars`` is None where nobody knows the price."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    dollars: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    tokens_source: Literal["provider", "estimated", "recorded"] = "provider"
    cost_source: Literal["price_table", "recorded", "unknown"] = "unknown"
    calls: int = Field(default=1, ge=0)
    seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Reply(Value):
    """What came back, as text. Hostile until validated."""

    text: str
    model: str
    usage: Usage = Usage()
    finish_reason: str = "stop"
    note: str = Field(default="", description='"written about success 0.35; this run measured 0.80"')


class LLM(ABC):
    """A language model, or what stands in for one (replay)."""

    supports_vision: bool = False
    """Whether it takes images."""

    @abstractmethod
    def complete(self, request: Request) -> Reply:
        """Ask once; transport faults are retried inside.

        :raises rlgpt.errors.LLMError: no reply after every retry and fallback.
        :raises rlgpt.errors.BudgetExceeded: the run has no tokens, dollars or calls left.
        """

    def forget(self, key: RequestKey) -> None:  # noqa: B027 - most have nothing to forget
        """Nothing usable came of ``key``, whatever its ``ask``: what remembers replies is to ask anew next time."""
