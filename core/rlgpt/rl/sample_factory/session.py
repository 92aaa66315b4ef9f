"""One session of Sample Factory, which runs in the child process. A training that is resumed has several sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium
from sample_factory.algo.utils.context import global_model_factory
from sample_factory.algo.utils.env_info import extract_env_info
from sample_factory.algo.utils.make_env import NonBatchedVecEnv
from sample_factory.algo.utils.misc import ExperimentStatus
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.utils.attr_dict import AttrDict

from rlgpt.errors import ConfigError
from rlgpt.rl.device import check_device, resolved
from rlgpt.rl.encoder import check
from rlgpt.rl.lanes import learns_from_lanes
from rlgpt.rl.policy_env import build
from rlgpt.rl.sample_factory.adapter import Adapter
from rlgpt.rl.sample_factory.entries import image_shapes
from rlgpt.rl.sample_factory.job import LOG, STATUS_FILE, STEPS_FILE, Job
from rlgpt.rl.sample_factory.lanes import buffer_decisions
from rlgpt.rl.sample_factory.model import OptionActorCritic
from rlgpt.rl.sample_factory.processes import die_when_orphaned
from rlgpt.rl.sample_factory.runner import BudgetedParallelRunner, BudgetedSerialRunner
from rlgpt.rl.sample_factory.settings import arguments
from rlgpt.rl.sample_factory.shared_status import SharedStatus
from rlgpt.rl.step_counter import StepCounter


def make_env(name: str, cfg: Any, env_config: Any, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """The function with which Sample Factory makes environments. Worker processes of Sample Factory import
    ``make_env``.
    """
    die_when_orphaned()
    return Adapter.build(cfg.job, env_config["env_id"])


def make_actor_critic(cfg: Any, obs_space: Any, action_space: Any) -> OptionActorCritic:
    """The function with which Sample Factory makes the model. Worker processes of Sample Factory import
    ``make_actor_critic``.
    """
    die_when_orphaned()
    return OptionActorCritic(cfg, obs_space, action_space)


def configuration(job: Job) -> AttrDict:
    """Sample Factory's configuration for a job.

    :raises ConfigError: Sample Factory refuses a value of the setting ``extra``.
    """
    h, settings = job.hyperparameters, job.settings
    argv = arguments(settings, h, folder=str(job.folder), seed=job.draw(0), gamma=job.spec.setup.gamma)
    parser, _ = parse_sf_args(["--env=rlgpt"])
    try:
        cfg = AttrDict(vars(parse_full_cfg(parser, argv)))
    except SystemExit:
        raise ConfigError(
            f"Sample Factory refuses a value in extra={dict(settings.extra)}; the end of {LOG} shows which one."
        ) from None
    cfg.job, cfg.lanes = job, learns_from_lanes(job.spec)
    if cfg.lanes:
        cfg.rollout = buffer_decisions(h, job.spec.setup.coded_actions)
        cfg.batch_size = h.num_envs * cfg.rollout
    return cfg


def run(job: Job, stop: threading.Event, send: Callable[[dict[str, Any]], None]) -> None:
    """Train until the budget is spent or ``stop`` is set, from the beginning or from a checkpoint.

    :param send: a function that gets the message ``point`` with each point of the learning curve, and the message
        ``closing`` when the training begins to end.
    :raises RlgptError: the job cannot run. ``run`` raises an RlgptError before Sample Factory starts any process.
    :raises RuntimeError: Sample Factory failed; the log contains the cause.
    """
    check_device(job.settings.device)
    probe = Adapter(build(job.spec, seed=job.draw(1)), job, 0)
    images = image_shapes(probe.observation_space)
    for shape in images.values():
        check(shape, job.hyperparameters.encoder)
    device = resolved(job.settings.device, images=bool(images))
    cfg = configuration(replace(job, settings=job.settings.model_copy(update={"device": device})))
    register_env(cfg.env, make_env)
    global_model_factory().register_actor_critic_factory(make_actor_critic)
    cfg.layout, cfg.observation_names = probe.env.layout, probe.env.observation_names
    info = extract_env_info(NonBatchedVecEnv(probe), cfg)
    probe.close()
    runner = (BudgetedSerialRunner if cfg.serial_mode else BudgetedParallelRunner)(cfg)
    with StepCounter(job.folder / STEPS_FILE, job.hyperparameters.num_envs) as step_counter:
        runner.prepare(info, SharedStatus(job.folder / STATUS_FILE), step_counter, job.budget, stop, send)
        status = runner.init()
        if status == ExperimentStatus.SUCCESS:
            status = runner.run()
    if status != ExperimentStatus.SUCCESS:
        raise RuntimeError("Sample Factory failed")
