"""All errors of rlgpt. Each error message says which value was given, which values are valid, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

MANY = 12
"""Maximal number of valid names that an error message lists if a command can list them too. For more valid names, the
message names this command instead.
"""


class RlgptError(Exception):
    """Base class of all errors that a user can cause or correct.

    The command line prints the message of a RlgptError without a traceback and exits with :attr:`exit_status`.
    """

    exit_status = 2

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message and the attributes, so that executors can send the error from one process to another."""
        return _unpickled, (type(self), self.args, vars(self))


def _unpickled(kind: type[RlgptError], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> RlgptError:
    error = kind.__new__(kind, *arguments)
    vars(error).update(attributes)
    return error


class StopRequested(KeyboardInterrupt):
    """Somebody has requested a stop of one run, for example in ``rlgpt view``. The run ends as after Ctrl-C, but a
    sweep or a study goes on with its other runs.
    """


class ConfigError(RlgptError):
    """A setting has an invalid value."""


class UnknownNameError(RlgptError):
    """A name is not among the valid names.

    :param kind: a word in the singular that says what the name denotes, such as ``task``. The owner of the name may
        follow this word, as in ``parameter of 'go'``.
    :param given: the invalid name.
    :param valid: all valid names; the error message gives the most similar names first.
    :param hint: one sentence that tells the user what to do.
    :param listed: one sentence that tells the user how to list the valid names. If ``listed`` is given and more than
        :data:`MANY` names are valid, the error message shows only the most similar names.
    """

    def __init__(self, kind: str, given: str, valid: Iterable[str], hint: str = "", listed: str = "") -> None:
        self.kind, self.given, self.valid = kind, given, sorted(valid)
        near = difflib.get_close_matches(given, self.valid, n=3, cutoff=0.5)
        noun, of, owner = kind.partition(" of ")
        parts = [f"unknown {noun} {given!r}{of}{owner}."]
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
    """A plugin cannot be imported, or returns invalid values."""


class StateError(RlgptError):
    """A saved state is damaged or belongs to another environment, or an environment's state cannot be saved."""


class SandboxError(RlgptError):
    """The sandbox cannot run on this machine, for example because its guest program is missing or wasmtime is too old.
    Code that runs in the sandbox never causes a SandboxError.
    """


class BundleError(RlgptError):
    """A bundle's folder is missing, corrupt, or has another schema version."""


class SkillError(RlgptError):
    """A skill library, or a skill in a skill library, is missing, damaged, or has another schema version."""


class WorkerError(RlgptError):
    """An environment in another Python interpreter did not start, crashed, hung, or was restarted too often."""

    exit_status = 1


class TrainerError(RlgptError):
    """Training crashed, hung, or could not be resumed."""

    exit_status = 1


class TrainingFolderError(TrainerError):
    """A file in a training's folder is missing, damaged, or belongs to another environment."""

    exit_status = 2


class LLMError(RlgptError):
    """A request to a language model failed, or the reply after the last permitted retry was unusable."""

    exit_status = 1


class UnusableReplyError(LLMError):
    """All replies of a language model to a request were unusable, including the reply after the last retry. No code
    from the replies was run.
    """

    exit_status = 2


class BudgetExceeded(LLMError):
    """The run's budget of tokens, dollars or calls is spent, or its file of exchanges is full. Such a run ends. A run
    whose budget is spent can be resumed with a larger budget.
    """

    exit_status = 3


class TranscriptError(LLMError):
    """A recording is missing or damaged, belongs to another task, or was made with other prompts. Record again."""

    exit_status = 2


class TranscriptEnded(LLMError):
    """A recording contains no further reply. After the last reply of a recording, the run stops and keeps the best
    iteration so far.
    """

    exit_status = 3


class RunError(RlgptError):
    """A run's folder is missing, corrupt, or has another schema version."""
