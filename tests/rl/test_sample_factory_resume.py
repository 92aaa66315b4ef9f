"""The checkpoint from which a session of Sample Factory resumes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from rlgpt.domain import RLSetup
from rlgpt.errors import TrainerError
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.checkpoint import Checkpoint, Returns, TrainingState
from rlgpt.rl.sample_factory.job import STEPS_FILE
from rlgpt.rl.sample_factory.resume import resumable
from rlgpt.rl.step_counter import StepCounter


def saved(folder: Path, state: dict[int, Any]) -> None:
    settings = Hyperparameters()
    returns = Returns.of(RLSetup(reward_weights={}, observation_keys=()), (), settings)
    content = TrainingState(hyperparameters=settings, axis_names={}, returns=returns)
    Checkpoint(content, {}, {"state": state, "param_groups": []}, torch.get_rng_state()).save(folder)


def test_training_whose_checkpoint_has_no_optimiser_state_cannot_be_resumed(tmp_path: Path) -> None:
    assert resumable(tmp_path, iterations=0) is None
    saved(tmp_path, {})
    assert resumable(tmp_path, iterations=0) is not None
    with pytest.raises(TrainerError, match="restart from zero"):
        resumable(tmp_path, iterations=4)
    saved(tmp_path, {0: {"step": torch.tensor(32.0)}})
    assert resumable(tmp_path, iterations=4) is not None


def test_training_folder_with_counted_steps_but_without_a_checkpoint_cannot_be_resumed(tmp_path: Path) -> None:
    with StepCounter(tmp_path / STEPS_FILE, 2) as step_counter:
        assert resumable(tmp_path, iterations=0) is None
        step_counter.add(1)
    with pytest.raises(TrainerError, match="no trained policy"):
        resumable(tmp_path, iterations=0)
