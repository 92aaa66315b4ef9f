"""Decides which environment variables are secrets, and removes the values of secrets from text and from child
processes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|JWT|_PASS$|_PAT$", re.IGNORECASE)
_SHORTEST = 8
"""Minimal length of a secret value that is removed from text. Shorter values, such as "none" or "ollama", stay, because
their removal would damage ordinary text.
"""

_PATTERNS = re.compile(r"\bsk-[A-Za-z0-9_*-]{8,}|(?<=://)[^/@\s]+(?=@)|\b(?i:bearer) +[A-Za-z0-9._~+/=-]{8,}")
"""Pattern of text that looks like an API key."""


def is_secret(name: str) -> bool:
    """Whether an environment variable of this name counts as a secret."""
    return _SECRET.search(name) is not None


def redact(text: str) -> str:
    """The text ``text`` without the values of this process's secret variables and without text that looks like a key.

    ``llm.key_env`` accepts only variables for which :func:`is_secret` is true, so the value of the key's variable is
    removed too.
    """
    for secret in sorted(set(_values()), key=len, reverse=True):
        text = text.replace(secret, "[redacted]")
    return _PATTERNS.sub("[redacted]", text)


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The mapping ``environment`` without secret variables, for processes that run environments and coded actions."""
    return {name: value for name, value in environment.items() if not is_secret(name)}


@contextmanager
def secrets_hidden() -> Iterator[None]:
    """A context in which this process has no environment variables with secrets, for libraries that start child
    processes with a copy of the environment variables.
    """
    hidden = {name: value for name, value in os.environ.items() if is_secret(name)}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)


def _values() -> Iterator[str]:
    """The values of the secret variables, each in the forms of plain text, JSON and URL."""
    for name, value in os.environ.items():
        value = value.strip()
        if is_secret(name) and len(value) >= _SHORTEST:
            yield from (value, json.dumps(value)[1:-1], quote(value, safe=""))
