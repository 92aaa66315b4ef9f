"""PPO in one file, in the manner of CleanRL, with a bundle's coded actions.

    python docs/train_cleanrl.py examples/anywhere/bundles/lunar_lander LunarLander-v3
    python docs/train_cleanrl.py none LunarLander-v3                      # without them, to compare

What differs from plain PPO stands under "options": a decision may last k steps, so the future is discounted by gamma^k
(``info["duration"]``), and what may not start now is not chosen (``info["action_mask"]``). Leave both away and it is
plain PPO on the flat action space. The budget is in primitive steps, those of the environment.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np
import rlgpt
import torch
from torch import nn
from torch.distributions import Categorical, Distribution, Independent, Normal

parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
parser.add_argument("bundle", help="a bundle's folder, or none")
parser.add_argument("env_id")
parser.add_argument("--total-steps", type=int, default=100_000, help="primitive steps")
parser.add_argument("--num-envs", type=int, default=4)
parser.add_argument("--num-steps", type=int, default=128, help="decisions of each environment between updates")
parser.add_argument("--minibatch", type=int, default=128)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--learning-rate", type=float, default=3e-4)
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument("--gae-lambda", type=float, default=0.95)
parser.add_argument("--clip", type=float, default=0.2)
parser.add_argument("--entropy", type=float, default=0.005)
parser.add_argument("--seed", type=int, default=0)


def make(bundle: str, env_id: str) -> gymnasium.Env[Any, Any]:
    env = gymnasium.wrappers.FlattenObservation(gymnasium.make(env_id))
    return rlgpt.flat_view(rlgpt.extend(env, actions=() if bundle == "none" else bundle))


def layer(ins: int, outs: int, std: float = 2**0.5) -> nn.Linear:
    made = nn.Linear(ins, outs)
    nn.init.orthogonal_(made.weight, std)
    nn.init.zeros_(made.bias)
    return made


class Agent(nn.Module):
    """Two hidden layers of 64 for actor and critic each; Discrete or Box actions."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__()
        assert env.observation_space.shape is not None
        assert isinstance(env.action_space, gymnasium.spaces.Discrete | gymnasium.spaces.Box)
        ins, space = env.observation_space.shape[0], env.action_space
        self.discrete = isinstance(space, gymnasium.spaces.Discrete)
        outs = int(space.n) if isinstance(space, gymnasium.spaces.Discrete) else space.shape[0]
        hidden = [layer(ins, 64), nn.Tanh(), layer(64, 64), nn.Tanh()]
        self.actor = nn.Sequential(*hidden, layer(64, outs, 0.01))
        self.critic = nn.Sequential(layer(ins, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))
        self.log_std = nn.Parameter(torch.zeros(outs))

    def policy(self, observation: torch.Tensor, mask: torch.Tensor) -> Distribution:
        out = self.actor(observation)
        if self.discrete:  # options: what may not start now is not chosen
            return Categorical(logits=out.masked_fill(mask == 0, -1e9))
        return Independent(Normal(out, self.log_std.exp().expand_as(out)), 1)

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.critic(observation).squeeze(-1)
        return values


def main() -> None:
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    envs = [make(args.bundle, args.env_id) for _ in range(args.num_envs)]
    agent = Agent(envs[0])
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    space, width = envs[0].action_space, len(envs[0].reset(seed=args.seed)[1]["action_mask"])
    shape = (args.num_steps, args.num_envs)
    observations = torch.zeros(*shape, *(envs[0].observation_space.shape or ()))
    masks, actions = torch.ones(*shape, width), torch.zeros(*shape, *(space.shape or ()))
    log_probs, rewards, values, over, durations = (torch.zeros(shape) for _ in range(5))

    seen, mask = np.zeros(observations.shape[1:], np.float32), np.ones((args.num_envs, width), np.float32)
    for i, env in enumerate(envs):
        seen[i], info = env.reset(seed=args.seed * 1000 + i)
        mask[i] = info["action_mask"]
    returns, running, spent = [], np.zeros(args.num_envs), 0

    while spent < args.total_steps:
        for t in range(args.num_steps):
            observations[t], masks[t] = torch.as_tensor(seen), torch.as_tensor(mask)
            with torch.no_grad():
                chosen = agent.policy(observations[t], masks[t])
                actions[t] = drawn = chosen.sample()
                log_probs[t], values[t] = chosen.log_prob(drawn), agent.value(observations[t])
            for i, env in enumerate(envs):
                action: Any = int(drawn[i]) if agent.discrete else drawn[i].numpy().clip(space.low, space.high)  # type: ignore[attr-defined]
                seen[i], reward, terminated, truncated, info = env.step(action)
                rewards[t, i], over[t, i] = float(reward), float(terminated)
                durations[t, i] = info["duration"]  # options: how many steps this decision took
                spent += info["duration"]
                running[i] += info["total_reward"]
                if terminated or truncated:
                    if truncated and not terminated:  # its future is worth something: bootstrapped here, then cut
                        with torch.no_grad():
                            future = agent.value(torch.as_tensor(seen[i]))
                        rewards[t, i] += args.gamma ** info["duration"] * float(future)
                        over[t, i] = 1.0
                    returns.append(running[i])
                    running[i] = 0.0
                    seen[i], info = env.reset()
                mask[i] = info["action_mask"]

        with torch.no_grad():  # options: delta = R + gamma^k V(s') - V(s), traces decay by gamma^k lambda
            advantages, trace = torch.zeros(shape), torch.zeros(args.num_envs)
            following = agent.value(torch.as_tensor(seen))
            for t in reversed(range(args.num_steps)):
                discount = args.gamma ** durations[t] * (1 - over[t])
                delta = rewards[t] + discount * following - values[t]
                trace = delta + discount * args.gae_lambda * trace
                advantages[t], following = trace, values[t]
            targets = (advantages + values).reshape(-1)

        flat = [x.flatten(0, 1) for x in (observations, masks, actions, log_probs, advantages)]
        for _ in range(args.epochs):
            order = torch.randperm(targets.numel())
            for first in range(0, len(order), args.minibatch):
                batch = order[first : first + args.minibatch]
                o, m, a, before, gain = (x[batch] for x in flat)
                now = agent.policy(o, m)
                ratio = (now.log_prob(a) - before).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                pg = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
                v = 0.5 * (agent.value(o) - targets[batch]).square().mean()
                loss = pg + 0.5 * v - args.entropy * now.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        last = returns[-20:]
        print(f"{spent} primitive steps, mean reward of the last {len(last)} episodes {np.mean(last or [0]):.2f}")


if __name__ == "__main__":
    main()
