"""Scripts of primitives solve the furniture tasks. Random and constant actions do not solve them."""

from __future__ import annotations

import importlib.util
import math
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rlgpt import extend
from rlgpt.domain import CodedAction, Task
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.testing.player import Player
from rlgpt_furniture.env import ARM_JOINTS
from rlgpt_furniture.plugin import FurniturePlugin
from rlgpt_furniture.scene import SUBSTEPS
from rlgpt_furniture.tasks import make_tasks

_spec = importlib.util.spec_from_file_location("furniture_players", Path(__file__).with_name("players.py"))
assert _spec is not None
assert _spec.loader is not None
players = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(players)


MAX_DEPTH = 0.0005
"""The largest valid penetration between two objects, m."""
MAX_CLOSING_DEPTH = 0.0025
"""The largest valid penetration at the moment when the fingers close on a part, m. Each finger moves at 0.75 m/s,
which is 0.75 mm in one physics step.
"""

CHECKED_EVERY_PHYSICS_STEP = ("one_leg", "one_leg_medium", "lamp")
"""Tasks with a check after every physics step. In the other tasks legs press against each other, so the check is at the
end of each control step.
"""


class DepthPlayer(Player):
    """A player that records the largest penetration after every physics step and at the end of each control step.

    Releases are not recorded, because a released part falls. At 1 m/s its penetration is 1 mm at the first contact
    that MuJoCo finds.
    """

    def __init__(self, plugin: EnvironmentPlugin, task: Task) -> None:
        super().__init__(plugin, task)
        self.deepest = {"closing": 0.0, "else": 0.0, "step": 0.0}
        self._name = ""
        env: Any = self.env.unwrapped
        env.advance = self._advance

    def __call__(self, name: str, **args: Any) -> dict[str, Any]:
        self._name = name
        return super().__call__(name, **args)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        result = super().step(action)
        if self._name not in ("release", "regrasp"):
            env: Any = self.env.unwrapped
            data = env.data
            depth = -float(data.contact.dist[: data.ncon].min(initial=0.0))
            self.deepest["step"] = max(self.deepest["step"], depth)
        return result

    def _advance(self) -> None:
        import mujoco

        env: Any = self.env.unwrapped
        model, data = env.model, env.data
        data.ctrl[:7], data.ctrl[7:ARM_JOINTS] = env.joints, env.width
        closing = "closing" if self._name == "grasp" else "else"
        for _ in range(SUBSTEPS):
            mujoco.mj_step(model, data)
            if self._name not in ("release", "regrasp"):
                depth = -float(data.contact.dist[: data.ncon].min(initial=0.0))
                self.deepest[closing] = max(self.deepest[closing], depth)


def success_rate(plugin: FurniturePlugin, name: str, seeds: range) -> float:
    play = DepthPlayer(plugin, plugin.tasks()[f"furniture/{name}"])
    script = players.PLAYERS[name.removesuffix("_medium").removesuffix("_high")]
    wins = 0
    for seed in seeds:
        play.reset(seed)
        script(play)
        wins += play.success
        limits = {
            "step": MAX_DEPTH,
            **({"else": MAX_DEPTH, "closing": MAX_CLOSING_DEPTH} if name in CHECKED_EVERY_PHYSICS_STEP else {}),
        }
        for when, limit in limits.items():
            assert play.deepest[when] < limit, f"seed {seed}, {when}: {1000 * play.deepest[when]:.2f} mm deep"
    play.env.close()
    return wins / len(seeds)


@pytest.mark.parametrize("name", ["one_leg", "one_leg_medium", pytest.param("lamp", marks=pytest.mark.slow)])
def test_script_of_furniture_primitives_succeeds_in_at_least_one_of_two_episodes(
    plugin: FurniturePlugin, name: str
) -> None:
    assert success_rate(plugin, name, range(2)) >= 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "episodes", "at_least"),
    [
        ("one_leg", 50, 0.8),
        ("one_leg_high", 10, 0.8),
        ("lamp", 20, 0.8),
        ("square_table", 10, 0.8),
        pytest.param("desk", 10, 0.7, id="desk-with-legs-close-together"),
    ],
)
def test_script_of_furniture_primitives_has_at_least_the_stated_success_rate(
    plugin: FurniturePlugin, name: str, episodes: int, at_least: float
) -> None:
    assert success_rate(plugin, name, range(episodes)) >= at_least


def connector_success_rate(plugin: FurniturePlugin, name: str, direction: int, seeds: range) -> float:
    task = plugin.tasks()[f"furniture/{name}"]
    play = Player(plugin, task.model_copy(update={"settings": {**task.settings, "joints": "connector"}}))
    wins = 0
    for seed in seeds:
        play.reset(seed)
        players.connected(play, name, direction)
        wins += play.success
    play.env.close()
    return wins / len(seeds)


@pytest.mark.parametrize("direction", [1, pytest.param(-1, marks=pytest.mark.slow)])
def test_script_twists_a_leg_in_its_connector_to_the_left_or_to_the_right(
    plugin: FurniturePlugin, direction: int
) -> None:
    assert connector_success_rate(plugin, "one_leg", direction, range(1)) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("name", ["one_leg", "lamp"])
def test_script_with_connectors_succeeds_in_at_least_three_of_four_episodes(
    plugin: FurniturePlugin, name: str, direction: int
) -> None:
    assert connector_success_rate(plugin, name, direction, range(4)) >= 0.75


@pytest.mark.parametrize("direction", [1, -1])
def test_primitive_servo_turns_a_part_in_its_connector(plugin: FurniturePlugin, direction: int) -> None:
    task = plugin.tasks()["furniture/one_leg"]
    play = Player(plugin, task.model_copy(update={"settings": {**task.settings, "joints": "connector"}}))
    players.stand(play)
    play("release", back=0.06)
    play("move_by", dz=0.12)
    play("grasp", part="leg4", along_z=0.018, sink=0.0)
    x, y, z = play.see()["leg4_seen_from_table_top"]
    env: Any = play.env.unwrapped
    turn = env.assembly.relative(env.part_poses(), 0)[1]
    quarter = round(math.atan2(turn[3], turn[0]) / (math.pi / 2)) + direction
    play("servo", part="leg4", onto="table_top", x=x, y=y, z=z, turn=str(quarter % 4 * 90))
    assert direction * env.assembly.twist[0] > 0.6
    play.env.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one_leg", "lamp"])
@pytest.mark.parametrize("kind", ["random", "forward", "down", "still"])
def test_random_and_constant_actions_solve_at_most_2_percent_of_furniture_episodes(
    plugin: FurniturePlugin, name: str, kind: str
) -> None:
    constant = {"forward": (1, 0, 0), "down": (0, 0, -1), "still": (0, 0, 0)}
    env = plugin.make_env(plugin.tasks()[f"furniture/{name}"], seed=0)
    rng = np.random.default_rng(0)
    wins = 0
    episodes = 50 if name == "one_leg" else 3
    for seed in range(episodes):
        env.reset(seed=seed)
        over = False
        while not over:
            action = rng.uniform(-1, 1, 8) if kind == "random" else np.array((*constant[kind], 0, 0, 0, 0, 1), float)
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        wins += info["success"]
    env.close()
    assert wins <= 0.02 * episodes


def test_policy_corrects_no_action_of_another_space_than_its_own() -> None:
    """The primitives move the joints, and the policy's actions are motions of the hand."""
    task = make_tasks()["furniture/one_leg"]
    lift = CodedAction(name="lift", doc="", source="def run():\n    yield move_by(dz=0.05)\n")
    episodes = []
    for correction in (-1.0, 1.0):
        plugin = FurniturePlugin()
        with closing(extend(plugin.make_env(task, seed=0), [lift], plugin=plugin, task=task, residual=0.2)) as env:
            env.reset(seed=0)
            episodes.append(env.step((1, np.zeros(8, np.float32), np.full(8, correction, np.float32)))[0])
    for key, values in episodes[0].items():
        np.testing.assert_array_equal(values, episodes[1][key])
