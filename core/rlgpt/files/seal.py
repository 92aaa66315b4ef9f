"""Makes and checks seals. A seal proves that this user, on this machine, wrote certain bytes to a file.

A seal is an HMAC (hash-based message authentication code) with a secret key that only this user has.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

import platformdirs
from filelock import FileLock

_BYTES = 32


def key_file() -> Path:
    """The path of the file with the user's secret key, in the user's state folder (``$XDG_STATE_HOME/rlgpt``
    on Linux).
    """
    return platformdirs.user_state_path("rlgpt") / "seal.key"


def seal(content: bytes) -> str:
    """The seal of ``content``; empty if no secret key can be stored on this machine."""
    key = _key() or _new_key()
    return hmac.new(key, content, hashlib.sha256).hexdigest() if key else ""


def is_sealed(content: bytes, given: str) -> bool:
    """Whether the text ``given`` is this user's seal of ``content``."""
    key = _key()
    return bool(key) and hmac.compare_digest(
        hmac.new(key, content, hashlib.sha256).hexdigest().encode(), given.encode(errors="replace")
    )


def _key() -> bytes:
    try:
        key = key_file().read_bytes()
    except OSError:
        return b""
    return key if len(key) == _BYTES else b""


def _new_key() -> bytes:
    path = key_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):
            if not (key := _key()):
                key = secrets.token_bytes(_BYTES)
                draft = path.with_suffix(".new")
                draft.unlink(missing_ok=True)
                with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(key)
                draft.replace(path)
    except OSError:
        return b""
    return key
