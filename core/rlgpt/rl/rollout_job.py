"""A share of a rollout as the job of an executor. The share consists of the decisions in some of the training's
environments.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from rlgpt.domain import Verdict
from rlgpt.errors import RlgptError, TrainerError
from rlgpt.executors.base import Job
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.base_only import Masks
from rlgpt.rl.network import PolicyNetwork
from rlgpt.rl.parameter_search import ParameterSearch, Playing
from rlgpt.rl.position import Position, Progress
from rlgpt.rl.positioned import PositionedVector, positioned
from rlgpt.rl.rollout import Collector, Rollout
from rlgpt.secrets import secrets_hidden


@dataclass(frozen=True)
class RolloutJob(Job):
    """The job that collects a share of a rollout. The result depends only on the fields of the job, and not on the
    environments that a process has from an earlier job.

    :ivar session: a number that differs for each set of environments of the training.
    :ivar recipe: a function that returns the pickled :class:`~rlgpt.rl.base.EnvSpec`.
    :ivar model: a function that returns the pickled pair of the policy's network and the parameter search's state and
        ``initial_std``.
    :ivar seeds: the seeds of the environments of the share.
    :ivar positions: the positions of these environments at the beginning of the rollout.
    :ivar generator: seed of the random generator that draws the actions.
    :ivar decisions: number of decisions of each environment.
    :ivar most_steps: number of primitive steps after which the share ends early.
    :ivar masks: the masks of the episodes that begin in the rollout; None if they are those of the recipe.
    :ivar playing: the episodes in progress of the parameter search; None if the network acts.
    :ivar elsewhere: number of the search's episodes in progress in other shares, and of the environments before those
        of the share, each of which may begin an episode at the same time.
    """

    session: int = field(kw_only=True)
    recipe: Callable[[], bytes] = field(kw_only=True)
    model: Callable[[], bytes] = field(kw_only=True)
    seeds: tuple[int, ...] = field(kw_only=True)
    positions: tuple[Position, ...] = field(kw_only=True)
    generator: int = field(kw_only=True)
    decisions: int = field(kw_only=True)
    most_steps: int = field(kw_only=True)
    masks: Masks | None = field(kw_only=True, default=None)
    playing: Playing | None = field(kw_only=True, default=None)
    elsewhere: int = field(kw_only=True, default=0)


@dataclass
class Events:
    """The finished episodes, the calls of actions, and the verdicts of a share."""

    episodes: list[tuple[Mapping[str, Any], Mapping[str, int]]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def add_episode(self, episode: Mapping[str, Any], usage: Mapping[str, int]) -> None:
        self.episodes.append((episode, usage))

    def add_call(self, action: str) -> None:
        self.calls.append(action)

    def add_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        self.verdicts.extend(verdicts)


@dataclass(frozen=True)
class RolloutShare:
    """The result of a :class:`RolloutJob`.

    :ivar steps: for each environment, the number of its primitive steps in the rollout.
    :ivar progress: for each environment, the new value of :attr:`Position.progress`.
    :ivar reached: for each environment, the new value of :attr:`Position.reached`.
    :ivar playing: the new value of :attr:`RolloutJob.playing`.
    """

    rollout: Rollout
    steps: tuple[int, ...]
    progress: tuple[Progress, ...]
    reached: tuple[tuple[EpisodeState, ...], ...]
    events: Events
    playing: Playing | None


class RolloutWorker:
    """Executes the jobs of a training in one process, and keeps the environments of each job for the next job with the
    same home.
    """

    def __init__(self) -> None:
        self._vectors: dict[int | None, tuple[int, PositionedVector]] = {}

    def __call__(self, job: RolloutJob) -> bytes:
        """Execute ``job``, and return the pickled :class:`RolloutShare`. (A queue between processes would send the
        tensors of an object through shared memory.)

        :raises TrainerError: an environment raised an exception.
        """
        model, recipe = job.model(), b"" if self._has_at(job) else job.recipe()
        with secrets_hidden(), one_thread():
            try:
                network, search = pickle.loads(model)
                return pickle.dumps(self._share(job, self._vector(job, recipe), network, search))
            except RlgptError as fault:
                raise TrainerError(str(fault)) from fault
            except Exception as fault:
                raise TrainerError(f"the environment raised {type(fault).__name__}: {fault}") from fault

    def close(self) -> None:
        """Close all environments."""
        for _, vector in self._vectors.values():
            vector.close()
        self._vectors.clear()

    def _share(self, job: RolloutJob, vector: PositionedVector, network: PolicyNetwork, search: Any) -> RolloutShare:
        events, slots = Events(), range(len(job.seeds))
        searching = None
        if job.playing is not None:
            initial_std, state = search
            searching = ParameterSearch(network, initial_std, state, job.elsewhere)
            searching.set_playing(slots, job.playing)
        going = {slot: action for slot, (_, action) in enumerate(vector.progress) if action is not None}
        collector = Collector(vector, network, torch.Generator().manual_seed(job.generator), events, going)
        rollout = collector.collect(
            job.decisions, lambda: sum(vector.steps) >= job.most_steps, searching.choose if searching else None
        )
        playing = None if searching is None else searching.playing(slots)
        return RolloutShare(rollout, vector.steps, vector.progress, vector.reached, events, playing)

    def _has_at(self, job: RolloutJob) -> bool:
        """Whether the environments from an earlier job are at the positions of ``job``."""
        session, vector = self._vectors.get(job.home, (0, None))
        moments = [position.moment for position in job.positions]
        return vector is not None and (session, vector.moments) == (job.session, moments)

    def _vector(self, job: RolloutJob, recipe: bytes) -> PositionedVector:
        """The environments of ``job`` at their positions.

        :param recipe: the pickled recipe for new environments; empty if the environments from an earlier job are used.
        """
        if recipe:
            if job.home in self._vectors:
                self._vectors.pop(job.home)[1].close()
            # The recipe comes from the process of this run, and never from a folder.
            vector = positioned(pickle.loads(recipe), job.seeds, job.positions)
            self._vectors[job.home] = job.session, vector
        vector = self._vectors[job.home][1]
        if job.masks is not None:
            vector.mask(job.masks)
        return vector


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread. If processes share cores, small networks are up to four times faster with one torch
    thread than with several.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
