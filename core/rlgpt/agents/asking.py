"""How an agent asks: prompt and brief become a request, the reply becomes a value, faults go back to the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pydantic import ValidationError

from rlgpt.agents.base import Brief
from rlgpt.agents.brief import brief_slots
from rlgpt.agents.prompt import load
from rlgpt.domain import Plain, Value
from rlgpt.llm.base import LLM, Request, RequestKey
from rlgpt.llm.structured import ask, format_instructions

R = TypeVar("R", bound=Value)
T = TypeVar("T")


class Asker:
    """Asks one language model with one prompt file."""

    def __init__(self, llm: LLM, prompt: str) -> None:
        self.llm, self.prompt = llm, load(prompt)

    def __call__(
        self,
        brief: Brief,
        key: RequestKey,
        parts: Sequence[str],
        slots: Mapping[str, str],
        schema: type[R],
        *,
        value: Callable[[R], T],
        faults: Callable[[T], Sequence[str]],
        measured: Mapping[str, Plain],
        images: Sequence[str] = (),
    ) -> T:
        """A value without faults.

        :param parts: of the prompt, in order.
        :param slots: what the brief does not fill.
        :param value: the domain's value of a reply; a ValueError is told to the model.
        :param faults: what is wrong with a value, for the model; it is asked again with them.
        :raises rlgpt.errors.LLMError: no usable reply after the last try.
        """
        needed = self.prompt.needs(parts)
        told = {name: text for name, text in brief_slots(brief).items() if name in needed}
        if "format" in needed:
            told["format"] = format_instructions(schema)
        rendered = self.prompt.render(parts, {**told, **slots}, images)
        request = Request(
            key=key, messages=rendered.messages, fingerprint=rendered.fingerprint, measured=dict(measured)
        )

        def check(reply: R) -> Sequence[str]:
            try:
                return faults(value(reply))
            except ValidationError as fault:
                return [error["msg"] for error in fault.errors()]
            except ValueError as fault:
                return [str(fault)]

        return value(ask(self.llm, request, schema, check).parsed)
