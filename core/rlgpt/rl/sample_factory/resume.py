"""Finds the checkpoint from which a session of a training resumes. A lost checkpoint is an error; the training does not
silently start from the beginning.
"""

from __future__ import annotations

from pathlib import Path

from rlgpt.errors import TrainingFolderError
from rlgpt.files import Folder
from rlgpt.rl.checkpoint import FILE, Checkpoint
from rlgpt.rl.resume import fit
from rlgpt.rl.step_counter import STEPS_FILE, steps_in

__all__ = ["fit", "resumable", "steps_of"]


def resumable(folder: Path, *, iterations: int) -> Checkpoint | None:
    """The checkpoint of an unfinished training; None if no training began in ``folder``.

    A training writes a checkpoint before the first step and after the first update. If steps were counted and there is
    no checkpoint, or if updates were counted and the checkpoint contains no updates, a checkpoint was lost.

    :param iterations: number of updates that earlier sessions of the training finished.
    :raises TrainingFolderError: the checkpoint is missing or cannot be read, or it contains no updates although earlier
        sessions made updates.
    """
    began = iterations > 0 or steps_in(folder / STEPS_FILE) > 0
    if not Folder(folder, TrainingFolderError).exists(FILE) and not began:
        return None
    found = Checkpoint.load(folder)
    if iterations and not steps_of(found):
        raise TrainingFolderError(
            f"the training in {folder} made {iterations} updates, but its checkpoint contains none: the training would "
            "restart from zero while its steps count as spent. Restore the checkpoint from a copy, or train in a new "
            "folder."
        )
    return found


def steps_of(checkpoint: Checkpoint) -> int:
    """The number of optimiser steps in a checkpoint."""
    steps = [int(entry["step"]) for entry in checkpoint.optimizer["state"].values()]
    return max(steps, default=0)
