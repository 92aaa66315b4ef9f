"""Executors, which run jobs in this process, in several processes, or on several machines. A job is for example a run
of a sweep, the rehearsal of a candidate, the episodes of a plan, or a part of the episodes of a report.
"""

from rlgpt.executors.base import Executor, Job, Lost, MakeExecutor, Work
from rlgpt.executors.runs import JobResult, RunJob

__all__ = ["Executor", "Job", "JobResult", "Lost", "MakeExecutor", "RunJob", "Work"]
