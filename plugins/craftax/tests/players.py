"""A scripted player over the primitives, for tests only. No prompt shows it."""

from __future__ import annotations

from rlgpt.testing.player import Player

FULL = 7
"""Body values below this are restored when water or a cow is in view."""


class Script(Player):
    """Plays an episode: wood, table, tools of wood and stone, furnace; water, cows, fights and sleep in between."""

    _heading, _turns = "right", 0

    def survive(self) -> None:
        """Fight neighbours, drink, eat, and sleep when tired."""
        view = self.see()
        if any(abs(right) + abs(down) == 1 for _, right, down in view["monsters"]):
            self("fight", blows=10, least_health=0)
        if view["drink"] < FULL and self("approach", thing="water").get("reached"):
            self("act", name="do", times=5)
        if view["food"] < FULL and view["animals"] and self("approach", thing="cow").get("reached"):
            self("collect", times=5)
        if view["energy"] < 3 or (view["energy"] < 9 and view["light"] < 0.3 and not view["monsters"]):
            self("sleep")

    def explore(self) -> None:
        """Walk straight ahead. If something blocks the path, walk around it or turn."""
        if self("move", direction=self._heading, steps=4).get("stopped_by") == "blocked":
            self._turns += 1
            self._heading = ("up", "right", "down", "left", "up", "left", "down", "right")[self._turns % 8]

    def gather(self, thing: str, item: str, count: int, tries: int = 60) -> bool:
        """Collect until ``count`` of an item are held."""
        for _ in range(tries):
            if self.over or self.see()["inventory"][item] >= count:
                break
            self.survive()
            if self("approach", thing=thing).get("reached"):
                self("collect", times=1)
            else:
                self.explore()
        return not self.over and self.see()["inventory"][item] >= count

    def place(self, what: str) -> bool:
        """Place something in a free cell beside the player."""
        for direction in ("left", "right", "up", "down"):
            if self("place", what=what).get("placed"):
                return True
            self("face", direction=direction)
        return False

    def play(self) -> None:
        """The whole episode."""
        if not self.gather("tree", "wood", 9) or not self.place("table"):
            return
        self("craft", what="wood_pickaxe")
        self("craft", what="wood_sword")
        if not self.gather("stone", "stone", 4):
            return
        if not self.see()["near_table"]:
            self.place("table")
        self("craft", what="stone_pickaxe")
        self("craft", what="stone_sword")
        self.place("furnace")
        self.place("stone")
