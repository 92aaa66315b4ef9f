"""Gives a PolicyEnv the interface of Sample Factory, and counts decisions in the shared status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.errors import TrainerError
from rlgpt.options.violations import is_violation, to_quarantine
from rlgpt.rl.policy_env import PolicyEnv, build
from rlgpt.rl.sample_factory.episode_tag import EPISODE_TAG, SPACE, EpisodeTag
from rlgpt.rl.sample_factory.job import STATUS_FILE, STEPS_FILE, Job, verdict_lines
from rlgpt.rl.sample_factory.shared_status import DECISIONS, FIRST_ENV, SharedStatus
from rlgpt.rl.step_counter import StepCounter

LAST = "last_"
"""Prefix of the names of those observation entries that contain the last observation of a truncated episode. The
entries without the prefix contain the first observation of the next episode.
"""

_Agents = tuple[list[dict[str, NDArray[Any]]], list[float], list[bool], list[bool], list[dict[str, Any]]]


def policy_entries(space: spaces.Dict) -> tuple[str, ...]:
    """The entries of an observation that are inputs of the networks' layers: the observation vector and the images,
    without empty entries. (Sample Factory's buffers cannot contain empty entries.)
    """
    read = (key for key in space.spaces if key == "obs" or key.startswith("image_"))
    return tuple(key for key in read if 0 not in (space[key].shape or ()))


def image_shapes(space: spaces.Dict) -> dict[str, tuple[int, ...]]:
    """The shape of each image among the entries of an observation that the networks read, by the name of the entry."""
    return {key: space[key].shape or () for key in policy_entries(space) if key != "obs"}


class Adapter(gymnasium.Env[Any, Any]):
    """One environment with Sample Factory's interface for several agents. The environment has only one agent, so all
    values in Sample Factory's interface are lists of length 1. At the end of an episode, the adapter resets the
    environment.

    Sample Factory drops the last observation of an episode when it resets, and its buffers have no entry for a
    decision's duration. Each observation of the adapter, even the first observation of an episode, has additional
    entries about the last decision. The entry ``duration`` is the number of primitive steps of the last decision. For
    each entry that the networks read, ``last_ENTRY`` is the last observation of the episode if a time limit truncated
    it, else zeros. With self-imitation, a further entry of the observation is the result of the episode
    (:mod:`rlgpt.rl.sample_factory.episode_tag`).

    If the action space has no selector, an observation has no entry for the mask, because each entry costs time at
    every step.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - gymnasium's own attribute
    render_mode = None
    num_agents = 1
    is_multiagent = True

    def __init__(self, env: PolicyEnv, job: Job, index: int, shared_status: SharedStatus | None = None) -> None:
        self.env, self._job, self._row = env, job, FIRST_ENV + index
        self._shared_status = shared_status
        inner = env.observation_space
        assert isinstance(inner, spaces.Dict)
        self._entries = policy_entries(inner)
        self._hidden = [key for key, entry in inner.spaces.items() if 0 in (entry.shape or ())]
        if not env.layout.choices:
            self._hidden.append("action_mask")
        self._blank: dict[str, NDArray[Any]] = {
            LAST + key: np.zeros(inner[key].shape or (), inner[key].dtype or np.float32) for key in self._entries
        }
        shown = {key: entry for key, entry in inner.spaces.items() if key not in self._hidden}
        self._episode_tag = EpisodeTag(index) if job.hyperparameters.imitation_coef else None
        if self._episode_tag is not None:
            shown[EPISODE_TAG] = SPACE
        self.observation_space: spaces.Dict = spaces.Dict(
            {**shown, **{LAST + key: inner[key] for key in self._entries}}
        )
        self._is_tuple = isinstance(env.action_space, spaces.Tuple)
        self.action_space = env.action_space
        self._quarantined = frozenset(job.spec.quarantined) & set(job.coded)

    @classmethod
    def build(cls, job: Job, index: int) -> Adapter:
        """Make environment ``index`` of a training. The environment draws the seeds of its episodes from its own
        generator, and its primitive steps are counted.
        """
        shared_status, row = SharedStatus(job.folder / STATUS_FILE), FIRST_ENV + index
        step_counter = StepCounter(job.folder / STEPS_FILE, job.hyperparameters.num_envs)

        def beat() -> None:
            shared_status.beat(row)

        def count(env: gymnasium.Env[Any, Any], step: int) -> None:
            beat()
            if step:
                step_counter.add(index)

        return cls(build(job.spec, seed=job.draw(row), on_step=count, on_turn=beat), job, index, shared_status)

    @property
    def unwrapped(self) -> Adapter:
        return self

    def reset(  # type: ignore[override]
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[list[dict[str, NDArray[Any]]], list[dict[str, Any]]]:
        """Reset the environment. ``reset`` ignores ``seed``, because Sample Factory passes the index of the environment
        as the seed, whatever the seed of the training is.
        """
        observation = {**self._reset(), **self._blank}
        if self._episode_tag is not None:
            observation[EPISODE_TAG] = self._episode_tag.begin()
        return [observation], [{}]

    def step(self, actions: Sequence[Any]) -> _Agents:  # type: ignore[override]
        shared_status = self._shared_status
        if shared_status is not None:
            shared_status.begin(self._row)
        action = actions[0]
        observation, reward, terminated, truncated, info = self.env.step(tuple(action) if self._is_tuple else action)
        observation = self._shown(observation)
        report: dict[str, Any] = {}
        if shared_status is not None:
            shared_status.add(self._row, DECISIONS)
            self._record(shared_status, info.get("verdicts", ()))
        blank = self._blank
        if terminated or truncated:
            report["episode_extra_stats"] = {"episode": info["episode"], "usage": info["usage"]}
            if truncated and not terminated:
                blank = {LAST + key: observation[key] for key in self._entries}
            duration = observation["duration"]
            observation = self._reset()
            observation["duration"] = duration
        if self._episode_tag is not None:
            observation[EPISODE_TAG] = self._episode_tag.after(info.get("episode"))
        if shared_status is not None:
            shared_status.end(self._row)
        return [{**observation, **blank}], [reward], [terminated], [truncated and not terminated], [report]

    def close(self) -> None:
        self.env.close()
        if self._shared_status is not None:
            self._shared_status.close()

    def _reset(self) -> dict[str, NDArray[Any]]:
        if self._shared_status is None:
            return self._shown(self.env.reset()[0])
        self._quarantine(self._shared_status)
        observation, info = self.env.reset()
        self._record(self._shared_status, info.get("verdicts", ()))
        return self._shown(observation)

    def _shown(self, observation: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        if not np.isfinite(observation["obs"]).all():
            raise TrainerError(
                "an observation of the environment contains NaN or infinity; correct its observation or view."
            )
        for key in self._hidden:
            del observation[key]
        return observation

    def _quarantine(self, shared_status: SharedStatus) -> None:
        banned = set(to_quarantine(dict(zip(self._job.coded, shared_status.violations(), strict=True))))
        banned |= set(self._job.spec.quarantined) & set(self._job.coded)
        if banned != self._quarantined:
            self.env.quarantine(banned)
            self._quarantined = frozenset(banned)

    def _record(self, shared_status: SharedStatus, verdicts: Sequence[Verdict]) -> None:
        if not verdicts:
            return
        lines = verdict_lines(self._job.folder)
        for verdict in verdicts:
            if is_violation(verdict):
                shared_status.violation(self._row, self._job.coded.index(verdict.action))
            lines.append(verdict)
