"""Renders prompts from jinja2 templates with slots for text. The *fingerprint* (a hash) of a recorded reply identifies
the prompt of the reply.

``prompts/NAME/PART.md`` contains one part of one prompt; ``prompts/shared`` contains parts that several prompts use. A
part of a prompt contains text, slots and includes of other parts, as in this example::

    You plan for {{goal}}.
    {% include "shared/method.md" %}

A *fixed* slot contains text from the task and its plugin, and the fingerprint depends on the text of fixed slots. A
*measured* slot contains text that a run produces, such as figures, traces, the history or earlier replies. This text
can differ between two runs of the same task, so the fingerprint does not depend on measured slots. jinja2 does not
expand text that was inserted in a slot, so a model's earlier reply cannot fill a slot or include a file.
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

SYSTEM = "shared/system"
"""The part that is the system message of all shipped prompts."""

WITH_SKILLS = "skills/system"
"""The part that is the system message if a library offers skills to the run."""

_EMPTY = "\x00"
"""The text of an empty slot while a template is rendered."""

_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")


class _EmptySlot(StrictUndefined):
    """The value of a slot without a text. A slot without a text is rendered as its own name, ``{{name}}``, so a part
    without texts is rendered as the text of its template. The fingerprint is computed from templates in this form.

    As in jinja2's class for undefined names, a condition or a loop on such a slot raises an error.
    """

    def __str__(self) -> str:  # type: ignore[override]
        return f"{{{{{self._undefined_name}}}}}"


@dataclass(frozen=True)
class Rendered:
    """Messages that are ready to send to a model, with their fingerprint, which is the hash of the templates and the
    fixed slots.
    """

    messages: tuple[Message, ...]
    fingerprint: str


class Prompt:
    """A prompt of the package ``rlgpt.agents``, which consists of parts in a folder.

    :param name: the name of the prompt, which is the name of a folder in ``rlgpt/agents/prompts``.
    :param folder: the folder with the user's own prompts; None if the user has none. A file in the user's folder
        replaces the prompt file of rlgpt at the same relative path.
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
        """The text of the prompt's part ``part`` with all includes inserted, and with ``{{name}}`` for each slot.

        :param part: the name of a part's file in the folder of the prompt, without its ending, or ``NAME/PART`` for a
            file in the folder of another prompt.

        :raises UnknownNameError: there is no such part.
        :raises ConfigError: the part's file is not a valid template, or contains more than slots and includes.
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
        pictured: str = "",
    ) -> Rendered:
        """Render messages for a language model from the parts ``parts`` of the prompt, in order. Each part of the
        prompt with the name ``system`` becomes a system message. All other parts become one user message.

        :param fixed: the text of each fixed slot, from the task and its plugin. Texts that no part uses are ignored.
        :param measured: the text of each measured slot, from the results of the run.
        :param images: images for the user message, as PNG data URLs.
        :param pictured: a description of the images that the prompt asks for. The fingerprint depends on the
            description of the images instead of the images, because renderers differ and some machines cannot render.
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
        filled = {part: self._filled(part, texts) for part in parts}
        user = "\n\n".join(text for part, text in filled.items() if not _is_system(part))
        messages = [Message(role="system", content=text) for part, text in filled.items() if _is_system(part)]
        messages.append(Message(role="user", content=user, images=tuple(images)))
        return Rendered(
            tuple(messages), self._fingerprint(parts, {n: fixed[n] for n in needed & fixed.keys()}, pictured)
        )

    def _fingerprint(self, parts: Sequence[str], fixed: Mapping[str, str], pictured: str) -> str:
        identity = [
            self.name,
            [[part, self.template(part)] for part in parts],
            fixed,
            *([pictured] if pictured else []),
        ]
        text = json.dumps(identity, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _filled(self, part: str, texts: Mapping[str, str]) -> str:
        """The text of the prompt's part ``part`` with its slots filled. If the text of a slot is empty, the line breaks
        before the slot are removed too.
        """
        marked = self._render(part, {name: text or _EMPTY for name, text in texts.items()})
        return re.sub(f"\\n{{0,2}}{_EMPTY}", "", marked).strip("\n")

    def _render(self, part: str, texts: Mapping[str, str]) -> str:
        file = f"{part}.md" if "/" in part else f"{self.name}/{part}.md"
        try:
            return self._templates.get_template(file).render(texts)
        except TemplateNotFound as missing:
            valid = self._templates.list_templates()
            raise UnknownNameError("prompt file", str(missing.name), valid) from missing
        except RecursionError as fault:
            raise ConfigError(f"prompt file {file} includes itself. Remove one of these includes.") from fault
        except TemplateError as fault:
            line = f", line {fault.lineno}" if isinstance(fault, TemplateSyntaxError) else ""
            raise ConfigError(
                f"prompt file {file}{line}: {fault}. A prompt contains text, {{{{slots}}}} and includes, nothing else."
            ) from fault


def _is_system(part: str) -> bool:
    return part.rpartition("/")[2] == "system"
