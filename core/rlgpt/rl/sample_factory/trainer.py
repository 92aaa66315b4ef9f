"""The trainer that uses Sample Factory (``trainer=sample_factory``)."""

from __future__ import annotations

import importlib.util
import multiprocessing
import time
from pathlib import Path

from rlgpt.domain import CurvePoint, TrainingRecord
from rlgpt.errors import TrainerError, TrainingFolderError
from rlgpt.files import Folder
from rlgpt.rl.base import EnvSpec, Hyperparameters, Policy, Progress, Trainer, refuse_unpicklable
from rlgpt.rl.checkpoint import Checkpoint
from rlgpt.rl.device import check_device
from rlgpt.rl.lock import exclusive
from rlgpt.rl.policy_env import plugin_of
from rlgpt.rl.ppo import PPO
from rlgpt.rl.sample_factory.job import STATUS_FILE, STEPS_FILE, Job, curve_lines, verdict_lines
from rlgpt.rl.sample_factory.quarantine import quarantined
from rlgpt.rl.sample_factory.resume import resumable
from rlgpt.rl.sample_factory.settings import SampleFactorySettings, arguments
from rlgpt.rl.sample_factory.shared_status import DECISIONS, SharedStatus
from rlgpt.rl.sample_factory.supervisor import supervise
from rlgpt.rl.step_counter import StepCounter
from rlgpt.rl.training_stats import worth_keeping


class SampleFactory(Trainer):
    """PPO by Sample Factory (Petrenko et al., 2020), synchronous or asynchronous, over decisions of any duration. The
    training with Sample Factory runs in a supervised child process.

    The policy network, its distribution, the advantages and the checkpoints are the same as in
    :class:`rlgpt.rl.ppo.PPO`. Sample Factory does the sampling, batching and optimisation. A coded action with too many
    violations, counted over all environments, is masked in each environment from its next episode on
    (:mod:`rlgpt.options.violations`). A training with Sample Factory ends when the budget is spent, even within a
    rollout. The training exceeds the budget by at most the current decision of each environment and the primitive steps
    that all environments take within 20 ms.

    At each point of the learning curve, the learner gets the performance over the newest episodes. The learner saves
    the best weights of all sessions (:mod:`rlgpt.rl.best`) in addition to the newest weights. A resumed training uses
    the newest weights; evaluations and warm starts use the best weights.

    :param settings: processes, device and time limits. If ``settings`` is None, the default settings are used.
    :raises TrainerError: the package sample-factory is not installed.
    """

    name = "sample_factory"

    def __init__(self, settings: SampleFactorySettings | None = None) -> None:
        if importlib.util.find_spec("sample_factory") is None:
            raise TrainerError(
                "the trainer sample_factory needs the package sample-factory, which pins old versions of packages: "
                "install it with `uv pip install 'rlgpt[sample-factory]' --overrides overrides.txt` (the file is in "
                "rlgpt's repository), or use the trainer ppo."
            )
        self.settings = settings or SampleFactorySettings()

    def check(self, spec: EnvSpec, hyperparameters: Hyperparameters) -> None:
        """Check that this machine has the trainer's device, that other processes can make the environment, and that the
        settings of Sample Factory and the network fit (:meth:`Trainer.check`).
        """
        check_device(self.settings.device)
        refuse_unpicklable(spec, "trainer=ppo")
        self.untrained(spec, seed=0, hyperparameters=self._fitted(spec, hyperparameters))

    def train(
        self,
        spec: EnvSpec,
        *,
        budget: int,
        seed: int,
        folder: Path,
        hyperparameters: Hyperparameters,
        progress: Progress | None = None,
        warm_start: Path | None = None,
    ) -> TrainingRecord:
        """Train as :meth:`Trainer.train` describes.

        :raises ConfigError: the settings of Sample Factory do not fit the hyperparameters.
        """
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise TrainerError(
                "a process of this training imports the script again, and the import began another training. Move the "
                "code that trains under `if __name__ == '__main__':`."
            )
        folder = folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        hyperparameters = self._fitted(spec, hyperparameters)
        with exclusive(folder) as lock:
            curve = tuple(curve_lines(folder).read())
            verdict_lines(folder).read()  # Reads both files now, so that damage is reported before steps are spent.
            found = resumable(folder, iterations=_iterations(folder))
            if found is None and warm_start is not None:
                Checkpoint.load_best(warm_start)
            before = found.state.seconds if found else 0.0
            with StepCounter(folder / STEPS_FILE, hyperparameters.num_envs) as step_counter:
                spent = step_counter.total
                job = Job(spec, seed, budget, folder, hyperparameters, self.settings, spent, before, warm_start, curve)
                return self._session(job, step_counter, lock, progress)

    def _session(self, job: Job, step_counter: StepCounter, lock: int, progress: Progress | None) -> TrainingRecord:
        folder, began = job.folder, time.monotonic()
        curve = list(job.curve)
        shared_status = SharedStatus.open_session(
            folder / STATUS_FILE, job.hyperparameters.num_envs, len(job.spec.maskable)
        )

        def note(point: CurvePoint) -> bool | None:
            curve.append(point)
            curve_lines(folder).append(point)
            return progress(point) if progress is not None else None

        try:
            if job.carried < job.budget:
                supervise(job, shared_status, lock, note)
            return TrainingRecord(
                trainer=self.name,
                primitive_steps=step_counter.total,
                decisions=shared_status.spent(DECISIONS),
                seconds=job.seconds + time.monotonic() - began,
                curve=tuple(curve),
                verdicts=worth_keeping(verdict_lines(folder).read()),
                quarantined=quarantined(job, shared_status),
            )
        finally:
            shared_status.close()

    def _fitted(self, spec: EnvSpec, hyperparameters: Hyperparameters) -> Hyperparameters:
        """The hyperparameters with at most as many environments as the plugin allows.

        :raises ConfigError: the settings of Sample Factory do not fit the hyperparameters.
        """
        envs = min(hyperparameters.num_envs, plugin_of(spec).limits(spec.task).max_envs)
        fitted = hyperparameters.model_copy(update={"num_envs": envs})
        arguments(self.settings, fitted, folder="", seed=0, gamma=spec.setup.gamma)
        return fitted

    def load(self, folder: Path, spec: EnvSpec) -> Policy:
        return PPO().load(folder, spec)

    def untrained(self, spec: EnvSpec, *, seed: int, hyperparameters: Hyperparameters) -> Policy:
        return PPO().untrained(spec, seed=seed, hyperparameters=hyperparameters)


def _iterations(folder: Path) -> int:
    if not Folder(folder, TrainingFolderError).exists(STATUS_FILE):
        return 0
    shared_status = SharedStatus(folder / STATUS_FILE)
    try:
        return shared_status.iterations()
    finally:
        shared_status.close()
