"""Extends Sample Factory's runner, which starts and connects the parts of a training. The runners of this module also
check the budget, the processes, and requests to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

from sample_factory.algo.runners.runner import AlgoObserver, Runner
from sample_factory.algo.runners.runner_parallel import ParallelRunner
from sample_factory.algo.runners.runner_serial import SerialRunner
from sample_factory.algo.utils.env_info import EnvInfo
from sample_factory.algo.utils.misc import EPISODIC, ExperimentStatus
from sample_factory.algo.utils.shared_buffers import BufferMgr
from sample_factory.cfg.arguments import preprocess_cfg
from sample_factory.utils.gpu_utils import set_global_cuda_envvars
from signal_slot.signal_slot import Timer

from rlgpt.errors import TrainerError
from rlgpt.rl.best import recent_performance
from rlgpt.rl.sample_factory.lane_runner import LANE_SAMPLERS
from rlgpt.rl.sample_factory.learner import OptionLearnerWorker
from rlgpt.rl.sample_factory.shared_status import DECISIONS, RUNNER, SharedStatus
from rlgpt.rl.step_counter import StepCounter
from rlgpt.rl.training_stats import TrainingStats, TrainingStatsState

_INTERVAL = 0.02
_POINTS = 100
_POLICY = 0


class BudgetedRunner(Runner):  # type: ignore[misc]
    """The common part of the serial and the parallel runner. Call :meth:`prepare` before ``init`` of the runner."""

    def prepare(
        self,
        env_info: EnvInfo,
        shared_status: SharedStatus,
        step_counter: StepCounter,
        budget: int,
        stop: Event,
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        """Set the values that the runner needs.

        :param budget: number of primitive steps, over all sessions, at which the training ends.
        :param stop: an event that another thread sets to request a stop. After the event ``stop`` is set, the training
            ends at the next check.
        :param send: a function that gets the message ``point`` with each point of the learning curve, and the message
            ``closing`` when the training begins to end.
        """
        self._info, self._shared_status, self._step_counter = env_info, shared_status, step_counter
        self._budget, self._stop, self._send = budget, stop, send
        self._training_stats, self._due = (
            TrainingStats(TrainingStatsState(curve=self.cfg.job.curve)),
            step_counter.total,
        )
        # Sample Factory's own handler averages all that it gets, and some fields of an episode are not numbers.
        self.policy_msg_handlers[EPISODIC].insert(0, self._on_episode)
        self.register_observer(_CurveObserver())
        self._look_timer = Timer(self.event_loop, _INTERVAL)
        self._look_timer.timeout.connect(self._look)

    def init(self) -> int:
        """Initialise the runner with known observation and action spaces. Sample Factory's own ``init`` would start
        another process, which makes an environment to read its spaces. Starting a process for the spaces takes seconds,
        and if it fails, Sample Factory waits forever.
        """
        set_global_cuda_envvars(self.cfg)
        self.env_info = self._info
        if not preprocess_cfg(self.cfg, self.env_info):
            raise TrainerError("Sample Factory refuses the combination of its arguments; see the log.")
        self.buffer_mgr = BufferMgr(self.cfg, self.env_info)
        self._observers_call(AlgoObserver.on_init, self)
        return int(ExperimentStatus.SUCCESS)

    def _make_learner(self, event_loop: Any, policy_id: int, batcher: Any) -> OptionLearnerWorker:
        return OptionLearnerWorker(event_loop, self.cfg, self.env_info, self.buffer_mgr, batcher, policy_id)

    def _make_sampler(self, sampler_cls: Any, event_loop: Any) -> Any:
        return super()._make_sampler(LANE_SAMPLERS[sampler_cls] if self.cfg.lanes else sampler_cls, event_loop)

    def _look(self) -> None:
        self._shared_status.beat(RUNNER)
        if self.stopped:
            return
        dead = [p.name for p in self.workers() if p.exitcode is not None]
        if dead:
            raise TrainerError(f"worker process {', '.join(dead)} ended during the training")
        if self._stop.is_set() or self._step_counter.total >= self._budget:
            self._stop_training()

    def workers(self) -> list[Any]:
        """The processes that must not end before the training ends."""
        return []

    @staticmethod
    def _on_episode(runner: BudgetedRunner, message: dict[str, Any], policy_id: int) -> None:
        ended = message[EPISODIC].pop("episode_extra_stats")
        runner._training_stats.add_episode(ended["episode"], ended["usage"])

    def point(self, *, last: bool = False) -> None:
        """If it is time for a point of the learning curve, send the point to the parent process, and its performance to
        the learner.
        """
        steps = self._step_counter.total
        if steps < self._due and not last:
            return
        point = self._training_stats.close_point(primitive_steps=steps, decisions=self._shared_status.spent(DECISIONS))
        if point is not None:
            self._due = steps + max(1, self._budget // _POINTS)
            self._send({"point": point.model_dump(mode="json")})
            performance = recent_performance(self._training_stats.curve, self.cfg.job.spec.task.score)
            self.save_best.emit(_POLICY, "recent_performance", performance)

    def close(self) -> None:
        self._send({"closing": True})


class _CurveObserver(AlgoObserver):  # type: ignore[misc]
    def on_training_step(self, runner: BudgetedRunner, training_iteration_since_resume: int) -> None:
        runner.point()

    def on_stop(self, runner: BudgetedRunner) -> None:
        runner.point(last=True)
        runner.close()


class BudgetedSerialRunner(SerialRunner, BudgetedRunner):  # type: ignore[misc]
    """Runs all parts of a training in this process, one after another."""


class BudgetedParallelRunner(ParallelRunner, BudgetedRunner):  # type: ignore[misc]
    """Runs the learner, the inference and the environments of a training in separate processes."""

    def workers(self) -> list[Any]:
        return [p for p in (*self.processes, *self.sampler.processes) if p.pid is not None]
