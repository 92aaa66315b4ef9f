"""Soft actor-critic with a prior, the off-policy trainer (``trainer=sac``).

The objective is that of soft actor-critic (Haarnoja et al. 2018) with the divergence from a prior instead of the
entropy. The prior is the untrained policy, so with ``plan_prior`` it is the plan's code. For a state s, a branch b
(the selector's choice) and the components c that b uses:

    maximise  E[ sum_t gamma^t r_t ] - temperature * KL(policy, prior)
    pi(b | s)  is proportional to  prior(b | s) * exp((Q(s, b, c_b) - temperature * KL_b) / temperature)

With a high temperature the policy is the plan, with a low one it takes the choice of the largest value. Each decision
is stored and learned from many times. That suits budgets of ten thousand decisions, in which PPO takes 20 to 40 steps.
"""

from rlgpt.rl.sac.trainer import SAC

__all__ = ["SAC"]
