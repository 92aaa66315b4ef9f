"""The policy that the networks of soft actor-critic define."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from rlgpt.rl.sac.layers import drawn_from

if TYPE_CHECKING:
    from rlgpt.rl.network import Batch
    from rlgpt.rl.sac.network import SoftActorCritic


class SoftDistribution:
    """The policy of a :class:`SoftActorCritic` at a batch of observations. ``SoftDistribution`` computes no
    log-probabilities, because the probabilities of the selector depend on the drawn components.
    """

    def __init__(self, network: SoftActorCritic, batch: Batch) -> None:
        self._network, self._batch, self._sharpness = network, batch, 1.0

    def sharpened(self, sharpness: float) -> SoftDistribution:
        """Sharpen the distribution as :meth:`rlgpt.rl.distribution.BranchedDistribution.sharpened` does.

        :raises ValueError: ``sharpness`` is not a finite number above 0.
        """
        if not (sharpness > 0 and math.isfinite(sharpness)):
            raise ValueError(f"sharpness must be a finite number above 0, got {sharpness}; 1 changes nothing")
        other = copy.copy(self)
        other._sharpness = self._sharpness * sharpness
        return other

    @torch.no_grad()
    def sample(self, generator: torch.Generator | None = None) -> torch.Tensor:
        """Draw flat actions ``[B, action_size]`` on the device of ``generator``."""
        logits, encoded = self._choices(1 / math.sqrt(self._sharpness), generator)
        p = torch.softmax(logits * self._sharpness, dim=-1)
        flat = self._network.flatten(drawn_from(p, generator).squeeze(-1), encoded)
        flat = flat if generator is None else flat.to(generator.device)
        return self._replaced(flat, lambda base_only: base_only.sample(generator))

    @torch.no_grad()
    def mode(self) -> torch.Tensor:
        """The most likely flat actions ``[B, action_size]``, which consist of the most likely branch, the means of Box
        components and the most likely values of Discrete components.
        """
        logits, encoded = self._choices(0.0, None)
        return self._replaced(self._network.flatten(logits.argmax(-1), encoded), SoftDistribution.mode)

    def _choices(self, noise: float, generator: torch.Generator | None) -> tuple[torch.Tensor, torch.Tensor]:
        network, batch = self._network, self._batch
        features = network.features(batch)
        encoded, divergences = network.components(features, noise, generator)
        logits, _ = network.soft(batch, network.values(features, encoded), divergences)
        return logits, encoded

    def _replaced(self, flat: torch.Tensor, choose: Callable[[SoftDistribution], torch.Tensor]) -> torch.Tensor:
        """The flat actions ``flat``, in base-only episodes replaced by those of the network for these episodes."""
        network, batch = self._network.base_only, self._batch
        if network is None:
            return flat
        rows = batch.get("base_only", flat.new_zeros(len(flat), 1)).bool().to(flat.device)
        rows |= self._network.acts_without_code
        if not bool(rows.any()):
            return flat
        masks = batch["action_mask"][:, : network.branches]
        base_only = SoftDistribution(network, {"obs": batch["obs"], "action_mask": masks})
        others = torch.zeros_like(flat)
        others[:, network.columns] = choose(base_only.sharpened(self._sharpness))
        return others.where(rows, flat)
