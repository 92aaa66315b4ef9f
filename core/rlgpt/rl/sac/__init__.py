"""Soft actor-critic with a prior, the off-policy trainer (``trainer=sac``).

The objective is that of soft actor-critic (Haarnoja et al. 2018), but it penalises the divergence from a prior instead
of rewarding entropy. The prior is the untrained policy. With ``plan_prior``, the prior prefers the actions of the
plan's code. Let s be a state, b a branch (a choice of the selector), c_b the components of the action that b uses, and
KL_b the divergence of their distribution from its prior:

    maximise  E[ sum_t gamma^t r_t ] - temperature * KL(policy, prior)
    pi(b | s)  is proportional to  prior(b | s) * exp((Q(s, b, c_b) - temperature * KL_b) / temperature)

With a high temperature, the policy stays close to the prior. With a low temperature, it takes the choice with the
largest value. Each decision is stored and used in many updates. Therefore SAC suits small budgets: with 10,000
decisions, PPO takes only 20 to 40 optimisation steps.
"""

from rlgpt.rl.sac.trainer import SAC

__all__ = ["SAC"]
