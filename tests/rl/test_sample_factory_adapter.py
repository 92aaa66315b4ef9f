"""The adapter, which is an environment with Sample Factory's interface."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from rlgpt.domain import CodedReward, SubGoal
from rlgpt.planner.sub_task import Part, PartFactory
from rlgpt.rl.sample_factory.adapter import Adapter
from rlgpt.rl.sample_factory.entries import LAST
from rlgpt.rl.sample_factory.job import STATUS_FILE, STEPS_FILE, VERDICTS
from rlgpt.rl.sample_factory.shared_status import BUSY, DECISIONS, FIRST_ENV, SharedStatus
from rlgpt.rl.step_counter import StepCounter
from rlgpt.testing.counting import BROKEN, TASK, WANDER, action, counted, grid_spec
from rlgpt.testing.grid import GridPlugin
from sample_factory_parts import job_of, opened


def test_adapter_observation_contains_duration_and_last_observation_of_an_episode(tmp_path: Path) -> None:
    job = job_of(tmp_path / "train", grid_spec(tmp_path / "count", WANDER, horizon=8))
    job.folder.mkdir()
    opened(job).close()
    env = Adapter.build(job, 1)
    (first,), _ = env.reset(seed=3)
    assert not first[LAST + "obs"].any()
    ends = steps = 0
    for _ in range(12):
        (seen,), _, (terminated,), (truncated,), (info,) = env.step([5])
        assert env.observation_space.contains(seen)
        steps += int(seen["duration"][0])
        assert truncated == bool(seen[LAST + "obs"].any())
        assert ("episode_extra_stats" in info) == (terminated or truncated)
        ends += terminated or truncated
    assert ends > 0
    with StepCounter(job.folder / STEPS_FILE, 2) as step_counter:
        assert steps == step_counter.total == counted(tmp_path / "count")
    shared_status = SharedStatus(job.folder / STATUS_FILE)
    assert (shared_status.get(FIRST_ENV + 1, DECISIONS), shared_status.get(FIRST_ENV + 1, BUSY)) == (12, 0)
    shared_status.close()
    env.close()


def test_adapter_episode_seeds_differ_between_environments_and_sessions(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    later = dataclasses.replace(job, carried=500)
    assert len({job.draw(3), job.draw(4), later.draw(3), dataclasses.replace(job, seed=1).draw(3)}) == 4


def test_violations_in_several_adapters_add_up_to_a_quarantine(tmp_path: Path) -> None:
    job = job_of(tmp_path / "train", grid_spec(tmp_path / "count", BROKEN, WANDER))
    job.folder.mkdir()
    shared_status = opened(job)
    one, two = Adapter.build(job, 0), Adapter.build(job, 1)
    (seen,), _ = one.reset()
    two.reset()
    broken = 5
    assert seen["action_mask"][broken] == 1
    for env in (one, one, two):
        env.step([broken])
    assert (shared_status.violations(), shared_status.calls()) == ([3, 0], [3, 0])
    for env in (one, two):
        (seen,), _ = env.reset()
        assert list(seen["action_mask"][broken:]) == [0, 1]
    assert [json.loads(line)["kind"] for line in (job.folder / VERDICTS).read_text().splitlines()] == ["error"] * 3


def test_rare_violations_in_several_adapters_cause_no_quarantine(tmp_path: Path) -> None:
    job = job_of(tmp_path / "train", grid_spec(tmp_path / "count", BROKEN, WANDER))
    job.folder.mkdir()
    shared_status = opened(job)
    one, two = Adapter.build(job, 0), Adapter.build(job, 1)
    two.reset()
    for _ in range(3):
        two.step([5])
    for _ in range(28):
        shared_status.call(FIRST_ENV, 0)
    (seen,), _ = one.reset()
    assert list(seen["action_mask"][5:]) == [1, 1]
    again = SharedStatus.open_session(job.folder / STATUS_FILE, job.hyperparameters.num_envs, len(job.spec.maskable))
    assert (again.violations(), again.calls()) == ([3, 0], [31, 0])
    one.close()
    two.close()


def test_violations_of_a_coded_function_end_its_calls_in_the_next_episode(tmp_path: Path) -> None:
    reward = CodedReward(name="bad", source="def reward(view, memory):\n    return 1 / 0\n")
    spec = dataclasses.replace(grid_spec(tmp_path / "count", WANDER), functions=(reward,))
    job = job_of(tmp_path / "train", spec)
    job.folder.mkdir()
    shared_status = opened(job)
    env = Adapter.build(job, 0)
    counts = []
    for _ in range(5):
        env.reset()
        env.step([0])
        counts.append(shared_status.violations())
    assert counts == [[0, 1], [0, 2], [0, 3], [0, 3], [0, 3]]
    env.close()


def test_violations_of_the_predicate_of_a_sub_task_are_stored_and_not_counted(tmp_path: Path) -> None:
    broken = SubGoal(name="there", goal="be there", horizon=20, done="def done(view, memory):\n    return 1 / 0\n")
    factory = PartFactory(lambda _: GridPlugin(), Part(TASK, broken.predicate))
    job = job_of(tmp_path / "train", dataclasses.replace(grid_spec(tmp_path / "count", WANDER), factory=factory))
    job.folder.mkdir()
    shared_status = opened(job)
    env = Adapter.build(job, 0)
    env.reset()
    env.step([0])
    env.close()
    assert shared_status.violations() == [0]
    assert {json.loads(line)["action"] for line in (job.folder / VERDICTS).read_text().splitlines()} == {"there"}


def test_adapter_sends_a_heartbeat_at_each_turn_of_a_coded_action(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = action("look", "def run():\n    for _ in range(20):\n        yield observe()\n    yield use()")
    job = job_of(tmp_path / "train", grid_spec(tmp_path / "count", look))
    job.folder.mkdir()
    opened(job).close()
    env = Adapter.build(job, 0)
    env.reset()
    beats: list[int] = []
    monkeypatch.setattr(SharedStatus, "beat", lambda self, row: beats.append(row))
    env.step([5])
    assert len(beats) > 20
    assert set(beats) == {FIRST_ENV}
    env.close()
