"""The errors of this package. Each error message states what was given, what is valid and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class VoxelDojoError(Exception):
    """Base of every error that a user of voxeldojo can cause or fix. The command line prints the text of the error and
    exits with status 2.
    """


class ConfigError(VoxelDojoError):
    """An argument has a value that cannot be used."""


class UnknownNameError(VoxelDojoError):
    """Raised for a name that is not among the valid names.

    :param kind: the kind of thing that the name belongs to, in the singular (such as "biome").
    :param given: the name that the user gave.
    :param valid: every valid name.
    :param hint: one sentence of advice.
    """

    def __init__(self, kind: str, given: str, valid: Iterable[str], hint: str = "") -> None:
        self.kind, self.given, self.valid = kind, given, sorted(valid)
        near = difflib.get_close_matches(given, self.valid, n=3, cutoff=0.5)
        parts = [f"unknown {kind} {given!r}."]
        if near:
            parts.append(f"Did you mean {' or '.join(map(repr, near))}?")
        parts.append(f"Valid: {', '.join(self.valid) or '(none)'}.")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))
