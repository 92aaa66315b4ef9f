"""One request of an agent: prompt and brief in, a checked value out. Faults in a reply are sent back to the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from rlgpt.agents.base import Brief
from rlgpt.agents.brief import brief_slots
from rlgpt.agents.prompt import Prompt
from rlgpt.domain import Plain, Value
from rlgpt.llm.base import LLM, Request, RequestKey
from rlgpt.llm.structured import UnreadableError, ask, complaints_of, format_instructions

R = TypeVar("R", bound=Value)
T = TypeVar("T")


class Asker:
    """Asks one language model with one prompt.

    :param prompt: the prompt's name.
    :param folder: the user's own prompts, or None (see :class:`~rlgpt.agents.prompt.Prompt`).
    """

    def __init__(self, llm: LLM, prompt: str, folder: Path | None = None) -> None:
        self._llm, self._prompt = llm, Prompt(prompt, folder)

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
        """The value of the first reply without faults.

        :param parts: the parts of the prompt, in order.
        :param slots: texts for the measured slots; ``brief`` fills the others.
        :param value: turns a reply into a value of the domain; the text of its ValueError goes to the model.
        :param faults: messages for the model about what is wrong with a value; empty where nothing is.
        :param measured: the figures that the prompt shows.
        :param images: PNG data URLs.
        :raises rlgpt.errors.LLMError: no usable reply after the last retry.
        """
        fixed = {**brief_slots(brief), "format": format_instructions(schema)}
        rendered = self._prompt.render(parts, fixed, {"start": brief.start, **slots}, images)
        request = Request(
            key=key, messages=rendered.messages, fingerprint=rendered.fingerprint, measured=dict(measured)
        )

        def accept(reply: R) -> T:
            try:
                result = value(reply)
                complaints = faults(result)
            except ValidationError as fault:
                found = complaints_of(fault, schema)
                raise UnreadableError([*found, *_further(reply, fault, value, faults)]) from fault
            except ValueError as fault:
                raise UnreadableError([str(fault)]) from fault
            if complaints:
                raise UnreadableError(complaints)
            return result

        return ask(self._llm, request, schema, accept).parsed


def _further(
    reply: R, fault: ValidationError, value: Callable[[R], T], faults: Callable[[T], Sequence[str]]
) -> Sequence[str]:
    """What else is wrong with ``reply``: the complaints about it with the defaults of the fields that ``fault`` names.

    If the model receives one fault at a time, it needs one request for each. Empty where a faulty field has no default.
    """
    wrong = {str(error["loc"][0]) for error in fault.errors() if error["loc"]}
    fields = type(reply).model_fields
    if not wrong or any(name not in fields or fields[name].is_required() for name in wrong):
        return ()
    try:
        return faults(value(reply.model_copy(update={name: fields[name].get_default() for name in wrong})))
    except ValueError:
        return ()
