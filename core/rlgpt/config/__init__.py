"""The configuration of a run, and the objects that are built from it."""

from rlgpt.config.run_config import EnvironmentConfig, RunConfig

__all__ = ["EnvironmentConfig", "RunConfig"]
