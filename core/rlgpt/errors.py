"""One tree of errors. Each message names what was given, what is valid and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MANY = 12
"""Names that a message lists, where it can say how to list them instead."""


class RlgptError(Exception):
    """Base of every error a user can cause or mend.

    The command line prints its text alone (no traceback) and ends with :attr:`exit_status`.
    """

    exit_status = 2


class ConfigError(RlgptError):
    """A setting has a value that cannot be used."""


class UnknownNameError(RlgptError):
    """A name that is not among the valid ones.

    :param kind: what is named, in the singular ("task").
    :param given: the name as it was given.
    :param valid: every valid name; the nearest ones come first in the message.
    :param hint: what to do, one sentence.
    :param listed: how the valid names are listed, a sentence; where it is given and there are more than
        :data:`MANY`, the message names the nearest alone.
    """

    def __init__(self, kind: str, given: str, valid: Iterable[str], hint: str = "", listed: str = "") -> None:
        self.kind, self.given, self.valid = kind, given, sorted(valid)
        near = difflib.get_close_matches(given, self.valid, n=3, cutoff=0.5)
        parts = [f"unknown {kind} {given!r}."]
        if near:
            parts.append(f"Did you mean {' or '.join(map(repr, near))}?")
        if listed and len(self.valid) > MANY:
            parts.append(f"{len(self.valid)} are valid: {listed}")
        else:
            parts.append(f"Valid: {', '.join(self.valid) or '(none)'}.")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))


class PluginError(RlgptError):
    """A plugin cannot be imported, or does not keep its contract."""


class SandboxError(RlgptError):
    """The sandbox itself cannot work here (guest missing, wasmtime too old); never a fault of LLM code."""


class BundleError(RlgptError):
    """A bundle folder is missing, corrupt, or of another schema."""


class WorkerError(RlgptError):
    """An environment in another interpreter could not be started, crashed, hung, or was restarted too often."""

    exit_status = 1


class TrainerError(RlgptError):
    """Training crashed, hung, or began anew where it should have resumed."""

    exit_status = 1


class TrainingFolderError(TrainerError):
    """What a training left in its folder is missing, damaged, or of another environment."""

    exit_status = 2


class LLMError(RlgptError):
    """A language model could not be asked, or gave no usable reply after every retry."""

    exit_status = 1


class UnusableReplyError(LLMError):
    """A language model's replies could not be used, however often it was asked: nothing in them is carried out."""

    exit_status = 2


class BudgetExceeded(LLMError):
    """The run has spent its tokens, dollars or calls; it ends cleanly and can be resumed with a larger budget."""

    exit_status = 3


class TranscriptError(LLMError):
    """A transcript is of another task, or its prompts changed: it must be recorded again."""

    exit_status = 2


class TranscriptEnded(LLMError):
    """A transcript holds no further reply: the run stops with the best iteration so far."""

    exit_status = 3


class RunError(RlgptError):
    """A run folder is missing, corrupt, or of another schema."""
