"""The observation that a policy gets from a lane, and the statistics of the lane's episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from rlgpt.options.lane import Lane
from rlgpt.options.lane_setup import LaneSetup
from rlgpt.options.violations import CallCounts
from rlgpt.rl.codec import ActionCodec
from rlgpt.rl.observation import ObservationBuilder
from rlgpt.rl.plan_features import PlanFeatures

Observation = dict[str, np.ndarray]


class Moment(NamedTuple):
    """The state of a lane between two decisions.

    :ivar observation: the newest observation of the base environment.
    :ivar info: the info dict of the newest reset or decision of the lane.
    :ivar duration: number of primitive steps of the lane's last decision; 0 after a reset.
    """

    lane: Lane
    observation: Any
    info: Mapping[str, Any]
    duration: int


class PolicyFormat:
    """The format of the observations and actions of a policy network, for all lanes of an environment.

    :param observation_space: observation space of the base environment.
    :param keys: observation keys of the RLSetup, in order.
    :param plan_prior: the field ``plan_prior`` of the RLSetup. If ``plan_prior`` is above 0, or if decisions can
        interrupt coded actions, ``obs`` ends with the numbers of :class:`~rlgpt.rl.plan_features.PlanFeatures`.
    :ivar observation_names: a name for each number of ``obs``.
    :ivar own_names: the names without those of the numbers about the plan's code, which are last in ``obs``.
    """

    def __init__(
        self,
        setup: LaneSetup,
        observation_space: gymnasium.Space[Any],
        keys: tuple[str, ...],
        plan_prior: float,
    ) -> None:
        self._plugin, self.layout, self._extension = setup.plugin, setup.layout, setup.extension
        self.codec = ActionCodec(setup.extension.space, setup.layout)
        self._builder = ObservationBuilder(observation_space, setup.view_keys, keys)
        guided = bool(setup.actions) and (plan_prior > 0 or setup.interrupt_every is not None)
        self._plan = PlanFeatures(setup) if guided else None
        self.plan_prior = plan_prior if guided else 0.0
        self.own_names = self._builder.names
        self.observation_names = (*self.own_names, *(self._plan.names if self._plan else ()))
        self.action_space = self.codec.space
        mask = spaces.Box(0, 1, (max(1, self.layout.choices),), np.float32)
        duration = spaces.Box(0, np.inf, (1,), np.float32)
        vector = spaces.Box(-np.inf, np.inf, (len(self.observation_names),), np.float32)
        entries = {**self._builder.spaces, "obs": vector, "action_mask": mask, "duration": duration}
        self.observation_space = spaces.Dict(entries)

    def observe(self, moments: Sequence[Moment]) -> list[Observation]:
        """The policy's observation at each moment in ``moments``. Views that the lanes have not built yet are built in
        one batch.
        """
        built = self._built([moment.lane for moment in moments], [moment.observation for moment in moments])
        return [self._completed(seen, moment) for seen, moment in zip(built, moments, strict=True)]

    def numbers(self, lane: Lane) -> np.ndarray:
        """The numbers :attr:`own_names` after the newest primitive step of ``lane``, float32 ``(D,)``."""
        return self._built([lane], [lane.context.observation])[0]["obs"]

    def coded(self, name: str, parameters: Mapping[str, float] | None = None) -> Any:
        """Return the policy's action that chooses the coded action ``name``. A parameter of the coded action that is
        not given has its default.

        :raises UnknownNameError: there is no coded action ``name``, or the coded action has no parameter of a given
            name.
        """
        return self.codec.encode(self._extension.write(name, parameters))

    def base_action(self, low_level: Any) -> np.ndarray | None:
        """The policy's flat action that takes ``low_level`` as a base action; None if the policy cannot choose it."""
        action = self._extension.write_base(low_level)
        return None if action is None else self.layout.to_flat(self.codec.encode(action))

    def branch(self, action: Any) -> str:
        """The name of the branch that ``action`` chooses."""
        if not self.layout.choices:
            return self.layout.branches[0]
        selector = action[0] if isinstance(self.action_space, spaces.Tuple) else action
        return self.layout.branches[int(selector)]

    def _built(self, lanes: Sequence[Lane], observations: Sequence[Any]) -> list[Observation]:
        views = self._views(lanes) if self._builder.needs_view else []
        numbers = self._plugin.policy_views([lane.context for lane in lanes]) if self._builder.policy_keys else []
        return self._builder.build_each(observations, views, numbers)

    def _views(self, lanes: Sequence[Lane]) -> list[Mapping[str, Any]]:
        missing = [lane for lane in lanes if lane.newest_view is None]
        made = iter(self._plugin.views([lane.context for lane in missing]) if missing else ())
        return [next(made) if lane.newest_view is None else lane.newest_view for lane in lanes]

    def _completed(self, seen: Observation, moment: Moment) -> Observation:
        """Add the mask, the duration and the numbers about the plan's code to the observation ``seen``."""
        lane, info = moment.lane, moment.info
        if self._plan is not None:
            seen["obs"] = np.concatenate([seen["obs"], self._plan.build(info, lane.proposal)])
        seen["action_mask"] = info["action_mask"].astype(np.float32) if self.layout.choices else np.ones(1, np.float32)
        seen["duration"] = np.array([moment.duration], np.float32)
        return seen


class EpisodeLog:
    """The statistics of one lane's episode so far.

    :ivar usage: for each action, the number of decisions for this action in the episode.
    """

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.begin(0, {})

    def begin(self, seed: int, info: Mapping[str, Any]) -> None:
        """Begin an episode.

        :param info: the info of the reset.
        """
        self._seed, self._decisions, self._reward, self._ending = seed, 0, 0.0, ""
        self._terms: Counter[str] = Counter()
        self.usage: Counter[str] = Counter()
        self._calls = CallCounts()
        self._calls.add(info)
        self._success = self._succeeded(info)
        self._reached: dict[str, int] = {}
        self._watch(info)

    def add(self, info: Mapping[str, Any]) -> str | None:
        """Add a decision to the statistics of the episode.

        :param info: the info dict at the end of the decision.
        :returns: the name of the action whose call began in the decision; None if no call began.
        """
        self._decisions += 1
        self._reward += info["total_reward"]
        self._success = self._success or self._succeeded(info)
        self.usage[info["action"]] += 1
        for name, value in info.get("reward_terms", {}).items():
            self._terms[name] += value
        self._watch(info)
        return self._calls.add(info)

    def _succeeded(self, info: Mapping[str, Any]) -> bool:
        """Whether ``info`` reports a success that counts. In a task that has only a score, no success counts."""
        return bool(self._lane.context.task.success) and bool(info.get("success", False))

    @property
    def success(self) -> bool:
        """Whether the episode was a success at the end of any decision so far."""
        return self._success

    def figures(self) -> dict[str, Any]:
        """The fields of a :class:`rlgpt.domain.Episode`, for the part of the lane's episode that was played so far."""
        measured: dict[str, Any] = {}
        self._lane.measurement.report(measured)
        return {
            "score": measured.get("score"),
            "metrics": measured.get("metrics", {}),
            "seed": self._seed,
            "success": self._success,
            "total_reward": self._reward,
            "primitive_steps": self._lane.primitive_steps,
            "decisions": self._decisions,
            "reward_terms": dict(self._terms),
            "reached": dict(self._reached),
            "ending": self._ending,
        }

    def _watch(self, info: Mapping[str, Any]) -> None:
        """Store which sub-goals are reached for the first time, and the reason that the environment reports for the end
        of the episode.
        """
        self._ending = str(info.get("cause", ""))[:200]
        for name, done in info.get("predicates", {}).items():
            if done:
                self._reached.setdefault(name, info.get("primitive_steps", 0))
