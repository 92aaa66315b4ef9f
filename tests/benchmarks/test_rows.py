"""benchmarks/rows.py: what a row is made of."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import ActionPlan, CodedAction, Episode, Evaluation, Iteration, Steps, SubAction
from rlgpt.loop import Seeds
from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt.testing.grid import FETCH, TASKS, GridPlugin, grid_plugin

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
TASK = TASKS["grid/key"]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("rows")


def iteration(index: int, *, success: bool) -> Iteration:
    episode = Episode(seed=index, success=success, total_reward=0.0, primitive_steps=40, decisions=40)
    return Iteration(
        index=index,
        plan=ActionPlan(sub_actions=(SubAction(name="search", description="find it", kind="rl", reason="fine"),)),
        setup=GridPlugin().default_setup(TASK),
        evaluation=Evaluation(mode="sampled", episodes=(episode,)),
        steps=Steps(rehearsal=3, code=5, training=100, selection=40),
    )


class Judging:
    """A run of which only what it keeps is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, bool]] = []

    def kept_spec(self, of: Iteration) -> EnvSpec:
        return EnvSpec(TASK, of.setup, of.actions, grid_plugin)

    def policy(self, spec: EnvSpec, index: int, *, trained: bool) -> Policy:
        self.asked.append((index, trained))
        return PPO().untrained(spec, seed=0, hyperparameters=Hyperparameters())


def test_each_turn_is_judged_by_what_it_kept(rows: Any, tmp_path: Path) -> None:
    """Code or policy, on the seeds of the report; the selection's ten episodes are not what is told."""

    class Grid(rows.Rows):  # type: ignore[misc]
        def known(self) -> tuple[Any, ...]:
            return GridPlugin(), TASK, grid_plugin, ()

    arguments = argparse.Namespace(out=tmp_path / "grid", budget=1000, iterations=4, episodes=8, trainer="ppo")
    row, context = Grid(rows.Cell(TASK.id, "rlgpt_turns", 0), arguments), Judging()
    lost = iteration(1, success=False)
    assert row._kept(context, lost) < 1.0
    assert context.asked == [(1, False)]
    fetch = CodedAction(name="fetch", doc="Fetch the key.", source=FETCH, max_steps=40)
    won = iteration(1, success=True).evaluation.model_copy(update={"mode": "code"})
    coded = lost.model_copy(update={"actions": (fetch,), "code_evaluation": won})
    assert coded.kept.mode == "code"
    assert row._kept(context, coded) == 1.0
    assert context.asked == [(1, False)], "no policy was asked for"


def test_untrained_is_what_the_best_turn_began_with(rows: Any, tmp_path: Path) -> None:
    """The fresh network of that turn's seed; what was spent on code until then, and on no learning."""

    class Grid(rows.Rows):  # type: ignore[misc]
        def known(self) -> tuple[Any, ...]:
            return GridPlugin(), TASK, grid_plugin, ()

    seen: list[int] = []

    class Seen(PPO):
        def untrained(self, spec: Any, *, seed: int, hyperparameters: Any) -> Any:
            seen.append(seed)
            return super().untrained(spec, seed=seed, hyperparameters=hyperparameters)

    arguments = argparse.Namespace(out=tmp_path / "grid", budget=1000, iterations=3, episodes=2, trainer="ppo")
    row = Grid(rows.Cell(TASK.id, "untrained", 4), arguments)
    row.trainer = Seen()
    run = Run.create(row.folder("rlgpt"), task=TASK.id, seed=4, config={})
    for index, success in enumerate((False, True, False)):
        run.rewrite(f"iterations/{index}/iteration", iteration(index, success=success))

    figures = row.measure()
    assert seen == [Seeds(4).training(1)]
    assert figures["primitive_steps"] == 2 * (3 + 5)
    assert figures["episodes"] == 2
