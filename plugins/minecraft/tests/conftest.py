"""Fixtures with a player that calls primitives by name, as coded actions do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rlgpt.domain import Plain
from rlgpt.plugin.types import Context
from rlgpt.testing.stage import Stage
from rlgpt_minecraft.observation import ParsedObservation
from rlgpt_minecraft.plugin import MinecraftPlugin

IDLE = np.array([0, 0])


class Player(Stage):
    """An episode in which ``player("walk", metres=2)`` runs a primitive. Missing arguments have their defaults."""

    def __init__(self, task: str, seed: int = 0, **settings: Any) -> None:
        plugin = MinecraftPlugin()
        chosen = plugin.tasks()[f"minecraft/{task}"]
        super().__init__(plugin, chosen.model_copy(update={"settings": {**chosen.settings, **settings}}), seed=seed)
        self._primitives = {p.name: p for p in plugin.primitives(self.task)}

    def __call__(self, name: str, **args: Plain) -> dict[str, Any]:
        if self.over:
            return {}
        primitive = self._primitives[name]
        defaults: dict[str, Plain] = {p.name: p.default for p in primitive.parameters}
        assert set(args) <= set(defaults)
        call = self.call(primitive, {**defaults, **args})
        assert not call.invalid
        assert not call.overran
        return dict(call.outcome or {})

    @property
    def ctx(self) -> Context:
        return self.context

    def see(self) -> dict[str, Any]:
        return self.plugin.view(self.context)

    @property
    def obs(self) -> ParsedObservation:
        obs: ParsedObservation = self.context.model.read(self.context.observation)
        return obs

    def type(self, *commands: str) -> None:
        """Run server commands in the embedded world, then one idle step."""
        for command in commands:
            self.env.unwrapped.base.unwrapped.sim.chat(command)  # type: ignore[attr-defined]
        self.step(IDLE)

    def feet(self) -> tuple[int, int, int]:
        """Return the coordinates of the block that contains the feet."""
        x, y, z = (math.floor(v) for v in self.obs.position)
        return x, y, z

    @property
    def world(self) -> Any:
        """The embedded world."""
        return self.env.unwrapped.base.unwrapped.sim.world  # type: ignore[attr-defined]

    @property
    def success(self) -> bool:
        return bool(self.context.info["success"])


Make = Callable[..., Player]


def roomy(player: Player) -> Player:
    """Teleport a player onto an isolated floor of 13 x 13 stone blocks, with the view to the south."""
    x, _, z = player.feet()
    player.world.mobs["kind"] = 0
    player.world.clock["mobs_spawn"] = False
    blocks = [(dx, dy, dz) for dx in range(-6, 7) for dz in range(-6, 7) for dy in range(-1, 6)]
    player.type(
        *(f"/setblock {x + a} {100 + b} {z + c} {'stone' if b < 0 else 'air'}" for a, b, c in blocks),
        f"/tp {x + 0.5} 100 {z + 0.5} 0 0",
    )
    assert player.see()["on_ground"] == 1
    return player


@pytest.fixture
def make_player() -> Iterator[Make]:
    players: list[Player] = []

    def make(task: str, seed: int = 0, **settings: Any) -> Player:
        players.append(Player(task, seed, **settings))
        return players[-1]

    yield make
    for player in players:
        player.env.close()


@pytest.fixture
def room(make_player: Make) -> Player:
    """Return a player of the task ``bed`` on the floor of :func:`roomy`."""
    return roomy(make_player("bed", biome="plains"))


@pytest.fixture(scope="session")
def plugin() -> MinecraftPlugin:
    return MinecraftPlugin()
