"""The branched distribution (a choice of a branch, and the numbers of that branch), compared with sums over all
branches that use torch's own distributions.
"""

from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from rlgpt.options import ActionLayout
from rlgpt.rl.distribution import BranchedDistribution
from torch.distributions import Categorical, Normal, kl_divergence

TOLERANCE = 1e-6


@st.composite
def layouts(draw: st.DrawFn) -> ActionLayout:
    branches = draw(st.integers(2, 5))
    parts: list[gymnasium.Space] = [spaces.Discrete(branches)]
    components = 0
    for _ in range(draw(st.integers(0, 3))):
        size = draw(st.integers(1, 4))
        discrete = draw(st.booleans())
        parts.append(spaces.Discrete(size) if discrete else spaces.Box(-1, 1, (size,)))
        components += 1 if discrete else size
    bits = draw(st.lists(st.booleans(), min_size=branches * components, max_size=branches * components))
    owner = np.array(bits, dtype=np.bool_).reshape(branches, components)
    space = parts[0] if len(parts) == 1 else spaces.Tuple(parts)
    return ActionLayout.of(space, branches=tuple(f"b{i}" for i in range(branches)), owner=owner)


def components_of(layout: ActionLayout, row: torch.Tensor) -> list[Categorical | Normal]:
    """Return one torch distribution per component for one row of parameters."""
    at, found = len(layout.branches), []
    for head in layout.heads:
        if head.kind == "discrete":
            found.append(Categorical(logits=row[at : at + head.size]))
            at += head.size
        else:
            for i in range(head.size):
                found.append(Normal(row[at + i], row[at + head.size + i].exp()))
            at += 2 * head.size
    return found


def selector_of(layout: ActionLayout, row: torch.Tensor, mask: torch.Tensor) -> Categorical:
    logits = row[: len(layout.branches)]
    return Categorical(probs=torch.softmax(logits, -1) * mask)


@given(layout=layouts(), seed=st.integers(0, 2**31))
@settings(max_examples=40)
def test_log_prob_entropy_and_kl_are_sums_over_branches(layout: ActionLayout, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    rows = 4
    p_row = torch.randn(rows, layout.parameters, dtype=torch.float64, generator=generator)
    q_row = torch.randn(rows, layout.parameters, dtype=torch.float64, generator=generator)
    mask = (torch.rand(rows, len(layout.branches), generator=generator) < 0.6).double()
    mask[:, 0] = 1
    p, q = BranchedDistribution(layout, p_row, mask), BranchedDistribution(layout, q_row, mask)
    actions = p.sample(generator)
    log_prob, entropy, kl = p.log_prob(actions), p.entropy(), p.kl(q)
    for i in range(rows):
        ps, qs = selector_of(layout, p_row[i], mask[i]), selector_of(layout, q_row[i], mask[i])
        pc, qc = components_of(layout, p_row[i]), components_of(layout, q_row[i])
        chosen = int(actions[i, 0])
        want_log = ps.probs[chosen].log()
        want_entropy = sum((-x * x.log() for x in ps.probs if x > 0), torch.zeros(()))
        want_kl = sum((x * (x / y).log() for x, y in zip(ps.probs, qs.probs, strict=True) if x > 0), torch.zeros(()))
        for c in range(len(pc)):
            if layout.owner[chosen, c]:
                want_log = want_log + pc[c].log_prob(actions[i, 1 + c])
            for s in range(len(layout.branches)):
                if layout.owner[s, c]:
                    want_entropy = want_entropy + ps.probs[s] * pc[c].entropy()
                    want_kl = want_kl + ps.probs[s] * kl_divergence(pc[c], qc[c])
        assert float(log_prob[i]) == pytest.approx(float(want_log), abs=TOLERANCE)
        assert float(entropy[i]) == pytest.approx(float(want_entropy), abs=TOLERANCE)
        assert float(kl[i]) == pytest.approx(float(want_kl), abs=TOLERANCE)
        assert mask[i, chosen] == 1


def box_layout() -> ActionLayout:
    space = spaces.Tuple([spaces.Discrete(3), spaces.Box(-1, 1, (2,)), spaces.Box(-1, 1, (1,))])
    owner = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.bool_)
    return ActionLayout.of(space, branches=("base", "push", "wait"), owner=owner)


def test_entropy_and_kl_are_expectations_of_log_prob_over_owned_components() -> None:
    """H = -E[log p] and KL = E[log p - log q]. A component that the branch does not use is integrated out."""
    layout, generator = box_layout(), torch.Generator().manual_seed(1)
    p_row, q_row = torch.randn(2, 1, layout.parameters, dtype=torch.float64, generator=generator)
    many = 200_000
    p = BranchedDistribution(layout, p_row.expand(many, -1))
    q = BranchedDistribution(layout, q_row.expand(many, -1))
    actions = p.sample(generator)
    assert float(-p.log_prob(actions).mean()) == pytest.approx(float(p.entropy()[0]), abs=0.02)
    assert float((p.log_prob(actions) - q.log_prob(actions)).mean()) == pytest.approx(float(p.kl(q)[0]), rel=0.03)


@given(layout=layouts(), seed=st.integers(0, 2**31), sharpness=st.floats(0.1, 20))
@settings(max_examples=40, deadline=None)
def test_sharpened_distribution_is_the_normalised_power_of_the_probabilities(
    layout: ActionLayout, seed: int, sharpness: float
) -> None:
    generator = torch.Generator().manual_seed(seed)
    row = torch.randn(1, layout.parameters, dtype=torch.float64, generator=generator)
    mask = (torch.rand(1, len(layout.branches), generator=generator) < 0.6).double()
    mask[:, 0] = 1
    p = BranchedDistribution(layout, row, mask)
    sharp = p.sharpened(sharpness)
    power = p.probabilities**sharpness
    torch.testing.assert_close(sharp.probabilities, power / power.sum(-1, keepdim=True))
    assert float(sharp.probabilities.sum()) == pytest.approx(1)
    assert bool((sharp.probabilities[mask == 0] == 0).all())
    torch.testing.assert_close(sharp.mode(), p.mode())
    one, other = p.mode(), p.sample(generator)
    one[:, 0] = other[:, 0]
    heads = [d.log_prob(one) - d.log_prob(other) for d in (p, sharp)]
    torch.testing.assert_close(heads[1], sharpness * heads[0])  # Within one branch the normaliser cancels.
    torch.testing.assert_close(p.sharpened(1.0).log_prob(other), p.log_prob(other))


@pytest.mark.parametrize("sharpness", [0.0, -1.0, float("nan"), float("inf")])
def test_sharpened_refuses_a_sharpness_that_is_not_positive_and_finite(sharpness: float) -> None:
    layout = box_layout()
    with pytest.raises(ValueError, match="above 0"):
        BranchedDistribution(layout, torch.zeros(1, layout.parameters)).sharpened(sharpness)


def test_heads_that_the_chosen_branch_ignores_get_no_gradient() -> None:
    layout = box_layout()
    parameters = torch.zeros(3, layout.parameters, requires_grad=True)
    actions = torch.tensor([[0, 0.5, 0.5, 0.5], [1, 0.5, 0.5, 0.5], [2, 0.5, 0.5, 0.5]])
    (gradient,) = torch.autograd.grad(BranchedDistribution(layout, parameters).log_prob(actions).sum(), parameters)
    touched = gradient[:, list(layout.means)] != 0
    assert touched.tolist() == layout.owner.tolist()


def test_all_heads_get_a_gradient_without_branch_masking() -> None:
    layout = box_layout()
    parameters = torch.zeros(1, layout.parameters, requires_grad=True)
    independent = BranchedDistribution(layout, parameters, branch_masking=False)
    actions = torch.tensor([[2, 0.5, 0.5, 0.5]])
    (gradient,) = torch.autograd.grad(independent.log_prob(actions).sum(), parameters)
    assert bool((gradient[:, list(layout.means)] != 0).all())
    expected = torch.log(torch.tensor(1 / 3)) + 3 * Normal(0.0, 1.0).log_prob(torch.tensor(0.5))
    assert independent.log_prob(actions).item() == pytest.approx(float(expected), abs=TOLERANCE)


def test_branched_distribution_of_a_discrete_space_is_categorical() -> None:
    layout = ActionLayout.of(spaces.Discrete(4))
    logits = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ours, theirs = BranchedDistribution(layout, logits), Categorical(logits=logits)
    actions = ours.sample()
    torch.testing.assert_close(ours.log_prob(actions), theirs.log_prob(actions[:, 0]))
    torch.testing.assert_close(ours.entropy(), theirs.entropy())
    assert ours.mode()[:, 0].tolist() == logits.argmax(-1).tolist()
    assert layout.to_space(actions[0].numpy()) in spaces.Discrete(4)


def test_branched_distribution_of_a_box_space_is_a_diagonal_gaussian() -> None:
    layout = ActionLayout.of(spaces.Box(-1, 1, (3,)))
    parameters = torch.randn(5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ours = BranchedDistribution(layout, parameters, torch.ones(5, 1))
    theirs = Normal(parameters[:, :3], parameters[:, 3:].exp())
    actions = ours.sample()
    torch.testing.assert_close(ours.log_prob(actions), theirs.log_prob(actions).sum(-1))
    torch.testing.assert_close(ours.entropy(), theirs.entropy().sum(-1))
    torch.testing.assert_close(ours.mode(), parameters[:, :3])
    assert layout.to_space(actions[0].numpy()).shape == (3,)


def test_masked_branch_is_never_sampled_and_never_the_mode() -> None:
    layout = box_layout()
    parameters = torch.zeros(2000, layout.parameters)
    parameters[:, 0] = 50.0
    mask = torch.tensor([0, 1, 1]).expand(2000, -1)
    masked = BranchedDistribution(layout, parameters, mask)
    assert bool((masked.sample()[:, 0] != 0).all())
    assert bool((masked.mode()[:, 0] != 0).all())
    assert bool(torch.isfinite(masked.entropy()).all())


def test_pickled_action_layout_still_makes_actions_in_the_space() -> None:
    space = spaces.Tuple([spaces.Discrete(2), spaces.Discrete(3), spaces.Box(-1, 1, (2,), np.float32)])
    layout = pickle.loads(pickle.dumps(ActionLayout.of(space, branches=("base", "go"))))
    assert layout.to_space(np.array([1, 2, 0.5, -0.5])) in space


@pytest.mark.parametrize(
    ("space", "branches", "owner"),
    [
        (spaces.Box(-1, 1, (2, 2)), (), None),
        (spaces.MultiBinary(3), (), None),
        (spaces.Discrete(3), ("a", "b"), None),
        (spaces.Discrete(2), ("a", "b"), np.ones((2, 1), dtype=np.bool_)),
    ],
)
def test_action_layout_refuses_an_owner_or_branches_that_do_not_fit_the_space(space, branches, owner) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="need"):
        ActionLayout.of(space, branches=branches, owner=owner)
