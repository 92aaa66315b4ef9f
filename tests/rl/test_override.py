"""Override episodes, in which the plan's code runs along and the policy overrides its steps."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from aim import STEPS, Aim
from lane_grids import BatchGrid, VectorGrid, grid_lanes, lanes_of
from rlgpt.config.prepare import ConstantPluginFactory, prepare
from rlgpt.domain import Parameter, Score
from rlgpt.rl.acting import by_policy
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.base_only import Kind, Masks
from rlgpt.rl.evaluation import Judge, evaluate_code
from rlgpt.rl.policy_env import build
from rlgpt.rl.ppo import PPO
from rlgpt.rl.resume import take_over
from rlgpt.rl.sac import SAC
from rlgpt.rl.vector import LocalVector, Transition, Vector
from rlgpt.testing.counting import BROKEN, WANDER, action, grid_spec

CODED = ("around", "wander")
AROUND = action(
    "around", "def run():\n    yield go(direction='right', cells=2)\n    yield use()\n    yield go(direction='left')\n"
)
BESIDE = """
def can_start(view):
    return view["observation"][0] > 0 or {always}


def run(shift=0.0):
    view = yield observe()
    x, y = view["observation"]
    for _ in range(7):
        yield act(action_0=x + shift, action_1=y - shift)
"""
SHIFT = Parameter(name="shift", low=-0.2, high=0.4, default=0.15)


def overriding_grid(folder: Path, **setup: Any) -> EnvSpec:
    return grid_spec(folder / "count", AROUND, WANDER, interrupt_every=3, plan_prior=0.9, **setup)


def beside(**setup: Any) -> EnvSpec:
    """A recipe whose code aims beside the aim, by less than the largest correction. The first action may not always
    start.
    """
    plugin, task = prepare(Aim, "hit the aim", docs=None, labels=None, score=Score(), horizon=STEPS)
    actions = tuple(
        action(name, BESIDE.replace("{always}", always), max_steps=7, parameters=(SHIFT,))
        for name, always in (("shoot", "False"), ("again", "True"))
    )
    chosen = {"coded_actions": ("shoot", "again"), "plan_prior": 0.9, "interrupt_every": 5, "residual": 0.2, **setup}
    return EnvSpec(task, plugin.default_setup(task).model_copy(update=chosen), actions, ConstantPluginFactory(plugin))


@pytest.mark.parametrize("kind", ["box", "grid", "lanes"])
def test_untrained_policy_takes_the_steps_of_the_code(kind: str, tmp_path: Path) -> None:
    spec = beside() if kind == "box" else overriding_grid(tmp_path)
    spec = grid_lanes(spec, VectorGrid) if kind == "lanes" else spec
    policy = SAC(width=16).untrained(spec, seed=0, hyperparameters=Hyperparameters())
    with Judge(dataclasses.replace(spec, overrides=True)) as judge:
        played = judge.play(by_policy(policy, "override"), range(10))
    alone = evaluate_code(spec, spec.actions, seeds=range(10))
    assert [(e.success, e.total_reward, e.primitive_steps) for e in played.episodes] == [
        (e.success, pytest.approx(e.total_reward), e.primitive_steps) for e in alone.episodes
    ]
    assert all(e.decisions == e.primitive_steps for e in played.episodes)


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_policy_that_overrides_code_becomes_better_than_the_code(workers: int, tmp_path: Path) -> None:
    spec, trainer = beside(base_actions=()), SAC(width=32, batch_size=64, workers=workers, parameter_search=0.0)
    arguments: dict[str, Any] = {"seed": 0, "folder": tmp_path, "hyperparameters": Hyperparameters()}
    first = trainer.train(spec, budget=3_000, progress=lambda point: point.primitive_steps > 1_000, **arguments)
    assert first.primitive_steps < 2_000
    record = trainer.train(spec, budget=3_000, **arguments)  # The training is resumed.
    assert record.compared == ("override",)
    overriding = dataclasses.replace(spec, overrides=True)
    with Judge(overriding) as judge:
        played = judge.play(by_policy(trainer.load(tmp_path, overriding), "override"), range(10))
    code = evaluate_code(spec, spec.actions, seeds=range(10)).mean_score
    assert code is not None
    assert played.mean_score is not None
    assert code == pytest.approx(-STEPS * 2 * 0.15**2, rel=0.05)
    assert played.mean_score > code / 4


def test_kinds_of_a_training_fit_its_actions(tmp_path: Path) -> None:
    assert SAC().compares(beside()) == SAC().compares(overriding_grid(tmp_path)) == 2
    assert SAC().compares(beside(base_actions=())) == 1, "no base action, but corrections"
    assert SAC().compares(beside(residual=0.0)) == 1, "no correction"
    assert SAC().compares(beside(interrupt_every=None)) == 1
    assert SAC().compares(overriding_grid(tmp_path, base_actions=("up", "down"))) == 1, "not every step can be taken"
    assert PPO(base_only=0.3).compares(beside()) == 1
    assert SAC(base_only=0).compares(beside()) == 0


def rows_of(transitions: list[Transition], kind: Kind) -> list[tuple[Any, ...]]:
    return [
        row for t in transitions for steps in t.primitive if steps.kind is kind for row in zip(*steps.rows, strict=True)
    ]


def played(vector: Vector, masks: Masks, choose: Any, decisions: int = 60) -> list[list[Transition]]:
    out: list[list[Transition]] = [[], [], []]
    with vector:
        vector.mask(masks)
        seen = dict(enumerate(observation for observation, _ in vector.reset()))
        slots = list(seen)
        for _ in range(decisions):
            actions = np.stack([choose(seen[slot]) for slot in slots]).astype(np.float32)
            arrived = vector.exchange(slots, actions)
            slots = [slot for slot, _ in arrived]
            for slot, transition in arrived:
                seen[slot] = transition.observation
                out[slot].append(transition)
    return out


@pytest.mark.parametrize("kind", [None, VectorGrid, BatchGrid])
def test_steps_of_option_episodes_are_those_of_override_episodes(kind: Any, tmp_path: Path) -> None:
    spec = overriding_grid(tmp_path)
    with build(spec, seed=0) as env:
        names, branches = env.observation_names, env.layout.branches
    plan = [names.index(f"plan {name}") for name in CODED]
    first = names.index("proposal[0]")

    def vector(name: str) -> Vector:
        here = tmp_path / name
        here.mkdir()
        return (
            LocalVector(spec, (0, 1, 2), here / "steps")
            if kind is None
            else lanes_of(grid_lanes(spec, kind), (0, 1, 2), here)
        )

    def follow(seen: Any) -> list[int]:
        return [len(branches) - 2 + int(seen["obs"][plan].argmax())]

    firsts: list[Any] = []

    def take(seen: Any) -> list[int]:
        assert seen["kind"][0] == Kind.OVERRIDE
        firsts.append(seen)
        return [int(seen["obs"][first : first + 5].argmax())]

    options = played(vector("a"), Masks(coded=CODED, collects=(Kind.OVERRIDE,)), follow, 20)
    override = played(vector("b"), Masks(coded=CODED, share=1.0, override=1.0), take)
    for slot, (ours, theirs) in enumerate(zip(options, override, strict=True)):
        before, known = firsts[slot], set()
        for t in theirs:
            assert t.duration == 1
            assert not t.primitive
            after = t.last or t.observation
            known.add((*before["obs"], *after["obs"], round(t.reward, 5)))
            before = t.observation
        end = next(i + 1 for i, t in enumerate(ours) if t.last is not None)
        rows = rows_of(ours[:end], Kind.OVERRIDE)
        assert len(rows) == sum(t.duration for t in ours[:end]), "the last step of a call is a row, too"
        for seen, following, flat, reward, _, _ in rows:
            assert int(flat[0]) == int(seen[first : first + 5].argmax())
            assert (*seen, *following, round(float(reward), 5)) in known


def test_correction_of_a_step_in_an_option_episode_is_the_action_that_takes_it_in_an_override_episode(
    tmp_path: Path,
) -> None:
    spec, rng, found = beside(), np.random.default_rng(0), set()
    with LocalVector(spec, (0,), tmp_path / "steps") as vector:
        vector.mask(Masks(coded=("shoot", "again"), collects=(Kind.BASE_ONLY, Kind.OVERRIDE)))
        vector.reset()
        last = np.zeros(2)
        for correction in rng.uniform(-1, 1, (60, 2)):
            # The branch of the action "again", the base action, the parameters of both actions, and the correction.
            [(_, t)] = vector.exchange([0], np.array([[2, 0, 0, 0.5, 0.5, *correction]], np.float32))
            for steps in t.primitive:
                for before, _, flat, reward, _, _ in zip(*steps.rows, strict=True):
                    taken = flat[1:3] if steps.kind is Kind.BASE_ONLY else before[-2:] + flat[5:]
                    inside = bool((np.abs(taken) < 1).all())
                    found.add((steps.kind, inside))
                    if steps.kind is Kind.OVERRIDE and inside:  # The last step of a call comes with the next decision.
                        assert any(flat[5:] == pytest.approx(0.2 * c, abs=1e-4) for c in (correction, last))
                    miss = np.square(np.clip(taken, -1, 1) - before[:2]).sum()
                    assert reward == pytest.approx(-miss, abs=1e-4)
            last = correction
    assert found >= {(Kind.BASE_ONLY, True), (Kind.OVERRIDE, True)}


def test_code_runs_along_with_the_parameters_that_the_search_found(tmp_path: Path) -> None:
    spec = beside(base_actions=())
    with LocalVector(spec, (0,), tmp_path / "steps") as vector:
        vector.mask(Masks(coded=("shoot", "again"), share=1.0, override=1.0, along=(0.3, -0.1)))
        [(seen, _)] = vector.reset()
        for _ in range(30):
            branch = 0 if seen["obs"][2] else 1
            shift = 0.3 if branch == 0 else -0.1
            assert seen["obs"][-2:] == pytest.approx([seen["obs"][0] + shift, seen["obs"][1] - shift], abs=1e-5)
            [(_, t)] = vector.exchange([0], np.array([[branch, 1, 1, 0, 0]], np.float32))
            assert t.duration == 1
            seen = t.observation


def test_verdicts_of_override_episodes_do_not_count(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", BROKEN, WANDER, interrupt_every=3)
    for override, counts in ((1.0, False), (0.0, True)):
        with LocalVector(spec, (0,), tmp_path / f"steps{override}") as vector:
            vector.mask(Masks(coded=("broken", "wander"), share=override, override=override))
            verdicts = [v for _, found in vector.reset() for v in found]
            for _ in range(30):
                [(_, t)] = vector.exchange([0], np.array([[0 if override else 5]], np.float32))
                verdicts += t.verdicts
        assert bool(verdicts) == counts


def test_warm_start_with_a_larger_correction_does_not_take_over_corrections(tmp_path: Path) -> None:
    for residual, same in ((0.2, True), (0.4, False)):
        old, new = (SAC(width=8).network(beside(residual=r), Hyperparameters(), 0) for r in (0.2, residual))
        with torch.no_grad():
            for network in (old, old.override):
                network.actor.output.bias[:] = 1.0
        take_over(new, old.state_dict(), old.axis_names(), same_returns=True)
        assert new.override.actor.output.bias.tolist() == [float(same)] * 4
        # The output has a mean and a spread for each base action, parameter and correction.
        assert new.actor.output.bias.tolist() == [1.0] * 4 + [float(same)] * 2 + [1.0] * 4 + [float(same)] * 2
