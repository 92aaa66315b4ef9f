"""Sends a request of an agent to its language model, and checks the reply. If a reply of the language model has faults,
the model gets a description of the faults and answers again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from rlgpt.agents.base import Brief
from rlgpt.agents.brief import brief_slots
from rlgpt.agents.prompt import SYSTEM, WITH_SKILLS, Prompt
from rlgpt.agents.skills_text import render_skills
from rlgpt.domain import Plain, Value
from rlgpt.llm.base import LLM, Request, RequestKey
from rlgpt.llm.structured import UnreadableError, ask, complaints_of, format_instructions
from rlgpt.plugin.defaults import GUIDED

R = TypeVar("R", bound=Value)
T = TypeVar("T")


class Asker:
    """Sends the requests of one prompt to one language model, and checks the replies.

    :param prompt: the name of the prompt.
    :param folder: the folder with the user's own prompts (see :class:`~rlgpt.agents.prompt.Prompt`); None if the user
        has none.
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
        pictured: str = "",
        leave_out: Collection[str] = (),
        code: str = "whole",
        retries: int = 2,
    ) -> T:
        """Ask the language model until a reply has no faults, and return the value of this reply.

        :param parts: names of the parts of the prompt that form the user message, in order. The system message
            (``shared/system.md``) is the same in every request of a run, so that providers of language models can cache
            this message.
        :param slots: texts for the measured slots of the prompt; ``brief`` fills all fixed slots.
        :param value: a function that turns the model's reply into a value of :mod:`rlgpt.domain`. If the function
            ``value`` raises a ValueError, the model gets the text of this error.
        :param faults: a function that checks a value and returns messages for the model about the value's faults. A
            value without messages is accepted.
        :param measured: figures that the prompt shows to the model, such as success rates and rewards. They are
            recorded with the reply.
        :param images: images for the user message, as PNG data URLs.
        :param pictured: a description of the prompt's images, for the fingerprint (see
            :meth:`~rlgpt.agents.prompt.Prompt.render`).
        :param leave_out: fields of the reply that are of no use in this task; the prompt does not mention these fields.
        :param code: words for the prompt about the content of the Python block in the reply, such as ``whole`` for a
            whole source.
        :param retries: maximal number of further requests to the model after an unusable reply.
        :raises rlgpt.errors.LLMError: the reply of the model after the last retry was unusable.
        """
        defaults = {name: getattr(brief.default_setup, name) for name in GUIDED}
        form = format_instructions(schema, example=False, leave_out=leave_out, code=code, defaults=defaults)
        fixed = {**brief_slots(brief), "format": form}
        system = WITH_SKILLS if brief.skills else SYSTEM
        measured_slots = {"start": brief.start, "skills": render_skills(brief.skills), **slots}
        rendered = self._prompt.render((system, *parts), fixed, measured_slots, images, pictured)
        request = Request(
            key=key, messages=rendered.messages, fingerprint=rendered.fingerprint, measured=dict(measured)
        )

        def accept(reply: R) -> T:
            try:
                result = value(reply)
                complaints = faults(result)
            except ValidationError as fault:
                raise UnreadableError(complaints_of(fault, schema)) from fault
            except ValueError as fault:
                raise UnreadableError([str(fault)]) from fault
            if complaints:
                raise UnreadableError(complaints)
            return result

        return ask(self._llm, request, schema, accept, retries=retries).parsed
