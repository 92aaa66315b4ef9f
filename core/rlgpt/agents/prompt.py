"""Prompts as files: named parts, declared slots, and a fingerprint that measured values do not change.

A file of ``prompts/`` begins with a header that declares every slot as ``fixed`` (rendered from the task and its
plugin: part of the fingerprint) or ``measured`` (figures, traces, history, earlier replies: not part of it)::

    ---
    fixed: goal, stub
    measured: history
    ---
    ## system
    You plan for {{goal}}.
    {{> shared.method}}

``## name`` on a line of its own begins a part; ``{{> file.part}}`` includes the text of another file's part;
``{{name}}`` is a slot. What is put into a slot is never expanded again, so a model's earlier words cannot ask for more.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NoReturn

from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.llm.base import Message

_PART = re.compile(r"^## ([a-z_]+)\s*$", re.MULTILINE)
_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
_INCLUDE = re.compile(r"\{\{> ([a-z_]+)\.([a-z_]+)\}\}")
_HEADER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


@dataclass(frozen=True)
class Rendered:
    """Messages ready to send, and the hash of what they were rendered from (measured slots left out)."""

    messages: tuple[Message, ...]
    fingerprint: str


@dataclass(frozen=True)
class Prompt:
    """One prompt file, checked: every slot it uses is declared, and every slot it declares is used.

    :ivar parts: part name -> template text, includes already in place.
    """

    name: str
    parts: Mapping[str, str]
    fixed: frozenset[str]
    measured: frozenset[str]

    @classmethod
    def parse(cls, name: str, text: str) -> Prompt:
        """The prompt a file's text holds.

        :raises ConfigError: no header, no part, or slots and their declarations differ.
        """
        declared, body = _header(name, text)
        parts = {part: _included(name, template) for part, template in _parts(name, body).items()}
        used = {slot for template in parts.values() for slot in _SLOT.findall(template)}
        known = declared["fixed"] | declared["measured"]
        if declared["fixed"] & declared["measured"]:
            _fault(name, f"slots are both fixed and measured: {_names(declared['fixed'] & declared['measured'])}")
        if used - known:
            _fault(name, f"slots are used but not declared in the header: {_names(used - known)}")
        if known - used:
            _fault(name, f"slots are declared but not used: {_names(known - used)}")
        return cls(name, parts, frozenset(declared["fixed"]), frozenset(declared["measured"]))

    @property
    def slots(self) -> frozenset[str]:
        return self.fixed | self.measured

    def needs(self, parts: Sequence[str]) -> frozenset[str]:
        """The slots that ``parts`` use."""
        return frozenset(slot for part in parts for slot in _SLOT.findall(self._part(part)))

    def render(self, parts: Sequence[str], slots: Mapping[str, str], images: Sequence[str] = ()) -> Rendered:
        """The messages of ``parts``, in order: ``system`` is the system message, the others one user message.

        :param slots: a text for every slot of ``parts``; other declared slots may be given too.
        :param images: PNG data URLs that go with the user message.
        :raises UnknownNameError: a part or slot the prompt does not have.
        :raises ConfigError: a slot of ``parts`` has no text.
        """
        for slot in slots:
            if slot not in self.slots:
                raise UnknownNameError(f"slot of prompt {self.name!r}", slot, self.slots, "Declare it in the header.")
        if missing := self.needs(parts) - set(slots):
            _fault(self.name, f"parts {_names(parts)} need a text for: {_names(missing)}")
        filled = {part: _SLOT.sub(lambda m: slots[m[1]], self._part(part)) for part in parts}
        user = "\n\n".join(text for part, text in filled.items() if part != "system")
        messages = [Message(role="system", content=filled["system"])] if "system" in filled else []
        messages.append(Message(role="user", content=user, images=tuple(images)))
        return Rendered(tuple(messages), self._fingerprint(parts, slots))

    def _part(self, part: str) -> str:
        if part not in self.parts:
            raise UnknownNameError(f"part of prompt {self.name!r}", part, self.parts)
        return self.parts[part]

    def _fingerprint(self, parts: Sequence[str], slots: Mapping[str, str]) -> str:
        fixed = {slot: slots[slot] for slot in sorted(self.needs(parts) & self.fixed)}
        text = json.dumps([self.name, [[part, self._part(part)] for part in parts], fixed], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@cache
def load(name: str) -> Prompt:
    """The prompt ``name`` of the package's ``prompts/``."""
    return Prompt.parse(name, _text(name))


def _text(name: str) -> str:
    folder = resources.files("rlgpt.agents") / "prompts"
    file = folder / f"{name}.md"
    if not file.is_file():
        valid = [f.name.removesuffix(".md") for f in folder.iterdir() if f.name.endswith(".md")]
        raise UnknownNameError("prompt", name, valid)
    return file.read_text(encoding="utf-8").replace("\r\n", "\n")


def _header(name: str, text: str) -> tuple[dict[str, set[str]], str]:
    match = _HEADER.match(text)
    if match is None:
        _fault(name, "it must begin with a header between two lines of ---")
    declared: dict[str, set[str]] = {"fixed": set(), "measured": set()}
    for line in match[1].splitlines():
        kind, _, names = line.partition(":")
        if kind.strip() not in declared:
            _fault(name, f"header line {line!r}; valid are 'fixed: ...' and 'measured: ...'")
        declared[kind.strip()] |= {n.strip() for n in names.split(",") if n.strip()}
    return declared, text[match.end() :]


def _parts(name: str, body: str) -> dict[str, str]:
    pieces = _PART.split(body)
    if pieces[0].strip():
        _fault(name, f"text before the first '## part' line: {pieces[0].strip()[:60]!r}")
    parts = {part: text.strip() for part, text in zip(pieces[1::2], pieces[2::2], strict=True)}
    if not parts or len(parts) != len(pieces) // 2:
        _fault(name, f"it needs parts with distinct names, each begun by '## name', got {pieces[1::2]}")
    return parts


def _included(name: str, template: str) -> str:
    def other(match: re.Match[str]) -> str:
        file, part = match[1], match[2]
        parts = _parts(file, _HEADER.sub("", _text(file), count=1))
        if part not in parts:
            raise UnknownNameError(f"part of {file}.md, included by {name}.md", part, parts)
        return parts[part]

    return _INCLUDE.sub(other, template)


def _names(names: Sequence[str] | set[str] | frozenset[str]) -> str:
    return ", ".join(sorted(names))


def _fault(name: str, what: str) -> NoReturn:
    raise ConfigError(f"prompt {name!r}: {what}. Mend rlgpt/agents/prompts/{name}.md or what fills it.")
