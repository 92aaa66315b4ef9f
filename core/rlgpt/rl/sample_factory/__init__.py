"""Training with the library Sample Factory, which is made for high throughput. This package can be imported without
Sample Factory, but the trainer can be made only if Sample Factory is installed.
"""

from rlgpt.rl.sample_factory.settings import SampleFactorySettings
from rlgpt.rl.sample_factory.trainer import SampleFactory

__all__ = ["SampleFactory", "SampleFactorySettings"]
