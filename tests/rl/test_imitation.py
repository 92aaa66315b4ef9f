"""Self-imitation: the selection of kept episodes, the update from these episodes, and exact resumes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rlgpt.domain import RLSetup, TrainingRecord
from rlgpt.errors import TrainerError
from rlgpt.options import ActionLayout, Head
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.checkpoint import BEST, Checkpoint, Returns, TrainingState
from rlgpt.rl.imitation import FEWEST, End, Rule, SelfImitation
from rlgpt.rl.learner import Learner
from rlgpt.rl.network import ActorCritic
from rlgpt.rl.ppo import PPO
from rlgpt.rl.resume import restore, save
from rlgpt.rl.rollout import Rollout
from rlgpt.testing.counting import TO_ROW, WANDER, grid_spec
from rlgpt.testing.grid import TASKS, GridPlugin, grid_plugin

ON = Hyperparameters(imitation_coef=0.5)

Outcome = tuple[int, bool, float]
"""The number of decisions of an episode, its success, and its return."""

outcomes = st.tuples(st.integers(1, 7), st.booleans(), st.integers(-5, 40).map(float))


def kept_by_the_rule(episodes: list[tuple[bool, float]]) -> list[bool]:
    """Apply the documented rule: an episode is kept for success, or for a return above mean + 2 sigma of earlier
    returns.
    """
    verdicts = []
    for i, (success, value) in enumerate(episodes):
        before = [r for _, r in episodes[:i] if math.isfinite(r)]
        bar = np.mean(before) + 2 * np.std(before) if len(before) >= FEWEST else math.inf
        assume(not math.isfinite(bar) or abs(value - bar) > 1e-6 or np.std(before) == 0)
        verdicts.append(success or (value > bar and math.isfinite(value)))
    return verdicts


returns = st.one_of(st.integers(-5, 5).map(float), st.sampled_from([50.0, math.inf, -math.inf, math.nan]))


@given(st.lists(st.tuples(st.sampled_from([False, False, False, True]), returns), max_size=60))
@settings(max_examples=200)
def test_imitation_keeps_episodes_with_success_or_an_exceptional_return(episodes: list[tuple[bool, float]]) -> None:
    rule = Rule()
    wanted = kept_by_the_rule(episodes)
    assert [rule.keeps(success=s, total_reward=r) for s, r in episodes] == wanted


@given(
    slots=st.lists(st.lists(outcomes, max_size=14), min_size=1, max_size=3),
    cut=st.integers(1, 9),
)
@settings(max_examples=100)
def test_imitation_joins_the_parts_of_an_episode_from_several_rollouts(slots: list[list[Outcome]], cut: int) -> None:
    """Each decision has a number. The memory is large enough for all decisions, and contains the decisions of good
    episodes in order.
    """
    imitation = SelfImitation(Hyperparameters(imitation_coef=1.0, imitation_capacity=1000))
    order: list[tuple[bool, float]] = []
    spans: list[list[int]] = []
    total = [sum(length for length, _, _ in slot) for slot in slots]
    for begin in range(0, max(total, default=0), cut):
        for slot, episodes in enumerate(slots):
            numbers = list(range(begin, min(begin + cut, total[slot])))
            ends, at = [], 0
            for length, success, value in episodes:
                at += length
                if begin < at <= begin + len(numbers):
                    ends.append(End(at - 1 - begin, success, value))
                    order.append((success, value))
                    spans.append([1000 * slot + n for n in range(at - length, at)])
            if numbers:
                marks = torch.tensor([[1000.0 * slot + n] for n in numbers])
                imitation.see(slot, {"obs": marks}, -marks, ends)
    kept = [span for span, good in zip(spans, kept_by_the_rule(order), strict=True) if good]
    tensors = imitation.memory.tensors()
    assert list(imitation.memory.lengths) == [len(span) for span in kept]
    if kept:
        assert tensors["entry obs"].flatten().tolist() == [n for span in kept for n in span]
        assert torch.equal(tensors["actions"], -tensors["entry obs"])


def test_unfinished_episode_in_imitation_never_exceeds_the_memory_capacity() -> None:
    imitation = SelfImitation(Hyperparameters(imitation_coef=1.0, imitation_capacity=10))
    for first in range(0, 300, 3):
        marks = torch.arange(first, first + 3).float()[:, None]
        imitation.see(0, {"obs": marks}, marks, [])
        assert sum(len(done) for _, done in imitation._going_on[0]) < 10 + 3
    imitation.see(0, {"obs": torch.full((1, 1), 300.0)}, torch.full((1, 1), 300.0), [End(0, True, 0.0)])
    assert imitation.memory.tensors()["actions"].flatten().tolist() == list(range(291, 301))


# -- the update -------------------------------------------------------------------------------------------------------

LAYOUT = ActionLayout(
    ("base", "a"),
    spaces.Discrete(2),
    (Head("base", spaces.Box(-1, 1, (2,)), ("x", "y")), Head("base", spaces.Box(-1, 1, (1,)), ("a.p",))),
    torch.tensor([[1, 1, 0], [0, 0, 1]]).bool().numpy(),
)


def learner(**changes: Any) -> Learner:
    settings = Hyperparameters(
        **{
            "num_envs": 2,
            "num_steps": 5,
            "minibatch_size": 10,
            "update_epochs": 1,
            "hidden": (8,),
            "imitation_coef": 0.5,
            **changes,
        }
    )
    torch.manual_seed(0)
    return Learner(ActorCritic(LAYOUT, ("o[0]", "o[1]", "o[2]"), {}, settings), settings, 0.9)


def rollout(seed: int, *, success: bool = True, last: int = 2) -> Rollout:
    """Return a rollout of two environments. The episode of the first environment ends with decision ``last``, and the
    episode of the second environment ends with the rollout.
    """
    g = torch.Generator().manual_seed(seed)
    ended = torch.zeros(5, 2).bool()
    ended[last, 0] = ended[4, 1] = True
    actions = torch.randn(5, 2, LAYOUT.action_size, generator=g)
    actions[..., 0] = torch.randint(0, 2, (5, 2), generator=g)
    mask = torch.ones(6, 2, 2)
    return Rollout(
        {"obs": torch.randn(6, 2, 3, generator=g), "action_mask": mask, "duration": torch.ones(6, 2, 1)},
        actions,
        torch.randn(5, 2, generator=g),
        torch.ones(5, 2),
        ended,
        ended,
        {"obs": torch.randn(2, 3, generator=g), "action_mask": torch.ones(2, 2)},
        ((End(last, success, 1.0),), (End(4, success, 1.0),)),
    )


def weights(of: Learner) -> dict[str, torch.Tensor]:
    return {key: value.clone() for key, value in of.network.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def test_gradient_of_imitation_is_that_of_the_log_probability_of_the_chosen_branch() -> None:
    """Masked choices and heads that the chosen branch does not use have no gradient."""
    of = learner(imitation_minibatches=1, minibatch_size=64, max_grad_norm=1e9)
    assert of.imitation is not None
    actions = torch.tensor([[1.0, 9.0, 9.0, 0.3]]).repeat(4, 1)
    entries = {"obs": torch.randn(4, 3), "action_mask": torch.tensor([[0.0, 1.0]]).repeat(4, 1)}
    of.imitation.see(0, entries, actions, [End(3, True, 0.0)])
    of.imitation.learn(of.network, of._descend, torch.Generator().manual_seed(0))
    bias, spread = of.network.output.bias.grad, of.network.log_std.grad
    assert bias is not None
    assert spread is not None
    assert bias[:4].abs().max() == 0, "the only allowed choice has probability 1 and does not use the numbers x and y"
    assert float(bias[4]) != 0
    assert spread[:2].abs().max() == 0
    assert float(spread[2]) != 0
    assert of.network.value.weight.grad is None, "imitation does not train the critic"


def test_imitation_raises_the_probability_of_kept_actions() -> None:
    of, r = learner(imitation_minibatches=200, learning_rate=1e-2), rollout(1)
    batch, actions, _ = r.of(0)
    before = of.network.distribution(batch).log_prob(actions)[:3].mean()
    of.update(r, torch.Generator().manual_seed(0))
    assert float((of.network.distribution(batch).log_prob(actions)[:3].mean() - before).detach()) > 1.0


def test_imitation_without_kept_episodes_equals_ppo_bit_for_bit() -> None:
    """If no episode is kept, a training with self-imitation of any memory size equals a training without
    self-imitation.
    """
    trained = []
    for changes in ({"imitation_coef": 0.0}, {}, {"imitation_capacity": 7, "imitation_minibatches": 3}):
        of, generator = learner(**changes), torch.Generator().manual_seed(0)
        for seed in range(4):
            of.update(rollout(seed, success=False), generator)
        trained.append(weights(of))
    assert same(trained[0], trained[1])
    assert same(trained[0], trained[2])
    of = learner()
    of.update(rollout(0), torch.Generator().manual_seed(0))
    off = learner(imitation_coef=0.0)
    off.update(rollout(0), torch.Generator().manual_seed(0))
    assert not same(weights(of), weights(off))


def test_restored_learner_with_imitation_continues_bit_for_bit(tmp_path: Path) -> None:
    """The learner is saved between two episodes, because a resumed training begins with new episodes."""
    whole, generator = learner(imitation_capacity=11), torch.Generator().manual_seed(3)
    for seed in range(5):
        whole.update(rollout(seed, success=seed % 2 == 0, last=4 if seed == 4 else 2), generator)
    resumed, g = learner(imitation_capacity=11), torch.Generator()
    returns = Returns.of(RLSetup(reward_weights={}, observation_keys=()), (), whole.hyperparameters)
    state = TrainingState(hyperparameters=whole.hyperparameters, axis_names=whole.network.axis_names(), returns=returns)
    save(tmp_path, state, whole, generator)
    restore(Checkpoint.load(tmp_path), resumed, g, tmp_path)
    assert whole.imitation is not None
    assert resumed.imitation is not None
    for seed in range(5, 9):
        for of, its in ((whole, generator), (resumed, g)):
            of.update(rollout(seed, success=seed % 2 == 0), its)
        assert same(weights(whole), weights(resumed))
        assert same(whole.imitation.tensors(), resumed.imitation.tensors())


# -- trainings --------------------------------------------------------------------------------------------------------


def train(folder: Path, spec: EnvSpec, settings: Hyperparameters, budget: int, **more: Any) -> TrainingRecord:
    more.setdefault("seed", 7)
    return PPO().train(spec, budget=budget, folder=folder, hyperparameters=settings, **more)


@pytest.mark.slow
def test_ppo_with_imitation_learns_a_sparse_reward_that_ppo_alone_does_not_learn(tmp_path: Path) -> None:
    """Random actions find the key in one of ten episodes, and only the key gives a reward."""
    task = TASKS["grid/key"]
    setup = GridPlugin().default_setup(task).model_copy(update={"reward_weights": {"env_reward": 1.0}})
    spec = EnvSpec(task, setup, factory=grid_plugin)

    def late_success(coef: float, seed: int) -> float:
        settings = Hyperparameters(num_envs=4, num_steps=32, learning_rate=1e-3, ent_coef=0.01, imitation_coef=coef)
        folder = tmp_path / f"{coef}-{seed}"
        curve = PPO(segments=10).train(spec, budget=12_000, seed=seed, folder=folder, hyperparameters=settings).curve
        return sum(p.success for p in curve[-3:]) / 3

    seeds = (2, 3, 4)
    on, off = (np.mean([late_success(coef, seed) for seed in seeds]) for coef in (0.5, 0.0))
    assert on > off + 0.25
    assert on > 0.5


def test_resumed_training_restores_the_kept_episodes_of_imitation(tmp_path: Path) -> None:
    spec, folder = grid_spec(tmp_path / "count", TO_ROW), tmp_path / "train"
    train(folder, spec, ON, 2000)
    first = Checkpoint.load(folder).imitation
    assert first is not None
    assert len(first["lengths"]) > 5
    assert set(first) == {"actions", "entry obs", "entry action_mask", "lengths", "returns"}
    train(folder, spec, ON, 2200)
    second = Checkpoint.load(folder).imitation
    assert second is not None
    rows = len(first["actions"])
    assert torch.equal(second["actions"][:rows], first["actions"])
    assert len(second["lengths"]) > len(first["lengths"])
    assert second["returns"][0] > first["returns"][0]
    assert Checkpoint.load(folder, BEST).imitation is None, "no training resumes from the best checkpoint"


def test_imitation_can_be_switched_on_and_off_between_sessions_of_a_training(tmp_path: Path) -> None:
    spec, folder = grid_spec(tmp_path / "count", TO_ROW), tmp_path / "train"
    for budget, chosen, kept in ((800, Hyperparameters(), False), (1600, ON, True), (2000, Hyperparameters(), False)):
        train(folder, spec, chosen, budget)
        assert (Checkpoint.load(folder).imitation is not None) == kept


def test_damaged_imitation_memory_in_a_checkpoint_raises_an_error(tmp_path: Path) -> None:
    spec, folder = grid_spec(tmp_path / "count", TO_ROW), tmp_path / "train"
    train(folder, spec, ON, 800)
    there = Checkpoint.load(folder)
    assert there.imitation is not None
    there.imitation = {key: value for key, value in there.imitation.items() if key != "lengths"}
    there.save(folder)
    with pytest.raises(TrainerError, match="self-imitation cannot be read"):
        train(folder, spec, ON, 1600)


def test_warm_start_copies_the_policy_without_imitation_memory(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW)
    train(tmp_path / "a", spec, ON, 2000)
    other = grid_spec(tmp_path / "count", WANDER, TO_ROW)
    train(tmp_path / "b", other, ON, 60, warm_start=tmp_path / "a")
    kept = Checkpoint.load(tmp_path / "b").imitation
    assert kept is not None
    assert len(kept["lengths"]) < 10
