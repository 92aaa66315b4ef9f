"""Settings that all tests share."""

from hypothesis import settings

# No deadline: how long an example takes depends on the machine. Speed is measured in benchmarks/.
settings.register_profile("fast", deadline=None, max_examples=25)
settings.register_profile("full", deadline=None, max_examples=100)  # `make test-full` runs this profile.
settings.load_profile("fast")
