"""Makes the video of the README: a fixed script harvests a log. Each frame names the running primitive.

python -m plugins.minecraft.tests.film plugins/minecraft/docs/harvest_log.mp4 --seed 9
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rlgpt.domain import Plain
from rlgpt.errors import RlgptError
from rlgpt.files import Folder
from rlgpt.report.video import Film
from voxeldojo.world.render import Camera

from .conftest import Player
from .test_players import SCRIPTS

SIZE = (288, 480)
STILL = 20
"""The number of repetitions of the last frame."""


class Filmed(Player):
    """A player that films its own view before its first step and after each step."""

    def __init__(self, task: str, seed: int, film: Film) -> None:
        super().__init__(task, seed)
        self._film, self._camera, self._text = film, Camera(*SIZE), "start"
        self._film.add(self._camera.picture(self.world), self._text)

    def __call__(self, name: str, **args: Plain) -> dict[str, Any]:
        arguments_text = ", ".join(
            f"{key}={value:.1f}" if isinstance(value, float) else str(value) for key, value in args.items()
        )
        self._text = f"{name}({arguments_text})"
        return super().__call__(name, **args)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        result = super().step(action)
        self._film.add(self._camera.picture(self.world), self._text)
        return result

    def end(self) -> None:
        """Show the result for one second."""
        text = f"{'success' if self.success else 'no success'} after {self.context.step} steps"
        for _ in range(STILL):
            self._film.add(self._camera.picture(self.world), text)


def main(arguments: list[str] | None = None) -> int:
    """Write one episode as an mp4."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--task", choices=tuple(SCRIPTS), default="harvest_log")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    with Film(Folder(chosen.path.parent, RlgptError), chosen.path.name) as film:
        player = Filmed(chosen.task, chosen.seed, film)
        SCRIPTS[chosen.task](player)
        player.end()
    print(f"{chosen.path}: {film.frames} frames, success: {player.success}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
