"""Sample Factory's learner, extended by decisions with durations, action spaces with branches, and truncated episodes.
A lost checkpoint is an error; a training never restarts silently.

The module changes Sample Factory's learner by subclasses of its classes. The worker processes that Sample Factory
spawns can import the subclasses, and other code in the process uses the unchanged library.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import Any

import numpy as np
import torch
from sample_factory.algo.learning.learner import Learner
from sample_factory.algo.learning.learner_worker import LearnerWorker
from sample_factory.algo.utils.rl_utils import prepare_and_normalize_obs
from sample_factory.algo.utils.tensor_dict import TensorDict, shallow_recursive_copy
from sample_factory.algo.utils.torch_utils import masked_select, synchronize

from rlgpt.errors import TrainerError
from rlgpt.rl.advantage import semi_markov_gae
from rlgpt.rl.best import Performance, is_best
from rlgpt.rl.checkpoint import Checkpoint, Returns, TrainingState
from rlgpt.rl.imitation import SelfImitation
from rlgpt.rl.resume import begin_from
from rlgpt.rl.sample_factory.entries import LAST
from rlgpt.rl.sample_factory.episode_tag import EPISODE_TAG, TrajectoryReorderer
from rlgpt.rl.sample_factory.job import STATUS_FILE, Job
from rlgpt.rl.sample_factory.processes import die_when_orphaned
from rlgpt.rl.sample_factory.resume import fit, resumable, steps_of
from rlgpt.rl.sample_factory.shared_status import ITERATIONS, LEARNER, SAVED, SharedStatus

_LOG = logging.getLogger(__name__)


class OptionLearner(Learner):  # type: ignore[misc]
    """PPO over decisions of many primitive steps.

    ``OptionLearner`` differs from Sample Factory's ``Learner`` in several points. Advantages are semi-Markov
    (:mod:`rlgpt.rl.advantage`). A truncated episode is bootstrapped from its own last observation. The probability
    distribution of the policy is that of :mod:`rlgpt.rl.distribution`. The size of a minibatch need not divide the size
    of a rollout. After an update of PPO, self-imitation may follow (:mod:`rlgpt.rl.imitation`). A checkpoint that
    cannot be read causes an error.
    """

    def init(self) -> Any:
        job: Job = self.cfg.job
        self.shared_status, self._start = SharedStatus(job.folder / STATUS_FILE), time.monotonic()
        self._best: Performance | None = None
        self.imitation = SelfImitation.of(job.hyperparameters)
        self._follower = TrajectoryReorderer(self.imitation) if self.imitation is not None else None
        data = super().init()
        self.kl_loss_func = self._kl_loss
        self.save()
        return data

    # -- checkpoints --------------------------------------------------------------------------------------------------

    def load_from_checkpoint(self, policy_id: int, load_progress: bool = True) -> None:
        """Resume a training, or begin a training with a warm start or with random weights.

        :raises TrainerError: a checkpoint cannot be read or does not fit, or the updates of earlier sessions are in no
            checkpoint.
        """
        job: Job = self.cfg.job
        network = self.actor_critic.network
        found = resumable(job.folder, iterations=self.shared_status.iterations())
        if found is not None:
            fit(network, found, job.folder)
            try:
                self.optimizer.load_state_dict(found.optimizer)
            except (ValueError, KeyError, RuntimeError) as fault:
                raise TrainerError(
                    f"the optimiser's state in {job.folder} is of another trainer ({fault}). Resume with "
                    "that trainer, or train in a new folder with this folder as warm_start."
                ) from fault
            self.train_step, self.env_steps = steps_of(found), found.state.decisions
            self._best = found.state.best
            if self.imitation is not None and found.imitation is not None:
                self.imitation.restore(found.imitation)
        elif job.warm_start is not None:
            begin_from(job.warm_start, network, Returns.of(job.spec.setup, job.spec.functions, job.hyperparameters))

    def save_best(self, policy_id: int, metric: str, performance: Performance | None) -> bool:
        """Get the performance of the newest weights from the runner, and save the weights if no earlier weights are
        better.
        """
        if not is_best(performance, self._best):
            return False
        self._best = performance
        return self.save(best=True)

    def save(self, *, best: bool = False) -> bool:
        if not self.is_initialized:
            return False
        job: Job = self.cfg.job
        network = self.actor_critic.network
        state = TrainingState(
            hyperparameters=job.hyperparameters,
            axis_names=network.axis_names(),
            decisions=self.env_steps,
            seconds=job.seconds + (time.monotonic() - self._start),
            best=self._best,
            returns=Returns.of(job.spec.setup, job.spec.functions, job.hyperparameters),
        )
        weights, optimizer = network.state_dict(), self.optimizer.state_dict()
        kept = self.imitation.tensors() if self.imitation is not None else None
        Checkpoint(state, weights, optimizer, torch.get_rng_state(), kept).save(
            job.folder, best=weights if best else None
        )
        self.shared_status.put(LEARNER, SAVED, 1)
        return True

    def _apply_lr(self, lr: float) -> None:
        super()._apply_lr(float(lr))  # A numpy scalar in the checkpoint would prevent a safe load.

    # -- one training iteration ---------------------------------------------------------------------------------------

    def train(self, batch: TensorDict) -> dict[str, Any] | None:
        self.shared_status.put(LEARNER, SAVED, 0)
        self.shared_status.begin(LEARNER)
        if self._follower is not None:
            self._follow(self._follower, batch)
        stats: dict[str, Any] | None = super().train(batch)
        if self.imitation is not None and stats is not None:
            self.imitation.learn(self.actor_critic.network, self._descend, None)
        if not all(bool(torch.isfinite(p).all()) for p in self.actor_critic.parameters()):
            raise TrainerError(
                "the policy's weights are no longer finite; lower hyperparameters.learning_rate or correct the reward."
            )
        if self.shared_status.iterations() == 0:
            self.save()
        self.shared_status.add(LEARNER, ITERATIONS)
        self.shared_status.end(LEARNER)
        return stats

    def _follow(self, follower: TrajectoryReorderer, batch: TensorDict) -> None:
        """Pass the rollouts of ``batch`` to self-imitation. ``_follow`` is called before the update, because the update
        overwrites the actions of rollouts that are too old to learn from.
        """
        entries = {**self.actor_critic.read(batch["obs"]), EPISODE_TAG: batch["obs"][EPISODE_TAG]}
        follower.see(entries, batch["actions"], batch["dones"], (batch["policy_id"] >= 0).sum(1))

    def _descend(self, loss: torch.Tensor) -> None:
        """Take one gradient step on ``loss``; the signature is that of Sample Factory's ``Learner``."""
        for parameter in self.actor_critic.parameters():
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.actor_critic.parameters(), self.cfg.max_grad_norm)
        self._apply_lr(self.curr_lr)
        with self.param_server.policy_lock:
            self.optimizer.step()
        self._after_optimizer_step()
        synchronize(self.cfg, self.device)
        self.policy_versions_tensor[self.policy_id] = self.train_step

    def _after_optimizer_step(self) -> None:
        super()._after_optimizer_step()
        self.shared_status.beat(LEARNER)

    def _train(self, buffer: TensorDict, batch_size: int, experience_size: int, num_invalids: int) -> Any:
        self.cfg.num_batches_per_epoch = -(-experience_size // batch_size)  # Rollouts of lanes differ in size.
        return super()._train(buffer, batch_size, experience_size, num_invalids)

    def _get_minibatches(self, batch_size: int, experience_size: int) -> list[Any]:
        count = self.cfg.num_batches_per_epoch
        return [None] if count == 1 else np.array_split(np.random.permutation(experience_size), count)

    def _prepare_batch(self, batch: TensorDict) -> tuple[TensorDict, int, int]:
        """Convert rollouts ``[environments, rows (+ 1)]`` to one flat buffer of decisions, with advantages and value
        targets. The decisions of an environment are in the first rows. The row after them contains the observation of
        the next decision; further rows, which only lanes have, are empty.
        """
        with torch.no_grad():
            buffer = shallow_recursive_copy(batch)
            fresh = self.train_step - buffer["policy_version"] < self.cfg.max_policy_lag
            taken = buffer["policy_id"] >= 0
            buffer["valids"][:, :-1] = (buffer["policy_id"] == self.policy_id) & fresh
            if not self.actor_critic.training:
                self.actor_critic.train()
            observations = buffer.pop("obs")
            durations = observations["duration"][:, 1:, 0].where(taken, 0)
            dones = buffer["dones"].bool() & taken
            cut = buffer["time_outs"].bool() & dones
            last = {
                key.removeprefix(LAST): value[:, 1:][cut] for key, value in observations.items() if key.startswith(LAST)
            }
            seen, final = _with_final(taken)
            inputs = {key: value[seen] for key, value in self.actor_critic.read(observations).items()}
            with self.param_server.policy_lock:
                normalized = prepare_and_normalize_obs(self.actor_critic, inputs)
            buffer["normalized_obs"] = TensorDict({key: value[~final[seen]] for key, value in normalized.items()})
            buffer["values"][final] = self._values({key: value[final[seen]] for key, value in normalized.items()})
            values = self._earned(buffer["values"]).where(seen, 0)
            following = values[:, 1:].where(taken, 0)
            if bool(cut.any()):
                self.actor_critic.eval()
                following[cut] = self._earned(self._values(prepare_and_normalize_obs(self.actor_critic, last)))
                self.actor_critic.train()
            rewards, values = buffer["rewards"].where(taken, 0), values[:, :-1].where(taken, 0)
            buffer["advantages"], buffer["returns"] = self.advantages(rewards, values, following, durations, dones, cut)
            return self._flatten(buffer, taken)

    def advantages(
        self,
        rewards: torch.Tensor,
        values: torch.Tensor,
        following: torch.Tensor,
        durations: torch.Tensor,
        dones: torch.Tensor,
        cut: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Advantages and value targets, both of shape ``[environments, decisions]``.

        :param following: the values of the states after the decisions.
        :param cut: 1 for each decision at which a time limit ended an episode, else 0.
        """
        advantages, targets = semi_markov_gae(
            rewards.T,
            values.T,
            following.T,
            durations.T,
            (dones & ~cut).T,
            dones.T,
            gamma=self.cfg.gamma,
            lam=self.cfg.gae_lambda,
            semi_markov=self.cfg.job.hyperparameters.semi_markov,
        )
        return advantages.T.contiguous(), targets.T.contiguous()

    def _values(self, normalized: Any) -> torch.Tensor:
        values: torch.Tensor = self.actor_critic.values(normalized)
        return values

    def _earned(self, values: torch.Tensor) -> torch.Tensor:
        """Convert values of the critic to units of reward. (The critic of Sample Factory learns normalised returns.)"""
        earned: torch.Tensor = self.actor_critic.network.returns.unscale(values)
        return earned if self.cfg.normalize_returns else values

    def _flatten(self, buffer: TensorDict, taken: torch.Tensor) -> tuple[TensorDict, int, int]:
        size, rows = int(taken.sum()), taken.shape[1]
        for key, value in buffer.items():
            if torch.is_tensor(value):
                buffer[key] = value[:, :rows][taken]
        buffer["dones_cpu"] = buffer["dones"].float().cpu()
        buffer["rewards_cpu"] = buffer["rewards"].float().cpu()
        if self.cfg.normalize_returns:
            moments = self.actor_critic.network.returns
            moments.update(buffer["returns"].unsqueeze(1))
            buffer["returns"] = moments.scale(buffer["returns"])
        invalid = size - int(buffer["valids"].sum().item())
        if invalid:
            stale = ~buffer["valids"].bool()
            buffer["actions"][stale] = 0
            buffer["log_prob_actions"][stale] = -1
        return buffer, size, invalid

    def _kl_loss(
        self, action_space: Any, action_logits: torch.Tensor, distribution: Any, valids: Any, num_invalids: int
    ) -> tuple[torch.Tensor, Any]:
        """The Kullback-Leibler divergence of the new policy from the old policy for each decision, and the loss that is
        computed from these divergences. Sample Factory's logs and schedules use both the divergences and the loss.
        """
        coefficient = self.cfg.kl_loss_coeff
        with torch.set_grad_enabled(coefficient > 0):
            kl = distribution.kl(self.actor_critic.distribution(action_logits))
        kl = masked_select(kl, valids, num_invalids)
        return kl, coefficient * kl.mean() if coefficient > 0 else 0.0


def _with_final(taken: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Find the row after the last decision of each environment.

    :param taken: whether a row contains a decision, bool ``[environments, rows]``.
    :returns: whether a row contains an observation, and whether the row is the one after the last decision; both are
        bool ``[environments, rows + 1]``.
    """
    final = torch.arange(taken.shape[1] + 1, device=taken.device) == taken.sum(1, keepdim=True)
    return torch.nn.functional.pad(taken, (0, 1)) | final, final


class OptionLearnerWorker(LearnerWorker):  # type: ignore[misc]
    """Makes the learner of a training with Sample Factory. In parallel runs, the learner has its own process, which an
    error in the learner ends.
    """

    def __init__(self, evt_loop: Any, cfg: Any, env_info: Any, buffer_mgr: Any, batcher: Any, policy_id: int) -> None:
        super().__init__(evt_loop, cfg, env_info, buffer_mgr, batcher, policy_id)
        own = type(cfg)(cfg)
        h = cfg.job.hyperparameters
        own.batch_size = min(h.minibatch_size, h.num_envs * h.num_steps)
        own.num_batches_per_epoch = -(-h.num_envs * h.num_steps // own.batch_size)
        self.learner = OptionLearner(own, env_info, buffer_mgr.policy_versions, policy_id, self.param_server)

    def init(self) -> None:
        if not self.cfg.serial_mode:
            die_when_orphaned()
        super().init()

    def start_batcher_thread(self) -> None:
        """Start the batcher thread as Sample Factory's ``LearnerWorker`` does, but as a daemon thread. With a thread
        that is no daemon, the process of a failed learner could not end.
        """
        self.batcher.event_loop.process = self.event_loop.process
        self.batcher_thread = threading.Thread(target=self._batch, daemon=True)
        self.batcher_thread.start()

    def _batch(self) -> None:
        try:
            self.batcher.event_loop.exec()
        except Exception:
            _LOG.exception("Sample Factory's batcher thread failed")
            os._exit(1)
