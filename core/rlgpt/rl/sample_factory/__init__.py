"""Training by Sample Factory, the throughput engine. Importing it needs no Sample Factory; making the trainer does."""

from rlgpt.rl.sample_factory.settings import SampleFactorySettings
from rlgpt.rl.sample_factory.trainer import SampleFactory

__all__ = ["SampleFactory", "SampleFactorySettings"]
