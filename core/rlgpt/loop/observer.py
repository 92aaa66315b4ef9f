"""Watching a run without touching it."""

from __future__ import annotations

from typing import Any

from rlgpt.domain import CurvePoint


class Observer:
    """Told of a run as it goes. Does nothing; the command line's progress display overrides what it shows."""

    def stage(self, name: str, **facts: Any) -> None:
        """A stage begins (``plan``, ``write``, ``rehearse``, ``setup``, ``code``, ``train``, ``select``, ...)."""

    def finished(self, name: str, **facts: Any) -> None:
        """It ended, or was found finished on disk."""

    def training(self, point: CurvePoint, budget: int) -> None:
        """A point of the learning curve; ``budget`` is this training's, in primitive steps."""

    def message(self, text: str) -> None:
        """One line for the reader."""
