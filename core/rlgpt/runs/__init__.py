"""The folder of a run: its record and the results of its stages. Every file is written atomically."""

from rlgpt.runs.record import Report, RunRecord, Status
from rlgpt.runs.store import Run, versions

__all__ = ["Report", "Run", "RunRecord", "Status", "versions"]
