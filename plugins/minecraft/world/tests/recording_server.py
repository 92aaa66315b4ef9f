"""A Malmo server that runs in a thread of the test and records its games."""

from __future__ import annotations

from typing import Any

from voxeldojo.malmo.game import Game
from voxeldojo.malmo.server import Server
from voxeldojo.sim import Sim


class RecordingServer(Server):
    """The server. ``games`` are all games so far, ``sim`` is the simulator of the newest game, and ``seeds`` are the
    seeds of the lands.
    """

    def __init__(self, **options: Any) -> None:
        self.games: list[Game] = []
        super().__init__(begun=self.games.append, **{"place_timeout": 0.0, **options})
        self.start()

    @property
    def sim(self) -> Sim:
        return self.games[-1].sim

    @property
    def seeds(self) -> list[int]:
        return [game.land for game in self.games]
