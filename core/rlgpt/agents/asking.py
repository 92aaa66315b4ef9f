"""One request of an agent to its language model. The request returns a checked value. Faults in a reply are sent back
to the model.
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
    """Sends one prompt to one language model and checks the replies.

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
        pictured: str = "",
        leave_out: Collection[str] = (),
        code: str = "whole",
        retries: int = 2,
    ) -> T:
        """Ask until a reply has no faults, and return its value.

        :param parts: the parts of the user's message, in order. The system's message is the same in every request of a
            run (``shared/system.md``), so that providers can cache it.
        :param slots: texts for the measured slots; ``brief`` fills the others.
        :param value: turns a reply into a value of the domain; the text of its ValueError goes to the model.
        :param faults: returns messages for the model about the faults of a value; empty if the value has no fault.
        :param measured: the figures (success rates and rewards) that the prompt shows; they are recorded with the
            reply.
        :param images: PNG data URLs.
        :param pictured: see :meth:`~rlgpt.agents.prompt.Prompt.render`.
        :param leave_out: fields of the reply that this task does not offer.
        :param code: what the Python block of the reply contains, in words ("whole": a whole source).
        :param retries: maximal number of further replies, after an unusable one.
        :raises rlgpt.errors.LLMError: no usable reply after the last retry.
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
