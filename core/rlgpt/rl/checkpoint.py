"""Writes and reads the checkpoints of a training. A checkpoint is one file, which is written atomically. Reading a
checkpoint runs no code from this file.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field

from rlgpt.domain import CodedFunction, CodedReward, RLSetup, Value
from rlgpt.errors import TrainingFolderError
from rlgpt.files import Folder
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.base_only import BaseOnlyState
from rlgpt.rl.best import Performance
from rlgpt.rl.parameter_search import SearchState
from rlgpt.rl.training_stats import TrainingStatsState

FILE = "policy.pt"
"""Name of the file with the newest checkpoint. A training resumes from this checkpoint."""

_LIMIT = 2 << 30
"""Maximal size of a checkpoint, in bytes. The largest parts of a checkpoint are memories, whose sizes are limited
(:data:`rlgpt.rl.sac.replay.MOST_BYTES`, :data:`rlgpt.rl.memory.MOST_BYTES`).
"""

BEST = "best.pt"
"""Name of the file with the best checkpoint (:mod:`rlgpt.rl.best`), which evaluations and warm starts use."""


class Returns(Value):
    """The settings of a training that its value function depends on. If one of the settings in ``Returns`` differs in a
    warm start, the weights of the value function and the moments of the returns cannot be reused.
    """

    reward_weights: Mapping[str, float]
    rewards: tuple[CodedReward, ...] = Field(default=(), description="the coded reward terms with a weight")
    gamma: float
    semi_markov: bool
    normalized: bool

    @classmethod
    def of(cls, setup: RLSetup, functions: Sequence[CodedFunction], hyperparameters: Hyperparameters) -> Returns:
        h = hyperparameters
        rewards = (f for f in functions if isinstance(f, CodedReward) and f.name in setup.reward_weights)
        return cls(
            reward_weights=setup.reward_weights,
            rewards=tuple(sorted(rewards, key=lambda f: f.name)),
            gamma=setup.gamma,
            semi_markov=h.semi_markov,
            normalized=h.normalize_returns,
        )


SCHEMA: Literal[3] = 3
"""Since version 3, the names of the numbers in an action contain their ranges."""


class TrainingState(Value):
    """The part of a checkpoint that consists of numbers and text instead of tensors."""

    schema_version: Literal[3] = SCHEMA
    hyperparameters: Hyperparameters
    axis_names: Mapping[str, tuple[tuple[str, ...] | None, ...]] = Field(
        description="the names along the axes of each tensor"
    )
    decisions: int = 0
    seconds: float = 0.0
    tally: TrainingStatsState = TrainingStatsState()
    best: Performance | None = None
    returns: Returns
    search: SearchState | None = Field(
        default=None, description="the parameter search of the training; None: it has none"
    )
    base_only: BaseOnlyState = BaseOnlyState()


class Checkpoint:
    """The content of a checkpoint. A training resumes from a checkpoint, and an evaluation loads the policy from a
    checkpoint.

    All tensors in the file of a checkpoint are on the CPU, so a training or an evaluation can use a checkpoint on a
    machine without the GPU of the training.

    :ivar weights: weights of the network, by name.
    :ivar optimizer: state of Adam.
    :ivar generator: state of the random generator.
    :ivar imitation: the tensors of :attr:`rlgpt.rl.learner.PolicyLearner.imitation`, which are the kept decisions of
        self-imitation, or the replay memory of SAC; None without them. The best checkpoint contains none of these
        tensors, because no training resumes from it.
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

    def save(self, folder: Path, *, best: Mapping[str, torch.Tensor] | None = None) -> None:
        """Write this checkpoint as the newest checkpoint of the training.

        :param best: weights of the network, with which this checkpoint is also written as the best checkpoint of the
            training so far; None if this checkpoint is not the best one.
        """
        content, files = self._content, Folder(folder, TrainingFolderError)
        if best is not None:
            files.write(BEST, _packed({**content, "weights": best}))
        if self.imitation is not None:
            content["imitation"] = dict(self.imitation)
        files.write(FILE, _packed(content))

    def update_best(self, folder: Path, weights: Mapping[str, torch.Tensor]) -> None:
        """Write this checkpoint, with some other weights, as the best checkpoint."""
        content = {**self._content, "weights": {**self.weights, **weights}}
        Folder(folder, TrainingFolderError).write(BEST, _packed(content))

    @property
    def _content(self) -> dict[str, Any]:
        """The content of the file without the tensors of :attr:`imitation`."""
        return {
            "state": self.state.model_dump_json(),
            "weights": self.weights,
            "optimizer": self.optimizer,
            "generator": self.generator,
        }

    @classmethod
    def load_best(cls, folder: Path) -> Checkpoint:
        """Read the best checkpoint, or the newest checkpoint if too few episodes have ended for a comparison. See
        :meth:`load`.
        """
        return cls.load(folder, BEST if Folder(folder, TrainingFolderError).exists(BEST) else FILE)

    @classmethod
    def load(cls, folder: Path, name: str = FILE) -> Checkpoint:
        """Read a checkpoint that :meth:`save` wrote. A checkpoint contains only tensors, numbers and text.

        :raises TrainingFolderError: ``folder`` contains no checkpoint, or the checkpoint cannot be read.
        """
        path, files = folder / name, Folder(folder, TrainingFolderError)
        if not files.exists(name):
            raise TrainingFolderError(f"{folder} contains no trained policy: {name} is missing. Train a policy there.")
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
    torch.save(_on_cpu(content), buffer)
    return buffer.getvalue()


def _on_cpu(content: Any) -> Any:
    """A copy of nested mappings and lists in which all tensors are on the CPU."""
    if isinstance(content, torch.Tensor):
        return content.cpu()
    if isinstance(content, Mapping):
        return {key: _on_cpu(value) for key, value in content.items()}
    return [_on_cpu(value) for value in content] if isinstance(content, list) else content


def _check_stored(packed: bytes) -> None:
    """:raises ValueError: the archive of the checkpoint contains compressed files, which could unpack to any size."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            raise ValueError("its content is compressed")
