"""A language model that cannot repair code. Experiments compare runs with this model to other runs, to show how much
repairs achieve."""

from __future__ import annotations

from rlgpt.llm.base import LLM, Reply, Request, RequestKey
from rlgpt.llm.build import LLMContext, LLMSettings, ask, replay
from rlgpt.llm.exchange import read_exchanges

WRITERS = ("fast", "function", "solo")
"""The roles that write and repair code."""


class Repeating(LLM):
    """A language model that passes requests to another model. A request for a repair gets the reply with the first
    version of the code again, at the same cost.

    :param given: the replies with first versions of code that a resumed run already has.
    """

    def __init__(self, llm: LLM, given: dict[RequestKey, Reply] | None = None) -> None:
        self.llm, self.supports_vision, self._given = llm, llm.supports_vision, dict(given or {})

    def complete(self, request: Request) -> Reply:
        first = _first(request.key)
        if request.key.role in WRITERS and request.key.attempt > 0 and first in self._given:
            return self._given[first]
        reply = self.llm.complete(request)
        if request.key.attempt == 0:
            self._given[first] = reply
        return reply


def repeating(settings: LLMSettings, context: LLMContext) -> LLM:
    """Make the model of ``llm=repeating``, which passes requests to the model that the settings name, or to a recording
    if the settings name no model.

    :raises RlgptError: the model or the recording cannot be used; see :func:`rlgpt.llm.build.ask` and
        :func:`rlgpt.llm.build.replay`.
    """
    llm = (replay if settings.model is None else ask)(settings, context)
    exchanges = [e for e in read_exchanges(context.journal) if e.request.key.attempt == 0]
    return Repeating(llm, {_first(e.request.key): e.reply for e in exchanges})


def _first(key: RequestKey) -> RequestKey:
    return key.model_copy(update={"attempt": 0, "ask": 0})
