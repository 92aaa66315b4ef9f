"""A trainer that improves a linear policy by hill climbing on its weights."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rlgpt.domain import CurvePoint, TrainingRecord
from rlgpt.errors import TrainerError
from rlgpt.files import Folder
from rlgpt.rl import (
    STEPS_FILE,
    EnvSpec,
    Hyperparameters,
    Policy,
    PolicyEnv,
    Progress,
    StepCounter,
    Trainer,
    build,
)

from rlgpt_randomsearch.policy import Linear, Weights

WEIGHTS = "weights.npy"
LIMIT = 64 << 20


class RandomSearch(Trainer):
    """A trainer that tries a random change of the best weights for one episode, and keeps the change if the episode
    return is not lower.

    The trainer uses random search in policy space (Mania, Guy and Recht 2018), with one direction and one episode at a
    time.

    :param noise: the standard deviation of a change of the weights.
    """

    name = "random_search"

    def __init__(self, *, noise: float = 0.5) -> None:
        self.noise = noise

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
        """Train as :meth:`rlgpt.rl.Trainer.train` describes. A resumed training starts from the best weights so far."""
        folder.mkdir(parents=True, exist_ok=True)
        begin, rng, curve, decisions = time.monotonic(), np.random.default_rng(seed), [], 0
        best_return = -np.inf
        with StepCounter(folder / STEPS_FILE, 1) as steps:
            env = build(spec, seed=seed, on_step=steps.counting(0))
            try:
                shape = Linear.shape(env.action_space, env.observation_space)
                best = _read(folder, shape) if (folder / WEIGHTS).exists() else np.zeros(shape)
                while steps.total < budget:
                    weights = best + self.noise * rng.standard_normal(shape)
                    episode = _episode(env, Linear(env.action_space, weights), rng, lambda: steps.total >= budget)
                    if episode is None:
                        break
                    if episode["total_reward"] >= best_return:
                        best, best_return = weights, episode["total_reward"]
                        _write(folder, best)
                    decisions += episode["decisions"]
                    point = CurvePoint(
                        primitive_steps=steps.total,
                        episodes=1,
                        success=float(episode["success"]),
                        total_reward=episode["total_reward"],
                        decisions=decisions,
                    )
                    curve.append(point)
                    if progress is not None and progress(point):
                        break
                if not (folder / WEIGHTS).exists():
                    _write(folder, best)
            finally:
                env.close()
            return TrainingRecord(
                trainer=self.name,
                primitive_steps=steps.total,
                decisions=decisions,
                seconds=time.monotonic() - begin,
                curve=tuple(curve),
            )

    def load(self, folder: Path, spec: EnvSpec) -> Policy:
        env = build(spec, seed=0)
        try:
            return Linear(env.action_space, _read(folder, Linear.shape(env.action_space, env.observation_space)))
        finally:
            env.close()

    def untrained(self, spec: EnvSpec, *, seed: int, hyperparameters: Hyperparameters) -> Policy:
        env = build(spec, seed=seed)
        try:
            return Linear(env.action_space, np.zeros(Linear.shape(env.action_space, env.observation_space)))
        finally:
            env.close()


def _episode(
    env: PolicyEnv, policy: Policy, rng: np.random.Generator, spent: Callable[[], bool]
) -> dict[str, Any] | None:
    """Play one episode and return its ``info["episode"]``. Return None if the budget of steps ended before the
    episode.
    """
    observation, _ = env.reset()
    while not spent():
        observation, _, terminated, truncated, info = env.step(policy.act(observation, greedy=False, rng=rng))
        if terminated or truncated:
            return dict(info["episode"])
    return None


def _write(folder: Path, weights: Weights) -> None:
    data = io.BytesIO()
    np.save(data, weights, allow_pickle=False)
    Folder(folder, TrainerError).write(WEIGHTS, data.getvalue())


def _read(folder: Path, shape: tuple[int, int]) -> Weights:
    """Return the weights that are stored in ``folder``.

    :raises TrainerError: the folder has no weights, or the weights do not fit the spaces.
    """
    try:
        with Folder(folder, TrainerError).open(WEIGHTS, limit=LIMIT) as file:
            weights = np.load(file, allow_pickle=False)
    except ValueError as error:
        raise TrainerError(f"{folder / WEIGHTS} has no weights: {error}. Delete it and train again.") from error
    if weights.shape != shape or not np.isfinite(weights).all():
        raise TrainerError(f"{folder / WEIGHTS} has shape {weights.shape}; this environment needs {shape}.")
    return np.asarray(weights, dtype=np.float64)
