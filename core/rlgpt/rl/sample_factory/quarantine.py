"""Counts calls and violations over all environments of a training with Sample Factory, and decides which coded actions
and functions are masked.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.domain import Verdict
from rlgpt.options.violations import is_violation, to_quarantine
from rlgpt.rl.sample_factory.job import Job, verdict_lines
from rlgpt.rl.sample_factory.shared_status import SharedStatus


def quarantined(job: Job, shared_status: SharedStatus) -> tuple[str, ...]:
    """The coded actions and functions that have too many violations in all environments of a training."""
    violations, calls = (
        dict(zip(job.spec.maskable, counts, strict=True))
        for counts in (shared_status.violations(), shared_status.calls())
    )
    return to_quarantine(violations, calls)


class SharedQuarantine:
    """The coded actions and functions that one process of a training masks. All processes count calls and violations in
    the shared status.

    :param row: the row of the shared status in which this process counts.
    """

    def __init__(self, job: Job, shared_status: SharedStatus, row: int) -> None:
        self._job, self._shared_status, self._row = job, shared_status, row
        self._columns = {name: column for column, name in enumerate(job.spec.maskable)}
        self._given = frozenset(job.spec.quarantined) & set(self._columns)
        self._masked = self._given

    def record(self, verdicts: Sequence[Verdict], called: str | None = None) -> None:
        """Count a call of the action ``called`` and the violations of coded actions and functions among
        ``verdicts``, and append all of ``verdicts`` to the training's file.

        :param called: the name of the action whose call began in the decision; None if no call began.
        """
        if called in self._columns:
            self._shared_status.call(self._row, self._columns[called])
        if not verdicts:
            return
        lines = verdict_lines(self._job.folder)
        for verdict in verdicts:
            if is_violation(verdict) and verdict.action in self._columns:
                self._shared_status.violation(self._row, self._columns[verdict.action])
            lines.append(verdict)

    def update(self) -> frozenset[str] | None:
        """The actions and functions to mask from the next episode on; None if they are those of the last call."""
        masked = self._given | set(quarantined(self._job, self._shared_status))
        if masked == self._masked:
            return None
        self._masked = masked
        return masked
