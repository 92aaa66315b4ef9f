"""Tests that every trainer must pass. A subclass of :class:`TrainerSuite` sets the trainer and inherits the tests."""

from __future__ import annotations

import dataclasses
import functools
import multiprocessing
import os
import pickle
import signal
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from rlgpt.domain import CurvePoint, TrainingRecord
from rlgpt.errors import TrainerError
from rlgpt.rl.base import EnvSpec, Hyperparameters, Trainer
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.policy_env import build
from rlgpt.rl.step_counter import STEPS_FILE
from rlgpt.testing import smdp
from rlgpt.testing.counting import BROKEN, TO_ROW, WANDER, counted, grid_spec, one_at_a_time

SETTINGS = Hyperparameters(num_envs=4, num_steps=32, learning_rate=1e-3)
"""Hyperparameters for trainings of a few thousand decisions from random weights."""


def _die_at(make: type[Trainer], spec: EnvSpec, folder: Path, budget: int, points: int) -> None:
    """Train in this process, and kill the process at the point with the number ``points`` of the learning curve."""
    seen: list[CurvePoint] = []

    def progress(point: CurvePoint) -> None:
        seen.append(point)
        if len(seen) == points:
            os.kill(os.getpid(), signal.SIGKILL)

    make().train(spec, budget=budget, seed=1, folder=folder, hyperparameters=SETTINGS, progress=progress)


class TrainerSuite:
    """The tests for one trainer.

    :cvar make: the class of the tested trainer, which is called without arguments.
    :cvar budget: number of primitive steps that suffice to learn the task of the grid environment.
    :cvar fork_budget: number of primitive steps that suffice to learn the task of :mod:`rlgpt.testing.smdp`.
    :cvar start_method: how the process of the killed training starts, a method of :mod:`multiprocessing`. A trainer
        that works in one process and one thread may use ``fork``, which saves the imports.
    """

    make: type[Trainer]
    budget = 7000
    fork_budget = 2500
    start_method: Literal["spawn", "fork"] = "spawn"

    def checkpoints(self, folder: Path) -> list[Path]:
        """The files in ``folder`` from which a resumed training reads weights."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def trained(cls, tmp_path_factory: pytest.TempPathFactory) -> tuple[EnvSpec, Path, TrainingRecord, Path]:
        """A training in the grid environment with one useful coded action.

        :returns: the recipe, the folder of the training, the record of the training, and the file that counts primitive
            steps.
        """
        folder, counter = tmp_path_factory.mktemp("trained"), tmp_path_factory.mktemp("count") / "steps"
        spec = grid_spec(counter, TO_ROW)
        record = cls.make().train(spec, budget=cls.budget, seed=0, folder=folder, hyperparameters=SETTINGS)
        return spec, folder, record, counter

    def test_learns_the_grid(self, trained: tuple[EnvSpec, Path, TrainingRecord, Path]) -> None:
        spec, folder, record, _ = trained
        policy = self.make().load(folder, spec)
        before = self.make().untrained(spec, seed=0, hyperparameters=SETTINGS)
        seeds = range(1000, 1020)
        learned = evaluate(policy, spec, seeds=seeds, greedy=False)
        assert learned.success_rate >= 0.8
        assert learned.success_rate >= evaluate(before, spec, seeds=seeds, greedy=False).success_rate + 0.3
        assert evaluate(policy, spec, seeds=seeds, greedy=False) == learned
        assert record.curve[-1].success >= 0.5, "the success rate of the training's last episodes"

    def test_record_describes_the_training(self, trained: tuple[EnvSpec, Path, TrainingRecord, Path]) -> None:
        _, _, record, _ = trained
        assert record.trainer == self.make().name
        assert record.seconds > 0
        assert record.decisions < record.primitive_steps
        steps = [p.primitive_steps for p in record.curve]
        assert steps == sorted(set(steps))
        for point in record.curve:
            assert point.episodes > 0
            assert sum(point.usage.values()) == pytest.approx(1)
            assert set(point.reward_terms) == {"env_reward", "near_key"}
            assert sum(point.reward_terms.values()) == pytest.approx(point.total_reward, abs=1e-4)

    def test_budget_counts_all_primitive_steps(
        self, trained: tuple[EnvSpec, Path, TrainingRecord, Path], tmp_path: Path
    ) -> None:
        _, folder, record, _ = trained
        assert self.make().spent(folder) == record.primitive_steps
        assert self.make().spent(tmp_path) == 0
        longest = SETTINGS.num_envs * SETTINGS.num_steps * 6
        assert self.budget <= record.primitive_steps <= self.budget + longest
        spec = grid_spec(tmp_path / "count", WANDER, base_actions=("use",))
        record = self.make().train(spec, budget=500, seed=0, folder=tmp_path / "train", hyperparameters=SETTINGS)
        assert record.primitive_steps == counted(tmp_path / "count")
        assert 500 <= record.primitive_steps <= 500 + longest

    def test_finished_training_takes_no_further_step(self, trained: tuple[EnvSpec, Path, TrainingRecord, Path]) -> None:
        spec, folder, record, counter = trained
        before = counted(counter)
        again = self.make().train(spec, budget=self.budget, seed=0, folder=folder, hyperparameters=SETTINGS)
        assert counted(counter) == before
        assert (again.primitive_steps, again.decisions, again.curve) == (
            record.primitive_steps,
            record.decisions,
            record.curve,
        )

    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_killed_training_resumes_and_counts_all_steps(self, tmp_path: Path) -> None:
        counter, folder = tmp_path / "count", tmp_path / "train"
        spec = grid_spec(counter, TO_ROW)
        context: Any = multiprocessing.get_context(self.start_method)
        process = context.Process(target=_die_at, args=(self.make, spec, folder, 1200, 2))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        spent = counted(counter)
        assert 0 < spent < 1200
        assert self.make().spent(folder) >= spent - SETTINGS.num_envs, "only the step in progress may be uncounted"
        points: list[CurvePoint] = []
        record = self.make().train(
            spec,
            budget=1200,
            seed=1,
            folder=folder,
            hyperparameters=SETTINGS,
            progress=lambda point: points.append(point),
        )
        assert record.primitive_steps == counted(counter) >= 1200
        assert points[0].primitive_steps > spent
        assert record.curve[-len(points) :] == tuple(points)
        steps = [p.primitive_steps for p in record.curve]
        assert steps == sorted(set(steps))

    def test_progress_can_stop_the_training(self, tmp_path: Path) -> None:
        spec, folder = grid_spec(tmp_path / "count"), tmp_path / "train"

        def train(stop: bool) -> TrainingRecord:
            return self.make().train(
                spec, budget=1000, seed=0, folder=folder, hyperparameters=SETTINGS, progress=lambda point: stop
            )

        first = train(True)
        assert first.primitive_steps < 1000
        second = train(False)
        assert second.primitive_steps == counted(tmp_path / "count") >= 1000
        assert second.curve[: len(first.curve)] == first.curve

    def test_corrupt_checkpoint_is_an_error(
        self, trained: tuple[EnvSpec, Path, TrainingRecord, Path], tmp_path: Path
    ) -> None:
        spec, folder, _, counter = trained
        before = counted(counter)
        whole = {path: path.read_bytes() for path in self.checkpoints(folder)}
        try:
            for path, content in whole.items():
                path.write_bytes(content[: len(content) // 2])
            with pytest.raises(TrainerError, match="read"):
                self.make().train(spec, budget=self.budget * 2, seed=0, folder=folder, hyperparameters=SETTINGS)
            with pytest.raises(TrainerError, match="read"):
                self.make().load(folder, spec)
        finally:
            for path, content in whole.items():
                path.write_bytes(content)
        assert counted(counter) == before

    def test_missing_checkpoint_is_an_error(self, tmp_path: Path) -> None:
        """The test uses a plugin that allows only one environment, so that the file of step counts has only one
        count.
        """
        spec, folder = grid_spec(tmp_path / "count"), tmp_path / "train"
        spec = dataclasses.replace(spec, factory=functools.partial(one_at_a_time, str(tmp_path / "count")))
        self.make().train(spec, budget=200, seed=0, folder=folder, hyperparameters=SETTINGS)
        assert (folder / STEPS_FILE).stat().st_size == 8
        for path in self.checkpoints(folder):
            path.unlink()
        with pytest.raises(TrainerError):
            self.make().train(spec, budget=400, seed=0, folder=folder, hyperparameters=SETTINGS)

    def test_loading_a_checkpoint_runs_no_code(
        self, trained: tuple[EnvSpec, Path, TrainingRecord, Path], tmp_path: Path
    ) -> None:
        spec, folder, _, _ = trained
        marker = tmp_path / "ran"

        class Bomb:
            def __reduce__(self) -> tuple[object, tuple[str]]:
                return os.mkdir, (str(marker),)

        whole = {path: path.read_bytes() for path in self.checkpoints(folder)}
        try:
            for path in whole:
                path.write_bytes(pickle.dumps({"model": Bomb(), "weights": Bomb()}))
            with pytest.raises(TrainerError):
                self.make().load(folder, spec)
        finally:
            for path, content in whole.items():
                path.write_bytes(content)
        assert not marker.exists()

    def test_policy_for_other_actions_does_not_load(
        self, trained: tuple[EnvSpec, Path, TrainingRecord, Path], tmp_path: Path
    ) -> None:
        _, folder, _, _ = trained
        with pytest.raises(TrainerError, match="wander"):
            self.make().load(folder, grid_spec(tmp_path / "count", TO_ROW, WANDER))
        with pytest.raises(TrainerError, match="no trained policy"):
            self.make().load(tmp_path, grid_spec(tmp_path / "count", TO_ROW))

    def test_warm_start_with_more_actions_keeps_the_policy(
        self, trained: tuple[EnvSpec, Path, TrainingRecord, Path], tmp_path: Path
    ) -> None:
        _, folder, _, _ = trained
        grown = grid_spec(tmp_path / "count", WANDER, TO_ROW)
        warm = tmp_path / "warm"
        gentle = SETTINGS.model_copy(update={"learning_rate": 1e-9})
        record = self.make().train(grown, budget=50, seed=5, folder=warm, hyperparameters=gentle, warm_start=folder)
        assert record.primitive_steps < self.budget / 2
        policy = self.make().load(warm, grown)
        warm_started = evaluate(policy, grown, seeds=range(1000, 1020), greedy=False)
        fresh = self.make().untrained(grown, seed=5, hyperparameters=SETTINGS)
        assert warm_started.success_rate >= 0.6
        assert warm_started.success_rate > evaluate(fresh, grown, seeds=range(1000, 1020), greedy=False).success_rate
        assert warm_started.usage["to_row"] > 0.05

    def test_action_with_three_violations_is_quarantined(self, tmp_path: Path) -> None:
        spec = grid_spec(tmp_path / "count", BROKEN, WANDER)
        record = self.make().train(spec, budget=1500, seed=0, folder=tmp_path / "train", hyperparameters=SETTINGS)
        assert record.quarantined == ("broken",)
        assert 3 <= len(record.verdicts) <= 50
        assert {(v.action, v.kind) for v in record.verdicts} == {("broken", "error")}
        assert record.curve[0].usage["broken"] > 0.05
        assert record.curve[-1].usage.get("broken", 0.0) == 0.0
        assert any(point.usage.get("wander", 0.0) > 0.0 for point in record.curve[1:])

    def test_untrained_policy_depends_on_its_seed(self, tmp_path: Path) -> None:
        spec = grid_spec(tmp_path / "count", TO_ROW)
        observation, _ = build(spec, seed=0).reset()

        def play(seed: int) -> list[int]:
            policy = self.make().untrained(spec, seed=seed, hyperparameters=SETTINGS)
            rng = np.random.default_rng(0)
            return [int(policy.act(observation, greedy=False, rng=rng)) for _ in range(300)]

        first = play(3)
        assert first == play(3)
        shares = np.bincount(first, minlength=6) / len(first)
        assert shares.min() > 0.08

    @pytest.mark.parametrize("semi_markov", [True, pytest.param(False, marks=pytest.mark.slow)])
    def test_options_are_discounted_by_their_duration(self, semi_markov: bool, tmp_path: Path) -> None:
        spec = EnvSpec(smdp.TASK, smdp.SETUP, (smdp.WALK,), factory=smdp.fork_plugin)
        settings = SETTINGS.model_copy(update={"semi_markov": semi_markov})
        record = self.make().train(spec, budget=self.fork_budget, seed=0, folder=tmp_path, hyperparameters=settings)
        if semi_markov:
            assert record.curve[-1].success > 0.9
        else:
            assert record.curve[-1].success < 0.1
