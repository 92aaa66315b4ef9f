"""Base-only episodes, and trainings that mask their coded actions if learning without code is better."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from aim import STEPS, Aim
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.config.prepare import ConstantPluginFactory, prepare
from rlgpt.domain import CodedAction, Parameter, Score
from rlgpt.errors import ConfigError
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.base_only import FEWEST, MOST, WINDOW, BaseOnly, BaseOnlyState, Masks
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.evaluation import evaluate
from rlgpt.rl.ppo import PPO
from rlgpt.rl.resume import take_over
from rlgpt.rl.sac import SAC
from rlgpt.rl.training_stats import TrainingStats, TrainingStatsState
from rlgpt.rl.vector import LocalVector, Vector, with_quarantined
from rlgpt.rl.worker_vector import WorkerVector
from rlgpt.testing.counting import TO_ROW, WANDER, grid_spec

NOISE = np.random.default_rng(0).normal(size=200)


def episode(worth: float, *, base_only: bool, success: bool = False) -> dict[str, Any]:
    return {"score": worth, "total_reward": 0.0, "success": success, "base_only": base_only, "primitive_steps": 30}


def compared(base_only: list[float], others: list[float], *, maximize: bool = True) -> BaseOnly:
    comparison = BaseOnly(("walk",), 0.25, Score(maximize=maximize), BaseOnlyState())
    for worth in base_only:
        comparison.add(episode(worth, base_only=True))
    for worth in others:
        comparison.add(episode(worth, base_only=False))
    return comparison


@given(st.integers(0, 2**31), st.floats(0, 1), st.floats(0, 1))
def test_the_seed_of_an_episode_decides_whether_it_is_base_only(seed: int, one: float, other: float) -> None:
    low, high = sorted((one, other))
    masks, more = Masks(("bad",), ("walk",), low), Masks(("bad",), ("walk",), high)
    assert masks.of_episode(seed) == (("bad", "walk") if masks.is_base_only(seed) else ("bad",))
    assert more.is_base_only(seed) or not masks.is_base_only(seed), "a larger share keeps the base-only episodes"
    assert not Masks((), ("walk",), 0.0).is_base_only(seed)
    assert Masks((), ("walk",), 1.0).is_base_only(seed)


@given(st.integers(0, 2**31), st.floats(0, 1), st.integers(0, 100))
def test_only_a_base_only_episode_has_a_lead(seed: int, share: float, longest: int) -> None:
    masks = Masks((), ("walk",), share, longest=longest)
    lead = masks.lead(seed)
    assert 0 <= lead <= longest
    assert masks.is_base_only(seed) or not lead
    assert masks.of_episode(seed) == (("walk",) if masks.is_base_only(seed) and not lead else ())


def test_half_of_the_base_only_episodes_have_a_lead_of_uniform_length() -> None:
    leads = [Masks((), ("walk",), 1.0, longest=1000).lead(seed) for seed in range(2000)]
    assert 0.46 < np.mean([lead > 0 for lead in leads]) < 0.54
    assert 470 < np.mean([lead for lead in leads if lead]) < 530


def test_share_of_base_only_episodes_is_that_of_the_masks() -> None:
    masks = Masks((), ("walk",), 0.25)
    assert 0.2 < np.mean([masks.is_base_only(seed) for seed in range(2000)]) < 0.3


@pytest.mark.parametrize("progress", [0.0, 0.4, 0.6, 0.9])
def test_worse_base_only_episodes_keep_their_smallest_share_only_in_the_first_half(progress: float) -> None:
    comparison = compared([*NOISE[:WINDOW]], [*(5 + NOISE[WINDOW : 2 * WINDOW])])
    assert not comparison.decide(100, progress)
    masks = comparison.masks(("bad",), progress)
    assert masks.names == ("bad",)
    assert masks.share == pytest.approx(0.25 if progress < 0.5 else 0.0, abs=1e-6)
    assert comparison.since is None


@pytest.mark.parametrize(("maximize", "sign"), [(True, 1), (False, -1)])
def test_better_base_only_episodes_mask_the_coded_actions_from_then_on(maximize: bool, sign: int) -> None:
    good, bad = sign * (5 + NOISE[:FEWEST]), sign * NOISE[FEWEST : 2 * FEWEST]
    comparison = compared([*good], [*bad], maximize=maximize)
    assert comparison.decide(700, 0.9)
    assert comparison.masks((), 0.9) == Masks((), ("walk",), 1.0)
    resumed = BaseOnly(("walk",), 0.25, Score(maximize=maximize), comparison.state)
    for worth in bad:
        assert resumed.add(episode(worth, base_only=True)), "only base-only episodes show what this policy can do"
        assert not resumed.add(episode(worth, base_only=False))
    assert not resumed.decide(900, 0.95), "it was decided before"
    assert resumed.masks((), 0.95).share == 1.0
    assert resumed.since == 700


def test_leads_are_as_long_as_an_episode_with_code_until_the_coded_actions_are_masked() -> None:
    comparison = compared([1.0] * 10, [0.0] * 5)
    comparison.add({**episode(0.0, base_only=False), "primitive_steps": 90})
    assert comparison.masks((), 0.3).longest == 40
    assert BaseOnly(("walk",), 0.25, Score(), comparison.state).masks((), 0.3).longest == 40
    assert not comparison.add({**episode(0.0, base_only=True), "base_only": None}), "a mixed episode does not count"
    assert comparison.decide(500, 0.3)
    assert comparison.masks((), 0.3).longest == 0


def test_few_episodes_decide_nothing() -> None:
    comparison = compared([100.0] * (FEWEST - 1), [0.0] * WINDOW)
    assert comparison.masks((), 0.9).share == 0.0


def test_base_only_episodes_are_clearly_worse_only_if_there_are_enough_of_them() -> None:
    assert compared([0.0] * FEWEST, [100.0] * WINDOW).is_worse
    assert not compared([0.0] * (FEWEST - 1), [100.0] * WINDOW).is_worse
    assert not compared([0.0] * FEWEST, [0.0] * WINDOW).is_worse
    assert not compared([100.0] * FEWEST, [0.0] * WINDOW).is_worse


def test_coded_actions_are_not_masked_at_the_beginning_of_a_training() -> None:
    comparison = compared([100.0] * WINDOW, [0.0] * WINDOW)
    assert not comparison.decide(10, 0.1)
    assert comparison.masks((), 0.1).share == MOST
    assert comparison.decide(50, 0.5)
    assert comparison.masks((), 0.5).share == 1.0


def test_base_only_episodes_that_get_better_have_half_of_the_episodes() -> None:
    rising = [float(n + noise) for n, noise in zip(range(WINDOW), NOISE, strict=False)]
    assert compared(rising, [1000.0] * WINDOW).masks((), 0.9).share == 0.5
    assert compared(rising[::-1], [1000.0] * WINDOW).masks((), 0.9).share == 0.0


def simulated(base_only: float, others: float, episodes: int, seed: int) -> int | None:
    """Simulate a training whose episodes succeed with given probabilities, and return the segment in which the coded
    actions are masked.
    """
    rng, comparison = np.random.default_rng(seed), BaseOnly(("walk",), 0.5, None, BaseOnlyState())
    for segment in range(1, 31):
        share = comparison.masks((), segment / 30).share
        for is_base_only in rng.random(episodes) < share:
            success = rng.random() < (base_only if is_base_only else others)
            comparison.add(episode(0.0, base_only=bool(is_base_only), success=success))
        comparison.decide(segment, segment / 30)
    return comparison.since


@pytest.mark.parametrize("episodes", [12, 60])
def test_equal_kinds_of_episodes_seldom_mask_the_coded_actions_and_clearly_better_ones_soon(episodes: int) -> None:
    equal = [simulated(0.4, 0.4, episodes, seed) for seed in range(150)]
    assert np.mean([since is not None for since in equal]) < 0.15
    better = [simulated(0.6, 0.1, episodes, seed) for seed in range(20)]
    assert all(since is not None and since <= 12 for since in better)


def test_success_is_compared_before_the_score() -> None:
    comparison = compared([], [])
    for number in range(WINDOW):
        comparison.add(episode(0.0, base_only=True, success=number > 0))
        comparison.add(episode(9.0, base_only=False))
    assert comparison.decide(0, 0.9)


def test_episode_without_a_finite_score_is_not_compared() -> None:
    comparison = compared([float("nan"), float("inf")], [float("nan")])
    assert comparison.state == BaseOnlyState()


def test_learning_curve_leaves_out_base_only_episodes_until_the_coded_actions_are_masked() -> None:
    stats = TrainingStats(TrainingStatsState())
    stats.base_only = compared([], [])
    shown: dict[str, Any] = {"reward_terms": {}, "metrics": {}}
    stats.add_episode({**episode(1.0, base_only=True), **shown}, {"wait": 3})
    assert stats.close_point(primitive_steps=1, decisions=1) is None
    stats.add_episode({**episode(2.0, base_only=False), **shown}, {"walk": 3})
    point = stats.close_point(primitive_steps=2, decisions=2)
    assert point is not None
    assert (point.episodes, point.score, dict(point.usage)) == (1, 2.0, {"walk": 1.0})


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_no_coded_action_may_be_chosen_in_a_base_only_episode(workers: int, tmp_path: Path) -> None:
    spec, seeds, steps = grid_spec(tmp_path / "count", TO_ROW, WANDER), [0, 1, 2], tmp_path / "steps"
    vector: Vector = WorkerVector(spec, seeds, steps, workers) if workers else LocalVector(spec, seeds, steps)
    masks, rng = Masks((), ("to_row", "wander"), 0.5), np.random.default_rng(0)
    kinds: list[bool] = []
    with vector:
        vector.mask(masks)
        open_ = [bool(observation["action_mask"][5:].any()) for observation, _ in vector.reset()]
        for _ in range(120):
            actions = rng.integers(0, 5, (3, 1)).astype(np.float32)
            for slot, t in vector.exchange(range(3), actions):
                if t.episode is not None:
                    kinds.append(t.episode["base_only"])
                    assert t.episode["base_only"] != open_[slot]
                    assert t.episode["base_only"] == masks.is_base_only(t.episode["seed"])
                    open_[slot] = bool(t.observation["action_mask"][5:].any())
    assert set(kinds) == {True, False}


AWAY = """
def run():
    view = yield observe()
    x, y = view["observation"]
    for _ in range(5):
        yield act(action_0=-x, action_1=-y)
"""


SHIFT = Parameter(name="shift", low=-1.0, high=1.0, default=0.0)


def aiming(source: str) -> EnvSpec:
    """A recipe with the environment ``Aim`` and one coded action, which the prior of the policy prefers."""
    plugin, task = prepare(Aim, "hit the aim", docs=None, labels=None, score=Score(), horizon=STEPS)
    action = CodedAction(name="shoot", doc="Shoots.", source=source, max_steps=5)
    setup = plugin.default_setup(task).model_copy(update={"coded_actions": ("shoot",), "plan_prior": 0.9})
    return EnvSpec(task, setup, (action,), ConstantPluginFactory(plugin))


def test_training_with_good_code_keeps_it(tmp_path: Path) -> None:
    spec = aiming(AWAY.replace("-x", "x").replace("-y", "y"))
    trainer = SAC(width=32, batch_size=64)
    record = trainer.train(spec, budget=1_500, seed=0, folder=tmp_path, hyperparameters=Hyperparameters())
    assert record.base_only == record.masked == ()
    assert record.curve[-1].usage["shoot"] > 0


def test_best_checkpoint_has_the_newest_weights_for_base_only_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlgpt.rl.training_session.is_best", lambda now, best: now is not None and best is None)
    trainer = SAC(width=16, batch_size=16)
    spec = aiming(AWAY.replace("-x", "x").replace("-y", "y"))
    trainer.train(spec, budget=1_500, seed=0, folder=tmp_path, hyperparameters=Hyperparameters())
    newest, best = Checkpoint.load(tmp_path), Checkpoint.load_best(tmp_path)
    assert newest.imitation is not None
    average = {k.removeprefix("average "): v for k, v in newest.imitation.items() if k.startswith("average ")}
    same = {name for name, values in average.items() if torch.equal(values, best.weights[name])}
    assert same >= {name for name in average if name.startswith("base_only.")}
    assert "critic.first.weight" not in same, "the other weights are those of the best policy with code"
    assert best.state.decisions < newest.state.decisions


def test_training_without_base_only_episodes_does_not_compare(tmp_path: Path) -> None:
    spec = aiming(AWAY)
    trainer = SAC(base_only=0, width=32)
    record = trainer.train(spec, budget=800, seed=0, folder=tmp_path, hyperparameters=Hyperparameters())
    assert record.base_only == ()
    assert PPO().base_only == 0
    assert not trainer.compares(spec)
    assert SAC().compares(spec)
    more = CodedAction(name="wait", doc="Waits.", source=AWAY, max_steps=5)
    setup = spec.setup.model_copy(update={"base_actions": (), "coded_actions": ("shoot", "wait")})
    assert not SAC().compares(dataclasses.replace(spec, setup=setup, actions=(*spec.actions, more)))


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_share_of_base_only_episodes_outside_its_range_is_rejected(share: float) -> None:
    with pytest.raises(ConfigError, match=r"trainer\.base_only"):
        PPO(base_only=share)


def test_training_continues_without_bad_code_even_if_it_is_resumed_and_is_then_better(tmp_path: Path) -> None:
    spec, trainer = aiming(AWAY), SAC(width=32, batch_size=64)
    arguments: dict[str, Any] = {"seed": 0, "folder": tmp_path, "hyperparameters": Hyperparameters()}
    first = trainer.train(spec, budget=4_500, progress=lambda point: "shoot" not in point.usage, **arguments)
    assert first.base_only == ("shoot",)
    assert first.primitive_steps < 4_500
    record = trainer.train(spec, budget=4_500, **arguments)
    assert record.base_only == record.masked == ("shoot",)
    assert all("shoot" not in p.usage for p in record.curve if p.primitive_steps > first.primitive_steps)
    masked = with_quarantined(spec, record.masked)
    played = evaluate(trainer.load(tmp_path, masked), masked, seeds=range(5), greedy=False)
    assert played.mean_score is not None
    assert played.mean_score > -4, "20 steps of the bad code have a score of about -43"
    assert "shoot" not in played.usage


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_next_training_keeps_the_primitive_steps_although_the_code_changes(weight: float, tmp_path: Path) -> None:
    spec, trainer = aiming(AWAY), SAC(width=16, batch_size=16, segments=4)
    arguments: dict[str, Any] = {"seed": 0, "hyperparameters": Hyperparameters(num_envs=2)}
    trainer.train(spec, budget=400, folder=tmp_path / "first", **arguments)
    source = AWAY.replace("run()", "run(shift)")
    action = CodedAction(name="aim", doc="Aims.", source=source, max_steps=5, parameters=(SHIFT,))
    setup = spec.setup.model_copy(update={"coded_actions": ("aim",), "reward_weights": {"env_reward": weight}})
    other = dataclasses.replace(spec, actions=(action,), setup=setup)
    second = {"folder": tmp_path / "second", "warm_start": tmp_path / "first", "progress": lambda point: True}
    trainer.train(other, budget=400, **second, **arguments)
    before, after = (Checkpoint.load(tmp_path / name).imitation for name in ("first", "second"))
    assert before is not None
    assert after is not None
    counts = {memory: len(before[f"base-only {memory} actions"]) for memory in ("row", "primitive row")}
    assert sum(counts.values()) >= 200, "in the first half, each step is a row, whichever kind its episode is of"
    for memory, count in counts.items():
        kept = len(after[f"base-only {memory} actions"]) > count
        assert kept == (weight == 1.0), "the rows of other rewards are not kept"
        for key in ("obs", "actions", "rewards") if kept else ():
            name = f"base-only {memory} {key}"
            assert torch.equal(after[name][:count], before[name])


def test_ppo_with_base_only_episodes_continues_without_bad_code(tmp_path: Path) -> None:
    trainer, hyperparameters = PPO(base_only=0.3), Hyperparameters(num_steps=16)
    record = trainer.train(aiming(AWAY), budget=3_000, seed=0, folder=tmp_path, hyperparameters=hyperparameters)
    assert record.base_only == ("shoot",)
    assert "shoot" not in record.curve[-1].usage


def test_warm_start_with_a_larger_correction_does_not_take_over_corrections() -> None:
    spec = aiming(AWAY)

    def network(residual: float) -> Any:
        setup = spec.setup.model_copy(update={"interrupt_every": 2, "residual": residual})
        return SAC(width=8, base_only=0).network(dataclasses.replace(spec, setup=setup), Hyperparameters(), 0)

    for residual, same in ((0.2, True), (0.4, False)):
        old, new = network(0.2), network(residual)
        with torch.no_grad():
            old.actor.output.bias[:] = 1.0
        take_over(new, old.state_dict(), old.axis_names(), same_returns=True)
        # The output has the shifts, then the spreads, of two base actions and two corrections.
        assert new.actor.output.bias.tolist() == ([1.0] * 2 + [float(same)] * 2) * 2
