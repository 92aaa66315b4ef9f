"""Gives the policy network the interface that Sample Factory needs. The policy network is the same as for the built-in
trainer PPO.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from gymnasium import spaces
from sample_factory.algo.utils.tensor_dict import TensorDict
from torch import nn

from rlgpt.options import ActionLayout
from rlgpt.rl.distribution import MASKED, BranchedDistribution
from rlgpt.rl.network import ActorCritic
from rlgpt.rl.sample_factory.entries import image_shapes, policy_entries


class OptionActorCritic(nn.Module):
    """The model that Sample Factory's learner and inference workers call. ``OptionActorCritic`` wraps a
    :class:`rlgpt.rl.network.ActorCritic`.

    The mask of allowed branches is applied to the logits, and trajectories store the masked logits. The mask of a
    decision is therefore the same for the old and the new policy.

    :param cfg: Sample Factory's configuration, to which rlgpt has added ``job``, ``layout`` and ``observation_names``.
    """

    def __init__(self, cfg: Any, obs_space: spaces.Dict, action_space: Any) -> None:
        super().__init__()
        self.cfg, self.action_space = cfg, action_space
        hyperparameters = cfg.job.hyperparameters
        self._branch_masking = hyperparameters.branch_masking
        self._normalizes = hyperparameters.normalize_observations
        self._entries = policy_entries(obs_space)
        images = image_shapes(obs_space)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(cfg.job.seed)
            names, prior = cfg.observation_names, cfg.job.spec.setup.plan_prior
            self.network = ActorCritic(cfg.layout, names, images, hyperparameters, plan_prior=prior)
        self._last: BranchedDistribution | None = None
        # Sample Factory reads the parameters at every gradient step, and collecting them takes as long as clipping
        # their gradients.
        self._learnable = [p for p in super().parameters() if p.numel()]

    @property
    def layout(self) -> ActionLayout:
        return self.network.layout

    def distribution(self, logits: torch.Tensor) -> BranchedDistribution:
        """The policy's action distribution, made from stored logits, which include the mask."""
        return BranchedDistribution(self.layout, logits, branch_masking=self._branch_masking)

    def values(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        """The values ``[B]`` of the observations, normalised by the running mean and standard deviation of returns."""
        return self.network.scaled_value(observations)

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]:
        """The network's parameters without parameters of size 0. If the policy has no Gaussians, the network has
        parameters of size 0, with which Sample Factory's statistics fail.
        """
        return iter(self._learnable)

    def read(self, observations: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The network's inputs in ``observations``, which may have any leading axes. Sample Factory's buffers cannot
        contain empty entries, so ``read`` adds ``obs`` if it is empty.
        """
        kept = {key: observations[key] for key in self._entries}
        if "obs" not in kept:
            image = next(iter(kept.values()))
            kept["obs"] = image.new_zeros((*image.shape[:-3], 0), dtype=torch.float32)
        if "action_mask" in observations:
            kept["action_mask"] = observations["action_mask"]
        return kept

    # -- called by Sample Factory -------------------------------------------------------------------------------------

    def forward_head(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        """Masked logits and the value, ``[B, layout.parameters + 1]``."""
        logits, value = self.network.logits_and_value(observations)
        choices = self.layout.choices
        if choices:
            allowed = nn.functional.pad(observations["action_mask"], (0, logits.shape[1] - choices), value=1.0)
            logits = logits.masked_fill(allowed == 0, MASKED)
        return torch.cat([logits, value.unsqueeze(1)], dim=1)

    def forward_core(self, head: torch.Tensor, rnn_states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return head, rnn_states

    def forward_tail(self, core: torch.Tensor, values_only: bool, sample_actions: bool) -> TensorDict:
        logits, values = core[:, :-1], core[:, -1]
        if values_only:
            return TensorDict(values=values)
        self._last = self.distribution(logits)
        result = TensorDict(values=values, action_logits=logits)
        if sample_actions:
            result["actions"] = self._last.sample()
            result["log_prob_actions"] = self._last.log_prob(result["actions"])
        return result

    def forward(
        self, observations: dict[str, torch.Tensor], rnn_states: torch.Tensor, values_only: bool = False
    ) -> TensorDict:
        if values_only:
            return TensorDict(values=self.values(observations), new_rnn_states=rnn_states)
        result = self.forward_tail(self.forward_head(observations), values_only=False, sample_actions=True)
        result["new_rnn_states"] = rnn_states
        return result

    def action_distribution(self) -> BranchedDistribution | None:
        return self._last

    def normalize_obs(self, observations: dict[str, torch.Tensor]) -> TensorDict:
        """Return the network's inputs unchanged, because the network itself normalises them. The running statistics of
        the network's inputs change only during training.
        """
        if self.training and self._normalizes and "obs" in self._entries:
            self.network.observations.update(observations["obs"])
        return TensorDict(self.read(observations))

    def device_for_input_tensor(self, name: str) -> torch.device:
        return self.network.log_std.device

    def type_for_input_tensor(self, name: str) -> torch.dtype:
        return torch.uint8 if name.startswith("image_") else torch.float32

    def model_to_device(self, device: torch.device) -> None:
        self.to(device)

    def summaries(self) -> dict[str, float]:
        return {}
