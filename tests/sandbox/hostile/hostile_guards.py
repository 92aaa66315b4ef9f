"""Helpers for the tests of guards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hostile_programs import APP
from rlgpt.domain import Verdict
from rlgpt.sandbox import Guest, Turn

Open = Callable[..., Guest]
Patch = pytest.MonkeyPatch
BOTH = pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "bare"])


def says(reply: str) -> str:
    """Return the source of a program that makes the guest send ``reply``."""
    return f"def run():\n    {APP}['_reply'] = lambda *_: {reply!r}\n    yield grasp()"


def kind_of(turn: Turn) -> str:
    """Return the kind of a verdict, or the class name of another turn."""
    return turn.kind if isinstance(turn, Verdict) else type(turn).__name__
