"""Settings that all tests share."""

from hypothesis import settings

# No deadline: how long an example takes depends on the machine. Speed is measured in benchmarks/.
settings.register_profile("rlgpt", deadline=None, max_examples=50)
settings.load_profile("rlgpt")
