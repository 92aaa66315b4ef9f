"""Executors, which run the jobs of a sweep in this process, in several processes, or on several machines."""

from rlgpt.executors.base import Executor, Job, Lost, Work
from rlgpt.executors.runs import JobResult, RunJob

__all__ = ["Executor", "Job", "JobResult", "Lost", "RunJob", "Work"]
