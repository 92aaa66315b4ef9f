"""Supervision of a Sample Factory training: every kind of failure is reported in time, with its cause, and no process
remains.
"""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from rlgpt.domain import CurvePoint, TrainingRecord
from rlgpt.errors import ConfigError, RlgptError, TrainerError, UnknownNameError
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.sample_factory import SampleFactory, SampleFactorySettings
from rlgpt.testing.counting import TO_ROW, counted, grid_spec
from rlgpt.testing.faults import faulty_spec

REPORTED_WITHIN = 30.0
"""The maximal time from the failure to its report, in seconds."""


def train(
    folder: Path,
    spec: EnvSpec,
    *,
    budget: int = 4000,
    progress: Any = None,
    learning_rate: float = 1e-3,
    **settings: Any,
) -> TrainingRecord:
    h = Hyperparameters(num_envs=2, num_steps=16, minibatch_size=32, learning_rate=learning_rate)
    trainer = SampleFactory(SampleFactorySettings(**settings))
    return trainer.train(spec, budget=budget, seed=0, folder=folder, hyperparameters=h, progress=progress)


def children() -> set[int]:
    return {p.pid for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE}


@pytest.fixture(autouse=True)
def _nothing_stays_behind() -> Any:
    before = children()
    yield
    assert children() <= before


def test_exception_of_the_environment_is_reported_with_its_traceback(tmp_path: Path) -> None:
    spec = faulty_spec(tmp_path / "count", "raise", 90, TO_ROW)
    with pytest.raises(TrainerError, match=r"(?s)Traceback.*ValueError: the simulator failed"):
        train(tmp_path / "train", spec)
    assert Checkpoint.load(tmp_path / "train").state.decisions > 0


@pytest.mark.slow
def test_error_about_a_hung_environment_names_the_environment(tmp_path: Path) -> None:
    spec = faulty_spec(tmp_path / "count", "hang", 90)
    with pytest.raises(TrainerError, match=r"hung: environment [01] has been busy"):
        train(tmp_path / "train", spec, heartbeat_timeout=1.5)


def test_error_about_a_slow_start_names_the_setting_to_raise(tmp_path: Path) -> None:
    says = r"has not started, and no update came within 0\.01 s\. On a busy machine raise startup_grace"
    with pytest.raises(TrainerError, match=says):
        train(tmp_path / "train", grid_spec(tmp_path / "count"), startup_grace=0.01, heartbeat_timeout=0.01)


@pytest.mark.slow
def test_stopped_runner_process_is_reported_as_hung(tmp_path: Path) -> None:
    begun: list[float] = []

    def freeze(point: CurvePoint) -> None:
        for process in psutil.Process().children():
            if "rlgpt.rl.sample_factory.child" in process.cmdline():
                process.send_signal(signal.SIGSTOP)
                begun.append(time.monotonic())

    with pytest.raises(TrainerError, match="hung"):
        train(tmp_path / "train", grid_spec(tmp_path / "count"), progress=freeze, heartbeat_timeout=1.5)
    assert time.monotonic() - begun[0] < REPORTED_WITHIN


def test_error_about_a_missing_cuda_device_gives_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(TrainerError, match=r"^device=gpu needs CUDA.*device=cpu"):
        train(tmp_path / "train", grid_spec(tmp_path / "count"), device="gpu")


@pytest.mark.slow
def test_invalid_environment_recipe_raises_an_error_without_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^unknown observation key 'nowhere'") as found:
        train(tmp_path / "train", grid_spec(tmp_path / "count", observation_keys=("nowhere",)))
    assert "Traceback" not in str(found.value)


def test_environment_recipe_that_cannot_be_pickled_raises_an_error(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count")
    with pytest.raises(TrainerError, match="pickled"):
        train(tmp_path / "train", EnvSpec(spec.task, spec.setup, (), factory=lambda task: spec.factory(task)))  # type: ignore[operator]


def test_sample_factory_settings_are_checked_before_the_first_step(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count")
    refused: list[tuple[dict[str, Any], type[RlgptError], str]] = [
        ({"mode": "parallel", "workers": 3}, ConfigError, "multiple of 3"),
        ({"extra": {"adam_beta": 0.9}}, UnknownNameError, r"'adam_beta'.*adam_beta1"),
        ({"extra": {"gamma": 0.9}}, UnknownNameError, "'gamma'"),
        ({"extra": {"lr_schedule": "linear_decay"}}, ConfigError, "linear_decay"),
    ]
    for number, (settings, kind, text) in enumerate(refused):
        with pytest.raises(kind, match=text):
            SampleFactory(SampleFactorySettings(**settings)).check(spec, Hyperparameters(num_envs=2))
        with pytest.raises(kind, match=text):
            train(tmp_path / f"{number}", spec, **settings)
    assert counted(tmp_path / "count") == 0


@pytest.mark.slow
def test_exception_in_the_progress_callback_ends_the_child_process(tmp_path: Path) -> None:
    def broken(point: CurvePoint) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "train", grid_spec(tmp_path / "count"), progress=broken)


@pytest.mark.slow
def test_finished_sample_factory_training_leaves_no_shared_memory(tmp_path: Path) -> None:
    pids: set[int] = set()

    def note(point: CurvePoint) -> None:
        pids.update(children())

    train(tmp_path / "train", grid_spec(tmp_path / "count"), budget=100, progress=note)
    assert pids
    assert not [name for pid in pids for name in Path("/dev/shm").glob(f"torch_{pid}_*")]


@pytest.mark.slow
class TestParallel:
    """Failures in parallel mode. Sample Factory alone reports each of these failures after nine minutes, or never."""

    def run(self, tmp_path: Path, spec: EnvSpec, **more: Any) -> tuple[str, float]:
        """Run a training that fails. Return the text of the error, and the time from the last progress report to the
        error, in seconds.
        """
        last = [0, time.monotonic()]

        def note(point: CurvePoint) -> None:
            last[:] = [point.primitive_steps, time.monotonic()]

        more.setdefault("progress", note)
        with pytest.raises(TrainerError) as found:
            train(tmp_path / "train", spec, mode="parallel", workers=2, **more)
        return str(found.value), time.monotonic() - last[1]

    @pytest.mark.parametrize(
        ("fault", "said"),
        [
            ("raise", "ValueError: the simulator failed"),
            ("kill", r"rollout_proc[01] ended during the training"),
        ],
    )
    def test_crash_of_a_rollout_worker_is_reported(self, tmp_path: Path, fault: Any, said: str) -> None:
        text, seconds = self.run(tmp_path, faulty_spec(tmp_path / "count", fault, 400, TO_ROW))
        assert re.search(said, text)
        assert seconds < REPORTED_WITHIN

    def test_crash_of_the_learner_is_reported(self, tmp_path: Path) -> None:
        text, _ = self.run(tmp_path, grid_spec(tmp_path / "count"), learning_rate=1e30)
        assert "weights are no longer finite" in text

    def test_hung_environment_in_a_worker_is_reported(self, tmp_path: Path) -> None:
        text, _ = self.run(tmp_path, faulty_spec(tmp_path / "count", "hang", 400), heartbeat_timeout=3)
        assert re.search(r"hung: environment [01]", text)

    def test_hung_learner_process_is_reported(self, tmp_path: Path) -> None:
        begun: list[float] = []

        def freeze(point: CurvePoint) -> None:
            """Stop the learner's process, which is the first process that the runner started."""
            for process in psutil.Process().children():
                if "rlgpt.rl.sample_factory.child" in process.cmdline() and not begun:
                    workers = sorted((p for p in process.children() if "spawn_main" in str(p.cmdline())), key=_started)
                    workers[0].send_signal(signal.SIGSTOP)
                    begun.append(time.monotonic())

        text, _ = self.run(tmp_path, grid_spec(tmp_path / "count"), progress=freeze, heartbeat_timeout=3)
        assert re.search("hung: (the learner|neither)", text)
        assert time.monotonic() - begun[0] < REPORTED_WITHIN

    def test_sample_factory_learns_counts_resumes_and_warm_starts(self, tmp_path: Path) -> None:
        spec, folder = grid_spec(tmp_path / "count", TO_ROW), tmp_path / "train"
        first = train(folder, spec, budget=600, mode="parallel", workers=2)
        second = train(folder, spec, budget=1200, mode="parallel", workers=2, asynchronous=True)
        assert second.primitive_steps == counted(tmp_path / "count") >= 1200
        assert second.curve[: len(first.curve)] == first.curve
        assert second.decisions > first.decisions
        third = train(folder, spec, budget=1800)
        assert third.primitive_steps == counted(tmp_path / "count") >= 1800


def _started(process: psutil.Process) -> float:
    return float(process.create_time())
