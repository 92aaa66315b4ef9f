"""Estimated token counts, where the provider reports none."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.llm.base import Message

_BYTES = 4
"""UTF-8 bytes of a token. Common tokenizers differ by about a third from it on English text and Python."""

_IMAGE = 1000
"""Tokens of an image: the order of magnitude that providers charge for about one megapixel."""


def text_tokens(text: str) -> int:
    """The estimated number of tokens in ``text``."""
    return -(-len(text.encode(errors="replace")) // _BYTES)


def prompt_tokens(messages: Sequence[Message]) -> int:
    """The estimated number of tokens in ``messages``, with four for the frame of each message."""
    return sum(4 + text_tokens(m.content) + _IMAGE * len(m.images) for m in messages)
