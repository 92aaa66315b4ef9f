"""The average of a network's weights over the newest part of a training."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

SHARPNESS = 9
"""After t updates, the share of the weights of update i in the average is proportional to about ``(i / t) **
SHARPNESS``. With 9, the averaged weights are on average about ``t / 11`` updates old.
"""

_COUNT, _PREFIX = "averaged", "average "


class WeightAverage:
    """The average of a network's weights over its newest updates: polynomial-decay averaging (Shamir and Zhang, 2013,
    "Stochastic gradient descent for non-smooth optimization", section 4).

    The results of soft actor-critic change much from one update to the next: a policy that succeeds in 0.9 of its
    training episodes may have weights that succeed in 0.3. The policy with the average weights changes slowly, so the
    training episodes of the last updates say how good it is.
    """

    def __init__(self, network: nn.Module) -> None:
        self._network = network
        self._average = {name: values.detach().clone() for name, values in network.named_parameters()}
        self._count = 0

    @torch.no_grad()
    def add(self) -> None:
        """Add the present weights of the network to the average."""
        self._count += 1
        present = dict(self._network.named_parameters())
        rate = (SHARPNESS + 1) / (SHARPNESS + self._count)
        torch._foreach_lerp_(list(self._average.values()), [present[name] for name in self._average], rate)

    def weights(self) -> dict[str, torch.Tensor]:
        """The state of the network with the average weights. Buffers, such as the moments of observations, are the
        present ones. Before the first call of :meth:`add`, the weights are the present ones, too.
        """
        state: dict[str, torch.Tensor] = self._network.state_dict()
        return {**state, **self._average} if self._count else state

    def tensors(self) -> dict[str, torch.Tensor]:
        """The average and the number of averaged updates, for a checkpoint."""
        average = {f"{_PREFIX}{name}": values for name, values in self._average.items()}
        return {**average, _COUNT: torch.tensor(self._count)}

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Restore what :meth:`tensors` returned.

        :raises KeyError, RuntimeError: the tensors are those of another network.
        """
        self._count = int(tensors[_COUNT])
        for name, values in self._average.items():
            values.copy_(tensors[f"{_PREFIX}{name}"])
