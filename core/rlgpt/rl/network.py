"""The built-in policy network, in which the policy (actor) and the value function (critic) share no layer.

The value loss has no gradient with respect to the policy's weights, but the value loss affects their updates. The
learners clip the norm of the gradient of all weights together, so a large value error makes the update of the policy
smaller.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from gymnasium import spaces
from torch import nn

from rlgpt.options import ActionLayout
from rlgpt.rl.distribution import BranchedDistribution
from rlgpt.rl.encoder import ImageEncoder
from rlgpt.rl.normalizer import RunningMoments
from rlgpt.rl.plan_features import PLAN

if TYPE_CHECKING:
    from rlgpt.rl.base import Encoder, Hyperparameters
    from rlgpt.rl.policy_env import PolicyEnv

Batch = dict[str, torch.Tensor]
AxisNames = dict[str, tuple[tuple[str, ...] | None, ...]]

OUTPUT_GAIN = 0.01
"""Scale of the initial weights of the last layer. With this scale, the untrained policy is nearly uniform for every
observation (Andrychowicz et al., 2021, section 3.2).
"""

AFTER_SEARCH = 0.25
"""Factor of the exploration of a policy that starts from parameters that a search found. The standard deviation of
these parameters (in soft actor-critic, of corrections, too) and the probability of choices that differ from the plan's
choice are multiplied by this factor. With full exploration, such a policy succeeds less often than code alone, and the
training does not make up for this loss.
"""

RESIDUAL_STD = 0.1
"""Initial standard deviation of a correction, as a share of its range. The value is small, so that a new policy hardly
changes the steps of the code.
"""


class PolicyDistribution(Protocol):
    """A batch of probability distributions over flat actions, such as
    :class:`~rlgpt.rl.distribution.BranchedDistribution`.
    """

    def sharpened(self, sharpness: float) -> PolicyDistribution: ...

    def sample(self, generator: torch.Generator | None = None) -> torch.Tensor:
        """Draw flat actions on the device of ``generator``, or on the device of the distribution if ``generator`` is
        None.
        """

    def mode(self) -> torch.Tensor: ...


class PolicyNetwork(nn.Module, ABC):
    """A network that defines a policy over an extended action space. The input of a policy network is a batch of
    observations of a :class:`~rlgpt.rl.policy_env.PolicyEnv`. A batch maps the name of each entry of the observation to
    a tensor ``[B, ...]``.

    :ivar layout: the layout of the action space.
    :ivar plan: tensor ``[choices]`` with a position in ``obs`` for each choice of the selector. The number in ``obs``
        at the position of a choice is 1 if this choice is the plan's choice. The position of a choice is -1 if ``obs``
        has no number for it.
    :ivar deviation: factor of the probability ``1 - plan_prior`` of the choices that differ from the plan's choice:
        :data:`AFTER_SEARCH` after a parameter search, else 1.
    :ivar sees_images: whether the observation contains images.
    """

    layout: ActionLayout
    plan: torch.Tensor
    deviation: torch.Tensor
    sees_images = False
    _plan_prior: float

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    def act(self, batch: Batch, generator: torch.Generator) -> torch.Tensor:
        """Draw an action at each observation of a batch.

        :param batch: entries ``[B, ...]`` on any device. Entries on another device are copied to the network's device.
        :param generator: a random generator of the CPU. With equal weights, the generator draws the same actions on
            every device, apart from rounding errors.
        :returns: flat actions ``[B, layout.action_size]``, on the CPU.
        """
        return self.distribution({key: entry.to(self.device) for key, entry in batch.items()}).sample(generator)

    def _plan_logits(self, batch: Batch) -> torch.Tensor:
        """The logits ``[B, choices]`` of the prior for the plan's choice (:func:`plan_logits`)."""
        return plan_logits(batch, self.plan, 1 - (1 - self._plan_prior) * self.deviation)

    @abstractmethod
    def distribution(self, batch: Batch) -> PolicyDistribution:
        """The policy's action distribution at each observation of a batch.

        :param batch: entries ``[B, ...]``.
        :returns: distributions over flat actions ``[B, layout.action_size]``.
        """

    @abstractmethod
    def start_from(self, parameters: torch.Tensor) -> None:
        """Make ``parameters`` the most likely parameters of the coded actions, and explore less from now on
        (:data:`AFTER_SEARCH`). ``start_from`` is called only before the first update of the network.

        :param parameters: the parameters of all coded actions in the order of the layout, ``[P]``. Each parameter is
            scaled so that its range is [-1, 1].
        """

    @abstractmethod
    def axis_names(self) -> AxisNames:
        """The names along the axes of each weight tensor. A warm start reuses the weights whose names along the axes
        match.

        :returns: a dict from the name of each weight tensor to the names along each of its axes (one for each row or
            column); None stands for an axis without names.
        """


class ActorCritic(PolicyNetwork):
    """The network that computes policy and value from the observations of a :class:`~rlgpt.rl.policy_env.PolicyEnv`.

    :param observation_names: a name for each number of ``obs``.
    :param images: for each image entry of the observation, the shape of the image. The network has a separate encoder
        for each image (:mod:`rlgpt.rl.encoder`).
    :param plan_prior: probability that the untrained policy gives to the plan's choice. ``obs`` contains the plan's
        choice (:class:`~rlgpt.rl.plan_features.PlanFeatures`). The prior for the plan's choice remains a term of the
        logits during training. If ``plan_prior`` is 0, the logits have no prior.
    """

    _order: torch.Tensor

    def __init__(
        self,
        layout: ActionLayout,
        observation_names: tuple[str, ...],
        images: Mapping[str, tuple[int, ...]],
        hyperparameters: Hyperparameters,
        *,
        plan_prior: float = 0.0,
    ) -> None:
        super().__init__()
        self.layout, self._observation_names = layout, observation_names
        self._normalizes, self._branch_masking = hyperparameters.normalize_observations, hyperparameters.branch_masking
        spread = set(layout.log_stds)
        outputs = [i for i in range(layout.parameters) if i not in spread]
        order = np.argsort([*outputs, *layout.log_stds])
        self.register_buffer("_order", torch.as_tensor(order), persistent=False)
        self.register_buffer("plan", plan_columns(layout, observation_names), persistent=False)
        self._plan_prior = plan_prior if bool((self.plan >= 0).any()) else 0.0
        self.register_buffer("deviation", torch.tensor(1.0))
        self.observations = RunningMoments(len(observation_names))
        self.returns = RunningMoments(1)
        self.sees_images = bool(images)
        self.actor = Torso(len(observation_names), images, hyperparameters.hidden, hyperparameters.encoder)
        self.critic = Torso(len(observation_names), images, hyperparameters.hidden, hyperparameters.encoder)
        self.output = nn.Linear(self.actor.width, len(outputs))
        self.value = nn.Linear(self.critic.width, 1)
        _initialize(self.output, OUTPUT_GAIN)
        _initialize(self.value, 1.0)
        heads = [head for head in layout.heads if head.kind == "box"]
        means = [v for head in heads for v in head.initial or (0.0,) * head.size]
        rows = [outputs.index(i) for i in layout.means]
        with torch.no_grad():
            self.output.bias[rows] = torch.tensor(means)
        roles = [head.role for head in heads for _ in range(head.size)]
        self._parameter_stds = [i for i, role in enumerate(roles) if role == "parameters"]
        self._parameter_rows = [rows[i] for i in self._parameter_stds]
        stds = [RESIDUAL_STD if head.role == "residual" else hyperparameters.initial_std for head in heads]
        spreads = [std for head, std in zip(heads, stds, strict=True) for _ in range(head.size)]
        self.log_std = nn.Parameter(torch.tensor(spreads, dtype=torch.float32).log())

    @classmethod
    def of(cls, env: PolicyEnv, hyperparameters: Hyperparameters, *, seed: int) -> ActorCritic:
        """Make a network for ``env`` with random weights drawn from ``seed``."""
        entries: dict[str, Any] = env.observation_space.spaces  # type: ignore[attr-defined]
        images = {key: space.shape for key, space in entries.items() if key.startswith("image_")}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(env.layout, env.observation_names, images, hyperparameters, plan_prior=env.plan_prior)

    def logits(self, batch: Batch) -> torch.Tensor:
        """The numbers that describe the policy's distribution at each observation, ``[B, layout.parameters]``, before
        the mask is applied.
        """
        return self._towards_plan(self._flat(self.actor(self._vector(batch), batch)), batch)

    def logits_and_value(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The results of :meth:`logits` and of :meth:`scaled_value`, computed in one call."""
        vector = self._vector(batch)
        value: torch.Tensor = self.value(self.critic(vector, batch)).squeeze(-1)
        return self._towards_plan(self._flat(self.actor(vector, batch)), batch), value

    def distribution(self, batch: Batch) -> BranchedDistribution:
        """The policy's action distribution at each observation of a batch (entries ``[B, ...]``)."""
        mask = batch["action_mask"] if self.layout.choices else None
        return BranchedDistribution(self.layout, self.logits(batch), mask, branch_masking=self._branch_masking)

    def scaled_value(self, batch: Batch) -> torch.Tensor:
        """The values ``[B]`` of the observations, normalised by the running mean and standard deviation of returns
        (:attr:`returns`).
        """
        scaled: torch.Tensor = self.value(self.critic(self._vector(batch), batch)).squeeze(-1)
        return scaled

    @torch.no_grad()
    def start_from(self, parameters: torch.Tensor) -> None:
        """Make ``parameters`` the most likely parameters (:meth:`PolicyNetwork.start_from`), as biases of the output
        layer.
        """
        self.output.bias[torch.tensor(self._parameter_rows)] = parameters.to(self.device)
        self.log_std[torch.tensor(self._parameter_stds)] += math.log(AFTER_SEARCH)
        self.deviation.fill_(AFTER_SEARCH)

    def axis_names(self) -> AxisNames:
        layout, seen = self.layout, self._observation_names
        spreads, _, outputs = component_names(layout)
        rows = (*(f"choose {name}" for name in layout.branches[: layout.choices]), *outputs)
        axes: AxisNames = {f"observations.{key}": (seen,) for key in ("mean", "var", "count")}
        axes |= {"output.weight": (rows, None), "output.bias": (rows,), "log_std": (spreads,)}
        for torso in ("actor", "critic"):
            hidden = getattr(self, torso).image_features
            columns = seen + tuple(f"image feature {i}" for i in range(hidden))
            axes[f"{torso}.layers.0.weight"] = (None, columns)
        return axes

    def _flat(self, features: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.output(features)
        if not self.log_std.numel():
            return output
        joined = torch.cat([output, self.log_std.expand(len(output), -1)], dim=1)
        return joined.index_select(1, self._order)

    def _towards_plan(self, flat: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Add the prior for the plan's choice to the logits ``flat``. If the network's logits of all choices are equal,
        the plan's choice gets the probability ``plan_prior`` among the choices that the mask allows.
        """
        if not self._plan_prior:
            return flat
        choices = self.layout.choices
        return torch.cat([flat[:, :choices] + self._plan_logits(batch), flat[:, choices:]], dim=1)

    def _vector(self, batch: Batch) -> torch.Tensor:
        return self.observations.normalize(batch["obs"]) if self._normalizes else batch["obs"]


def component_names(layout: ActionLayout) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names of the numbers of Boxes, of the values of Discretes, and of both in the order of the layout. The name
    of a number contains its range, because networks scale each range to [-1, 1].
    """
    boxes: list[str] = []
    discrete: list[str] = []
    both: list[str] = []
    for i, head in enumerate(layout.heads):
        names = head.names or tuple(f"head{i}[{j}]" for j in range(head.components))
        if isinstance(head.space, spaces.Box):
            ranges = zip(names, head.space.low.flat, head.space.high.flat, strict=True)
            boxes += (found := [f"{name} in [{low:g}, {high:g}]" for name, low, high in ranges])
        else:
            discrete += (found := [f"{names[0]} = {value}" for value in range(head.size)])
        both += found
    return tuple(boxes), tuple(discrete), tuple(both)


def plan_columns(layout: ActionLayout, observation_names: tuple[str, ...]) -> torch.Tensor:
    """The value of :attr:`PolicyNetwork.plan` for a network whose numbers of ``obs`` have the names
    ``observation_names``.
    """
    named = {name: column for column, name in enumerate(observation_names)}
    columns = [named.get(f"{PLAN}{branch}", -1) for branch in layout.branches[: layout.choices]]
    return torch.as_tensor(columns, dtype=torch.long)


def plan_logits(batch: Batch, columns: torch.Tensor, plan_prior: torch.Tensor | float) -> torch.Tensor:
    """Logits ``[B, choices]`` with which the plan's choice has the probability ``plan_prior`` among the choices that
    the mask allows.

    :param columns: the result of :func:`plan_columns`.
    """
    marks = batch["obs"].index_select(1, columns.clamp(min=0)) * (columns >= 0)
    others = (batch["action_mask"].sum(1, keepdim=True) - 1).clamp(min=1)
    return marks * (torch.as_tensor(plan_prior).logit() + others.log())


class Torso(nn.Module):
    """The hidden layers of a policy network. The input of the hidden layers is the observation vector and the features
    of each image.
    """

    def __init__(
        self, inputs: int, images: Mapping[str, tuple[int, ...]], hidden: tuple[int, ...], encoder: Encoder
    ) -> None:
        super().__init__()
        encoders = {key: ImageEncoder(shape, encoder) for key, shape in sorted(images.items())}
        self.image_encoders = nn.ModuleDict(encoders)
        self.image_features = sum(e.features for e in encoders.values())
        sizes = [inputs + self.image_features, *hidden]
        self.width = sizes[-1]
        layers: list[nn.Module] = []
        for a, b in itertools.pairwise(sizes):
            layer = nn.Linear(a, b)
            _initialize(layer, 2**0.5)
            layers += [layer, nn.Tanh()]
        self.layers = nn.Sequential(*layers)

    def forward(self, vector: torch.Tensor, batch: Batch) -> torch.Tensor:
        parts = [vector, *(encode(batch[key]) for key, encode in self.image_encoders.items())]
        features: torch.Tensor = self.layers(torch.cat(parts, dim=-1))
        return features


def _initialize(layer: nn.Linear, gain: float) -> None:
    if layer.weight.numel():
        nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
