"""The record of a run: versioned and append-only; every file is written atomically."""

from rlgpt.runs.record import Report, RunRecord, Status
from rlgpt.runs.store import Run, versions

__all__ = ["Report", "Run", "RunRecord", "Status", "versions"]
