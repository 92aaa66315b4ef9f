"""Observing a run without changing it."""

from __future__ import annotations

from typing import Any

from rlgpt.domain import CurvePoint


class Observer:
    """Receives the events of a run. Its methods do nothing; a subclass overrides those it needs."""

    def stage(self, name: str, **facts: Any) -> None:
        """A stage begins.

        :param name: ``plan``, ``write``, ``rehearse``, ``setup``, ``code``, ``train``, ``select``, ``critique`` or
            ``report``.
        :param facts: what the stage works on, for example ``iteration`` and ``sub_action``.
        """

    def finished(self, name: str, **facts: Any) -> None:
        """A stage ended, or its result was read from disk. ``facts`` are its results, for example ``success``."""

    def training(self, point: CurvePoint, budget: int) -> None:
        """A new point of the learning curve. ``budget`` is the budget of this training in primitive steps."""

    def message(self, text: str) -> None:
        """One line of text for the user."""
