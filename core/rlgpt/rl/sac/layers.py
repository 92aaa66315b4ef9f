"""The layers of the networks of soft actor-critic, and random draws on the device of a generator."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional

CRITICS = 2
"""Number of critics. The smallest of their values is used (Fujimoto et al., 2018), because a policy that maximises a
noisy value prefers actions whose value is estimated too high.
"""


class Actor(nn.Module):
    """The actor: a network with two hidden layers. The output weights of the actor are zero at the beginning, so the
    untrained actor equals the prior.
    """

    def __init__(self, inputs: int, width: int, outputs: int) -> None:
        super().__init__()
        sizes = ((inputs, width), (width, width))
        self.layers = nn.Sequential(*(part for a, b in sizes for part in (nn.Linear(a, b), nn.LayerNorm(b), nn.ReLU())))
        self.output = nn.Linear(width, outputs)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.output(self.layers(features))
        return out


class Linears(nn.Module):
    """One linear layer for each critic. The module ``Linears`` maps ``[B, inputs]`` or ``[CRITICS, B, inputs]`` to
    ``[CRITICS, B, outputs]``.
    """

    def __init__(self, inputs: int, outputs: int, *, zero: bool = False) -> None:
        super().__init__()
        bound = 0.0 if zero else 1 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(CRITICS, inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(CRITICS, 1, outputs))

    def forward(self, values: torch.Tensor, *, frozen: bool = False) -> torch.Tensor:
        weight, bias = (self.weight.detach(), self.bias.detach()) if frozen else (self.weight, self.bias)
        return torch.matmul(values, weight) + bias


class Hidden(nn.Module):
    """The hidden layers of the critics. Layer normalisation keeps the critics' values of untried actions bounded (Ball
    et al., 2023).
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.first, self.second = Linears(inputs, width), Linears(width, width)

    def forward(self, values: torch.Tensor, *, frozen: bool = False) -> torch.Tensor:
        for layer in (self.first, self.second):
            values = layer(values, frozen=frozen)
            values = functional.relu(functional.layer_norm(values, values.shape[-1:]))
        return values


def drawn_from(p: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
    """The index of one column for each row of the probabilities ``p``, ``[B, 1]``, drawn on the device of
    ``generator``.
    """
    on = p if generator is None else p.to(generator.device)
    return torch.multinomial(on, 1, generator=generator).to(p.device)


def normal_like(like: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
    """Standard normal numbers with the shape and device of ``like``, drawn on the device of ``generator``."""
    device = like.device if generator is None else generator.device
    return torch.randn(like.shape, generator=generator, device=device).to(like.device)
