"""Parts of Sample Factory, made in the process of the test instead of Sample Factory's child process."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
from rlgpt.rl.base import EnvSpec, Hyperparameters
from rlgpt.rl.policy_env import build
from rlgpt.rl.sample_factory import SampleFactorySettings
from rlgpt.rl.sample_factory.adapter import Adapter
from rlgpt.rl.sample_factory.job import STATUS_FILE, Job
from rlgpt.rl.sample_factory.shared_status import SharedStatus
from rlgpt.testing.smdp import SETUP, TASK, WALK, fork_plugin

with warnings.catch_warnings():  # At import, the library calls torch.jit.script, which torch deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from rlgpt.rl.sample_factory.learner import OptionLearner
    from rlgpt.rl.sample_factory.model import OptionActorCritic
    from rlgpt.rl.sample_factory.session import configuration
    from sample_factory.algo.utils.env_info import EnvInfo, extract_env_info
    from sample_factory.algo.utils.make_env import NonBatchedVecEnv
    from sample_factory.algo.utils.model_sharing import ParameterServer
    from sample_factory.algo.utils.rl_utils import gae_advantages
    from sample_factory.algo.utils.shared_buffers import alloc_trajectory_tensors
    from sample_factory.model.model_utils import get_rnn_size

__all__ = [
    "FORK",
    "OptionActorCritic",
    "alloc_trajectory_tensors",
    "gae_advantages",
    "get_rnn_size",
    "job_of",
    "made",
    "opened",
]

FORK = EnvSpec(TASK, SETUP, (WALK,), factory=fork_plugin)


def job_of(folder: Path, spec: EnvSpec = FORK, **hyperparameters: Any) -> Job:
    settings = Hyperparameters(num_envs=2, num_steps=4, minibatch_size=3, **hyperparameters)
    return Job(spec, 0, 100, folder, settings, SampleFactorySettings(), 0)


def opened(job: Job) -> SharedStatus:
    return SharedStatus.open_session(job.folder / STATUS_FILE, job.hyperparameters.num_envs, len(job.spec.maskable))


def made(job: Job) -> tuple[OptionLearner, EnvInfo, Any]:
    """Make a learner in this process, in the same way as in Sample Factory's child process."""
    from sample_factory.algo.utils.context import global_model_factory

    global_model_factory().register_actor_critic_factory(OptionActorCritic)
    opened(job).close()
    cfg = configuration(job)
    probe = Adapter(build(job.spec, seed=0), job, 0)
    cfg.layout, cfg.observation_names = probe.env.layout, probe.env.observation_names
    info = extract_env_info(NonBatchedVecEnv(probe), cfg)
    versions = torch.zeros(1, dtype=torch.int32)
    learner = OptionLearner(cfg, info, versions, 0, ParameterServer(0, versions, True))
    learner.init()
    return learner, info, cfg
