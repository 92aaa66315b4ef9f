"""All errors of rlgpt. Each message names what was given, what is valid and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MANY = 12
"""A message lists at most this many names where it can name a command that lists them."""


class RlgptError(Exception):
    """Base of all errors that a user can cause or correct.

    The command line prints the message without a traceback and exits with :attr:`exit_status`.
    """

    exit_status = 2


class ConfigError(RlgptError):
    """A setting has an invalid value."""


class UnknownNameError(RlgptError):
    """A name is not among the valid ones.

    :param kind: what the name stands for, in the singular ("task").
    :param given: the invalid name.
    :param valid: all valid names; the message names the nearest ones first.
    :param hint: what to do, one sentence.
    :param listed: how to list the valid names, one sentence. With it, a message about more than :data:`MANY` names
        shows the nearest ones only.
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
    """A plugin cannot be imported, or breaks the contract of plugins."""


class StateError(RlgptError):
    """A saved state is damaged or of another environment, or an environment's state cannot be saved."""


class SandboxError(RlgptError):
    """The sandbox cannot run on this machine: no guest, or wasmtime too old. A model's code never causes it."""


class BundleError(RlgptError):
    """A bundle's folder is missing, corrupt, or has another schema version."""


class WorkerError(RlgptError):
    """An environment in another interpreter did not start, crashed, hung, or was restarted too often."""

    exit_status = 1


class TrainerError(RlgptError):
    """Training crashed, hung, or could not be resumed."""

    exit_status = 1


class TrainingFolderError(TrainerError):
    """What a training left in its folder is missing, damaged, or of another environment."""

    exit_status = 2


class LLMError(RlgptError):
    """A language model could not be asked, or gave no usable reply after the last retry."""

    exit_status = 1


class UnusableReplyError(LLMError):
    """No reply of a language model was usable, the last retry included. Nothing in the replies was executed."""

    exit_status = 2


class BudgetExceeded(LLMError):
    """The run's budget of tokens, dollars or calls is spent. The run ends cleanly and resumes with a larger budget."""

    exit_status = 3


class TranscriptError(LLMError):
    """A transcript belongs to another task, or its prompts changed since: it must be recorded again."""

    exit_status = 2


class TranscriptEnded(LLMError):
    """A transcript contains no further reply. The run stops and keeps the best iteration so far."""

    exit_status = 3


class RunError(RlgptError):
    """A run's folder is missing, corrupt, or has another schema version."""
