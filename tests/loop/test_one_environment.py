"""A plugin may allow one environment at a time, as a real robot does. A run then never has two of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import pytest
from rlgpt.domain import Task
from rlgpt.loop import run
from rlgpt.plugin.types import EnvLimits
from rlgpt.testing.llm import FakeLLM
from story import SHORT, TalliedGrid, context
from test_tuned import Forgetful, parameterised


class Alone(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that refuses to exist beside another one."""

    existing: ClassVar[list[Alone]] = []

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        assert not Alone.existing
        Alone.existing.append(self)

    def close(self) -> None:
        if self in Alone.existing:
            Alone.existing.remove(self)
        super().close()


def test_run_has_one_environment_at_a_time_if_the_plugin_allows_only_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = TalliedGrid.make_env

    def make_env(self: TalliedGrid, task: Task, *, seed: int, render_mode: str | None = None) -> Any:
        return Alone(made(self, task, seed=seed, render_mode=render_mode))

    monkeypatch.setattr(TalliedGrid, "make_env", make_env)
    monkeypatch.setattr(TalliedGrid, "limits", lambda self, task: EnvLimits(max_envs=1))
    trainer = Forgetful()
    trainer.base_only = 0.25
    settings = SHORT.model_copy(update={"iterations": 1, "budget": 1700})
    (best,) = run(context(tmp_path, trainer, FakeLLM(parameterised), settings=settings)).history
    assert {e.mode for e in best.evaluations} == {"greedy", "sampled", "base_only", "code", "tuned"}
    assert not Alone.existing
