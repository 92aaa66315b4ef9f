"""The record of a run: versioned, append-only, every file whole or not at all."""

from rlgpt.runs.record import Report, RunRecord, Status
from rlgpt.runs.store import Run, versions

__all__ = ["Report", "Run", "RunRecord", "Status", "versions"]
