"""The tests for every trainer, with Sample Factory."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.best import recent_performance
from rlgpt.rl.checkpoint import BEST, FILE, Checkpoint
from rlgpt.rl.ppo import NetworkPolicy
from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings
from rlgpt.testing import smdp
from rlgpt.testing.trainer_suite import TrainerSuite


@pytest.mark.slow
class TestSampleFactory(TrainerSuite):
    make = SampleFactory
    fork_budget = 6000

    def checkpoints(self, folder: Path) -> list[Path]:
        return sorted(folder.glob("*.pt"))


@pytest.mark.slow
def test_sample_factory_loads_the_best_weights_of_all_sessions(tmp_path: Path) -> None:
    spec, folder = EnvSpec(smdp.TASK, smdp.SETUP, (smdp.WALK,), factory=smdp.fork_plugin), tmp_path / "train"
    settings = Hyperparameters(num_envs=4, num_steps=16, minibatch_size=32)
    # A summary averages what Sample Factory knows about the episodes, which have no score here.
    trainer = SampleFactory(SampleFactorySettings(extra={"experiment_summaries_interval": 1}))
    for budget in (2000, 2500):
        record = trainer.train(spec, budget=budget, seed=0, folder=folder, hyperparameters=settings)
        moments = [recent_performance(record.curve[: i + 1]) for i in range(len(record.curve))]
        best = Checkpoint.load(folder, BEST)
        assert best.state.best == max(score for score in moments if score is not None)
        assert Checkpoint.load(folder).state.best == best.state.best
    (folder / FILE).unlink()
    loaded = SampleFactory().load(folder, spec)
    assert isinstance(loaded, NetworkPolicy)
    assert all(torch.equal(weight, best.weights[name]) for name, weight in loaded.network.state_dict().items())
