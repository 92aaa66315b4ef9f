"""The Malmo server in a thread of the test, which sees the games that are played on it."""

from __future__ import annotations

from typing import Any

from voxeldojo.malmo.game import Game
from voxeldojo.malmo.server import Server
from voxeldojo.sim import Sim


class RecordingServer(Server):
    """``games``: all that began so far; ``sim``: the newest; ``seeds``: of the lands."""

    def __init__(self, **options: Any) -> None:
        self.games: list[Game] = []
        super().__init__(begun=self.games.append, **options)
        self.start()

    @property
    def sim(self) -> Sim:
        return self.games[-1].sim

    @property
    def seeds(self) -> list[int]:
        return [game.land for game in self.games]
