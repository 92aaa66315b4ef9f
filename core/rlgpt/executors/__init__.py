"""Executors, which run jobs in this process, in several processes, or on several machines. A job is for example a run
of a sweep, or the rehearsal of a candidate.
"""

from rlgpt.executors.base import Executor, Job, Lost, Work
from rlgpt.executors.runs import JobResult, RunJob

__all__ = ["Executor", "Job", "JobResult", "Lost", "RunJob", "Work"]
