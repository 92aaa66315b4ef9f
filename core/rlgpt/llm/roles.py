"""Chooses the language model for a request by the request's role, and asks other models if a model fails."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.errors import ConfigError, LLMError, RlgptError
from rlgpt.llm.base import LLM, Reply, Request, Role


class ByRole(LLM):
    """A language model that passes each request to the model for the request's role, or else to the default model.

    ``supports_vision`` is True if any of the models accepts images. A model without vision receives a line of text
    instead of images.
    """

    def __init__(self, default: LLM, roles: Mapping[Role, LLM]) -> None:
        self.default, self.roles = default, dict(roles)
        self.supports_vision = any(llm.supports_vision for llm in (default, *self.roles.values()))

    def complete(self, request: Request) -> Reply:
        return self.roles.get(request.key.role, self.default).complete(request)


class WithFallbacks(LLM):
    """A language model that asks several models in order until a model replies. If the last retry of a model fails, the
    next model is asked.

    ``supports_vision`` has the value of the first model. A fallback model without vision receives a line of text
    instead of images.
    """

    def __init__(self, first: LLM, *others: LLM) -> None:
        self.llms, self.supports_vision = (first, *others), first.supports_vision

    def complete(self, request: Request) -> Reply:
        """Return the reply of the first model that does not fail.

        :raises LLMError: no model replied. The error message contains the error of each model.
        :raises ConfigError: the settings of all models are wrong.
        """
        faults: list[RlgptError] = []
        for llm in self.llms:
            try:
                return llm.complete(request)
            except (LLMError, ConfigError) as fault:
                faults.append(fault)
        error = ConfigError if all(isinstance(f, ConfigError) for f in faults) else LLMError
        raise error(" Then ".join(str(f) for f in faults)) from faults[-1]
