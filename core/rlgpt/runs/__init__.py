"""Reads and writes the folder of a run, which contains the run's record and the results of its stages. Every file is
written atomically.
"""

from rlgpt.runs.record import Report, RunRecord, Status
from rlgpt.runs.store import RECORD, Run, versions

__all__ = ["RECORD", "Report", "Run", "RunRecord", "Status", "versions"]
