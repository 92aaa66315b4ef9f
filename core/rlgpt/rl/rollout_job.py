"""A share of a rollout as the job of an executor. The share consists of the decisions in some of the training's
environments.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.errors import RlgptError, TrainerError
from rlgpt.executors.base import Job
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.base_only import Masks
from rlgpt.rl.network import PolicyNetwork
from rlgpt.rl.parameter_search import ParameterSearch, Playing
from rlgpt.rl.policy_lane import Observation
from rlgpt.rl.rollout import Collector, Rollout
from rlgpt.rl.vector import Slot, Transition, Vector
from rlgpt.secrets import secrets_hidden

TOLERANCE = 1e-3
"""Relative and absolute tolerance between an observation and the same observation in a repeated episode. Processors of
different types round differently.
"""


@dataclass(frozen=True, eq=False)
class Position:
    """A moment between two decisions in an environment, to which any process can bring a new environment.

    :ivar begun: number of episodes that have begun in the environment.
    :ivar actions: flat actions of the episode in progress, ``[decisions, action_size]``.
    :ivar masks: the masks of the episode in progress; None if they are those of the recipe.
    :ivar reached: the start states that the environment had reached before the episode in progress began.
    :ivar obs: the entry ``obs`` of the newest observation, ``(D,)``; None if no episode has begun.
    """

    begun: int
    actions: NDArray[np.float32]
    masks: Masks | None = None
    reached: tuple[EpisodeState, ...] = ()
    obs: NDArray[np.float32] | None = None

    @property
    def moment(self) -> tuple[int, int]:
        """The number of episodes that have begun, and the number of decisions in the last one."""
        return self.begun, len(self.actions)

    def after(self, rollout: Rollout, slot: int, masks: Masks | None, reached: tuple[EpisodeState, ...]) -> Position:
        """The position after the decisions of the environment ``slot`` in ``rollout``.

        :param masks: the masks of the episodes that began in the rollout.
        :param reached: the new value of :attr:`reached`.
        """
        _, actions, ends = rollout.of(slot)
        chosen = actions.numpy()
        began = max(1 - self.begun, 0) + len(ends)
        chosen = chosen[ends[-1].at + 1 :] if ends else np.concatenate([self.actions, chosen])
        masked = masks if began else self.masks
        return Position(
            self.begun + began, chosen, masked, reached, rollout.observations["obs"][-1, slot].numpy().copy()
        )


@dataclass(frozen=True)
class RolloutJob(Job):
    """The job that collects a share of a rollout. The result depends only on the fields of the job, and not on the
    environments that a process has from an earlier job.

    :ivar session: a number that differs for each set of environments of the training.
    :ivar recipe: a function that returns the pickled :class:`EnvSpec`.
    :ivar model: a function that returns the pickled pair of the policy's network and the parameter search's state and
        ``initial_std``.
    :ivar seeds: the seeds of the environments of the share.
    :ivar positions: the positions of these environments at the beginning of the rollout.
    :ivar generator: seed of the random generator that draws the actions.
    :ivar decisions: number of decisions of each environment.
    :ivar most_steps: number of primitive steps after which the share ends early.
    :ivar masks: the masks of the episodes that begin in the rollout; None if they are those of the recipe.
    :ivar playing: the episodes in progress of the parameter search; None if the network acts.
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


@dataclass
class Events:
    """The finished episodes and the verdicts of a share."""

    episodes: list[tuple[Mapping[str, Any], Mapping[str, int]]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def add_episode(self, episode: Mapping[str, Any], usage: Mapping[str, int]) -> None:
        self.episodes.append((episode, usage))

    def add_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        self.verdicts.extend(verdicts)


@dataclass(frozen=True)
class RolloutShare:
    """The result of a :class:`RolloutJob`.

    :ivar steps: for each environment, the number of its primitive steps in the rollout.
    :ivar reached: for each environment, the new value of :attr:`Position.reached`.
    :ivar playing: the new value of :attr:`RolloutJob.playing`.
    """

    rollout: Rollout
    steps: tuple[int, ...]
    reached: tuple[tuple[EpisodeState, ...], ...]
    events: Events
    playing: Playing | None


class RolloutWorker:
    """Executes the jobs of a training in one process, and keeps the environments of each job for the next job with the
    same home.
    """

    def __init__(self) -> None:
        self._vectors: dict[int | None, PositionedVector] = {}

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
        for vector in self._vectors.values():
            vector.close()
        self._vectors.clear()

    def _share(self, job: RolloutJob, vector: PositionedVector, network: PolicyNetwork, search: Any) -> RolloutShare:
        events, slots = Events(), range(len(job.seeds))
        searching = None
        if job.playing is not None:
            searching = ParameterSearch(network, *search)
            searching.set_playing(slots, job.playing)
        collector = Collector(vector, network, torch.Generator().manual_seed(job.generator), events)
        rollout = collector.collect(
            job.decisions, lambda: sum(vector.steps) >= job.most_steps, searching.choose if searching else None
        )
        playing = None if searching is None else searching.playing(slots)
        return RolloutShare(rollout, vector.steps, vector.reached, events, playing)

    def _has_at(self, job: RolloutJob) -> bool:
        """Whether the environments from an earlier job are at the positions of ``job``."""
        vector = self._vectors.get(job.home)
        moments = [position.moment for position in job.positions]
        return vector is not None and (vector.session, vector.moments) == (job.session, moments)

    def _vector(self, job: RolloutJob, recipe: bytes) -> PositionedVector:
        """The environments of ``job`` at their positions.

        :param recipe: the pickled recipe for new environments; empty if the environments from an earlier job are used.
        """
        if recipe:
            if (stale := self._vectors.pop(job.home, None)) is not None:
                stale.close()
            self._vectors[job.home] = PositionedVector(pickle.loads(recipe), job.session, job.seeds, job.positions)
        vector = self._vectors[job.home]
        if job.masks is not None:
            vector.mask(job.masks)
        return vector


class PositionedVector(Vector):
    """Environments of which each begins at a position instead of the start of its first episode. To reach its position,
    an environment repeats the episode in progress; the repeated steps are not counted.

    :param session: the field of :class:`RolloutJob`.
    """

    def __init__(self, spec: EnvSpec, session: int, seeds: Sequence[int], positions: Sequence[Position]) -> None:
        self.session = session
        self._lanes = [_Lane(spec, seed, position) for seed, position in zip(seeds, positions, strict=True)]

    @property
    def moments(self) -> list[tuple[int, int]]:
        """The field :attr:`Position.moment` of each environment now."""
        return [lane.moment for lane in self._lanes]

    @property
    def steps(self) -> tuple[int, ...]:
        """For each environment, the number of primitive steps since :meth:`reset`, and of the first reset."""
        return tuple(lane.steps for lane in self._lanes)

    @property
    def reached(self) -> tuple[tuple[EpisodeState, ...], ...]:
        return tuple(lane.reached for lane in self._lanes)

    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        """The newest observation of each environment. An environment without an episode begins its first episode."""
        return [lane.observe() for lane in self._lanes]

    def exchange(self, slots: Sequence[int], actions: NDArray[np.float32]) -> list[tuple[int, Transition]]:
        return [(slot, self._lanes[slot].step(flat)) for slot, flat in zip(slots, actions, strict=True)]

    def mask(self, masks: Masks) -> None:
        for lane in self._lanes:
            lane.mask(masks)

    def close(self) -> None:
        for lane in self._lanes:
            lane.env.close()


class _Lane:
    """One environment of a :class:`PositionedVector`."""

    def __init__(self, spec: EnvSpec, seed: int, position: Position) -> None:
        self.steps, self.moment = 0, position.moment
        self._slot = Slot(spec, seed, self._count)
        self.env, self.reached = self._slot.env, position.reached
        self._newest: Observation | None = self._repeated(position) if position.begun else None

    def mask(self, masks: Masks) -> None:
        self._slot.masks = masks

    def observe(self) -> tuple[Observation, tuple[Verdict, ...]]:
        self.steps = 0
        if self._newest is not None:
            return self._newest, ()
        self._newest, verdicts = self._slot.reset()
        self.moment = (1, 0)
        return self._newest, verdicts

    def step(self, flat: NDArray[np.float32]) -> Transition:
        transition = self._slot.step(flat)
        begun, decisions = self.moment
        if transition.last is None:
            self.moment = (begun, decisions + 1)
        else:
            self.moment, self.reached = (begun + 1, 0), self.env.reached
        self._newest = transition.observation
        return transition

    def _repeated(self, position: Position) -> Observation:
        """Repeat the episode in progress until ``position``, and return the newest observation.

        :raises TrainerError: the episode is not the same as before.
        """
        self._slot.masks = position.masks
        self.env.restore_reached(position.reached)
        next(itertools.islice(self._slot.seeds, position.begun - 1, position.begun - 1), None)
        newest, _ = self._slot.reset()
        over = False
        for flat in position.actions:
            transition = self._slot.step(flat)
            newest, over = transition.observation, over or transition.last is not None
        obs = position.obs
        if over or obs is None or not np.allclose(newest["obs"], obs, rtol=TOLERANCE, atol=TOLERANCE):
            raise TrainerError(
                "an environment was lost with its process, and the same actions do not lead to the same state in a new "
                "environment. Resume the run: the training continues from its last checkpoint with new episodes. To "
                "train in the process of the run, set executor=in_process."
            )
        return newest

    def _count(self, _: Any, step: int) -> None:
        self.steps += bool(step)


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
