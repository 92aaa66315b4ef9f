"""Selects the model of a request: one for each role, and fallbacks."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.errors import ConfigError, LLMError, RlgptError
from rlgpt.llm.base import LLM, Reply, Request, Role


class ByRole(LLM):
    """Passes each request to the model of its role, or to the default model.

    ``supports_vision`` where any model does. The others receive a line of text for each image.
    """

    def __init__(self, default: LLM, roles: Mapping[Role, LLM]) -> None:
        self.default, self.roles = default, dict(roles)
        self.supports_vision = any(llm.supports_vision for llm in (default, *self.roles.values()))

    def complete(self, request: Request) -> Reply:
        return self.roles.get(request.key.role, self.default).complete(request)


class WithFallbacks(LLM):
    """Asks the first model; if it gives no reply after its retries, the next one, in order.

    ``supports_vision`` is that of the first model. A fallback without vision receives a line of text for each image.
    """

    def __init__(self, first: LLM, *others: LLM) -> None:
        self.llms, self.supports_vision = (first, *others), first.supports_vision

    def complete(self, request: Request) -> Reply:
        """The first reply.

        :raises LLMError: no model replied; the message contains the error of each.
        :raises ConfigError: all models are misconfigured.
        """
        faults: list[RlgptError] = []
        for llm in self.llms:
            try:
                return llm.complete(request)
            except (LLMError, ConfigError) as fault:
                faults.append(fault)
        error = ConfigError if all(isinstance(f, ConfigError) for f in faults) else LLMError
        raise error(" Then ".join(str(f) for f in faults)) from faults[-1]
