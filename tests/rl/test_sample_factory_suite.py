"""Sample Factory keeps what every trainer keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from rlgpt.rl.sample_factory import SampleFactory
from rlgpt.testing.trainer_suite import TrainerSuite


@pytest.mark.slow
class TestSampleFactory(TrainerSuite):
    make = SampleFactory
    fork_budget = 6000

    def checkpoints(self, folder: Path) -> list[Path]:
        return [folder / "policy.pt"]
