"""A training on disk: one file, written atomically. Reading it runs no code."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field

from rlgpt.domain import RLSetup, Value
from rlgpt.errors import TrainingFolderError
from rlgpt.files import Folder
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.best import Merit
from rlgpt.rl.training_stats import TrainingStatsState

FILE = "policy.pt"
"""The file of the newest checkpoint: a training resumes from it."""

_LIMIT = 2 << 30
"""Maximal size of a checkpoint, in bytes."""

BEST = "best.pt"
"""The file of the best checkpoint by :mod:`rlgpt.rl.best`: for evaluation and warm starts."""


class Returns(Value):
    """What a critic's values depend on. If any of it differs, the values and the moments of returns are invalid."""

    reward_weights: Mapping[str, float]
    gamma: float
    semi_markov: bool
    normalized: bool

    @classmethod
    def of(cls, setup: RLSetup, hyperparameters: Hyperparameters) -> Returns:
        h = hyperparameters
        return cls(
            reward_weights=setup.reward_weights,
            gamma=setup.gamma,
            semi_markov=h.semi_markov,
            normalized=h.normalize_returns,
        )


SCHEMA: Literal[2] = 2
"""Version 2 has the current names of hyperparameters and encoders."""


class TrainingState(Value):
    """The part of a checkpoint that is not a tensor."""

    schema_version: Literal[2] = SCHEMA
    hyperparameters: Hyperparameters
    axis_names: Mapping[str, tuple[tuple[str, ...] | None, ...]] = Field(description="what tensors' axes stand for")
    decisions: int = 0
    seconds: float = 0.0
    tally: TrainingStatsState = TrainingStatsState()
    best: Merit | None = None
    returns: Returns


class Checkpoint:
    """What a training resumes from, and what evaluations load.

    :ivar weights: of the network, by name.
    :ivar optimizer: Adam's state.
    :ivar generator: state of the sampling.
    :ivar imitation: what self-imitation keeps (:meth:`rlgpt.rl.imitation.SelfImitation.tensors`), if it is on. The best
        checkpoint does not have it, because no training resumes from it.
    """

    def __init__(
        self,
        state: TrainingState,
        weights: dict[str, torch.Tensor],
        optimizer: Any,
        generator: torch.Tensor,
        imitation: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        self.state, self.weights, self.optimizer, self.generator = state, weights, optimizer, generator
        self.imitation = imitation

    def save(self, folder: Path, *, best: bool = False) -> None:
        """Write the newest checkpoint, and the best one too if this is the best."""
        content = {
            "state": self.state.model_dump_json(),
            "weights": self.weights,
            "optimizer": self.optimizer,
            "generator": self.generator,
        }
        files = Folder(folder, TrainingFolderError)
        if best:
            files.write(BEST, _packed(content))
        if self.imitation is not None:
            content["imitation"] = dict(self.imitation)
        files.write(FILE, _packed(content))

    @classmethod
    def load_best(cls, folder: Path) -> Checkpoint:
        """The best checkpoint; the newest if too few episodes have ended to compare. See :meth:`load`."""
        return cls.load(folder, BEST if Folder(folder, TrainingFolderError).exists(BEST) else FILE)

    @classmethod
    def load(cls, folder: Path, name: str = FILE) -> Checkpoint:
        """Read what :meth:`save` wrote: tensors, numbers and text only.

        :raises TrainingFolderError: there is none, or it cannot be read.
        """
        path, files = folder / name, Folder(folder, TrainingFolderError)
        if not files.exists(name):
            raise TrainingFolderError(f"{folder} holds no trained policy ({name} is missing); train one there first.")
        packed = files.read(name, limit=_LIMIT)
        try:
            _check_stored(packed)
            content = torch.load(io.BytesIO(packed), map_location="cpu", weights_only=True)
            state = _read_state(path, content["state"])
            kept, weights = content.get("imitation"), dict(content["weights"])
            if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
                raise ValueError("a weight is not finite")
            return cls(state, weights, content["optimizer"], content["generator"], kept)
        except TrainingFolderError:
            raise
        except Exception as fault:
            raise TrainingFolderError(
                f"{path} cannot be read ({type(fault).__name__}: {str(fault)[:200]}). Restore it from a copy, or train "
                "in a new folder; no new training was started."
            ) from fault


def _read_state(path: Path, text: str) -> TrainingState:
    version = json.loads(text).get("schema_version")
    if version != SCHEMA:
        raise TrainingFolderError(
            f"{path} has schema version {version!r} and this version of rlgpt reads {SCHEMA}. Use the version of rlgpt "
            "that wrote it, or train again in a new folder."
        )
    return TrainingState.model_validate_json(text)


def _packed(content: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def _check_stored(packed: bytes) -> None:
    """:raises ValueError: the archive holds compressed files, which could unpack to any size."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ValueError("its content is compressed")
