"""The built-in PPO learns from the lanes of a plugin's vector."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lane_grids import BatchGrid, SameStepGrid, VectorGrid, grid_lanes, lanes_of
from rlgpt.errors import PluginError
from rlgpt.rl.acting import by_code, by_policy
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.evaluation import Judge
from rlgpt.rl.lane_player import LANES, LEAST_EPISODES
from rlgpt.rl.lanes import vector_in_process
from rlgpt.rl.ppo import PPO
from rlgpt.rl.rollout import Collector, Rollout
from rlgpt.rl.training_stats import TrainingStats, TrainingStatsState
from rlgpt.rl.vector import LocalVector, Vector
from rlgpt.rl.worker_vector import WorkerVector
from rlgpt.testing.counting import TO_ROW, WANDER, grid_spec
from rlgpt.testing.grid import GridPlugin

SETTINGS = Hyperparameters(num_envs=3, num_steps=6, minibatch_size=6, update_epochs=1, hidden=(8,))


def _spec(kind: type[GridPlugin]) -> EnvSpec:
    return grid_lanes(grid_spec(TO_ROW, WANDER), kind)


def _train(kind: type[GridPlugin], folder: Path) -> dict[str, torch.Tensor]:
    spec, trainer = _spec(kind), PPO()
    record = trainer.train(spec, budget=300, seed=1, folder=folder, hyperparameters=SETTINGS)
    assert 300 <= record.primitive_steps == trainer.spent(folder)
    policy: Any = trainer.load(folder, spec)
    weights: dict[str, torch.Tensor] = policy.network.state_dict()
    return weights


def test_training_with_lanes_equals_training_with_separate_environments_bit_for_bit(tmp_path: Path) -> None:
    one, other = _train(GridPlugin, tmp_path / "envs"), _train(VectorGrid, tmp_path / "lanes")
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_ppo_trains_with_the_lanes_of_a_batch_simulator(tmp_path: Path) -> None:
    first = _train(BatchGrid, tmp_path / "a")
    assert all(bool(torch.isfinite(values).all()) for values in first.values())
    again = _train(BatchGrid, tmp_path / "b")
    assert all(torch.equal(first[name], again[name]) for name in first), "the same seed gives the same policy"


def _collected(vector: Vector, spec: EnvSpec, decisions: int) -> Rollout:
    from rlgpt.rl.network import ActorCritic
    from rlgpt.rl.policy_env import build

    with vector:
        network = ActorCritic.of(build(spec, seed=0), SETTINGS, seed=0)
        stats = TrainingStats(TrainingStatsState())
        collector = Collector(vector, network, torch.Generator().manual_seed(0), stats)
        collector.collect(decisions, lambda: False)
        return collector.collect(decisions, lambda: False)


def _lanes(kind: type[VectorGrid], folder: Path) -> tuple[Vector, EnvSpec]:
    spec = _spec(kind)
    return lanes_of(spec, [0, 1, 2], folder), spec


def test_rollout_of_a_batch_simulator_contains_only_finished_decisions(tmp_path: Path) -> None:
    rollout = _collected(*_lanes(BatchGrid, tmp_path), decisions=20)
    assert rollout.taken is not None, "lanes decide at different times"
    assert 60 <= rollout.decisions <= 62
    assert rollout.decisions == int(rollout.taken.sum()) == len(rollout.rows(rollout.rewards))
    assert bool((rollout.durations[rollout.taken] >= 1).all())
    assert not bool(rollout.durations[~rollout.taken].any())
    for lane in range(3):
        entries, actions, ends = rollout.of(lane)
        assert len(entries["obs"]) == len(actions) == int(rollout.taken[:, lane].sum())
        ended = rollout.ended[:, lane][rollout.taken[:, lane]]
        assert [end.at for end in ends] == ended.nonzero().flatten().tolist()
    lasts = rollout.lasts
    assert lasts is not None
    assert len(lasts["obs"]) == int(rollout.ended.sum())


def test_episode_of_a_lane_has_the_same_statistics_as_an_episode_of_an_environment(tmp_path: Path) -> None:
    spec = _spec(VectorGrid)
    lanes, _ = _lanes(VectorGrid, tmp_path)
    rng = np.random.default_rng(0)
    with lanes, LocalVector(spec, [0, 1, 2], tmp_path / "other") as envs:
        seen = [vector.reset() for vector in (lanes, envs)]
        for _ in range(40):
            actions = rng.integers(0, 6, (3, 1)).astype(np.float32)
            a, b = (vector.exchange(range(3), actions) for vector in (lanes, envs))
            for (_, ours), (_, theirs) in zip(a, b, strict=True):
                assert (ours.reward, ours.duration, ours.episode) == (theirs.reward, theirs.duration, theirs.episode)
                assert all(np.array_equal(ours.observation[key], theirs.observation[key]) for key in ours.observation)
    assert len(seen[0]) == len(seen[1]) == 3


class DisabledBatchGrid(VectorGrid):
    batch = True


FAST = {(VectorGrid, 4, LEAST_EPISODES), (DisabledBatchGrid, 4, 2 * LANES + 3)}


@pytest.mark.parametrize(
    ("kind", "traces", "count"),
    [
        pytest.param(*case, marks=[] if case in FAST else pytest.mark.slow)
        for case in itertools.product((VectorGrid, DisabledBatchGrid), (0, 4), (LEAST_EPISODES, 2 * LANES + 3))
    ],
)
def test_evaluation_in_lanes_equals_an_evaluation_in_one_environment(
    kind: type[GridPlugin], traces: int, count: int
) -> None:
    """The same episodes, traces, usage and verdicts, for a policy and for code, some of which is stuck."""
    spec = _spec(kind)
    policy = PPO().untrained(spec, seed=0, hyperparameters=SETTINGS)
    actings = [by_policy(policy), by_policy(policy, "greedy"), by_code(spec.actions, may_stop=True)]
    for acting in actings:
        with Judge(spec, traces=traces) as lanes, Judge(_spec(GridPlugin), traces=traces) as one:
            assert lanes.play(acting, range(count)) == one.play(acting, range(count))


def test_evaluation_in_lanes_begins_no_episode_that_could_exceed_its_steps() -> None:
    """Episodes that are in progress count with the expected number of steps, at first the task's horizon."""
    spec = _spec(DisabledBatchGrid)
    taken: list[int] = []
    with Judge(spec, on_step=lambda _, step: taken.append(step)) as judge:
        found = judge.play(by_code(spec.actions), range(100), steps=10 * spec.task.horizon)
    assert sum(step > 0 for step in taken) == found.primitive_steps
    assert len(found.episodes) < 100
    assert 10 * spec.task.horizon <= found.primitive_steps < 11 * spec.task.horizon


@pytest.mark.slow
@pytest.mark.parametrize("kind", [VectorGrid, BatchGrid])
def test_lanes_of_worker_processes_equal_lanes_in_this_process(kind: type[VectorGrid], tmp_path: Path) -> None:
    """The same episodes and counted steps, also if a batch simulator moves lanes that decide at different times."""
    spec, rng = _spec(kind), np.random.default_rng(0)
    actions = rng.integers(0, 6, (200, 4, 1)).astype(np.float32)
    ours = WorkerVector(spec, [0, 1, 2, 3], tmp_path / "ours", 2)
    halves = [vector_in_process(spec, [i, i + 1], tmp_path / "theirs", first=i) for i in (0, 2)]
    with ours, halves[0], halves[1]:
        seen = (ours.reset(), [first for half in halves for first in half.reset()])
        ready, durations, ended = [0, 1, 2, 3], set[int](), 0
        for row in actions:
            arrived = ours.exchange(ready, row[ready])
            expected = []
            for i, half in zip((0, 2), halves, strict=True):
                mine = [slot for slot in ready if slot in (i, i + 1)]
                expected += [(i + slot, t) for slot, t in half.exchange([slot - i for slot in mine], row[mine])]
            ready = [slot for slot, _ in arrived]
            assert ready == [slot for slot, _ in expected]
            for (_, a), (_, b) in zip(arrived, expected, strict=True):
                assert (a.reward, a.duration, a.episode) == (b.reward, b.duration, b.episode)
                assert all(np.array_equal(a.observation[key], b.observation[key]) for key in a.observation)
                durations.add(a.duration)
                ended += a.episode is not None
    assert len(seen[0]) == len(seen[1]) == 4
    assert len(durations) > 1
    assert ended
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.slow
def test_ppo_trains_with_the_lanes_of_worker_processes(tmp_path: Path) -> None:
    spec, trainer = _spec(BatchGrid), PPO(workers=2)
    weights = []
    for name in ("a", "b"):
        record = trainer.train(spec, budget=300, seed=1, folder=tmp_path / name, hyperparameters=SETTINGS)
        assert 300 <= record.primitive_steps == trainer.spent(tmp_path / name)
        policy: Any = trainer.load(tmp_path / name, spec)
        weights.append(policy.network.state_dict())
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0]), "the same seed, the same policy"


def test_lane_vector_refuses_the_autoreset_mode_same_step(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"DISABLED or NEXT_STEP"):
        _lanes(SameStepGrid, tmp_path)
