"""The built-in trainer: what all trainers keep, and what only it promises."""

from __future__ import annotations

from pathlib import Path

from rlgpt.rl.ppo import PPO
from rlgpt.testing.trainer_suite import TrainerSuite


class TestPPO(TrainerSuite):
    make = PPO

    def checkpoints(self, folder: Path) -> list[Path]:
        return [folder / "policy.pt"]
