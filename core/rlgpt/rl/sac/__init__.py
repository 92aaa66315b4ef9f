"""Soft actor-critic with a prior, the off-policy trainer (``trainer=sac``).

The objective of this trainer is that of soft actor-critic (SAC, Haarnoja et al., 2018) with one change. Instead of
rewarding entropy, this trainer's objective penalises the divergence of the policy from a prior. The prior is the
untrained policy. With ``plan_prior``, the prior prefers the plan's choice. In the following formulas, s is a state, b
is a branch, c_b are the components that b uses, and KL_b is the divergence of the distribution of c_b from its prior.

    maximise  E[ sum_t gamma^t r_t ] - temperature * KL(policy, prior)
    pi(b | s)  is proportional to  prior(b | s) * exp((Q(s, b, c_b) - temperature * KL_b) / temperature)

With a high temperature, the policy stays close to the prior. With a low temperature, the policy takes the branch with
the largest value. SAC stores each decision and uses it in many updates, so SAC suits small budgets. With 10,000
decisions, PPO makes only 20 to 40 updates of the policy.
"""

from rlgpt.rl.sac.trainer import SAC

__all__ = ["SAC"]
