"""The roads of the final evaluation are held out: neither training nor selection uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rlgpt.agents.build import build_agents
from rlgpt.loop import LoopContext, LoopSettings, Seeds, run
from rlgpt.plugin.library import library_of
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.policy_env import TRAINING_SEEDS
from rlgpt.rl.ppo import PPO
from rlgpt.runs import Run
from rlgpt_mujoco_car.env import CarTask
from rlgpt_mujoco_car.plugin import CarPlugin

SETTINGS = LoopSettings(budget=400, iterations=1, judging=0.7, selection_episodes=3, report_episodes=4, seed=2)
SEEDS = Seeds(SETTINGS.seed)


@pytest.mark.parametrize("name", ["blocked_start", pytest.param("parking", marks=pytest.mark.slow)])
def test_the_report_uses_only_roads_unused_by_training_and_selection(
    name: str, plugin: CarPlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: dict[int, bytes] = {}
    reset = CarTask.reset

    def recording_reset(env: CarTask, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        observation = reset(env, seed=seed, options=options)
        assert seed is not None
        played[seed] = env.scene.road.points.tobytes() + repr((env.scene.start, env.scene.boxes)).encode()
        return observation

    monkeypatch.setattr(CarTask, "reset", recording_reset)
    task = plugin.tasks()[f"mujoco_car/{name}"].model_copy(update={"horizon": 40})
    result = run(
        LoopContext(
            settings=SETTINGS,
            task=task,
            plugin=plugin,
            factory=plugin.name,
            agents=build_agents("rl_only", None, plugin, task),
            trainer=PPO(),
            hyperparameters=Hyperparameters(num_envs=2, num_steps=32, minibatch_size=32, update_epochs=1, hidden=(16,)),
            run=Run.create(tmp_path, task=task.id, seed=SETTINGS.seed, config={}),
            library=library_of(plugin, task),
        )
    )
    assert result.report is not None
    report, selection = set(SEEDS.report(4)), {*SEEDS.selection(3), SEEDS.rehearsal(0)}
    training = played.keys() - report - selection
    assert report | selection < played.keys()
    assert len(training) > 1
    assert min(training) >= TRAINING_SEEDS[0]
    report_roads = {played[seed] for seed in report}
    assert len(report_roads) == len(report)
    assert report_roads.isdisjoint(played[seed] for seed in played.keys() - report)
