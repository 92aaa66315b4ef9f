"""The plan prior: a fresh policy that prefers the next action of the plan. Also the policy's observation of the plan,
and the initial values of parameters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.domain import Parameter, Task
from rlgpt.plugin.types import Context, LowLevel, Primitive
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.evaluation import evaluate, evaluate_code
from rlgpt.rl.network import ActorCritic
from rlgpt.rl.plan_features import PlanFeatures
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO
from rlgpt.testing.counting import TO_ROW, action, grid_spec
from rlgpt.testing.grid import GridEnv, GridPlugin

TO_COLUMN = action(
    "to_column",
    "def run(extra=2.0):\n"
    "    view = yield observe()\n"
    "    right = view['key'][1] - view['agent'][1]\n"
    "    if right:\n"
    "        yield go(direction='right' if right > 0 else 'left', cells=abs(right))\n"
    "    if extra == 2.0:\n"
    "        yield use()\n",
    parameters=(Parameter(name="extra", low=1.0, high=9.0, default=2.0),),
)


def fresh(tmp_path: Path, **setup: Any) -> ActorCritic:
    env = build(grid_spec(tmp_path / "count", TO_ROW, TO_COLUMN, **setup), seed=0)
    return ActorCritic.of(env, Hyperparameters(), seed=0)


@given(prior=st.floats(0.05, 0.99), mask=st.lists(st.booleans(), min_size=6, max_size=6), plan=st.integers(0, 1))
@settings(max_examples=40)
@torch.no_grad()
def test_fresh_policy_gives_the_choice_of_the_plan_the_probability_plan_prior_for_any_mask(
    tmp_path_factory: pytest.TempPathFactory, prior: float, mask: list[bool], plan: int
) -> None:
    network = fresh(tmp_path_factory.getbasetemp(), plan_prior=prior)
    allowed = torch.tensor([[*mask[:5], True, True]], dtype=torch.float32)
    seen = torch.rand(1, len(network._observation_names))
    seen[0, -2:] = 0.0
    seen[0, -2 + plan] = 1.0
    probabilities = network.distribution({"obs": seen, "action_mask": allowed}).probabilities[0]
    assert float(probabilities[5 + plan]) == pytest.approx(prior, abs=0.02)


@pytest.mark.parametrize("every", [None, 1, 3])
def test_greedy_fresh_policy_with_a_plan_prior_plays_the_same_episodes_as_the_code(
    every: int | None, tmp_path: Path
) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, TO_COLUMN, plan_prior=0.9, interrupt_every=every)
    policy = PPO().untrained(spec, seed=3, hyperparameters=Hyperparameters())
    learned = evaluate(policy, spec, seeds=range(8), greedy=True)
    coded = evaluate_code(spec, spec.actions, seeds=range(8))
    assert learned.success_rate > 0
    for ours, theirs in zip(learned.episodes, coded.episodes, strict=True):
        assert (ours.success, ours.primitive_steps, ours.total_reward) == (
            theirs.success,
            theirs.primitive_steps,
            pytest.approx(theirs.total_reward),
        )


def test_policy_observes_the_plan_and_the_proposal_of_the_action_in_progress(tmp_path: Path) -> None:
    env = build(grid_spec(tmp_path / "count", TO_ROW, TO_COLUMN, plan_prior=0.5, interrupt_every=1), seed=0)
    plan, proposal = ("plan to_row", "plan to_column"), tuple(f"proposal[{i}]" for i in range(5))
    assert env.observation_names[-8:] == (*plan, "running", *proposal)
    observation, _ = env.reset(seed=1)
    assert observation["obs"][-8:].tolist() == [1, 0, 0, 0, 0, 0, 0, 0]
    env.extended.context.model.agent, env.extended.context.model.key = (0, 0), (6, 6)
    observation, *_ = env.step(env.form.coded("to_row"))
    assert observation["obs"][-8:].tolist() == [1, 0, 1, 0, 1, 0, 0, 0], "the action in progress proposes `down`"
    assert observation["obs"].shape == env.observation_space["obs"].shape


def test_policy_without_plan_prior_and_interruption_observes_only_the_keys_of_the_setup(tmp_path: Path) -> None:
    env = build(grid_spec(tmp_path / "count", TO_ROW), seed=0)
    assert not [name for name in env.observation_names if name.startswith(("plan", "running", "proposal"))]


def test_initial_mean_of_an_action_parameter_is_its_default(tmp_path: Path) -> None:
    env = build(grid_spec(tmp_path / "count", TO_ROW, TO_COLUMN), seed=0)
    policy = PPO().untrained(
        grid_spec(tmp_path / "count", TO_ROW, TO_COLUMN), seed=1, hyperparameters=Hyperparameters()
    )
    chosen = policy.act(env.reset(seed=0)[0], greedy=True, rng=np.random.default_rng(0))
    assert env.codec.decode(chosen)[1] == pytest.approx([2.0], abs=0.1)


class PairEnv(GridEnv):
    """A grid world that also accepts a move in a tuple, which is not in its action space. Minecraft's environment
    accepts such actions too.
    """

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return super().step(action[0] if isinstance(action, tuple) else action)


class PairPlugin(GridPlugin):
    def make_env(self, task: Task, *, seed: int, render_mode: str | None = None) -> GridEnv:
        return PairEnv("key", task.horizon)

    def primitives(self, task: Task) -> Sequence[Primitive]:
        return [dataclasses.replace(p, run=in_tuples(p.run)) for p in super().primitives(task)]


def in_tuples(run: Callable[..., LowLevel]) -> Callable[..., LowLevel]:
    def each(ctx: Context, **arguments: Any) -> LowLevel:
        actions = run(ctx, **arguments)
        while True:
            try:
                yield (next(actions),)
            except StopIteration as end:
                return end.value

    return each


def test_proposed_action_outside_the_action_space_is_observed_as_zeros(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, plan_prior=0.5, interrupt_every=1)
    env = build(dataclasses.replace(spec, factory=lambda task: PairPlugin()), seed=0)
    env.reset(seed=1)
    env.extended.context.model.agent, env.extended.context.model.key = (0, 0), (6, 6)
    observation, *_ = env.step(env.form.coded("to_row"))
    assert env.extended.proposal == (1,)
    assert observation["obs"][-7:].tolist() == [1, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("proposal", [((0.1, 0.2), 0.3), "open", (0.1, 0.2, 0.3), {"grip": 1.0}])
def test_proposed_action_of_another_shape_than_the_box_is_observed_as_zeros(proposal: Any) -> None:
    box, setup = spaces.Box(-1.0, 1.0, (2,)), {"offset": 1, "interrupt_every": 4, "actions": (TO_ROW,)}
    features = PlanFeatures(SimpleNamespace(action_space=box, **setup))  # type: ignore[arg-type]
    assert features.build({"plan": 1}, proposal).tolist() == [1, 1, 0, 0]
    assert features.build({"plan": 1}, [0.5, -0.5]).tolist() == [1, 1, 0.5, -0.5]
