"""Which environment variables are secrets: processes that run environments and coded actions do not get them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether a variable of this name is taken to hold a secret."""
    return _SECRET.search(name) is not None


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """``environment`` without what looks like a secret."""
    return {name: value for name, value in environment.items() if not is_secret(name)}


@contextmanager
def secrets_hidden() -> Iterator[None]:
    """This process's secrets are out of its environment meanwhile: for children that inherit it by themselves."""
    hidden = {name: value for name, value in os.environ.items() if is_secret(name)}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)
