"""The primitive steps of episodes with coded actions, from which the policy of base-only episodes learns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from lane_grids import BatchGrid, VectorGrid, grid_lanes, lanes_of
from rlgpt.rl.base_only import Masks
from rlgpt.rl.policy_env import training_seeds
from rlgpt.rl.primitive_steps import PrimitiveSteps
from rlgpt.rl.vector import LocalVector, Transition, Vector
from rlgpt.testing.counting import BROKEN, TO_ROW, WANDER, grid_spec

CODED = ("to_row", "wander")
SEEDS = (0, 1, 2)


def played(vector: Vector, masks: Masks, decisions: int = 80) -> list[list[Transition]]:
    """The transitions of each environment, whose actions are random."""
    rng = np.random.default_rng(0)
    out: dict[int, list[Transition]] = defaultdict(list)
    with vector:
        vector.mask(masks)
        masked = [observation["action_mask"] for observation, _ in vector.reset()]
        slots = list(range(len(masked)))
        for _ in range(decisions):
            actions = [[rng.choice(np.flatnonzero(masked[slot]))] for slot in slots]
            arrived = vector.exchange(slots, np.array(actions, np.float32))
            slots = [slot for slot, _ in arrived]
            for slot, transition in arrived:
                masked[slot] = transition.observation["action_mask"]
                out[slot].append(transition)
    return [out[slot] for slot in SEEDS]


@pytest.mark.parametrize("kind", [None, VectorGrid, BatchGrid])
def test_primitive_steps_are_those_of_an_episode_with_only_base_actions(
    kind: type[VectorGrid] | None, tmp_path: Path
) -> None:
    spec, masks = grid_spec(tmp_path / "count", TO_ROW, WANDER), Masks(coded=CODED, collects=True)
    if kind is None:
        first = played(LocalVector(spec, SEEDS, tmp_path / "a"), masks)
    else:
        first = played(lanes_of(grid_lanes(spec, kind), SEEDS, tmp_path), masks)
        if kind is BatchGrid:  # The simulator chooses the seeds of its later episodes by itself.
            first = [transitions[: 1 + ends(transitions)[0]] for transitions in first]
    assert any(t.duration > 1 for transitions in first for t in transitions)
    with LocalVector(spec, SEEDS, tmp_path / "b") as other:
        other.mask(Masks(coded=CODED, share=1.0))
        seen = [observation for observation, _ in other.reset()]
        for slot, transitions in enumerate(first):
            for t in transitions:
                steps = t.primitive
                assert steps is not None
                assert len(steps.rewards) == t.duration
                assert t.reward == pytest.approx(float(steps.rewards @ spec.setup.gamma ** np.arange(t.duration)))
                for before, following, action, reward, _, terminated in zip(*steps, strict=True):
                    assert np.array_equal(before, seen[slot]["obs"][: len(before)])
                    [(_, again)] = other.exchange([slot], action[None])
                    assert np.array_equal(following, (again.last or again.observation)["obs"][: len(following)])
                    assert (reward, terminated) == (pytest.approx(again.reward), again.terminated)
                    seen[slot] = again.observation


def ends(transitions: Sequence[Transition]) -> list[int]:
    """The indices of the transitions with which an episode ended."""
    return [i for i, t in enumerate(transitions) if t.last is not None]


def test_steps_are_collected_only_if_the_masks_say_so(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, WANDER)
    none = played(LocalVector(spec, SEEDS, tmp_path / "a"), Masks(coded=CODED), 20)
    assert all(t.primitive is None for transitions in none for t in transitions)
    for transitions in played(LocalVector(spec, SEEDS, tmp_path / "b"), Masks(coded=CODED, share=0.5, collects=True)):
        for t in transitions:
            base_only = t.last is not None and bool(t.last["base_only"][0])
            assert not base_only or t.primitive is None


@pytest.mark.parametrize("kind", [None, VectorGrid, BatchGrid])
def test_mixed_episode_becomes_base_only_after_its_lead(kind: type[VectorGrid] | None, tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, WANDER)
    masks = Masks(coded=CODED, share=0.9, collects=True, longest=15)
    vector = (
        LocalVector(spec, SEEDS, tmp_path / "a") if kind is None else lanes_of(grid_lanes(spec, kind), SEEDS, tmp_path)
    )
    leads = []
    for first, transitions in zip(SEEDS, played(vector, masks), strict=True):
        seeds, steps = training_seeds(first), 0
        lead = masks.lead(seed := next(seeds))
        for t in transitions:
            begins_in_lead, steps = steps < lead, steps + t.duration
            seen = t.observation if t.last is None else t.last
            assert bool(seen["base_only"][0]) == (masks.is_base_only(seed) and steps >= lead)
            assert (t.primitive is not None) == (begins_in_lead or not masks.is_base_only(seed))
            if t.episode is not None:
                assert t.episode["base_only"] is (None if lead else masks.is_base_only(seed))
                leads.append(lead)
                lead, steps = masks.lead(seed := next(seeds)), 0
    assert 0 in leads
    assert max(leads) > 0


@pytest.mark.parametrize("kind", [None, VectorGrid])
def test_verdicts_count_until_the_end_of_the_lead(kind: type[VectorGrid] | None, tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, BROKEN)
    masks, here = Masks(coded=("to_row", "broken"), share=0.9, longest=15), tmp_path / "a"
    vector = LocalVector(spec, SEEDS, here) if kind is None else lanes_of(grid_lanes(spec, kind), SEEDS, tmp_path)
    found = set()
    for first, transitions in zip(SEEDS, played(vector, masks, 600), strict=True):
        seeds, steps = training_seeds(first), 0
        lead = masks.lead(seed := next(seeds))
        for t in transitions:
            begins_in_lead, steps = steps < lead, steps + t.duration
            if t.began == "broken" and t.last is None:  # The end of an episode ends a call before its fault.
                ends_lead = begins_in_lead and steps >= lead
                assert bool(t.verdicts) == (begins_in_lead or not masks.is_base_only(seed))
                found.add((begins_in_lead, ends_lead))
            if t.episode is not None:
                lead, steps = masks.lead(seed := next(seeds)), 0
    assert found >= {(True, False), (True, True)}


def test_discounted_sums_begin_anew_with_each_episode(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, WANDER)
    for transitions in played(LocalVector(spec, SEEDS, tmp_path / "a"), Masks(coded=CODED, collects=True)):
        total = 0.0
        for t in transitions:
            assert t.primitive is not None
            for reward, so_far in zip(t.primitive.rewards, t.primitive.returns, strict=True):
                total = total * spec.setup.gamma + float(reward)
                assert so_far == pytest.approx(total, abs=1e-5)
            total = 0.0 if t.last is not None else total


def test_steps_that_are_no_base_action_of_the_policy_are_left_out(tmp_path: Path) -> None:
    spec = grid_spec(tmp_path / "count", TO_ROW, BROKEN, base_actions=("up", "down"))
    kept: list[PrimitiveSteps] = []
    for transitions in played(
        LocalVector(spec, SEEDS, tmp_path / "a"), Masks(coded=("to_row", "broken"), collects=True)
    ):
        kept += [t.primitive for t in transitions if t.primitive is not None]
        assert any(t.primitive is None for t in transitions), "use() is not among the base actions"
    assert {int(action) for steps in kept for action in steps.actions[:, 0]} == {0, 1}
