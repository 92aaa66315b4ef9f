"""The lanes of one batch simulator in a rollout worker of Sample Factory. A session has lanes if the plugin has a
batch simulator (:meth:`rlgpt.rl.lanes.LaneVector.open`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.errors import PluginError
from rlgpt.rl.base import Hyperparameters
from rlgpt.rl.base_only import Masks
from rlgpt.rl.lanes import LaneVector
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.sample_factory.entries import BufferEntries
from rlgpt.rl.sample_factory.episode_tag import EpisodeTag
from rlgpt.rl.sample_factory.job import STATUS_FILE, STEPS_FILE, Job
from rlgpt.rl.sample_factory.quarantine import SharedQuarantine
from rlgpt.rl.sample_factory.shared_status import DECISIONS, FIRST_ENV, SharedStatus
from rlgpt.rl.vector import Transition


class SharedLaneVector(LaneVector):
    """Lanes whose violations count over all processes of a training. Before the lanes begin their next episodes, they
    mask the coded actions with too many violations.

    :param rule: the quarantine of the process that plays the lanes.
    """

    def __init__(self, *args: Any, rule: SharedQuarantine, **more: Any) -> None:
        super().__init__(*args, **more)
        self._rule = rule

    def _decided(self, lane: int, info: Mapping[str, Any]) -> str | None:
        began = super()._decided(lane, info)
        self._rule.record(info.get("verdicts", ()), began)
        return began

    def _draw(self, lanes: Iterable[int]) -> dict[int, int]:
        if (masked := self._rule.update()) is not None:
            self.mask(Masks(tuple(masked)))
        return super()._draw(lanes)

    def _begun(self, lane: int, info: Mapping[str, Any], seed: int | None = None) -> tuple[Verdict, ...]:
        verdicts = super()._begun(lane, info, seed)
        self._rule.record(verdicts)
        return verdicts


class SampledLanes:
    """The lanes of one rollout worker (or of one split of a worker), which are consecutive environments of a training.
    The lanes draw the seeds of their episodes in the same way as the single environments of an
    :class:`~rlgpt.rl.sample_factory.adapter.Adapter`.

    In the shared status, all lanes have the row of their first environment, because one process plays them.

    :param first: the number of the first lane among the training's environments.
    :raises PluginError: the plugin has no batch simulator.
    """

    def __init__(self, job: Job, first: int, count: int) -> None:
        self._row, self._shared_status = FIRST_ENV + first, SharedStatus(job.folder / STATUS_FILE)
        seeds = [job.draw(self._row + lane) for lane in range(count)]
        rule = SharedQuarantine(job, self._shared_status, self._row)
        lanes = SharedLaneVector.open(job.spec, seeds, job.folder / STEPS_FILE, first=first, beat=self._beat, rule=rule)
        if lanes is None:
            raise PluginError(f"the plugin of {job.spec.task.id} made a batch simulator before, but makes none now.")
        self._lanes, form = lanes, lanes.form
        tagged = job.hyperparameters.imitation_coef > 0
        self._tags = [EpisodeTag(first + lane) for lane in range(count)] if tagged else None
        self._entries = BufferEntries(form.observation_space, form.layout, tagged=tagged)

    def reset(self) -> list[Observation]:
        """Begin an episode in each lane.

        :returns: the entries of the first observation of each lane.
        """
        tags = self._tags
        first = [observation for observation, _ in self._lanes.reset()]
        return [self._entries.of(o, tag=None if tags is None else tags[i].begin()) for i, o in enumerate(first)]

    def exchange(self, lanes: Sequence[int], actions: NDArray[np.float32]) -> list[tuple[int, Transition, Observation]]:
        """Give the lanes their next actions, and take primitive steps until at least one decision is over
        (:meth:`rlgpt.rl.vector.Vector.exchange`).

        :returns: for each lane whose decision is over, its number, the result of the decision, and the entries of the
            next observation.
        """
        status, row = self._shared_status, self._row
        status.begin(row)
        transitions = self._lanes.exchange(lanes, actions)
        status.add(row, DECISIONS, len(transitions))
        results = [(lane, t, self._seen(lane, t)) for lane, t in transitions]
        status.end(row)
        return results

    def close(self) -> None:
        self._lanes.close()
        self._shared_status.close()

    def _seen(self, lane: int, t: Transition) -> Observation:
        tag = None if self._tags is None else self._tags[lane].after(t.episode)
        last = None if t.terminated else t.last
        return self._entries.of(t.observation, t.duration, truncated=last, tag=tag)

    def _beat(self) -> None:
        self._shared_status.beat(self._row)


def buffer_decisions(h: Hyperparameters, coded: Sequence[str]) -> int:
    """The most decisions of one lane in a rollout.

    A rollout of lanes ends when the lanes have taken ``num_steps`` decisions on average, so a lane with short decisions
    takes more than ``num_steps``. Without coded actions, decisions are equally long.

    :param coded: the names of the coded actions.
    """
    return 2 * h.num_steps if coded else h.num_steps
