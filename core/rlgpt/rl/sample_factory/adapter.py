"""Gives a PolicyEnv the interface of Sample Factory, and counts decisions in the shared status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium import spaces

from rlgpt.rl.policy_env import PolicyEnv, build
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.sample_factory.entries import BufferEntries
from rlgpt.rl.sample_factory.episode_tag import EpisodeTag
from rlgpt.rl.sample_factory.job import STATUS_FILE, STEPS_FILE, Job
from rlgpt.rl.sample_factory.quarantine import SharedQuarantine
from rlgpt.rl.sample_factory.shared_status import DECISIONS, FIRST_ENV, SharedStatus
from rlgpt.rl.step_counter import StepCounter

_Agents = tuple[list[Observation], list[float], list[bool], list[bool], list[dict[str, Any]]]


class Adapter(gymnasium.Env[Any, Any]):
    """One environment with Sample Factory's interface for several agents. The environment has only one agent, so all
    values in Sample Factory's interface are lists of length 1. At the end of an episode, the adapter resets the
    environment. The observations are those of :class:`~rlgpt.rl.sample_factory.entries.BufferEntries`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - gymnasium's own attribute
    render_mode = None
    num_agents = 1
    is_multiagent = True

    def __init__(self, env: PolicyEnv, job: Job, index: int, shared_status: SharedStatus | None = None) -> None:
        self.env, self._row, self._shared_status = env, FIRST_ENV + index, shared_status
        self._episode_tag = EpisodeTag(index) if job.hyperparameters.imitation_coef else None
        self._entries = BufferEntries(env.observation_space, env.layout, tagged=self._episode_tag is not None)
        self.observation_space: spaces.Dict = self._entries.space
        self._is_tuple = isinstance(env.action_space, spaces.Tuple)
        self.action_space = env.action_space
        self._quarantine = None if shared_status is None else SharedQuarantine(job, shared_status, self._row)

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
    ) -> tuple[list[Observation], list[dict[str, Any]]]:
        """Reset the environment. ``reset`` ignores ``seed``, because Sample Factory passes the index of the environment
        as the seed, whatever the seed of the training is.
        """
        tag = None if self._episode_tag is None else self._episode_tag.begin()
        return [self._entries.of(self._reset(), tag=tag)], [{}]

    def step(self, actions: Sequence[Any]) -> _Agents:  # type: ignore[override]
        shared_status = self._shared_status
        if shared_status is not None:
            shared_status.begin(self._row)
        action = actions[0]
        observation, reward, terminated, truncated, info = self.env.step(tuple(action) if self._is_tuple else action)
        report: dict[str, Any] = {}
        if shared_status is not None:
            shared_status.add(self._row, DECISIONS)
        if self._quarantine is not None:
            self._quarantine.record(info.get("verdicts", ()), info["began"])
        last = None
        if terminated or truncated:
            report["episode_extra_stats"] = {
                "episode": {**info["episode"], "base_only": False},
                "usage": info["usage"],
            }
            last = None if terminated else observation
            observation = self._reset()
        tag = None if self._episode_tag is None else self._episode_tag.after(info.get("episode"))
        seen = self._entries.of(observation, info["duration"], truncated=last, tag=tag)
        if shared_status is not None:
            shared_status.end(self._row)
        return [seen], [reward], [terminated], [truncated and not terminated], [report]

    def close(self) -> None:
        self.env.close()
        if self._shared_status is not None:
            self._shared_status.close()

    def _reset(self) -> Observation:
        if self._quarantine is None:
            return self.env.reset()[0]
        if (masked := self._quarantine.update()) is not None:
            self.env.quarantine(masked)
        observation, info = self.env.reset()
        self._quarantine.record(info.get("verdicts", ()))
        return observation
