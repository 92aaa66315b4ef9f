"""Encodes flat actions for the critics of soft actor-critic. An encoded component is a number for each dimension of a
Box, and a one-hot vector for a Discrete.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from rlgpt.options import ActionLayout


def encode(layout: ActionLayout, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Split flat actions ``[B, action_size]`` into branches ``[B]`` and encoded components ``[B, E]``."""
    branch = (actions[:, 0] if layout.choices else actions.new_zeros(len(actions))).long()
    at, parts = int(bool(layout.choices)), [actions.new_zeros((len(actions), 0))]
    for head in layout.heads:
        part = actions[:, at : at + head.components]
        at += head.components
        one_hot = head.kind == "discrete"
        parts.append(functional.one_hot(part[:, 0].long(), head.size).to(part.dtype) if one_hot else part)
    return branch, torch.cat(parts, dim=-1)


def flatten(layout: ActionLayout, branch: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
    """The inverse of :func:`encode`."""
    at, parts = 0, [branch[:, None].to(encoded.dtype)] if layout.choices else []
    for head in layout.heads:
        part = encoded[:, at : at + head.size]
        at += head.size
        discrete = head.kind == "discrete"
        parts.append(part.argmax(-1, keepdim=True).to(encoded.dtype) if discrete else part)
    return torch.cat(parts, dim=-1)
