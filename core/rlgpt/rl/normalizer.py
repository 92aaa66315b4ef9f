"""Running mean and variance of each number of a vector."""

from __future__ import annotations

import torch
from torch import nn

CLIP = 5.0
"""Normalised observations are clipped to this number of standard deviations."""


class RunningMoments(nn.Module):
    """Mean and variance of all batches so far, merged batch by batch (Chan, Golub and LeVeque 1979).

    ``RunningMoments`` counts the values of each number of the vector separately. After a warm start, the moments of a
    new number therefore adapt as fast as at the beginning of a training. Before the first batch, the running mean is 0
    and the running variance is 1.
    """

    mean: torch.Tensor
    var: torch.Tensor
    count: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size, dtype=torch.float64))
        self.register_buffer("var", torch.ones(size, dtype=torch.float64))
        self.register_buffer("count", torch.zeros(size, dtype=torch.float64))

    @torch.no_grad()
    def update(self, batch: torch.Tensor) -> None:
        """Merge ``batch``, shape (B, size), into the running moments. The batch may be on another device."""
        batch = batch.to(self.mean)
        added = float(len(batch))
        total = self.count + added
        mean = batch.mean(0)
        shift = mean - self.mean
        seen = self.var * self.count + (batch - mean).square().sum(0)
        self.var.copy_((seen + shift**2 * self.count * added / total) / total)
        self.mean.add_(shift * added / total)
        self.count.copy_(total)

    def normalize(self, values: torch.Tensor) -> torch.Tensor:
        return ((values - self.mean.to(values.dtype)) / self._std(values)).clamp(-CLIP, CLIP)

    def scale(self, values: torch.Tensor) -> torch.Tensor:
        """Normalise value targets. In contrast to :meth:`normalize`, ``scale`` does not clip the result."""
        return (values - self.mean.to(values.dtype)) / self._std(values)

    def unscale(self, values: torch.Tensor) -> torch.Tensor:
        """The inverse of :meth:`scale`."""
        return values * self._std(values) + self.mean.to(values.dtype)

    def _std(self, values: torch.Tensor) -> torch.Tensor:
        return (self.var + 1e-8).sqrt().to(values.dtype)
