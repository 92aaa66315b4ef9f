"""Collects the rollouts of lanes for Sample Factory. Each lane decides when its last decision is over, independently of
the other lanes.
"""

from __future__ import annotations

from queue import Empty
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sample_factory.algo.sampling.rollout_worker import RolloutWorker
from sample_factory.algo.sampling.sampler import ParallelSampler, Sampler, SerialSampler
from sample_factory.algo.sampling.sampling_utils import VectorEnvRunner
from sample_factory.algo.utils.misc import EPISODIC, POLICY_ID_KEY
from sample_factory.algo.utils.tensor_dict import to_numpy

from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.sample_factory.job import Job
from rlgpt.rl.sample_factory.lanes import SampledLanes
from rlgpt.rl.sample_factory.processes import die_when_orphaned
from rlgpt.rl.vector import Transition

POLICY = 0
NO_DECISION = -1
"""In the buffers, the entry ``policy_id`` of a row without a decision."""

_OUTPUTS = ("actions", "action_logits", "log_prob_actions", "values", "policy_version")
_Row = dict[str, Any]


class LaneRunner(VectorEnvRunner):  # type: ignore[misc]
    """Plays the lanes of one batch simulator. Sample Factory's own runners take one step in all environments at once;
    a ``LaneRunner`` asks only for the actions of the lanes whose decisions are over.

    Each lane writes its decisions to its own buffer. A rollout ends when the lanes have taken ``num_steps`` decisions
    on average, or when a buffer is full. The buffer of a lane then has at most as many decisions as rows; the other
    rows have no policy. The row after a lane's last decision has the observation of the next decision. A decision that
    is not over at the end of a rollout becomes the first decision of the lane's next buffer, so each decision is in
    exactly one rollout.

    The parameters are those of Sample Factory's runners.
    """

    traj_tensors: Any
    policy_output_tensors: Any

    def __init__(
        self,
        cfg: Any,
        env_info: Any,
        num_envs: int,
        worker_idx: int,
        split_idx: int,
        buffer_mgr: Any,
        sampling_device: str,
        training_info: Any,
    ) -> None:
        super().__init__(cfg, env_info, worker_idx, split_idx, buffer_mgr, sampling_device)
        self.traj_tensors = to_numpy(self.traj_tensors)
        self.policy_output_tensors = to_numpy(self.policy_output_tensors)
        self._first = worker_idx * cfg.num_envs_per_worker + split_idx * num_envs
        self._count = num_envs
        ends = np.cumsum(buffer_mgr.output_sizes)
        self._columns = {
            name: slice(end - size, end)
            for name, size, end in zip(buffer_mgr.output_names, buffer_mgr.output_sizes, ends, strict=True)
        }
        self._most = num_envs * cfg.job.hyperparameters.num_steps
        self._buffers: list[int] = []
        self._taken = np.zeros(num_envs, np.int64)
        self._ready: list[int] = list(range(num_envs))
        self._seen: dict[int, Observation] = {}
        self._carried: dict[int, _Row] = {}
        self._rollouts = 0

    def init(self, timing: Any) -> None:
        die_when_orphaned()
        job: Job = self.cfg.job
        self._lanes = SampledLanes(job, self._first, self._count)
        self._seen = dict(enumerate(self._lanes.reset()))
        self.env_step_ready = True

    def update_trajectory_buffers(self, timing: Any) -> bool:
        """Get a free buffer for each lane that has none.

        :returns: whether all lanes have a buffer.
        """
        while missing := self._count - len(self._buffers):
            try:
                self._buffers += self.traj_buffer_queue.get_many(block=False, max_messages_to_get=missing)
            except Empty:
                return False
        return True

    def generate_policy_request(self) -> dict[int, list[tuple[int, int, int, int]]] | None:
        """Write the observations of the lanes that need an action, and return the places of these observations."""
        if not self.env_step_ready or len(self._buffers) < self._count:
            return None
        for lane, row in self._carried.items():
            self._write_row(self._buffers[lane], row)
        self._carried.clear()
        self._write_observations(self._ready)
        self.env_step_ready = False
        return {POLICY: [(lane, 0, self._buffers[lane], int(self._taken[lane])) for lane in self._ready]}

    def advance_rollouts(self, policy_id: int, timing: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Take the actions that the policy has chosen, until at least one lane needs its next action.

        :returns: the buffers of the rollout if it is complete, and the statistics of the episodes that have ended.
        """
        outputs = self.policy_output_tensors[self._ready, 0]
        at = self._at(self._ready)
        for name in _OUTPUTS:
            stored = self.traj_tensors[name]
            stored[at] = outputs[:, self._columns[name]].reshape(len(self._ready), *stored.shape[2:])
        with timing.add_time("env_step"):
            results = self._lanes.exchange(self._ready, outputs[:, self._columns["actions"]])
        self._ready = [lane for lane, _, _ in results]
        self._seen = {lane: seen for lane, _, seen in results}
        self._write_results([t for _, t, _ in results])
        self._taken[self._ready] += 1
        self.env_step_ready = True
        over = self._taken.sum() >= self._most or self._taken.max() >= self.cfg.rollout
        return self._finish() if over else [], [_report(t) for _, t, _ in results if t.episode is not None]

    def synchronize_devices(self) -> None:
        """Do nothing, because the buffers are in the memory of the CPU."""

    def close(self) -> None:
        self._lanes.close()

    def _at(self, lanes: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The buffer and the row of the next or current decision of each lane in ``lanes``."""
        return np.array(self._buffers)[lanes], self._taken[lanes]

    def _write_observations(self, lanes: list[int]) -> None:
        at, stored = self._at(lanes), self.traj_tensors["obs"]
        for key in self._seen[lanes[0]]:
            stored[key][at] = np.stack([self._seen[lane][key] for lane in lanes])

    def _write_results(self, results: list[Transition]) -> None:
        at, stored, limit = self._at(self._ready), self.traj_tensors, self.cfg.reward_clip
        rewards = np.array([t.reward for t in results], np.float32) * self.cfg.reward_scale
        stored["rewards"][at] = np.clip(rewards, -limit, limit)
        stored["dones"][at] = [t.terminated or t.truncated for t in results]
        stored["time_outs"][at] = [t.truncated and not t.terminated for t in results]
        stored["policy_id"][at] = POLICY

    def _finish(self) -> list[dict[str, Any]]:
        """End the rollout, and describe each of its buffers to Sample Factory."""
        self._write_observations(self._ready)
        waiting = set(range(self._count)) - set(self._ready)
        self._carried = {lane: self._row(lane) for lane in waiting}
        rollouts = []
        for lane, buffer in enumerate(self._buffers):
            taken = int(self._taken[lane])
            self.traj_tensors["policy_id"][buffer, taken:] = NO_DECISION
            name = f"{POLICY}_{self._first + lane}_{self._rollouts}"
            rollouts.append({"t_id": name, "length": taken, "policy_id": POLICY, "traj_buffer_idx": buffer})
        self._rollouts += 1
        self._buffers, self._taken = [], np.zeros_like(self._taken)
        return rollouts

    def _row(self, lane: int) -> _Row:
        """A copy of the observation and the policy's outputs of the decision in progress in ``lane``."""
        place, stored = (self._buffers[lane], int(self._taken[lane])), self.traj_tensors
        observations = {key: values[place].copy() for key, values in stored["obs"].items()}
        return {"obs": observations, **{name: stored[name][place].copy() for name in _OUTPUTS}}

    def _write_row(self, buffer: int, row: _Row) -> None:
        for name in _OUTPUTS:
            self.traj_tensors[name][buffer, 0] = row[name]
        for key, values in row["obs"].items():
            self.traj_tensors["obs"][key][buffer, 0] = values


def _report(t: Transition) -> dict[str, Any]:
    """The statistics of an episode that ended with the decision ``t``, for Sample Factory's runner."""
    assert t.episode is not None
    extra = {"episode": t.episode, "usage": t.usage}
    figures = {"reward": t.episode["total_reward"], "len": t.episode["decisions"], "episode_extra_stats": extra}
    return {EPISODIC: figures, POLICY_ID_KEY: POLICY}


class LaneWorker(RolloutWorker):  # type: ignore[misc]
    """A rollout worker whose environments are lanes; each split of the worker has its own simulator."""

    def init(self) -> None:
        for split in range(self.num_splits):
            size, device = self.vector_size // self.num_splits, self.sampling_device
            runner = LaneRunner(
                self.cfg, self.env_info, size, self.worker_idx, split, self.buffer_mgr, device, self.training_info
            )
            runner.init(self.timing)
            self.env_runners.append(runner)
        for runner in self.env_runners:
            self._maybe_send_policy_request(runner)
        self.is_initialized = True


class LaneSampler(Sampler):  # type: ignore[misc]
    """Makes rollout workers with lanes."""

    def _make_rollout_worker(self, event_loop: Any, worker_idx: int) -> LaneWorker:
        return LaneWorker(event_loop, worker_idx, self.buffer_mgr, self.inference_queues, self.cfg, self.env_info)


class SerialLaneSampler(LaneSampler, SerialSampler):  # type: ignore[misc]
    """Makes lanes in the process of the runner."""


class ParallelLaneSampler(LaneSampler, ParallelSampler):  # type: ignore[misc]
    """Makes lanes in processes of their own."""


LANE_SAMPLERS = {SerialSampler: SerialLaneSampler, ParallelSampler: ParallelLaneSampler}
"""For each sampler of Sample Factory, the sampler whose environments are lanes."""
