"""Begins, stores and resumes the trainings of the built-in trainers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from rlgpt.errors import TrainingFolderError
from rlgpt.files import Folder
from rlgpt.rl.checkpoint import FILE, Checkpoint, Returns, TrainingState
from rlgpt.rl.learner import PolicyLearner
from rlgpt.rl.network import AxisNames, PolicyNetwork
from rlgpt.rl.step_counter import STEPS_FILE

_BASE_ONLY = "base_only."
"""The names of the weights of the network for base-only episodes begin with this text."""

_FIRST = ("layers.0.weight", "critic.first.weight")
"""The weights of the first layers: their names end with one of these texts."""

_OF_RETURNS = ("value.", "returns.")
"""The weights that depend on the returns: their names begin with one of these texts."""


def opened(folder: Path) -> Checkpoint | None:
    """The checkpoint in ``folder``; None if no training began in ``folder``. A training writes a checkpoint before its
    first step. If steps were counted and there is no checkpoint, the checkpoint was lost, and ``opened`` raises an
    error.
    """
    files = Folder(folder, TrainingFolderError)
    if not files.exists(FILE) and not files.exists(STEPS_FILE):
        return None
    return Checkpoint.load(folder)


def begin_from(folder: Path, network: PolicyNetwork, returns: Returns) -> None:
    """Copy the matching weights of the best policy in ``folder`` into ``network``. The weights of the value function
    are copied only if ``returns`` is the same for both policies.

    :raises TrainingFolderError: ``folder`` contains no policy, or the policy cannot be read.
    """
    other = Checkpoint.load_best(folder)
    names, same = dict(other.state.axis_names), other.state.returns == returns
    take_over(network, other.weights, names, same_returns=same)


def continue_from(folder: Path, learner: PolicyLearner, returns: Returns) -> None:
    """Begin the network of ``learner`` as :func:`begin_from` does, and give the learner the memory of the training in
    ``folder``, if ``returns`` is the same for both trainings.

    :raises TrainingFolderError: ``folder`` contains no policy, or the policy or the memory cannot be read.
    """
    begin_from(folder, learner.network, returns)
    other = Checkpoint.load(folder)
    memory = other.imitation if other.state.returns == returns else None
    learner.warm_start(dict(other.state.axis_names), memory or {})


def fit(network: PolicyNetwork, checkpoint: Checkpoint, folder: Path) -> None:
    own, theirs = _names(network.axis_names()), _names(checkpoint.state.axis_names)
    if own != theirs:
        lacks, has = sorted(own - theirs)[:8], sorted(theirs - own)[:8]
        raise TrainingFolderError(
            f"the policy in {folder} is for other actions or observations: it lacks {lacks or 'nothing'} and has "
            f"{has or 'nothing'} in addition. Use the policy as a warm start, or use the setup of its training."
        )
    if network.axis_names() != checkpoint.state.axis_names:
        raise TrainingFolderError(
            f"the policy in {folder} has the same actions and observations in another order. Use the order of its "
            "training, or use the policy as a warm start, which matches them by name."
        )
    try:
        network.load_state_dict(checkpoint.weights)
    except RuntimeError as fault:
        raise TrainingFolderError(
            f"the policy in {folder} does not fit: {str(fault)[:300]}. Use the hyperparameters of its training."
        ) from fault


def _names(axes: Mapping[str, tuple[tuple[str, ...] | None, ...]]) -> set[str]:
    return {f"{tensor}: {name}" for tensor, names in axes.items() for axis in names if axis for name in axis}


def restore(checkpoint: Checkpoint, learner: PolicyLearner, generator: torch.Generator, folder: Path) -> None:
    fit(learner.network, checkpoint, folder)
    rates = [group["lr"] for group in learner.optimizer.param_groups]
    try:
        learner.optimizer.load_state_dict(checkpoint.optimizer)
        generator.set_state(checkpoint.generator)
    except (ValueError, KeyError, RuntimeError, TypeError) as fault:
        raise TrainingFolderError(f"the optimiser's state in {folder} does not fit its policy: {fault}.") from fault
    for group, rate in zip(learner.optimizer.param_groups, rates, strict=True):
        group["lr"] = rate  # The user may have changed the learning rate; the checkpoint has the old one.
    if learner.imitation is not None and checkpoint.imitation is not None:
        learner.imitation.restore(checkpoint.imitation)


def save(
    folder: Path,
    state: TrainingState,
    learner: PolicyLearner,
    generator: torch.Generator,
    *,
    best: bool = False,
    comparing: bool = False,
) -> None:
    """Write the newest checkpoint of a training, and the best one if ``best`` is True.

    :param comparing: whether the training compares base-only episodes with others. The best checkpoint is then chosen
        by the other episodes, so that it always gets the newest weights of the network for base-only episodes.
    """
    weights, kept = learner.network.state_dict(), learner.imitation.tensors() if learner.imitation else None
    policy = dict(learner.policy_weights) if best or comparing else {}
    newest = {name: values for name, values in policy.items() if name.startswith(_BASE_ONLY)}
    if newest and not best:
        Checkpoint.load_best(folder).update_best(folder, newest)
    Checkpoint(state, weights, learner.optimizer.state_dict(), generator.get_state(), kept).save(
        folder, best=policy if best else None
    )


@torch.no_grad()
def take_over(
    network: PolicyNetwork, weights: Mapping[str, torch.Tensor], names: AxisNames, *, same_returns: bool
) -> None:
    """Copy the matching part of another network's weights into ``network``.

    Rows and columns of the weights are matched by name. An action that the other network knows gets its row of weights
    from that network; a new action keeps its random initial row. The weight columns of new observations start at zero,
    so that the new observations do not change the policy and the values at first.

    :param weights: the weights of the other network.
    :param names: the names along the axes of ``weights``, as :meth:`PolicyNetwork.axis_names` returns them.
    :param same_returns: whether reward weights and discount are the same as for the other network. If ``same_returns``
        is False, the last layer of the value function and the moments of the returns keep their initial values. The
        moments average over all past returns, so the moments of another reward would scale the value targets wrongly.
    """
    own_names = network.axis_names()
    for key, own in network.state_dict().items():
        if key not in weights or (key.removeprefix(_BASE_ONLY).startswith(_OF_RETURNS) and not same_returns):
            continue
        other = weights[key]
        axes, theirs = own_names.get(key, (None,) * own.dim()), names.get(key, (None,) * own.dim())
        if other.dim() != own.dim() or len(theirs) != own.dim():
            continue
        pairs = [_matching(a, b, m, n) for a, b, m, n in zip(axes, theirs, own.shape, other.shape, strict=True)]
        if any(pair is None for pair in pairs):
            continue
        if key.endswith(_FIRST):
            own.zero_()
        own_places = np.ix_(*(pair[0] for pair in pairs if pair is not None))
        other_places = np.ix_(*(pair[1] for pair in pairs if pair is not None))
        own[own_places] = other[other_places].to(own)


def _matching(
    own: tuple[str, ...] | None, other: tuple[str, ...] | None, own_size: int, other_size: int
) -> tuple[list[int], list[int]] | None:
    """The positions along one axis that have the same name in both networks; None if the axis has no names and a
    different size in each network.
    """
    if own is None or other is None:
        return (list(range(own_size)),) * 2 if own_size == other_size else None
    shared = [name for name in own if name in other]
    return [own.index(n) for n in shared], [other.index(n) for n in shared]
