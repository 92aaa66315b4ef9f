"""Where a session takes up: never silently at the beginning."""

from __future__ import annotations

from pathlib import Path

from rlgpt.errors import TrainerError
from rlgpt.rl.checkpoint import FILE, Checkpoint
from rlgpt.rl.ppo import fit
from rlgpt.rl.step_counter import STEPS_FILE

__all__ = ["fit", "resumable", "steps_of"]


def resumable(folder: Path, *, iterations: int) -> Checkpoint | None:
    """The checkpoint of an unfinished training; None where none began in ``folder``.

    A checkpoint is written before the first step and after the first update, so steps without one, or updates without
    any in it, are a loss and not a beginning.

    :param iterations: updates that earlier sessions finished.
    :raises TrainerError: it is missing, cannot be read, or holds no update where there were some.
    """
    ledger = folder / STEPS_FILE
    began = iterations > 0 or (ledger.exists() and any(ledger.read_bytes()))
    if not (folder / FILE).exists() and not began:
        return None
    found = Checkpoint.load(folder)
    if iterations and not steps_of(found):
        raise TrainerError(
            f"{folder} has seen {iterations} updates, but its checkpoint holds none: training would begin anew while "
            "its steps count as spent. Restore the checkpoint from a copy, or train in a new folder."
        )
    return found


def steps_of(checkpoint: Checkpoint) -> int:
    """Optimiser steps behind a checkpoint's weights."""
    steps = [int(entry["step"]) for entry in checkpoint.optimizer["state"].values()]
    return max(steps, default=0)
