"""PPO in one file, in the style of CleanRL, over the lanes of a vector environment with coded actions.

    make guest && pip install ./core                            # in rlgpt's repository; make setup has it
    python docs/train_cleanrl_lanes.py CartPole-v1              # 64 lanes of gymnasium's batch simulator
    python docs/train_cleanrl_lanes.py Acrobot-v1 --bundle none

One call of the batch simulator moves all lanes by one primitive step. A lane with a coded action in progress decides
again when the coded action ends, so lanes decide at different times. ``send`` gives actions to the lanes that have
decided, and ``recv`` takes steps until at least one lane can decide again. The script stores the decisions of each lane
in a separate list. As in ``train_cleanrl.py``, the differences from plain PPO are the discount gamma^k of a decision of
k steps, and the action mask. The script learns only Discrete base actions; the parameters of coded actions have their
defaults.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import rlgpt
import torch
from rlgpt.errors import RlgptError
from torch import nn
from torch.distributions import Categorical

PUSH = """
def can_start(view):
    return abs(view["pole_angle"]) > 0.03

def run():
    view = yield observe()
    yield repeat(action="right" if view["pole_angle"] > 0 else "left", steps=3)
"""
EXAMPLE = rlgpt.CodedAction(name="push", doc="Push the cart below the pole.", source=PUSH)

parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
parser.add_argument("env_id", help="the environment's id in gymnasium's registry")
parser.add_argument("--bundle", help="a bundle's folder, or none; without it, CartPole gets an example")
parser.add_argument("--total-steps", type=int, default=200_000, help="primitive steps")
parser.add_argument("--num-envs", type=int, default=64, help="lanes")
parser.add_argument("--num-steps", type=int, default=32, help="decisions of each lane between updates, on average")
parser.add_argument("--minibatch", type=int, default=256)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--learning-rate", type=float, default=1e-3)
parser.add_argument("--gamma", type=float, default=0.99, help="discount of a primitive step")
parser.add_argument("--gae-lambda", type=float, default=0.95)
parser.add_argument("--clip", type=float, default=0.2)
parser.add_argument("--entropy", type=float, default=0.005)
parser.add_argument("--seed", type=int, default=0)


class Decision(NamedTuple):
    """One decision of a lane, with the data that PPO needs to learn from the decision.

    :ivar following: the critic's value of the next observation, which is 0 after a terminated episode.
    :ivar ended: whether the episode ended with this decision, so that the trace of GAE ends, too.
    """

    observation: np.ndarray
    mask: np.ndarray
    action: int
    log_prob: float
    value: float
    reward: float
    duration: int
    following: float
    ended: bool


class Agent(nn.Module):
    """The actor and the critic of PPO, each with two hidden layers of 64 units."""

    def __init__(self, numbers: int, choices: int) -> None:
        super().__init__()
        self.actor, self.critic = (
            nn.Sequential(nn.Linear(numbers, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outs))
            for outs in (choices, 1)
        )

    def policy(self, observation: torch.Tensor, mask: torch.Tensor) -> Categorical:
        return Categorical(logits=self.actor(observation).masked_fill(mask == 0, -1e9))

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.critic(observation).squeeze(-1)
        return values


def extended(env_id: str, bundle: str | None, lanes: int, gamma: float) -> rlgpt.options.ExtendedVectorEnv:
    venv = gymnasium.make_vec(env_id, num_envs=lanes)
    names = {"labels": ["left", "right"], "observations": ["position", "speed", "pole_angle", "pole_speed"]}
    if bundle is None and env_id.startswith("CartPole"):
        return rlgpt.extend_vector(venv, [EXAMPLE], gamma=gamma, **names)
    return rlgpt.extend_vector(venv, () if bundle in (None, "none") else bundle, gamma=gamma)


def played(env: rlgpt.options.ExtendedVectorEnv, branch: int) -> Any:
    """Return the choice of a branch as a member of the action space, with the default parameters of coded actions."""
    branch += 0 if env.layout.selector is None else int(env.layout.selector.start)
    return branch if len(env.layout.heads) == 0 else (branch, env.extension.defaults())


def advantages(decisions: Sequence[Decision], gamma: float, gae_lambda: float) -> list[float]:
    """Compute the advantages of a lane's decisions from delta = R + gamma^k V(s') - V(s), with traces that decay by
    gamma^k lambda.
    """
    found, trace = list[float](), 0.0
    for d in reversed(decisions):
        discount = gamma**d.duration
        delta = d.reward + discount * d.following - d.value
        trace = delta + (0.0 if d.ended else discount * gae_lambda * trace)
        found.append(trace)
    return found[::-1]


def main() -> None:
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    try:
        env = extended(args.env_id, args.bundle, args.num_envs, args.gamma)
    except (RlgptError, gymnasium.error.Error) as fault:
        parser.error(str(fault))
    choices = env.layout.choices
    if not isinstance(env.venv.single_action_space, gymnasium.spaces.Discrete) or choices < 2:
        parser.error(f"this script learns Discrete actions; these are {env.venv.single_action_space}.")
    space = env.venv.single_observation_space
    print(f"{args.num_envs} lanes, {choices} choices, {args.total_steps} primitive steps", flush=True)
    agent = Agent(gymnasium.spaces.flatdim(space), choices)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    ready = env.begin({lane: args.seed + lane for lane in range(args.num_envs)})
    chosen: dict[int, tuple[Any, ...]] = {}  # lane -> the decision that it carries out
    running, returns, spent = np.zeros(args.num_envs), list[float](), 0

    while spent < args.total_steps:
        histories: list[list[Decision]] = [[] for _ in range(args.num_envs)]
        while sum(map(len, histories)) < args.num_steps * args.num_envs and spent < args.total_steps:
            seen = np.stack([gymnasium.spaces.flatten(space, a.observation) for a in ready]).astype(np.float32)
            masks = np.stack([a.info["action_mask"] for a in ready]).astype(np.float32)
            with torch.no_grad():
                policy, values = (
                    agent.policy(torch.as_tensor(seen), torch.as_tensor(masks)),
                    agent.value(torch.as_tensor(seen)),
                )
                actions = policy.sample()
                log_probs = policy.log_prob(actions)
            for i, arrival in enumerate(ready):
                lane, decided = arrival.lane, arrival.decided
                if lane in chosen and decided.get("duration", 0):  # 0: this decision was only a reset
                    running[lane] += decided["total_reward"]
                    spent += decided["duration"]
                    over = arrival.terminated or arrival.truncated
                    following = 0.0 if arrival.terminated else float(values[i])
                    outcome = (arrival.reward, decided["duration"], following, over)
                    histories[lane].append(Decision(*chosen[lane], *outcome))
                    if over:
                        returns.append(running[lane])
                        running[lane] = 0.0
                chosen[lane] = seen[i], masks[i], int(actions[i]), float(log_probs[i]), float(values[i])
            env.send({a.lane: played(env, int(action)) for a, action in zip(ready, actions, strict=True)})
            ready = env.recv()

        learned = [d for history in histories for d in history]
        gains = torch.tensor([x for h in histories for x in advantages(h, args.gamma, args.gae_lambda)])
        observations, masks_, taken = (torch.as_tensor(np.stack([d[i] for d in learned])) for i in range(3))
        before, old = (torch.tensor([d[i] for d in learned]) for i in (3, 4))
        targets = gains + old
        for _ in range(args.epochs):
            for batch in torch.randperm(len(learned)).split(args.minibatch):
                now = agent.policy(observations[batch], masks_[batch])
                ratio = (now.log_prob(taken[batch]) - before[batch]).exp()
                gain = (gains[batch] - gains[batch].mean()) / (gains[batch].std(correction=0) + 1e-8)
                pg = torch.max(-gain * ratio, -gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
                v = 0.5 * (agent.value(observations[batch]) - targets[batch]).square().mean()
                optimizer.zero_grad()
                (pg + 0.5 * v - args.entropy * now.entropy().mean()).backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        last = returns[-100:]
        mean = f"{np.mean(last):.2f}" if last else "unknown"
        print(f"{spent} primitive steps, mean reward of the last {len(last)} episodes {mean}")
    env.close()


if __name__ == "__main__":
    main()
