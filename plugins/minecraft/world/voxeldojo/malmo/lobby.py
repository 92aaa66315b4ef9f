"""Who may play: so many games at a time, each with a seed."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from voxeldojo.malmo.game import Game, land_seed
from voxeldojo.malmo.mission import MissionRequest

PLACE_TIMEOUT_S = 3.0
"""Seconds that a mission waits for a place before it is told that the server is busy; Malmo waits as long."""


class Lobby:
    """Gives out places, and games to play at them.

    :param games: how many may be played at a time. :param seed: of the seeds of missions that name none.
    :param begun: is told of each game that begins, in the thread that plays it.
    """

    def __init__(self, games: int, seed: int | None, begun: Callable[[Game], None] | None) -> None:
        self._places = threading.BoundedSemaphore(games)
        self._lock = threading.Lock()
        self._draw, self._begun = random.Random(seed), begun
        self._land: int | None = None
        self._count = 0

    def take(self) -> bool:
        """Take a place, if there is one."""
        return self._places.acquire(timeout=PLACE_TIMEOUT_S)

    def give_back(self) -> None:
        """Leave a place."""
        self._places.release()

    def game(self, request: MissionRequest, chance: int | None) -> Game:
        """A game of a mission. Where it names no seed and does not force a reset, it is on the land of the last one.

        :raises MissionError: the world cannot play it.
        """
        with self._lock:
            self._count += 1
            name = f"mission {self._count}"
            if request.seed:
                self._land = land_seed(request.seed)
            elif request.new_land or self._land is None:
                self._land = self._draw.getrandbits(62)
            land = self._land
        game = Game(request, land, chance, name)
        if self._begun is not None:
            self._begun(game)
        return game
