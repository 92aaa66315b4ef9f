"""Which model a request goes to: one for each role, and others where it fails."""

from __future__ import annotations

from collections.abc import Mapping

from rlgpt.errors import ConfigError, LLMError, RlgptError
from rlgpt.llm.base import LLM, Reply, Request, Role


class ByRole(LLM):
    """Hands each request to the model of its role, or to the default one.

    ``eyes`` where any of them has some: those without are shown a line of text in an image's place.
    """

    def __init__(self, default: LLM, roles: Mapping[Role, LLM]) -> None:
        self.default, self.roles = default, dict(roles)
        self.supports_vision = any(llm.supports_vision for llm in (default, *self.roles.values()))

    def complete(self, request: Request) -> Reply:
        return self.roles.get(request.key.role, self.default).complete(request)


class WithFallbacks(LLM):
    """Asks the first model; where it gives no reply after its own retries, the next, in order.

    ``eyes`` are the first one's: a fallback without is shown a line of text in an image's place.
    """

    def __init__(self, first: LLM, *others: LLM) -> None:
        self.llms, self.supports_vision = (first, *others), first.supports_vision

    def complete(self, request: Request) -> Reply:
        """The first reply.

        :raises LLMError: none gave one; the text has what each of them said. ConfigError where all are misconfigured.
        """
        faults: list[RlgptError] = []
        for llm in self.llms:
            try:
                return llm.complete(request)
            except (LLMError, ConfigError) as fault:
                faults.append(fault)
        error = ConfigError if all(isinstance(f, ConfigError) for f in faults) else LLMError
        raise error(" Then ".join(str(f) for f in faults)) from faults[-1]
