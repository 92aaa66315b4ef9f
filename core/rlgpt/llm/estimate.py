"""Tokens where no provider tells them."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.llm.base import Message

_BYTES = 4
"""UTF-8 bytes a token: what common tokenizers make of English and Python, within about a third."""

_IMAGE = 1000
"""Tokens an image: the order of what providers charge for one of about a megapixel."""


def text_tokens(text: str) -> int:
    """About how many tokens ``text`` is."""
    return -(-len(text.encode(errors="replace")) // _BYTES)


def prompt_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens ``messages`` are; every message costs a few for its frame."""
    return sum(4 + text_tokens(m.content) + _IMAGE * len(m.images) for m in messages)
