"""Which environment variables are secrets, who gets them, and how their values are cut out of text."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|JWT|_PASS$|_PAT$", re.IGNORECASE)
_SHORTEST = 8
"""Shorter values are not taken for keys ("none", "ollama"); removing them would damage ordinary text."""

_PATTERNS = re.compile(r"\bsk-[A-Za-z0-9_*-]{8,}|(?<=://)[^/@\s]+(?=@)|\b(?i:bearer) +[A-Za-z0-9._~+/=-]{8,}")
"""Text that looks like a key, from any source."""


def is_secret(name: str) -> bool:
    """Whether a variable of this name is taken to hold a secret."""
    return _SECRET.search(name) is not None


def redact(text: str) -> str:
    """``text`` without the values of secret variables of this process, and without what looks like a key.

    ``llm.key_env`` takes only variables that :func:`is_secret` knows, so its value is among them.
    """
    for secret in sorted(set(_values()), key=len, reverse=True):
        text = text.replace(secret, "[redacted]")
    return _PATTERNS.sub("[redacted]", text)


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """``environment`` without what looks like a secret: for processes that run environments and coded actions."""
    return {name: value for name, value in environment.items() if not is_secret(name)}


@contextmanager
def secrets_hidden() -> Iterator[None]:
    """Remove this process's secrets from its environment for a while, for libraries that start children with a copy of
    it."""
    hidden = {name: value for name, value in os.environ.items() if is_secret(name)}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)


def _values() -> Iterator[str]:
    """The values of secret variables, as written in plain text, in JSON and in a URL."""
    for name, value in os.environ.items():
        value = value.strip()
        if is_secret(name) and len(value) >= _SHORTEST:
            yield from (value, json.dumps(value)[1:-1], quote(value, safe=""))
