"""An observer that writes the learning curves of a run as CSV."""

from __future__ import annotations

from pathlib import Path

from rlgpt.domain import CurvePoint
from rlgpt.loop import Observer


class Curve(Observer):
    """Appends each point of a learning curve to a file. A point of the learning curve has the primitive steps, the
    success rate and the mean episode return.

    :param path: the path of the CSV file (``observers.curve.path=FILE``).
    """

    def __init__(self, *, path: str) -> None:
        self._path = Path(path)

    def training(self, point: CurvePoint, budget: int) -> None:
        with self._path.open("a") as file:
            file.write(f"{point.primitive_steps},{point.success},{point.total_reward}\n")
