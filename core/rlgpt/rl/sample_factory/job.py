"""The job of a child process. A job contains everything that a child process needs for one session of a training. The
parent process sends the job as a pickle through a pipe, and never stores the pickle on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rlgpt.domain import CurvePoint, Verdict
from rlgpt.errors import TrainingFolderError
from rlgpt.files import Folder, JsonLines
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.sample_factory.settings import SampleFactorySettings
from rlgpt.rl.step_counter import STEPS_FILE as STEPS_FILE

STATUS_FILE, LOG, CURVE, VERDICTS = "board.bin", "child.log", "curve.jsonl", "verdicts.jsonl"
"""Files of a training's folder, in addition to those of every trainer (checkpoints, step counts)."""

_ADVICE = "Restore the file from a copy, or delete that line: the training continues without it."


def curve_lines(folder: Path) -> JsonLines[CurvePoint]:
    """The file with the points of the learning curve. Only the parent process appends to this file."""
    return JsonLines(Folder(folder, TrainingFolderError), CURVE, CurvePoint, _ADVICE)


def verdict_lines(folder: Path) -> JsonLines[Verdict]:
    """The file with the verdicts of all environments. All processes append to this file, up to about 1 MiB."""
    return JsonLines(Folder(folder, TrainingFolderError), VERDICTS, Verdict, _ADVICE, full=1 << 20)


@dataclass(frozen=True)
class Job:
    """One session of a training.

    :ivar carried: number of primitive steps that earlier sessions spent. The episode seeds of a session depend on
        ``carried``, so that no session repeats the episodes of another session.
    :ivar curve: the learning curve of earlier sessions of the training. The choice of the best policy also uses the
        points of earlier sessions.
    """

    spec: EnvSpec
    seed: int
    budget: int
    folder: Path
    hyperparameters: Hyperparameters
    settings: SampleFactorySettings
    carried: int
    seconds: float = 0.0
    warm_start: Path | None = None
    curve: tuple[CurvePoint, ...] = ()

    def draw(self, stream: int) -> int:
        """The seed for one part of a session, such as one environment.

        :param stream: number of the part of the session that gets the seed.
        """
        sequence = np.random.SeedSequence([self.seed, self.carried, stream])
        return int(sequence.generate_state(1, np.uint32)[0] >> 1)
