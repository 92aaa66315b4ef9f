"""``FakeLLM`` is a language model for tests, which answers from a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlgpt.errors import LLMError
from rlgpt.llm.base import LLM, Reply, Request, RequestKey, Usage

Answer = str | Reply | Exception
Script = Mapping[RequestKey | str, Answer | Sequence[Answer]] | Callable[[Request], Answer]


class FakeLLM(LLM):
    """A language model that answers from a script. The attribute :attr:`requests` is the list of the requests so far.

    :param script: a function of the request, or a mapping. The keys of the mapping are request keys
        (:class:`RequestKey`) or roles of the language model (``"slow"``). A value is an answer to all such requests, or
        a sequence of answers to successive requests. If an answer is an exception, the model raises it.
    :param usage: the cost of each scripted text.
    """

    def __init__(
        self,
        script: Script,
        *,
        model: str = "fake",
        supports_vision: bool = False,
        usage: Usage = Usage(prompt_tokens=100, completion_tokens=20, dollars=0.001),  # noqa: B008 - frozen
    ) -> None:
        self.script, self.model, self.supports_vision, self.usage = script, model, supports_vision, usage
        self.requests: list[Request] = []
        self._given: dict[RequestKey | str, int] = {}

    @property
    def keys(self) -> list[RequestKey]:
        """The keys of all requests, in order."""
        return [r.key for r in self.requests]

    def complete(self, request: Request) -> Reply:
        """Return the next answer of the script to the request ``request``.

        :raises LLMError: the script has no further answer to this request. The error message contains the key of the
            request and the keys of the script.
        """
        self.requests.append(request)
        answer = self.script(request) if callable(self.script) else self._look_up(self.script, request.key)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(text=answer, model=self.model, usage=self.usage)

    def _look_up(self, script: Mapping[RequestKey | str, Answer | Sequence[Answer]], key: RequestKey) -> Answer:
        entry = key if key in script else str(key.role)
        if entry not in script:
            raise LLMError(f"the script has no answer to {key}; it has {[str(k) for k in script]}. Add one.")
        answers = script[entry]
        if isinstance(answers, str | Reply | Exception):
            return answers
        index = self._given.get(entry, 0)
        self._given[entry] = index + 1
        if index >= len(answers):
            raise LLMError(
                f"the script has {len(answers)} answers to {entry}, but this is request {index + 1}. Add one."
            )
        return answers[index]
