"""For each element of the kitchen, one short fixed script of primitives solves the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

Make = Callable[..., Any]
Player = Any


def _microwave(player: Player) -> None:
    x, y, z = player.see()["microwave_handle"]
    a, b, c = player.see()["microwave_axis_point"]
    player("move_by", dy=-0.1, keep_rotation=False)
    player("move_to", x=x, y=y - 0.2, z=z)
    player("move_to", x=x, y=y - 0.01, z=z, speed=0.02)
    player("grasp", steps=6)
    for _ in range(2):
        player("follow_arc", x=a, y=b, z=c, axis="z", angle=-0.4, wrist="free", speed=0.02)


def _slide_cabinet(player: Player) -> None:
    x, y, z = player.see()["slide_cabinet_handle"]
    player("move_by", dy=-0.05, dz=0.25)
    player("move_to", x=x - 0.1, y=y - 0.15, z=z)
    player("grasp")
    player("move_to", x=x - 0.1, y=y, z=z)
    player("move_by", dx=0.35)


def _light_switch(player: Player) -> None:
    x, y, z = player.see()["light_switch_handle"]
    player("move_by", dy=-0.05, dz=0.1)
    player("grasp")
    player("move_to", x=x + 0.1, y=y - 0.15, z=z)
    player("move_to", x=x + 0.1, y=y - 0.02, z=z)
    player("move_by", dx=-0.3)


def _hinge_cabinet(player: Player) -> None:
    x, y, z = player.see()["hinge_cabinet_handle"]
    a, b, c = player.see()["hinge_cabinet_axis_point"]
    player("move_by", dy=-0.1, dz=0.2, keep_rotation=False)
    player("move_to", x=x, y=y - 0.15, z=z)
    player("move_to", x=x, y=y - 0.01, z=z, speed=0.02)
    player("grasp")
    for _ in range(4):
        player("follow_arc", x=a, y=b, z=c, axis="z", angle=0.4, wrist="free", speed=0.02)


def _kettle(player: Player) -> None:
    x, y, z = player.see()["kettle_position"]
    player("grasp")
    player("move_by", dy=-0.05, dz=-0.1)
    player("move_to", x=x, y=y - 0.25, z=z + 0.12, keep_rotation=False)
    player("move_by", dy=0.35, speed=0.02, keep_rotation=False)


def _burner(player: Player, name: str) -> None:
    x, y, z = player.see()[f"{name}_handle"]
    player("move_by", dy=-0.05, dz=0.15)
    player("move_to", x=x, y=y - 0.15, z=z)
    player("move_to", x=x, y=y - 0.02, z=z, speed=0.02)
    player("grasp")
    player("rotate", roll=1.0)


SCRIPTS: Mapping[str, Callable[[Player], None]] = {
    "microwave": _microwave,
    "kettle": _kettle,
    "light_switch": _light_switch,
    "slide_cabinet": _slide_cabinet,
    "bottom_burner": lambda player: _burner(player, "bottom_burner"),
    "top_burner": lambda player: _burner(player, "top_burner"),
    "hinge_cabinet": _hinge_cabinet,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_short_script_of_kitchen_primitives_solves_the_task(make_player: Make, name: str) -> None:
    player = make_player(name)
    SCRIPTS[name](player)
    assert player.success
    assert player.ctx.step < 120


def successes(player: Player, name: str, seeds: int) -> int:
    count = 0
    for seed in range(seeds):
        player.reset(seed)
        SCRIPTS[name](player)
        count += player.success
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_kitchen_scripts_always_solve_the_tasks_without_noise_and_sometimes_those_with_noise(
    make_player: Make, name: str
) -> None:
    assert successes(make_player(name), name, 10) == 10
    noisy = successes(make_player(f"{name}_noisy"), name, 20)
    assert 5 <= noisy <= 20
