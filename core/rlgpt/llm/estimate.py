"""Estimates numbers of tokens if the provider of a language model does not report them."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.llm.base import Message

_BYTES = 4
"""Mean number of UTF-8 bytes in a token. The means of common tokenizers differ from this number by about a third for
English text and Python.
"""

_IMAGE = 1000
"""Number of tokens that is counted for an image. Providers charge about as many tokens for an image of one
megapixel.
"""


def text_tokens(text: str) -> int:
    """The estimated number of tokens in ``text``."""
    return -(-len(text.encode(errors="replace")) // _BYTES)


def prompt_tokens(messages: Sequence[Message]) -> int:
    """The estimated number of tokens in ``messages``. Each message counts as four tokens more than the tokens of its
    text and images.
    """
    return sum(4 + text_tokens(m.content) + _IMAGE * len(m.images) for m in messages)
