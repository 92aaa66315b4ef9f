"""The primitives behave as their documentation states."""

from __future__ import annotations

import pytest
from rlgpt.domain import Plain
from rlgpt.testing.player import Player
from rlgpt_mujoco_car.plugin import CarPlugin


def at_the_start(plugin: CarPlugin) -> Player:
    play = Player(plugin, plugin.tasks()["mujoco_car/blocked_start"])
    play.reset(0)
    return play


def at_the_rear_wall(plugin: CarPlugin) -> Player:
    play = at_the_start(plugin)
    for _ in range(3):
        play("reverse", metres=2.0)
    play("drive", speed=-0.3, seconds=0.3)
    return play


@pytest.mark.parametrize(
    ("name", "arguments", "ended"),
    [
        ("follow", {}, "blocked"),
        ("steer_to", {"x": 0.05}, "reached"),
        ("steer_to", {}, "blocked"),
        ("reverse", {}, "blocked"),
    ],
)
def test_a_primitive_that_is_already_blocked_or_at_its_target_takes_one_step(
    plugin: CarPlugin, name: str, arguments: dict[str, Plain], ended: str
) -> None:
    play = at_the_rear_wall(plugin) if name == "reverse" else at_the_start(plugin)
    if name == "steer_to" and ended == "blocked":
        play("drive", speed=0.3, seconds=0.4)
    step = play.ctx.step
    outcome = play(name, **arguments)
    assert outcome["ended"] == ended
    assert outcome["steps"] == play.ctx.step - step == 1
    play.env.close()


def test_a_blocked_primitive_brakes_the_car(plugin: CarPlugin) -> None:
    play = at_the_start(plugin)
    play("reverse", metres=0.6)
    play("drive", speed=1.0, seconds=0.5)
    speed = play.see()["speed"]
    outcome = play("follow")
    assert outcome["ended"] == "blocked"
    assert outcome["speed"] < speed
    play.env.close()
