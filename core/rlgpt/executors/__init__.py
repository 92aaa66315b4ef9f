"""Executors, which run the jobs of a sweep: in this process or in several processes."""

from rlgpt.executors.base import Executor, Job, JobResult, Work

__all__ = ["Executor", "Job", "JobResult", "Work"]
