"""Rollouts on the workers of an executor: the same record with any number of workers and after faults, exact counts of
steps, and resumed trainings.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from rlgpt.domain import Parameter
from rlgpt.errors import TrainerError
from rlgpt.executors.local import Processes
from rlgpt.rl.imitation import End
from rlgpt.rl.lanes import LaneVector
from rlgpt.rl.position import Position, Progress
from rlgpt.rl.ppo import PPO
from rlgpt.rl.rollout import Rollout, join
from rlgpt.rl.sac import SAC
from rlgpt.testing.counting import BROKEN, TO_ROW, WANDER, action, counted, grid_spec
from rlgpt.testing.grid import FETCH, TASKS
from rlgpt.testing.grid_lanes import lanes_spec
from rollout_workers import Forgetful, LosesAll, LosesResults, drifting_grid, drifting_lanes, faulty_grid, same, train

USES = action(
    "uses",
    "def run(grip=3.0):\n    yield go(direction='down', cells=1)\n    if grip > 5:\n        yield use()\n",
    parameters=(Parameter(name="grip", low=1.0, high=9.0, default=3.0),),
)
FETCH_KEY = TO_ROW.model_copy(update={"name": "fetch_key", "source": FETCH, "max_steps": 30})


def test_rollouts_do_not_depend_on_the_number_of_worker_processes(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    here = train(tmp_path / "here", spec)
    before = counted(tmp_path / "count")
    assert here.primitive_steps == before
    there = train(tmp_path / "there", spec, functools.partial(Processes, jobs=2))
    assert same(tmp_path / "there", there, tmp_path / "here", here)
    assert counted(tmp_path / "count") - before == there.primitive_steps, "a worker keeps its environments"


CASES: dict[str, Any] = {
    "options": lambda counter: (grid_spec(counter, WANDER, TO_ROW), PPO(workers=2)),
    "quarantine": lambda counter: (grid_spec(counter, BROKEN, WANDER), PPO(workers=2, segments=8)),
    "parameter search": lambda counter: (grid_spec(counter, USES, plan_prior=0.9), PPO(workers=2, segments=8)),
    "start states": lambda counter: (
        grid_spec(counter, FETCH_KEY, task=TASKS["grid/door"], reset_option="after:fetch_key", reset_share=0.5),
        PPO(workers=2),
    ),
    "more workers than environments": lambda counter: (grid_spec(counter), PPO(workers=9)),
    "lanes": lambda counter: (lanes_spec(counter, WANDER, TO_ROW), PPO(workers=2)),
    "quarantine of lanes": lambda counter: (lanes_spec(counter, BROKEN, WANDER), PPO(workers=2, segments=8)),
    "parameter search of lanes": lambda counter: (lanes_spec(counter, USES, plan_prior=0.9), PPO(workers=1)),
    "lanes that reset themselves": lambda counter: (
        lanes_spec(counter, WANDER, mode=AutoresetMode.NEXT_STEP),
        PPO(workers=2),
    ),
    "sac with lanes": lambda counter: (
        lanes_spec(counter, WANDER),
        SAC(workers=2, first_update=100, width=16, batch_size=16),
    ),
    "sac with lanes and base-only episodes": lambda counter: (
        lanes_spec(counter, WANDER),
        SAC(workers=2, first_update=100, width=16, batch_size=16, base_only=0.4),
    ),
    "interrupted lanes": lambda counter: (lanes_spec(counter, WANDER, interrupt_every=2), PPO(workers=2)),
    "sac": lambda counter: (grid_spec(counter, WANDER), SAC(workers=2, first_update=100, width=16, batch_size=16)),
}


@pytest.mark.parametrize("case", CASES)
def test_new_worker_repeats_the_episode_in_progress_without_counting_its_steps(case: str, tmp_path: Path) -> None:
    spec, trainer = CASES[case](tmp_path / "count")
    kept = train(tmp_path / "kept", spec, trainer=trainer)
    alone = counted(tmp_path / "count")
    assert kept.primitive_steps == alone
    repeated = train(tmp_path / "repeated", spec, Forgetful, trainer=trainer)
    assert same(tmp_path / "repeated", repeated, tmp_path / "kept", kept)
    assert counted(tmp_path / "count") > 2 * alone, "the new environments take the steps of the old ones again"
    if "quarantine" in case:
        assert kept.quarantined == ("broken",)
    if "parameter search" in case:
        assert kept.search is not None
        assert kept.search.episodes > 0


@pytest.mark.parametrize("make", [grid_spec, lanes_spec])
def test_lost_results_change_nothing_and_no_step_is_counted_twice(make: Any, tmp_path: Path) -> None:
    spec = make(tmp_path / "count", WANDER)
    kept = train(tmp_path / "kept", spec)
    lost = train(tmp_path / "lost", spec, LosesResults)
    assert same(tmp_path / "lost", lost, tmp_path / "kept", kept)


def test_killed_worker_process_changes_nothing(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    kept = train(tmp_path / "kept", spec)
    counter = tmp_path / "faulty"
    faulty = dataclasses.replace(spec, factory=functools.partial(faulty_grid, str(counter), 150, "kill"))
    killed = train(tmp_path / "killed", faulty, functools.partial(Processes, jobs=1))
    assert counter.with_suffix(".fault").exists()
    assert same(tmp_path / "killed", killed, tmp_path / "kept", kept)


def test_share_that_is_lost_again_and_again_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TrainerError, match=r"share . of a rollout was lost 4 times: .* Resume the run to continue"):
        train(tmp_path / "a", grid_spec(tmp_path / "count"), LosesAll)


def test_environment_that_does_not_repeat_an_episode_is_an_error(tmp_path: Path) -> None:
    factory = functools.partial(drifting_grid, str(tmp_path / "count"))
    spec = dataclasses.replace(grid_spec(tmp_path / "count"), factory=factory)
    with pytest.raises(TrainerError, match="the same actions do not lead to the same state in a new environment"):
        train(tmp_path / "a", spec, Forgetful)


@pytest.mark.parametrize("seed", range(3))
def test_lanes_that_do_not_repeat_an_episode_are_an_error_and_are_closed(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, closed = list[int](), list[int]()
    for name, log in (("__init__", made), ("close", closed)):
        original = getattr(LaneVector, name)

        def logged(self: Any, *args: Any, _log: list[int] = log, _original: Any = original, **more: Any) -> None:
            _log.append(id(self))
            _original(self, *args, **more)

        monkeypatch.setattr(LaneVector, name, logged)
    factory = functools.partial(drifting_lanes, str(tmp_path / "count"))
    spec = dataclasses.replace(lanes_spec(tmp_path / "count", WANDER), factory=factory)
    with pytest.raises(TrainerError, match="the same actions do not lead to the same state in a new environment"):
        train(tmp_path / "a", spec, Forgetful, seed=seed)
    assert len(closed) == len(made) > 0


@pytest.mark.parametrize("budget", [1, 101, 130])
def test_training_on_an_executor_exceeds_its_budget_by_less_than_one_decision_of_each_environment(
    budget: int, tmp_path: Path
) -> None:
    record = train(tmp_path / "a", grid_spec(tmp_path / "count", WANDER), budget=budget)
    assert budget <= record.primitive_steps == counted(tmp_path / "count") < budget + 4 * 6


def test_resumed_training_on_an_executor_counts_every_step_once_and_plays_new_episodes(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    stopped = train(tmp_path / "a", spec, progress=lambda point: point.primitive_steps >= 200)
    assert 200 <= stopped.primitive_steps == counted(tmp_path / "count") < 400
    resumed = train(tmp_path / "a", spec)
    assert 400 <= resumed.primitive_steps == counted(tmp_path / "count")
    assert resumed.curve[: len(stopped.curve)] == stopped.curve
    whole = train(tmp_path / "b", spec)
    assert resumed.curve[-1] != whole.curve[-1]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_kill_of_the_process_of_the_training_loses_at_most_one_rollout(tmp_path: Path) -> None:
    counter, folder = tmp_path / "count", tmp_path / "a"
    faulty = dataclasses.replace(
        grid_spec(counter, WANDER), factory=functools.partial(faulty_grid, str(counter), 200, "kill")
    )
    child = os.fork()
    if child == 0:
        train(folder, faulty)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert counted(counter) == 200
    record = train(folder, faulty)
    assert record.primitive_steps >= 400
    assert 0 <= counted(counter) - record.primitive_steps <= 4 * 8 * 6, "the steps of at most one rollout"


def test_error_of_an_environment_on_a_worker_raises_a_trainer_error(tmp_path: Path) -> None:
    with pytest.raises(TrainerError, match="the environment raised FileNotFoundError"):
        train(tmp_path / "a", grid_spec(tmp_path / "no" / "such" / "folder"))


def test_trainer_without_workers_does_not_use_the_executor(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", WANDER)
    record = train(tmp_path / "on", spec, LosesAll, trainer=PPO())
    assert same(tmp_path / "on", record, tmp_path / "off", train(tmp_path / "off", spec, trainer=PPO()))


def part(steps: int, ended: list[tuple[int, int]], *, first: int, empty: int = 0) -> Rollout:
    """A rollout of two environments, whose numbers say their environment and row.

    :param empty: number of empty rows of the second environment.
    """
    numbers = 100.0 * torch.arange(first, first + 2) + torch.arange(steps + 1)[:, None]
    over = torch.zeros(steps, 2, dtype=torch.bool)
    for place in ended:
        over[place] = True
    taken = torch.ones(steps, 2, dtype=torch.bool)
    taken[:empty, 1] = False
    lasts = {"obs": numbers[:-1][over][:, None] + 0.5} if ended else None
    ends = tuple(
        tuple(End(row - (empty if slot else 0), True, 1.0) for row, column in ended if column == slot)
        for slot in range(2)
    )
    return Rollout(
        {"obs": numbers[..., None]},
        numbers[:-1, :, None],
        numbers[:-1],
        torch.ones(steps, 2),
        over,
        over,
        lasts,
        ends,
        taken if empty else None,
    )


def test_join_keeps_the_decisions_and_the_last_observations_of_each_environment() -> None:
    parts = [part(2, [(0, 1), (1, 0)], first=0), part(3, [(2, 1)], first=2, empty=1), part(3, [], first=4)]
    whole = join(parts)
    assert whole.rewards.shape == (3, 6)
    assert whole.decisions == 4 + 5 + 6
    for slot in range(6):
        ours, theirs = whole.of(slot), parts[slot // 2].of(slot % 2)
        assert torch.equal(ours[0]["obs"], theirs[0]["obs"])
        assert torch.equal(ours[1], theirs[1])
        assert ours[2] == theirs[2]
    assert torch.equal(whole.observations["obs"][-1, :, 0], torch.tensor([2.0, 102.0, 203.0, 303.0, 403.0, 503.0]))
    assert whole.lasts is not None
    assert torch.equal(whole.lasts["obs"][:, 0], whole.rewards[whole.ended] + 0.5)
    assert math.isclose(float(whole.rows(whole.rewards).sum()), sum(float(p.rows(p.rewards).sum()) for p in parts))


def test_position_after_a_rollout_copies_only_the_newest_observation() -> None:
    class OneByOne(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError("all observations are read")

    rollout = part(3, [(1, 1)], first=0, empty=1)
    seen = dataclasses.replace(rollout, observations=OneByOne(rollout.observations))
    begin = Position(1, np.full((1, 1), -1.0, np.float32))
    positions = [begin.after(seen, slot, Progress(4), None, ()) for slot in range(2)]
    assert [position.actions[:, 0].tolist() for position in positions] == [[-1.0, 0.0, 1.0, 2.0], [102.0]]
    assert [position.begun for position in positions] == [1, 2]


def test_join_of_whole_rollouts_has_no_empty_rows() -> None:
    whole = join([part(2, [], first=0), part(2, [], first=2)])
    assert whole.taken is None
    assert whole.lasts is None
    assert np.array_equal(whole.rewards.numpy(), [[0, 100, 200, 300], [1, 101, 201, 301]])
