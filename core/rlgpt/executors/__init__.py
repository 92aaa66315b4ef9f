"""What runs the jobs of a sweep."""

from rlgpt.executors.base import Executor, Job, JobResult, Work

__all__ = ["Executor", "Job", "JobResult", "Work"]
