"""Training with the library Sample Factory, which is made for high throughput. The package ``sample_factory`` of rlgpt
can be imported without the library Sample Factory, but its trainer cannot be made without the library.
"""

from rlgpt.rl.sample_factory.settings import SampleFactorySettings
from rlgpt.rl.sample_factory.trainer import SampleFactory

__all__ = ["SampleFactory", "SampleFactorySettings"]
