"""Computes the advantages of decisions that last k >= 1 primitive steps."""

from __future__ import annotations

import torch


def semi_markov_gae(
    rewards: torch.Tensor,
    values: torch.Tensor,
    next_values: torch.Tensor,
    durations: torch.Tensor,
    terminated: torch.Tensor,
    ended: torch.Tensor,
    *,
    gamma: float,
    lam: float,
    semi_markov: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Generalised advantage estimation (GAE) over a semi-Markov decision process.

        delta_t = R_t + gamma^k_t V(s'_t) (1 - terminated_t) - V(s_t)
        A_t     = delta_t + gamma^k_t lam (1 - ended_t) A_{t+1}

    This estimate of the advantages A_t is equation 16 of Schulman et al., 2016, with the discount of an option of k
    steps (Sutton, Precup and Singh 1999, section 3). If k is 1 for all decisions, the advantages are those of ordinary
    GAE. An episode that a time limit truncates is ``ended`` but not ``terminated``. For a truncated episode, the value
    of its last state estimates the rewards after the time limit (Pardo et al., 2018).

    All tensors of the advantage estimation have the shape ``[T, N]``, for T decisions in each of N environments.

    :param rewards: ``R = sum_{i<k} gamma^i r_i``, the discounted sum of the rewards of each decision.
    :param values: V(s), the value of the state in which the decision was taken.
    :param next_values: V(s'), the value of the state after the decision. If the episode ended with the decision, V(s')
        is the value of the episode's last observation, not of the first observation of the next episode.
    :param durations: k, the number of primitive steps of each decision.
    :param terminated: for each decision, 1 if the state after the decision is terminal (no further reward is possible),
        else 0.
    :param ended: for each decision, 1 if the episode ended after the decision (terminated or truncated), else 0.
    :param gamma: discount per primitive step.
    :param lam: lambda, the factor by which the weight of each later decision decays.
    :param semi_markov: whether a decision is discounted by ``gamma ** k``. If ``semi_markov`` is False, every decision
        is discounted by ``gamma`` (an ablation).
    :returns: the advantages and the targets for the value function (advantages + values), both of shape ``[T, N]``.
    """
    dtype = values.dtype
    discounts = gamma ** durations.to(dtype) if semi_markov else torch.full_like(values, gamma)
    deltas = rewards + discounts * next_values * (1 - terminated.to(dtype)) - values
    decays = discounts * lam * (1 - ended.to(dtype))
    advantages = torch.empty_like(values)
    following = torch.zeros_like(values[0])
    for t in range(len(values) - 1, -1, -1):
        following = deltas[t] + decays[t] * following
        advantages[t] = following
    return advantages, advantages + values
