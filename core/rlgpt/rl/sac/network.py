"""The networks of soft actor-critic for an extended action space, and the policy that these networks define."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from rlgpt.errors import TrainerError
from rlgpt.options import ActionLayout
from rlgpt.rl.distribution import MASKED
from rlgpt.rl.network import AFTER_SEARCH, RESIDUAL_STD, AxisNames, Batch, PolicyNetwork, component_names, plan_columns
from rlgpt.rl.normalizer import RunningMoments
from rlgpt.rl.sac.encoding import flatten
from rlgpt.rl.sac.layers import CRITICS, Actor, Hidden, Linears, drawn_from, normal_like

if TYPE_CHECKING:
    from rlgpt.rl.base import Hyperparameters
    from rlgpt.rl.policy_env import PolicyEnv

BASE_STD = 1.0
"""Standard deviation of the prior of a number in a base action, before tanh. After tanh, the prior is nearly uniform in
[-1, 1].
"""

EDGE = 0.98
"""Largest absolute value of the mean of a component's prior, after tanh. At -1 and 1, the value before tanh is
infinite.
"""

LOG_STD = (-3.0, 1.0)
"""The range of ``log(s / p)``, where s is the standard deviation of a component and p that of its prior."""


class SoftActorCritic(PolicyNetwork):
    """The critics, the actor, and the prior of soft actor-critic.

    The actor draws the components of an action. The critics give a value to every branch of the action space. The
    inputs of the critics are the observation and the encoded components, which are a number for each dimension of a
    Box, and a one-hot vector for a Discrete. In the inputs of the critics, components that a branch does not use are
    zero.

    :param observation_names: a name for each number of ``obs`` that the networks observe.
    :param width: number of units of each hidden layer.
    :param plan_prior: probability of the plan's choice in the prior of the selector. If ``plan_prior`` is 0, all
        branches are equally likely in the prior.
    :param coded: whether some branches are coded actions.
    :param base_only: a network for base-only episodes (:mod:`rlgpt.rl.base_only`), whose layout has only base actions;
        None if there are none. A network that learns from both kinds of episodes learns base actions several times more
        slowly.
    :param columns: the columns of a flat action of the extended action space that are the flat actions of ``layout``.
    :ivar acts_without_code: whether the network ``base_only`` acts in every episode.
    :ivar temperature: weight of the divergence from the prior of coded actions (the choice of a branch, parameters and
        corrections), in standard deviations of the return.
    :ivar base_temperature: weight of the divergence of base actions from their uniform prior, in the same unit.
    """

    temperature: torch.Tensor
    base_temperature: torch.Tensor
    _base: torch.Tensor
    _owner: torch.Tensor
    _patterns: torch.Tensor
    _pattern_of: torch.Tensor
    _prior_mean: torch.Tensor
    _prior_std: torch.Tensor
    _of_parameters: torch.Tensor
    _of_code: torch.Tensor

    def __init__(
        self,
        layout: ActionLayout,
        observation_names: tuple[str, ...],
        hyperparameters: Hyperparameters,
        *,
        width: int,
        temperature: float,
        plan_prior: float = 0.0,
        coded: bool = True,
        base_only: SoftActorCritic | None = None,
        columns: slice = slice(None),
    ) -> None:
        super().__init__()
        self.base_only, self.columns, self.acts_without_code = base_only, columns, False
        self.layout, self._names = layout, observation_names
        self.register_buffer("plan", plan_columns(layout, observation_names), persistent=False)
        self._plan_prior = plan_prior if bool((self.plan >= 0).any()) else 0.0
        self._coded = coded
        widths = [head.size for head in layout.heads]
        spans = [s for head in layout.heads for s in ([head.size] if head.kind == "discrete" else [1] * head.size)]
        owner = np.asarray(layout.owner, np.float32)
        patterns, pattern_of = np.unique(owner.repeat(spans, axis=1) if spans else owner, axis=0, return_inverse=True)
        stds = {"base": BASE_STD, "residual": RESIDUAL_STD, "parameters": hyperparameters.initial_std}
        boxes = [head for head in layout.heads if head.kind == "box"]
        means = [v for head in boxes for v in head.initial or (0.0,) * head.size]
        for name, values in {
            "_owner": owner,
            "_patterns": patterns,
            "_prior_mean": np.arctanh(np.clip(np.asarray(means, np.float32), -EDGE, EDGE)),
            "_prior_std": np.asarray([stds[head.role] for head in boxes for _ in range(head.size)], np.float32),
        }.items():
            self.register_buffer(name, torch.as_tensor(values), persistent=name == "_prior_mean")
        roles = np.asarray([head.role for head in boxes for _ in range(head.size)])
        self.register_buffer("_of_parameters", torch.as_tensor(roles == "parameters"), persistent=False)
        self.register_buffer("_of_code", torch.as_tensor(roles != "base"), persistent=False)
        self.register_buffer("_pattern_of", torch.as_tensor(pattern_of.reshape(-1)), persistent=False)
        base = [head.role == "base" for head in layout.heads for _ in range(head.components)]
        self.register_buffer("_base", torch.tensor(base, dtype=torch.bool), persistent=False)
        self.register_buffer("deviation", torch.tensor(1.0))
        self.register_buffer("temperature", torch.tensor(float(temperature)))
        self.register_buffer("base_temperature", torch.tensor(float(temperature)))
        self.observations, self.returns = RunningMoments(len(observation_names)), RunningMoments(1)
        inputs, components = self.inputs, sum(widths)
        self.actor = (
            None
            if not widths
            else Actor(inputs, width, 2 * len(means) + sum(h.size for h in layout.heads if h.kind == "discrete"))
        )
        self.critic = Hidden(inputs + components, width)
        self.value = Linears(width, self.branches, zero=True)

    @classmethod
    def of(
        cls,
        env: PolicyEnv,
        hyperparameters: Hyperparameters,
        *,
        seed: int,
        width: int,
        temperature: float,
        base_only: bool = False,
    ) -> SoftActorCritic:
        """Make the networks of soft actor-critic for ``env``, with random weights drawn from ``seed``.

        :param base_only: whether to make a network for base-only episodes, too.
        :raises TrainerError: the policy would have to observe images.
        """
        entries = env.observation_space.spaces  # type: ignore[attr-defined]
        images = [key.removeprefix("image_") for key in entries if key.startswith("image_")]
        if images:
            raise TrainerError(
                f"trainer=sac cannot learn from images, but the policy observes images: {', '.join(images)}. Use "
                "trainer=ppo, or remove these keys from observation_keys."
            )
        make = partial(cls, hyperparameters=hyperparameters, width=width, temperature=temperature)
        coded, child = len(env.extended.setup.actions), None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            if base_only:
                layout = env.layout.without_coded(coded)
                end = 1 + layout.action_size - bool(layout.choices)
                child = make(layout, env.form.own_names, coded=False, columns=slice(0 if layout.choices else 1, end))
            return make(env.layout, env.observation_names, plan_prior=env.plan_prior, coded=coded > 0, base_only=child)

    def distribution(self, batch: Batch) -> SoftDistribution:
        """The policy's action distribution at each observation of a batch (entries ``[B, ...]``)."""
        return SoftDistribution(self, batch)

    @property
    def inputs(self) -> int:
        """How many of the numbers of ``obs`` the networks observe; the others are last in ``obs``."""
        return len(self._names)

    @property
    def branches(self) -> int:
        """The number of branches in an action mask. In the action mask of an extended action space, base actions are
        first.
        """
        return max(1, self.layout.choices)

    def features(self, batch: Batch) -> torch.Tensor:
        """The normalised observations ``[B, D]``."""
        return self.observations.normalize(batch["obs"][:, : self.inputs])

    def prior(self, batch: Batch) -> torch.Tensor:
        """Log-probabilities ``[B, branches]`` of the branches in the prior. Masked branches have the probability 0 in
        the prior.
        """
        mask = batch["action_mask"]
        if not self.layout.choices:
            return torch.zeros_like(mask)
        logits = self._plan_logits(batch) if self._plan_prior else torch.zeros_like(mask)
        return torch.log_softmax(logits.masked_fill(mask == 0, MASKED), dim=-1)

    def components(
        self, features: torch.Tensor, noise: float, generator: torch.Generator | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw components from the actor. Gradients of functions of the drawn components reach the actor's weights.

        :param noise: factor of the standard deviations of the drawn numbers. Values of Discrete components have the
            probability ``p ** (1 / noise**2)``, normalised. If ``noise`` is 0, the components are the means and the
            most likely values.
        :returns: the encoded components ``[B, E]``, and the divergence of each component from its prior, ``[B, C]``.
            After a parameter search, only the noise is narrower: a change of the mean costs as much as before.
        """
        flat, at = features.new_zeros((len(features), 0)) if self.actor is None else self.actor(features), 0
        (noise_std, unit), boxes = self._before_tanh(), len(self._prior_std)
        shift, log_std, logits = torch.split(flat, [boxes, boxes, flat.shape[1] - 2 * boxes], dim=-1)
        spread = log_std.clamp(*LOG_STD).exp()
        std = spread * noise_std
        drawn = normal_like(std, generator) if noise else torch.zeros_like(std)
        numbers = torch.tanh(self._prior_mean + shift * unit + noise * std * drawn)
        from_prior = 0.5 * (spread.square() + shift.square() - 1) - spread.log()
        encoded, divergences = [], []
        box = 0
        for head in self.layout.heads:
            if head.kind == "box":
                encoded.append(numbers[:, box : box + head.size])
                divergences.append(from_prior[:, box : box + head.size])
                box += head.size
                continue
            log_p = torch.log_softmax(logits[:, at : at + head.size], dim=-1)
            at += head.size
            p = log_p.exp()
            drawn_p = p if noise in (0.0, 1.0) else torch.softmax(log_p / noise**2, dim=-1)
            index = drawn_from(drawn_p, generator) if noise else p.argmax(-1, keepdim=True)
            chosen = torch.zeros_like(p).scatter_(1, index, 1.0)
            encoded.append(chosen + p - p.detach())  # straight-through (Bengio, Leonard and Courville 2013)
            divergences.append((p * log_p).sum(-1, keepdim=True) + math.log(head.size))
        empty = features.new_zeros((len(features), 0))
        return torch.cat([empty, *encoded], dim=-1), torch.cat([empty, *divergences], dim=-1)

    def _before_tanh(self) -> torch.Tensor:
        """The standard deviation of the noise and the unit in which the actor shifts the mean, both before tanh and for
        an actor that equals the prior, ``[2, C]``.

        After tanh, one standard deviation towards the middle of the range is ``_prior_std``, also if the mean is near
        an end of the range, where the slope of tanh is small. The part of it that lies beyond the middle is not
        stretched.
        """
        std, mean = self._prior_std, self._prior_mean.abs()
        stds = torch.stack([torch.where(self._of_code, self.deviation, 1.0) * std, std])
        nearer = torch.tanh(mean) - stds
        return mean - torch.atanh(nearer.clamp(min=0.0)) + (-nearer).clamp(min=0.0)

    def values(self, features: torch.Tensor, encoded: torch.Tensor, *, frozen: bool = False) -> torch.Tensor:
        """The critics' values of every branch with the components that the branch uses, ``[CRITICS, B, branches]``.

        :param frozen: whether the gradients of the result stop before the weights of the critics.
        """
        count = len(features)
        rows = torch.cat(
            [
                features.expand(len(self._patterns), -1, -1),
                encoded.expand(len(self._patterns), -1, -1) * self._patterns[:, None],
            ],
            dim=-1,
        )
        out = self.value(self.critic(rows.flatten(0, 1), frozen=frozen), frozen=frozen)
        out = out.view(CRITICS, len(self._patterns), count, -1)
        branches = torch.arange(out.shape[-1], device=out.device)
        values: torch.Tensor = out[:, self._pattern_of, :, branches].permute(1, 2, 0)
        return values

    def value_of(self, features: torch.Tensor, encoded: torch.Tensor, branch: torch.Tensor) -> torch.Tensor:
        """The critics' values of the chosen branches, ``[CRITICS, B]``.

        :param branch: the numbers of the chosen branches, ``[B]``.
        """
        used = encoded * self._patterns[self._pattern_of[branch]]
        out = self.value(self.critic(torch.cat([features, used], dim=-1)))
        chosen: torch.Tensor = out.gather(2, branch.expand(CRITICS, -1)[..., None]).squeeze(-1)
        return chosen

    @property
    def selector_temperature(self) -> torch.Tensor:
        """The weight of the divergence of the selector from its prior. If there are no coded actions, the selector
        chooses among base actions.
        """
        return self.temperature if self._coded else self.base_temperature

    def soft(self, batch: Batch, values: torch.Tensor, divergences: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The selector's logits and the soft value of each branch, both of shape ``[B, branches]``. The soft value of a
        branch is its value minus the divergences of the branch's components, each times its temperature.
        """
        weights = self.temperature.where(~self._base, self.base_temperature)
        worth = values.amin(0) - (divergences * weights) @ self._owner.T
        return self.prior(batch) + worth / self.selector_temperature, worth

    @torch.no_grad()
    def start_from(self, parameters: torch.Tensor) -> None:
        """Make ``parameters`` the means of a narrower prior (:meth:`rlgpt.rl.network.PolicyNetwork.start_from`)."""
        self._prior_mean[self._of_parameters] = torch.atanh(parameters.clamp(-EDGE, EDGE)).to(self._prior_mean)
        self.deviation.fill_(AFTER_SEARCH)

    def axis_names(self) -> AxisNames:
        """The names along the axes of each weight tensor, as in :meth:`rlgpt.rl.network.ActorCritic.axis_names`."""
        boxes, discrete, encoded = component_names(self.layout)
        rows = (*(f"shift {n}" for n in boxes), *(f"spread {n}" for n in boxes), *discrete)
        branches = tuple(f"choose {name}" for name in self.layout.branches[: max(1, self.layout.choices)])
        axes: AxisNames = {f"observations.{key}": (self._names,) for key in ("mean", "var", "count")}
        ours: AxisNames = {
            **axes,
            "_prior_mean": (boxes,),
            "actor.layers.0.weight": (None, self._names),
            "actor.output.weight": (rows, None),
            "actor.output.bias": (rows,),
            "critic.first.weight": (None, (*self._names, *encoded), None),
            "value.weight": (None, None, branches),
            "value.bias": (None, None, branches),
        }
        theirs = {} if self.base_only is None else self.base_only.axis_names()
        return {**ours, **{f"base_only.{key}": names for key, names in theirs.items()}}


class SoftDistribution:
    """The policy of a :class:`SoftActorCritic` at a batch of observations. ``SoftDistribution`` computes no
    log-probabilities, because the probabilities of the selector depend on the drawn components.
    """

    def __init__(self, network: SoftActorCritic, batch: Batch) -> None:
        self._network, self._batch, self._sharpness = network, batch, 1.0

    def sharpened(self, sharpness: float) -> SoftDistribution:
        """Sharpen the distribution as :meth:`rlgpt.rl.distribution.BranchedDistribution.sharpened` does.

        :raises ValueError: ``sharpness`` is not a finite number above 0.
        """
        if not (sharpness > 0 and math.isfinite(sharpness)):
            raise ValueError(f"sharpness must be a finite number above 0, got {sharpness}; 1 changes nothing")
        other = copy.copy(self)
        other._sharpness = self._sharpness * sharpness
        return other

    @torch.no_grad()
    def sample(self, generator: torch.Generator | None = None) -> torch.Tensor:
        """Draw flat actions ``[B, action_size]`` on the device of ``generator``."""
        logits, encoded = self._choices(1 / math.sqrt(self._sharpness), generator)
        p = torch.softmax(logits * self._sharpness, dim=-1)
        flat = flatten(self._network.layout, drawn_from(p, generator).squeeze(-1), encoded)
        flat = flat if generator is None else flat.to(generator.device)
        return self._replaced(flat, lambda base_only: base_only.sample(generator))

    @torch.no_grad()
    def mode(self) -> torch.Tensor:
        """The most likely flat actions ``[B, action_size]``, which consist of the most likely branch, the means of Box
        components and the most likely values of Discrete components.
        """
        logits, encoded = self._choices(0.0, None)
        return self._replaced(flatten(self._network.layout, logits.argmax(-1), encoded), SoftDistribution.mode)

    def _choices(self, noise: float, generator: torch.Generator | None) -> tuple[torch.Tensor, torch.Tensor]:
        network, batch = self._network, self._batch
        features = network.features(batch)
        encoded, divergences = network.components(features, noise, generator)
        logits, _ = network.soft(batch, network.values(features, encoded), divergences)
        return logits, encoded

    def _replaced(self, flat: torch.Tensor, choose: Callable[[SoftDistribution], torch.Tensor]) -> torch.Tensor:
        """The flat actions ``flat``, in base-only episodes replaced by those of the network for these episodes."""
        network, batch = self._network.base_only, self._batch
        if network is None:
            return flat
        rows = batch.get("base_only", flat.new_zeros(len(flat), 1)).bool().to(flat.device)
        rows |= self._network.acts_without_code
        if not bool(rows.any()):
            return flat
        masks = batch["action_mask"][:, : network.branches]
        base_only = SoftDistribution(network, {"obs": batch["obs"], "action_mask": masks})
        others = torch.zeros_like(flat)
        others[:, network.columns] = choose(base_only.sharpened(self._sharpness))
        return others.where(rows, flat)
