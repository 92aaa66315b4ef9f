"""The interface of language models. A language model receives a request and returns a reply with its cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from rlgpt.domain import Plain, TaskId, Value

Role = Literal["slow", "fast", "function", "setup", "review", "critic", "solo", "planner"]
"""The role of the agent that sends a request. ``planner`` divides a long task into sub-goals, ``slow`` plans, ``fast``
writes coded actions, ``function`` writes features, reward terms and predicates, ``setup`` writes the RLSetup,
``review`` judges a rehearsal, ``critic`` judges an iteration. ``solo`` is the single agent of the ablation.
"""


class Message(Value):
    """One message of a chat. The field ``images`` has PNG data URLs, for models that accept images."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[str, ...] = ()


class RequestKey(Value):
    """The key that identifies a request within a run. A replay finds the recorded reply by this key.

    :ivar iteration: number of the iteration, from 0.
    :ivar sub_action: the name of the sub-action or coded function that the request is about; empty if the request is
        about neither.
    :ivar attempt: number of the repair that the request asks for; 0 for the first version.
    :ivar candidate: number of the candidate (one of several versions of the code) that the request asks for. Files do
        not contain the number 0.
    :ivar plan: number of the plan that the request asks for or is about, if the slow agent writes several plans in an
        iteration. Files do not contain the number 0.
    :ivar ask: number of unusable replies to this request so far.
    """

    task: TaskId
    iteration: int = 0
    role: Role
    sub_action: str = ""
    attempt: int = 0
    ask: int = 0
    candidate: int = 0
    plan: int = 0

    @model_serializer(mode="wrap")
    def _numbers_if_any(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain: dict[str, Any] = handler(self)
        return {key: value for key, value in plain.items() if key not in ("candidate", "plan") or value}


class Request(Value):
    """A request that is ready to send.

    :ivar fingerprint: hash of the prompt's template and of its fixed slots (see :mod:`rlgpt.agents.prompt`). The
        fingerprint does not depend on results of the run.
    :ivar measured: the figures (results of the run) that the prompt shows, as a dict from name to value. A replay
        compares the measured figures with the recorded figures.
    """

    key: RequestKey
    messages: tuple[Message, ...]
    fingerprint: str
    measured: Mapping[str, Plain] = Field(default_factory=dict)


class Usage(Value):
    """The cost of one exchange (a request with its reply).

    :ivar dollars: price of the exchange in dollars; None if the price is unknown.
    :ivar calls: number of requests, as a budget counts them. Further tries after a network or server error are not
        counted.
    :ivar seconds: wall-clock time of the exchange.
    """

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    dollars: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    tokens_source: Literal["provider", "estimated", "recorded"] = "provider"
    cost_source: Literal["price_table", "recorded", "unknown"] = "unknown"
    calls: int = Field(default=1, ge=0)
    seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @property
    def tokens(self) -> int:
        """Number of prompt tokens and completion tokens of the exchange together."""
        return self.prompt_tokens + self.completion_tokens


class Reply(Value):
    """A reply as text. The text of a reply is untrusted until it is validated."""

    text: str
    model: str
    usage: Usage = Usage()
    finish_reason: str = "stop"
    note: str = Field(default="", description="for a replayed reply: the figures that differ from the recorded run")


class LLM(ABC):
    """The interface of a language model, or of an object that replays recorded replies."""

    supports_vision: bool = False
    """Whether the model accepts images."""

    @abstractmethod
    def complete(self, request: Request) -> Reply:
        """Send one request and return the reply. If a network or server error prevents a reply, ``complete`` itself
        sends the request again.

        :param request: the messages for the model, and the key that identifies the request within the run.
        :returns: the reply of the model, whose text is untrusted, with its cost in tokens, dollars and seconds.
        :raises rlgpt.errors.LLMError: the last retry and the last fallback model brought no reply.
        :raises rlgpt.errors.BudgetExceeded: the run's budget of tokens, dollars or calls is spent.
        """

    def forget(self, key: RequestKey) -> None:  # noqa: B027 - most implementations store no replies
        """Forget the stored replies for the request ``key``, whatever its ``ask`` is. The next request with this key is
        sent to the model again.
        """
