"""The seal of a run proves that this user made the run or approved its configuration. The seal covers the fields of the
run's record that have an effect on commands. A run that somebody else made, or whose record somebody else changed, has
no valid seal.
"""

from __future__ import annotations

import json

from rlgpt.files.seal import is_sealed
from rlgpt.files.seal import seal as seal_of
from rlgpt.runs.record import RunRecord


def seal(record: RunRecord) -> str:
    """The seal of a run's record, which covers the task, the seed and the configuration. The seal is an empty text if
    no secret key can be stored on this machine.
    """
    return seal_of(_sealed(record))


def is_own(record: RunRecord) -> bool:
    """Whether this user, on this machine, made the run or approved its configuration."""
    return is_sealed(_sealed(record), record.seal)


def _sealed(record: RunRecord) -> bytes:
    part = json.loads(record.model_dump_json(include={"task", "seed", "config"}))
    return json.dumps(part, sort_keys=True).encode()
