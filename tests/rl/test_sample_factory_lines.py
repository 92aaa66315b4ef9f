"""The files with learning curve and verdicts of a Sample Factory training can be read if the last line
is incomplete.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import CurvePoint, Value, Verdict
from rlgpt.errors import TrainerError
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.sample_factory import SampleFactory, trainer
from rlgpt.rl.sample_factory.job import CURVE, VERDICTS, verdict_lines
from sample_factory_parts import FORK


def point(steps: int) -> CurvePoint:
    return CurvePoint(primitive_steps=steps, episodes=1, success=0.5, total_reward=1.0, decisions=steps)


def verdict(number: int) -> Verdict:
    return Verdict(action="walk", kind="error", message=f"fault {number}\r\u2028")


def lines(*values: Value) -> bytes:
    return b"".join(value.model_dump_json().encode() + b"\n" for value in values)


def train(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *points: CurvePoint, verdicts: tuple[Verdict, ...] = ()
) -> Any:
    """Run a session whose child process only reports these points and verdicts."""

    def supervise(job: Any, shared_status: Any, lock: int, progress: Any) -> None:
        for each in verdicts:
            verdict_lines(folder).append(each)
        for each in points:
            progress(each)

    monkeypatch.setattr(trainer, "supervise", supervise)
    return SampleFactory().train(FORK, budget=100, seed=0, folder=folder, hyperparameters=Hyperparameters(num_envs=1))


def test_resumed_sample_factory_training_drops_only_an_incomplete_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / CURVE).write_bytes(lines(point(1), point(2))[:-9])
    (tmp_path / VERDICTS).write_bytes(lines(verdict(1), verdict(2))[:-9])
    record = train(tmp_path, monkeypatch, point(3), point(4), verdicts=(verdict(3),))
    assert record.curve == (point(1), point(3), point(4))
    assert record.verdicts == (verdict(1), verdict(3))
    again = train(tmp_path, monkeypatch)
    assert (again.curve, again.verdicts) == (record.curve, record.verdicts)


@pytest.mark.parametrize(("name", "of", "said"), [(CURVE, point, "CurvePoint"), (VERDICTS, verdict, "Verdict")])
def test_damaged_curve_line_is_reported_before_steps_are_spent(
    name: str, of: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(lines(of(1)) + lines(of(2))[:-9] + lines(of(3)) + lines(of(4)))
    with pytest.raises(TrainerError, match=rf"{name}, line 2, does not contain a valid {said}.*delete that line"):
        train(tmp_path, monkeypatch, point(5))
    assert point(5).model_dump_json() not in (tmp_path / name).read_text()
