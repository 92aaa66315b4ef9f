"""Limits the number of concurrent games and chooses the seeds of games."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from voxeldojo.malmo.game import Game, land_seed
from voxeldojo.malmo.mission import MissionRequest

PLACE_TIMEOUT_S = 3.0
"""Seconds that a mission waits for a free place before the server replies that it is busy. Malmo has the same value."""


class Lobby:
    """Creates games, and reserves a place for each concurrent game.

    :param games: the maximal number of concurrent games.
    :param seed: the seed of the generator that draws seeds for missions without a seed.
    :param begun: a function that is called with each new game, in the thread that runs the game.
    :param timeout: the number of seconds that a mission waits for a free place among the concurrent games.
    """

    def __init__(
        self, games: int, seed: int | None, begun: Callable[[Game], None] | None, timeout: float = PLACE_TIMEOUT_S
    ) -> None:
        self._places = threading.BoundedSemaphore(games)
        self._lock = threading.Lock()
        self._draw, self._begun = random.Random(seed), begun
        self._land: int | None = None
        self._count, self._timeout = 0, timeout

    def take(self) -> bool:
        """Take a place. Return False if no place for a game became free in time."""
        return self._places.acquire(timeout=self._timeout)

    def give_back(self) -> None:
        """Release a place."""
        self._places.release()

    def game(self, request: MissionRequest, chance: int | None) -> Game:
        """Create a game of a mission. If a mission has neither a seed nor a forced reset, its game has the terrain of
        the previous game.

        :raises MissionError: the world cannot play the mission.
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
