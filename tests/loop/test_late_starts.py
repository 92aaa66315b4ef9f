"""Late starts: a setup can begin training episodes in states after a coded action. The steps to these states are
counted, and the states are the same after a resume.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from rlgpt.agents.setup_overrides import OverriddenSetup, SetupOverrides
from rlgpt.errors import ConfigError
from rlgpt.loop import LoopContext, LoopSettings, Observer, Result, run
from rlgpt.loop.allotment import Allotment
from rlgpt.rl.ppo import PPO
from rlgpt.rl.sac import SAC
from rlgpt.rl.starts import Reached
from rlgpt.testing.counting import counted
from story import SHORT, context

ONE = SHORT.model_copy(update={"iterations": 1})


class Kept(Observer):
    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)


class Watched(PPO):
    """A PPO trainer that stores the environment and the hyperparameters of its last training."""

    def train(self, spec: Any, **more: Any) -> Any:
        self.spec, self.hyperparameters = spec, more["hyperparameters"]
        return super().train(spec, **more)


def overridden(folder: Path, by: PPO, fixed: tuple[str, ...] = ("num_steps",), **setup: Any) -> LoopContext:
    made = context(folder, by, settings=ONE, observer=Kept(), fixed_hyperparameters=frozenset(fixed))
    fast = OverriddenSetup(made.agents.fast, SetupOverrides(**setup))
    return dataclasses.replace(made, agents=dataclasses.replace(made.agents, fast=fast))


def test_training_begins_in_states_that_a_coded_action_reached(tmp_path: Path) -> None:
    trainer = Watched()
    made = overridden(tmp_path, trainer, reset_option="after:to_row", trainer={"gae_lambda": 0.9, "num_steps": 99})
    result = run(made)
    reached = made.run.stage("iterations/0/starts", Reached)
    assert reached is not None
    assert trainer.spec.starts == reached.states
    assert 0 < len(reached.states) <= 16
    assert all(state.task == "grid/key" for state in reached.states)
    assert any(f"{len(reached.states)} states after to_row" in text for text in made.observer.messages)  # type: ignore[attr-defined]
    (iteration,) = result.history
    assert iteration.steps.rehearsal == reached.steps + sum(r.steps for r in iteration.rehearsals["to_row"])
    assert iteration.steps.lost == 0
    assert iteration.steps.total == counted(tmp_path / "env_steps")
    assert (trainer.hyperparameters.gae_lambda, trainer.hyperparameters.num_steps) == (0.9, 16), "num_steps is fixed"

    (tmp_path / "iterations/0/iteration.json").unlink()
    (tmp_path / "iterations/0/training.json").unlink()
    again = Watched()
    run(overridden(tmp_path, again, reset_option="after:to_row", trainer={"gae_lambda": 0.9}))
    assert again.spec.starts == trainer.spec.starts, "a resume reads the stored states"


def test_training_that_was_stopped_goes_on_although_the_steps_to_its_start_states_leave_too_few_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of decisions is just enough before the steps to the start states are spent."""
    estimates: list[int] = []

    def enough(*args: Any, **named: Any) -> tuple[bool, int]:
        estimates.append((answer := before(*args, **named))[1])
        return answer

    class Stopping(PPO):
        def train(self, spec: Any, **more: Any) -> Any:
            def stop(point: Any) -> None:
                raise KeyboardInterrupt

            return super().train(spec, **{**more, "progress": stop})

    before = Allotment.enough
    monkeypatch.setattr(Allotment, "enough", enough)
    for folder in (tmp_path / "probe", tmp_path / "run"):
        settings = ONE.model_copy(update={"budget": 2000, "min_decisions": 10 * estimates[0] if estimates else 0})

        def play(trainer: PPO, folder: Path = folder, settings: LoopSettings = settings) -> Result:
            made = overridden(folder, trainer, reset_option="after:to_row")
            return run(dataclasses.replace(made, settings=settings))

        with pytest.raises(KeyboardInterrupt):
            play(Stopping(segments=10))
    (iteration,) = play(PPO(segments=10)).history
    assert iteration.training is not None
    assert iteration.steps.total == counted(tmp_path / "run/env_steps")


def test_training_with_few_decisions_has_shorter_rollouts_than_the_setup_chose(tmp_path: Path) -> None:
    trainer = Watched()
    made = overridden(tmp_path, trainer, fixed=(), trainer={"num_steps": 128})
    run(made)
    assert 8 <= trainer.hyperparameters.num_steps < 128
    words = f"num_steps={trainer.hyperparameters.num_steps} instead of 128"
    assert any(words in text for text in made.observer.messages)  # type: ignore[attr-defined]


def test_run_with_sac_neither_shortens_rollouts_nor_says_so(tmp_path: Path) -> None:
    given: list[int] = []

    class Stopped(SAC):
        def train(self, spec: Any, **more: Any) -> Any:
            given.append(more["hyperparameters"].num_steps)
            raise KeyboardInterrupt

    made = overridden(tmp_path, Stopped(), fixed=(), trainer={"num_steps": 128})
    with pytest.raises(KeyboardInterrupt):
        run(made)
    assert given == [128]
    assert not any("num_steps" in text for text in made.observer.messages)  # type: ignore[attr-defined]


def test_setup_without_the_reset_option_after_stores_no_start_states(tmp_path: Path) -> None:
    trainer = Watched()
    made = overridden(tmp_path, trainer)
    run(made)
    assert trainer.spec.starts == ()
    assert made.run.stage("iterations/0/starts", Reached) is None


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        ({"reset_option": "after:to_rwo"}, "no coded action to start after 'to_rwo'. Did you mean 'to_row'"),
        ({"trainer": {"learning_rate": 0.5}}, "trainer.learning_rate is 0.5; valid: 1e-05 to 0.01"),
        ({"trainer": {"gae_lamda": 0.9}}, "no hyperparameter 'gae_lamda'. Did you mean 'gae_lambda'"),
    ],
)
def test_run_refuses_a_setup_with_an_invalid_reset_option_or_hyperparameter(
    tmp_path: Path, setup: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words.replace(".", r"\.")):
        run(overridden(tmp_path, PPO(), **setup))
