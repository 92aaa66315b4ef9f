"""The configuration of a run (``RunConfig``), and the functions that build the objects of a run from it."""

from rlgpt.config.run_config import EnvironmentConfig, RunConfig

__all__ = ["EnvironmentConfig", "RunConfig"]
