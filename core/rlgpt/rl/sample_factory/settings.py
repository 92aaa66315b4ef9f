"""Settings that only Sample Factory has, such as the number of processes, the device, and the time limits that detect a
hang. Hyperparameters are the same in every trainer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from rlgpt.domain import Scalar, Value
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.device import Device

Extra = Mapping[str, Scalar]

# fmt: off
EXTRA = frozenset((
    "adam_beta1", "adam_beta2", "adam_eps", "default_niceness", "experiment_summaries_interval",
    "flush_summaries_interval", "force_envs_single_thread", "kl_loss_coeff", "lr_adaptive_max", "lr_adaptive_min",
    "lr_schedule", "lr_schedule_kl_threshold", "max_policy_lag", "num_batches_to_accumulate", "optimizer",
    "policy_workers_per_policy", "ppo_clip_value", "reward_clip", "reward_scale", "set_workers_cpu_affinity",
))
# fmt: on
"""The arguments of Sample Factory that the setting ``extra`` may contain. All other arguments are set by a
hyperparameter or a setting, have no effect in rlgpt, or break a property of the trainer. (For example, V-trace ignores
durations, and population-based training ignores the budget.)
"""


class SampleFactorySettings(Value):
    """Settings of Sample Factory's processes.

    With ``serial``, one child process does all the work, and a training begins within seconds. With ``parallel``, the
    learner, the inference and each of ``workers`` groups of environments have their own processes. ``parallel`` is
    faster than ``serial`` if environments are slow and the machine has many cores.
    """

    mode: Literal["serial", "parallel"] = "serial"
    workers: int = Field(
        default=1, ge=1, description="number of processes with environments (parallel); divides num_envs"
    )
    splits: int = Field(
        default=1,
        ge=1,
        le=2,
        description="2: one half of a worker's environments steps while the other half waits for actions",
    )
    device: Device = Field(
        default="cpu", description="device of inference and learning; auto: a GPU for images if there is CUDA"
    )
    asynchronous: bool = Field(
        default=False, description="whether to collect while learning (policy lag), for throughput"
    )
    threads: int = Field(default=1, ge=1, description="threads of numerical libraries in each process")
    startup_grace: float = Field(
        default=120.0, gt=0, description="seconds for the first update before the training counts as hung"
    )
    heartbeat_timeout: float = Field(
        default=25.0,
        gt=0,
        description="seconds without a heartbeat that count as hung; more than the longest decision takes",
    )
    save_every: int = Field(default=30, ge=1, description="seconds between checkpoints")
    extra: Extra = Field(default_factory=dict, description="Sample Factory's own arguments, by name")


def arguments(
    settings: SampleFactorySettings, h: Hyperparameters, *, folder: str, seed: int, gamma: float
) -> list[str]:
    """The arguments for Sample Factory's command line.

    A training iteration of Sample Factory takes one rollout from every environment. The learner of rlgpt divides the
    rollouts into minibatches.

    :raises ConfigError: the setting ``num_envs`` is not a multiple of ``workers`` times ``splits``.
    :raises UnknownNameError: the setting ``extra`` names an argument that is not among :data:`EXTRA`.
    """
    _check(settings.extra)
    parallel = settings.mode == "parallel"
    workers = settings.workers if parallel else 1
    if h.num_envs % (workers * settings.splits):
        raise ConfigError(
            f"{h.num_envs} environments cannot be shared by {workers} workers with {settings.splits} splits each. "
            f"Choose num_envs as a multiple of {workers * settings.splits}."
        )
    given: dict[str, Scalar] = {
        "algo": "APPO",
        "env": "rlgpt",
        "experiment": "sample_factory",
        "train_dir": folder,
        "seed": seed,
        "device": settings.device,
        "serial_mode": not parallel,
        "async_rl": settings.asynchronous and parallel,
        "num_workers": workers,
        "num_envs_per_worker": h.num_envs // workers,
        "worker_num_splits": settings.splits,
        "rollout": h.num_steps,
        "batch_size": h.num_envs * h.num_steps,
        "num_batches_per_epoch": 1,
        "num_epochs": h.update_epochs,
        "shuffle_minibatches": True,
        "use_rnn": False,
        "recurrence": 1,
        "learning_rate": h.learning_rate,
        "lr_schedule": "constant",
        "gamma": gamma,
        "gae_lambda": h.gae_lambda,
        "ppo_clip_ratio": h.clip_coef,
        "ppo_clip_value": 10.0,
        "value_loss_coeff": h.vf_coef,
        "exploration_loss_coeff": h.ent_coef,
        "kl_loss_coeff": 0.0,
        "max_grad_norm": h.max_grad_norm,
        "normalize_input": False,
        "normalize_returns": h.normalize_returns,
        "actor_critic_share_weights": False,
        "with_vtrace": False,
        "value_bootstrap": False,
        "decorrelate_envs_on_one_worker": False,
        "decorrelate_experience_max_seconds": 0,
        "batched_sampling": False,
        "log_to_file": False,
        "save_every_sec": settings.save_every,
        "save_best_every_sec": 10**9,
        "save_best_after": 10**15,
        "train_for_env_steps": 10**15,
        "train_for_seconds": 10**9,
        "heartbeat_reporting_interval": 10**6,
        "experiment_summaries_interval": 30,
        "set_workers_cpu_affinity": False,
        "force_envs_single_thread": False,
        "default_niceness": 0,
        "reward_clip": 1e6,
        **settings.extra,
    }
    argv: list[str] = []
    for name, value in given.items():
        argv += [f"--{name}", str(value)]
    return argv


def _check(extra: Extra) -> None:
    for name in extra:
        if name not in EXTRA:
            hint = "Sample Factory's other arguments are set by the hyperparameters and the settings."
            raise UnknownNameError("argument of Sample Factory", name, EXTRA, hint)
    if extra.get("lr_schedule") == "linear_decay":
        raise ConfigError(
            "lr_schedule=linear_decay counts decisions, but the budget counts primitive steps; use kl_adaptive_epoch."
        )
