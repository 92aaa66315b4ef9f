"""Prompts are jinja2 templates; a fingerprint identifies what a recorded reply was written for.

``prompts/NAME/PART.md`` holds one part of one prompt. A part contains text, slots and includes of other parts::

    You plan for {{goal}}.
    {% include "shared/method.md" %}

A *fixed* slot is filled with what the task and its plugin say, and is part of the fingerprint. A *measured* slot is
filled with what a run produced (figures, traces, history, earlier replies), and is not. jinja2 does not expand what it
inserts, so a model's earlier reply cannot fill a slot or include a file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jinja2 import (
    ChoiceLoader,
    FileSystemLoader,
    PackageLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.llm.base import Message

_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")


class _EmptySlot(StrictUndefined):
    """A slot without a value shows its own name. A condition or a loop on it is an error, as in its base class.

    A part rendered with empty slots is therefore the whole text of its template, which is what a fingerprint needs.
    """

    def __str__(self) -> str:  # type: ignore[override]
        return f"{{{{{self._undefined_name}}}}}"


@dataclass(frozen=True)
class Rendered:
    """Messages ready to send, and the hash of what they were rendered from (without the measured slots)."""

    messages: tuple[Message, ...]
    fingerprint: str


class Prompt:
    """One prompt of the package.

    :param name: its folder in ``rlgpt/agents/prompts``.
    :param folder: the user's own prompts; a file in it replaces the package's file of the same path.
    """

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.name, self.folder = name, folder

    @cached_property
    def _templates(self) -> ImmutableSandboxedEnvironment:
        own = [FileSystemLoader(self.folder)] if self.folder is not None else []
        loader = ChoiceLoader([*own, PackageLoader("rlgpt.agents", "prompts")])
        templates = ImmutableSandboxedEnvironment(loader=loader, undefined=_EmptySlot)
        templates.globals.clear()
        return templates

    def template(self, part: str) -> str:
        """The text of ``part``, with its includes in place and ``{{name}}`` where a slot is.

        :raises UnknownNameError: there is no such part.
        :raises ConfigError: the file is not a valid template, or contains more than slots and includes.
        """
        return self._render(part, {})

    def slots(self, parts: Sequence[str]) -> frozenset[str]:
        """The names of the slots in ``parts``."""
        return frozenset(slot for part in parts for slot in _SLOT.findall(self.template(part)))

    def render(
        self,
        parts: Sequence[str],
        fixed: Mapping[str, str],
        measured: Mapping[str, str],
        images: Sequence[str] = (),
    ) -> Rendered:
        """The messages of ``parts``, in order: ``system`` is the system message, the others are one user message.

        :param fixed: slot -> text, from the task and its plugin. Texts that ``parts`` do not use are ignored.
        :param measured: slot -> text, from the run.
        :param images: PNG data URLs that go with the user message.
        :raises UnknownNameError: there is no such part.
        :raises ConfigError: a slot has no text.
        """
        needed = self.slots(parts)
        texts = {**measured, **fixed}
        if missing := needed - texts.keys():
            raise ConfigError(
                f"prompt {self.name!r}: parts {', '.join(parts)} contain slots without a text: "
                f"{', '.join(sorted(missing))}. Valid slots: {', '.join(sorted(texts))}."
            )
        filled = {part: self._render(part, texts) for part in parts}
        user = "\n\n".join(text for part, text in filled.items() if part != "system")
        messages = [Message(role="system", content=filled["system"])] if "system" in filled else []
        messages.append(Message(role="user", content=user, images=tuple(images)))
        return Rendered(tuple(messages), self._fingerprint(parts, {n: fixed[n] for n in needed & fixed.keys()}))

    def _fingerprint(self, parts: Sequence[str], fixed: Mapping[str, str]) -> str:
        text = json.dumps([self.name, [[part, self.template(part)] for part in parts], fixed], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _render(self, part: str, texts: Mapping[str, str]) -> str:
        file = f"{self.name}/{part}.md"
        try:
            return self._templates.get_template(file).render(texts)
        except TemplateNotFound as missing:
            valid = self._templates.list_templates()
            raise UnknownNameError("prompt file", str(missing.name), valid) from missing
        except RecursionError as fault:
            raise ConfigError(f"prompt file {file} includes itself. Remove the circle of includes.") from fault
        except TemplateError as fault:
            line = f", line {fault.lineno}" if isinstance(fault, TemplateSyntaxError) else ""
            raise ConfigError(
                f"prompt file {file}{line}: {fault}. A prompt contains text, {{{{slots}}}} and includes, nothing else."
            ) from fault
