"""PPO in one file, in the style of CleanRL, with a bundle's coded actions.

    make guest && pip install ./core                                      # in rlgpt's repository; make setup has it
    python docs/train_cleanrl.py examples/design/bundles/lunar_lander LunarLander-v3
    python docs/train_cleanrl.py none LunarLander-v3                      # without coded actions, to compare
    python docs/train_cleanrl.py examples/design/bundles/doorkey --make examples/design/worlds.py:doorkey

The script differs from plain PPO in two points, which are marked with "options" in the code. First, a decision may last
k steps (``info["duration"]``), so the value of the next state is discounted by gamma^k. Second, the policy does not
choose masked actions (``info["action_mask"]``). In the flat view of a Box, the largest score chooses the branch, and
the choice of a masked branch takes one idle step. The ``gamma`` of ``extend`` discounts the rewards within a decision;
the training must use this gamma, too. Printed returns are undiscounted (``info["total_reward"]``). The budget is in
primitive steps.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import rlgpt
import torch
from gymnasium import spaces
from rlgpt.errors import RlgptError
from torch import nn
from torch.distributions import Categorical, Distribution, Independent, Normal

parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
parser.add_argument("bundle", help="a bundle's folder, or none")
parser.add_argument("env_id", nargs="?", help="the environment's id in gymnasium's registry")
parser.add_argument("--make", metavar="MODULE:FUNCTION", help="makes the environment instead; or FILE.py:FUNCTION")
parser.add_argument("--total-steps", type=int, default=100_000, help="primitive steps")
parser.add_argument("--num-envs", type=int, default=4)
parser.add_argument("--num-steps", type=int, default=128, help="decisions of each environment between updates")
parser.add_argument("--minibatch", type=int, default=128)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--learning-rate", type=float, default=3e-4)
parser.add_argument("--gamma", type=float, default=0.99, help="discount of a primitive step")
parser.add_argument("--gae-lambda", type=float, default=0.95)
parser.add_argument("--clip", type=float, default=0.2)
parser.add_argument("--entropy", type=float, default=0.005)
parser.add_argument("--seed", type=int, default=0)


Make = Callable[[], gymnasium.Env[Any, Any]]


def maker(env_id: str | None, function: str | None) -> Make:
    """Return the function that makes the environment, which is gymnasium.make or the named MODULE:FUNCTION or
    FILE.py:FUNCTION.
    """
    if function is None:
        return functools.partial(gymnasium.make, env_id or "")
    module, _, name = function.rpartition(":")
    if module.endswith(".py"):
        sys.path.insert(0, str(Path(module).parent))
        module = Path(module).stem
    make: Make = getattr(importlib.import_module(module), name)
    return make


def extended(make: Make, bundle: str, gamma: float) -> gymnasium.Env[Any, Any]:
    """Return the extended environment. Coded actions need the original observation, so the wrapper that flattens the
    observation is outside the extension.
    """
    env = rlgpt.flat_view(rlgpt.extend(make(), actions=() if bundle == "none" else bundle, gamma=gamma))
    return env if picture(env.observation_space) else Flat(env)


class Flat(gymnasium.wrappers.FlattenObservation):
    """A wrapper that returns all parts of the observation as one vector. Pixels are scaled to 0 to 1, because values up
    to 255 would dominate the other values.

    :ivar pixels: the number of pixels in the vector.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.scale = scale(env.observation_space)
        self.pixels = int((self.scale != 1).sum())
        if self.pixels:
            low, high = (
                bound.reshape(-1) * self.scale for bound in (self.observation_space.low, self.observation_space.high)
            )
            self.observation_space = spaces.Box(low.astype(np.float32), high.astype(np.float32))

    def observation(self, observation: Any) -> Any:
        flat = super().observation(observation)
        return (flat * self.scale).astype(np.float32) if self.pixels else flat


def scale(space: spaces.Space[Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the factor by which each number of the flattened observation is multiplied."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces
        return np.concatenate([scale(part) for part in parts])
    return np.full(spaces.flatdim(space), 1 / 255 if picture(space) else 1, np.float32)


def begins(env: gymnasium.Env[Any, Any], bundle: str, steps: int) -> str:
    """Return the text about the environment, the actions and the observation that is printed before the first
    update.
    """
    seen = env.observation_space.shape
    pixels = env.pixels if isinstance(env, Flat) else 0
    note = f" ({pixels} of them pixels, scaled to 0..1: only a picture alone is convolved)" if pixels else ""
    return f"{bundle}: actions {env.action_space}, observation {seen}{note}, {steps} primitive steps"


def picture(space: spaces.Space[Any]) -> bool:
    """Return whether the observation is an image for a convolutional network."""
    return space.dtype == np.uint8 and len(space.shape or ()) == 3 and sorted(space.shape or ())[1] >= 36


def layer(ins: int, outs: int, std: float = 2**0.5) -> nn.Linear:
    made = nn.Linear(ins, outs)
    nn.init.orthogonal_(made.weight, std)
    nn.init.zeros_(made.bias)
    return made


class Pixels(nn.Module):
    """A network that computes 512 features of a uint8 image (Mnih and others, 2015). The channels of the image are the
    smaller of its first and its last axis.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.channels_last = shape[-1] < shape[0]
        conv = [nn.Conv2d(min(shape[0], shape[-1]), 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU()]
        self.body = nn.Sequential(*conv, nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten())
        with torch.no_grad():
            self.end = layer(self.body(self.ordered(torch.zeros(1, *shape))).shape[1], 512)

    def ordered(self, image: torch.Tensor) -> torch.Tensor:
        return (image.movedim(-1, 1) if self.channels_last else image) / 255

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = torch.relu(self.end(self.body(self.ordered(image))))
        return features


class Heads:
    """The distribution of an action, which is a categorical distribution for each head of a MultiDiscrete. A Discrete
    has one head.
    """

    def __init__(self, logits: Sequence[torch.Tensor]) -> None:
        self.heads: list[Distribution] = [Categorical(logits=head) for head in logits]

    def sample(self) -> torch.Tensor:
        return torch.stack([head.sample() for head in self.heads], -1)

    def log_prob(self, action: torch.Tensor) -> torch.Tensor:
        return torch.stack([head.log_prob(part) for head, part in zip(self.heads, action.unbind(-1), strict=True)]).sum(
            0
        )

    def entropy(self) -> torch.Tensor:
        return torch.stack([head.entropy() for head in self.heads]).sum(0)


class Agent(nn.Module):
    """The actor and the critic of PPO, each with two hidden layers of 64 units. If the observation is a picture, actor
    and critic have a common convolutional network before their first layer.

    :ivar sizes: the number of choices of each head of a Discrete or MultiDiscrete; empty for a Box.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__()
        shape, space = env.observation_space.shape or (), env.action_space
        if isinstance(space, spaces.Box):
            self.sizes, outs = [], int(np.prod(space.shape))
        elif isinstance(space, spaces.Discrete):
            self.sizes, outs = [int(space.n)], int(space.n)
        elif isinstance(space, spaces.MultiDiscrete):
            self.sizes, outs = space.nvec.tolist(), int(space.nvec.sum())
        else:
            raise SystemExit(f"this script learns Discrete, MultiDiscrete and Box actions; these are {space}.")
        self.shape, self.space = shape, space
        seen: list[nn.Module] = [Pixels(shape)] if picture(env.observation_space) else []
        ins = 512 if seen else shape[0]
        self.actor = nn.Sequential(*seen, layer(ins, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, outs, 0.01))
        seen = [Pixels(shape)] if picture(env.observation_space) else []
        self.critic = nn.Sequential(*seen, layer(ins, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))
        self.log_std = nn.Parameter(torch.zeros(outs))
        self.width = len(self.sizes) or outs

    def policy(self, observation: torch.Tensor, mask: torch.Tensor) -> Heads | Distribution:
        out = self.actor(observation)
        if not self.sizes:
            return Independent(Normal(out, self.log_std.exp().expand_as(out)), 1)
        # --8<-- [start:masks]
        logits = list(out.split(self.sizes, -1))
        if mask.shape[-1] == self.sizes[0]:  # options: actions that may not start now are not chosen
            logits[0] = logits[0].masked_fill(mask == 0, -1e9)
        # --8<-- [end:masks]
        return Heads(logits)

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.critic(observation).squeeze(-1)
        return values

    def played(self, drawn: torch.Tensor) -> Any:
        """Return a sample of the action distribution as a member of the action space."""
        if isinstance(self.space, spaces.Box):
            return drawn.numpy().clip(self.space.low.reshape(-1), self.space.high.reshape(-1)).reshape(self.space.shape)
        whole = drawn.numpy().astype(np.int64)
        return int(whole[0]) + int(self.space.start) if isinstance(self.space, spaces.Discrete) else whole


def main() -> None:
    args = parser.parse_args()
    if (args.env_id is None) == (args.make is None):
        parser.error("name the environment: either ENV_ID or --make MODULE:FUNCTION.")
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    make = maker(args.env_id, args.make)
    try:
        envs = [extended(make, args.bundle, args.gamma) for _ in range(args.num_envs)]
    except (RlgptError, gymnasium.error.Error) as fault:
        parser.error(str(fault))
    print(begins(envs[0], args.bundle, args.total_steps), flush=True)
    agent = Agent(envs[0])
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    width = len(envs[0].reset(seed=args.seed)[1]["action_mask"])
    shape = (args.num_steps, args.num_envs)
    observations = torch.zeros(*shape, *agent.shape)
    masks, actions = torch.ones(*shape, width), torch.zeros(*shape, agent.width)
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
                # --8<-- [start:durations]
                seen[i], reward, terminated, truncated, info = env.step(agent.played(drawn[i]))
                rewards[t, i], over[t, i] = float(reward), float(terminated)
                durations[t, i] = info["duration"]  # options: how many steps this decision took
                spent += info["duration"]
                running[i] += info["total_reward"]
                # --8<-- [end:durations]
                if terminated or truncated:
                    if truncated and not terminated:  # the state still has a value: add it here, and end the trace
                        with torch.no_grad():
                            future = agent.value(torch.as_tensor(seen[i : i + 1]))
                        rewards[t, i] += args.gamma ** info["duration"] * float(future)
                        over[t, i] = 1.0
                    returns.append(running[i])
                    running[i] = 0.0
                    seen[i], info = env.reset()
                mask[i] = info["action_mask"]
            if spent >= args.total_steps:  # options: a rollout may have many more primitive steps than decisions
                break

        taken = t + 1
        # --8<-- [start:advantages]
        with torch.no_grad():  # options: delta = R + gamma^k V(s') - V(s), traces decay by gamma^k lambda
            advantages, trace = torch.zeros(taken, args.num_envs), torch.zeros(args.num_envs)
            following = agent.value(torch.as_tensor(seen))
            for t in reversed(range(taken)):
                discount = args.gamma ** durations[t] * (1 - over[t])
                delta = rewards[t] + discount * following - values[t]
                trace = delta + discount * args.gae_lambda * trace
                advantages[t], following = trace, values[t]
            # --8<-- [end:advantages]
            targets = (advantages + values[:taken]).reshape(-1)

        flat = [x[:taken].flatten(0, 1) for x in (observations, masks, actions, log_probs, advantages)]
        for _ in range(args.epochs):
            order = torch.randperm(targets.numel())
            for first in range(0, len(order), args.minibatch):
                batch = order[first : first + args.minibatch]
                o, m, a, before, gain = (x[batch] for x in flat)
                now = agent.policy(o, m)
                ratio = (now.log_prob(a) - before).exp()
                gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-8)
                pg = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
                v = 0.5 * (agent.value(o) - targets[batch]).square().mean()
                loss = pg + 0.5 * v - args.entropy * now.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        last = returns[-20:]
        mean = f"{np.mean(last):.2f}" if last else "unknown"
        print(f"{spent} primitive steps, mean reward of the last {len(last)} episodes {mean}")


if __name__ == "__main__":
    main()
