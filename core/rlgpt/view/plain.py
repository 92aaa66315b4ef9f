"""Converts values of runs to JSON that is safe for the live page. The JSON has no NaN, no control characters, and only
texts of limited length.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from rlgpt.report.text import visible

TEXT = 20_000
"""Maximal number of characters of a text. A longer text is cut, and a note is added."""
ITEMS = 2_000
"""Maximal number of items of a list or an object."""


def plain(node: Any, limit: int = TEXT) -> Any:
    """Convert ``node`` to a value that ``json.dumps(..., allow_nan=False)`` accepts. A number that is not finite
    becomes None.
    """
    if isinstance(node, BaseModel):
        return plain(node.model_dump(), limit)
    if isinstance(node, str):
        return visible(node, limit)
    if isinstance(node, Mapping):
        return {visible(str(key), 200): plain(value, limit) for key, value in list(node.items())[:ITEMS]}
    if isinstance(node, list | tuple | set | frozenset):
        return [plain(value, limit) for value in list(node)[:ITEMS]]
    if isinstance(node, bool) or node is None:
        return node
    if isinstance(node, int):
        return node if abs(node) < 1 << 53 else float(node)
    if isinstance(node, float):
        return node if math.isfinite(node) else None
    return visible(str(node), limit)
