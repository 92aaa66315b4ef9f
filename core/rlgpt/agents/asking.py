"""Sends a request of an agent to its language model, and checks the reply. If the reply has faults, the model is asked
again, with a description of the faults.
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
        """Ask until a reply has no faults, and return its value.

        :param parts: the parts of the user's message, in order. The system's message is the same in every request of a
            run (``shared/system.md``), so that providers can cache it.
        :param slots: texts for the measured slots of the prompt; ``brief`` fills all other slots.
        :param value: a function that turns a reply into a value of :mod:`rlgpt.domain`. If the function raises a
            ValueError, the model gets the text of this error.
        :param faults: a function that returns messages for the model about the faults of a value. A value without
            messages is accepted.
        :param measured: the figures (success rates and rewards) that the prompt shows. The figures are recorded with
            the reply.
        :param images: images for the user's message, as PNG data URLs.
        :param pictured: a description of the images, for the fingerprint (see
            :meth:`~rlgpt.agents.prompt.Prompt.render`).
        :param leave_out: fields of the reply that are of no use in this task, so the prompt does not mention them.
        :param code: what the Python block of the reply contains, in words; ``whole`` stands for a whole source.
        :param retries: maximal number of further requests after an unusable reply.
        :raises rlgpt.errors.LLMError: the reply after the last retry was unusable.
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
