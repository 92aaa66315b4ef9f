"""Three violations in any environments mask an action in all environments."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from rlgpt.domain import SubGoal
from rlgpt.options.violations import QUARANTINE_AFTER
from rlgpt.planner.sub_task import Part, PartFactory
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.base_only import Masks
from rlgpt.rl.ppo import PPO
from rlgpt.rl.training_stats import TrainingStats, TrainingStatsState
from rlgpt.rl.vector import LocalVector, Transition, Vector
from rlgpt.rl.worker_vector import WorkerVector
from rlgpt.testing.counting import BROKEN, TASK, WANDER, grid_spec
from rlgpt.testing.grid import GridPlugin

BROKEN_BRANCH = 5
"""The branch number of the broken action, after the five base actions. The next branch is the action ``wander``."""


def _step(vector: Vector, *branches: int) -> list[Transition]:
    actions = np.array([[branch] for branch in branches], np.float32)
    return [transition for _, transition in vector.exchange(range(len(branches)), actions)]


def _masks(vector: Vector) -> list[list[float]]:
    """Return the action mask of the two coded actions at the start of an episode, for each environment."""
    return [observation["action_mask"][BROKEN_BRANCH:].tolist() for observation, _ in vector.reset()]


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_violations_of_all_environments_are_added_for_the_quarantine(workers: int, tmp_path: Path) -> None:
    spec, seeds, step_file = grid_spec(tmp_path / "count", BROKEN, WANDER), [0, 1, 2, 3], tmp_path / "ledger"
    stats, fallen = TrainingStats(TrainingStatsState()), np.zeros(4, int)
    with WorkerVector(spec, seeds, step_file, workers) if workers else LocalVector(spec, seeds, step_file) as vector:
        assert _masks(vector) == [[1, 1]] * 4
        for branches in ((5, 6, 5, 6), (5, 6, 6, 6)):
            assert not stats.close_segment()
            for env, transition in enumerate(_step(vector, *branches)):
                stats.add_verdicts(transition.verdicts)
                assert transition.began == ("broken" if branches[env] == BROKEN_BRANCH else "wander")
                fallen[env] += len(transition.verdicts)
        assert fallen.tolist() == [2, 0, 1, 0], "no worker has three violations alone"
        assert fallen.sum() == QUARANTINE_AFTER
        assert stats.close_segment()
        vector.mask(Masks(tuple(stats.quarantined)))
        assert _masks(vector) == [[0, 1]] * 4
        assert [t.verdicts for t in _step(vector, *[BROKEN_BRANCH] * 4)] == [()] * 4
        vector.mask(Masks(("wander",)))
        assert _masks(vector) == [[1, 0]] * 4, "the second call of mask() replaces the names of the first"


def test_training_goes_on_and_resumes_after_many_violations_of_the_predicate_of_its_sub_task(tmp_path: Path) -> None:
    broken = SubGoal(name="there", goal="be there", horizon=20, done="def done(view, memory):\n    return 1 / 0\n")
    factory = PartFactory(lambda _: GridPlugin(), Part(TASK, broken.predicate))
    spec = dataclasses.replace(grid_spec(tmp_path / "count", WANDER), factory=factory)
    for budget in (800, 1200):
        record = PPO(segments=10).train(
            spec,
            budget=budget,
            seed=0,
            folder=tmp_path / "train",
            hyperparameters=Hyperparameters(num_envs=2, num_steps=16),
        )
        assert sum(verdict.action == "there" for verdict in record.verdicts) > QUARANTINE_AFTER
        assert (record.primitive_steps >= budget, record.quarantined) == (True, ())
