"""Many environments of a task in the embedded world as one batch. One call moves all players by one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray
from rlgpt.domain import Task
from voxeldojo.batch import Batch
from voxeldojo.names import INVENTORY
from voxeldojo.scalars import FLOATS
from voxeldojo.spaces import FUNCTIONS, observation_space
from voxeldojo.world.items import ID

from rlgpt_minecraft.actions import BaseActions
from rlgpt_minecraft.hits import HIT, NO_HIT, death_by, hits_after
from rlgpt_minecraft.moves import SPACE, move
from rlgpt_minecraft.rays import RAYS
from rlgpt_minecraft.scenes import LaneObservation, LaneReader, Scene, SceneReader, counts_of
from rlgpt_minecraft.settings import Settings
from rlgpt_minecraft.task_env import choices
from rlgpt_minecraft.task_world import mission_of, statistic, summon
from rlgpt_minecraft.tasks import spec_of

_ATTACK, _FUNCTION = FUNCTIONS.index("attack"), 5
_POSITION = slice(FLOATS.index("x"), FLOATS.index("z") + 1)


class LaneSpace(gymnasium.Space[list[LaneObservation]]):
    """The space of the observations of all environments: a list with one observation for each."""

    def __init__(self, single: gymnasium.Space[Any], count: int) -> None:
        super().__init__()
        self.single, self.count = single, count

    def contains(self, x: Any) -> bool:
        return isinstance(x, list) and len(x) == self.count and all(dict(row) in self.single for row in x)


@iterate.register(LaneSpace)
def _rows(space: LaneSpace, items: list[LaneObservation]) -> Iterator[LaneObservation]:  # type: ignore[misc]
    return iter(items)


class MinecraftVector(VectorEnv[Any, Any, Any]):
    """A vector of ``count`` environments of a task that shows numbers and no picture. Each environment behaves like a
    :class:`~rlgpt_minecraft.task_env.MinecraftTask` with the same seed. An environment whose episode is over does not
    change until it is reset with ``reset(options={"reset_mask": mask})``.

    ``step`` takes one pair of base choices for each environment, or a sequence in which an action is such a pair or
    MineDojo's eight numbers.

    :param seed: the seed of the first environment; environment ``i`` has the seed ``seed + i``.
    :ivar readers: the model of each environment.
    """

    metadata = {  # noqa: RUF012 (as gymnasium declares it)
        "render_modes": [],
        "autoreset_mode": AutoresetMode.DISABLED,
        "low_level_actions": True,
    }

    def __init__(self, task: Task, *, count: int, seed: int) -> None:
        self.num_envs, self._horizon, self._spec = count, task.horizon, spec_of(task)
        mission = mission_of(self._spec, Settings.of(task))
        self._batch, self._reader = Batch(mission, count, strict=False), SceneReader(self._spec.sights, count)
        assert mission.voxels is not None
        self.single_observation_space = observation_space(None, mission.voxels.shape, len(RAYS))
        self._actions = BaseActions(choices(task))
        self.single_action_space = self._actions.space
        self.observation_space = LaneSpace(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self.readers = [LaneReader(self._spec.sights) for _ in range(count)]
        self._rngs = [seeding.np_random(seed + lane)[0] for lane in range(count)]
        self._target = ID.get(self._spec.target, 0)
        self._had, self._most = np.zeros((2, count, len(self._spec.path)), np.int64)
        self._hit = np.zeros((count, len(HIT)))
        self._initial, self._count, self._steps = np.zeros((3, count), np.int64)
        self._over = np.zeros(count, np.bool_)
        self._start: list[tuple[float, ...]] = [()] * count
        self._scene: Scene

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[list[LaneObservation], dict[str, Any]]:
        every = np.ones(self.num_envs, np.bool_)
        chosen = np.asarray((options or {}).get("reset_mask", every), np.bool_)
        seeds = [seed + lane for lane in range(self.num_envs)] if isinstance(seed, int) else seed
        batch, spec = self._batch, self._spec
        for lane in np.flatnonzero(chosen).tolist():
            if seeds is not None and (own := seeds[lane]) is not None:
                self._rngs[lane] = seeding.np_random(own)[0]
            draw = seeding.np_random(int(self._rngs[lane].integers(2**31)))[0]
            batch.reset(lane, int(draw.integers(2**63)))
            summon(batch.sims[lane], draw, spec)
        seen = batch.begin(chosen)
        if spec.mobs:
            batch.move(np.tile(move(), (self.num_envs, 1)), chosen)
            seen = batch.look(chosen)
        self._scene = scene = self._reader.read(seen, chosen, chosen, ~every)
        counts = scene.seen.scalars.counts
        self._had[chosen], self._most[chosen] = counts_of(spec.path, counts[chosen]), 0
        self._hit[chosen] = NO_HIT
        self._initial[chosen] = self._count[chosen] = self._target_counts(counts)[chosen]
        self._steps[chosen], self._over[chosen] = 0, False
        positions = scene.numbers[:, _POSITION].astype(np.float64).tolist()
        self._start = [tuple(p) if new else old for p, new, old in zip(positions, chosen, self._start, strict=True)]
        return self._rows(), self._info(self._over)

    def step(
        self, actions: Any
    ) -> tuple[list[LaneObservation], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        translated, moving = self._translated(actions), ~self._over
        self._batch.move(translated, moving)
        attacks = translated[:, _FUNCTION] == _ATTACK
        seen = self._batch.look(moving)
        self._scene = self._reader.read(seen, moving, ~moving & False, attacks)
        counts = seen.scalars.counts
        self._most = np.maximum(self._most, counts_of(self._spec.path, counts) - self._had)
        self._hit[moving] = hits_after(self._hit[moving], self._scene.numbers[moving], seen.scalars.flags[moving])
        now = self._target_counts(counts)
        rewards, self._count = (now - self._count).astype(np.float64), now
        self._steps += moving
        terminated = self._succeeded | ~self._batch.alive
        truncated = ~terminated & (self._steps >= self._horizon)
        self._over = terminated | truncated
        dead = terminated & ~self._succeeded
        return self._rows(), rewards, terminated, truncated, self._info(dead)

    @property
    def _succeeded(self) -> NDArray[np.bool_]:
        succeeded: NDArray[np.bool_] = self._count - self._initial >= self._spec.quantity
        return succeeded

    def _target_counts(self, counts: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the count that decides the success of each environment (``Spec.kind``).

        :param counts: how many of each item each inventory contains.
        """
        if self._spec.kind == "item":
            return counts[:, self._target].astype(np.int64)
        return np.array([statistic(self._spec, sim) for sim in self._batch.sims], np.int64)

    def _translated(self, actions: Any) -> NDArray[np.int64]:
        """Return MineDojo's actions, int64 ``(count, 8)``."""
        low = [] if isinstance(actions, np.ndarray) else [i for i, a in enumerate(actions) if len(a) == SPACE.shape[0]]
        own = {i: np.asarray(actions[i], np.int64) for i in low}
        pairs = np.asarray([(0, 0) if i in own else action for i, action in enumerate(actions)] if own else actions)
        translated = self._actions.translate_each(pairs, self._scene.seen.scalars.kinds[:, 0, :INVENTORY])
        for lane, action in own.items():
            translated[lane] = action
        return translated

    def _rows(self) -> list[LaneObservation]:
        return [LaneObservation(self._scene, lane) for lane in range(self.num_envs)]

    def _info(self, dead: NDArray[np.bool_]) -> dict[str, Any]:
        reader, things = self._reader, [thing.name for thing in self._reader.things]
        blocks = [i for i, thing in enumerate(reader.things) if thing.kind == "block"]
        return {
            "success": self._succeeded,
            "start": _column(self._start),
            "dig_ticks": _column(reader.ticks.tolist()),
            "nearest": _dicts(things, reader.nearest),
            "dug": _dicts([things[i] for i in blocks], reader.dug[:, blocks]),
            "most": _dicts(self._spec.path, self._most),
            "hit": _dicts(HIT, self._hit),
            "cause": _column([death_by(hit[-1]) if died else "" for hit, died in zip(self._hit, dead, strict=True)]),
        }


def _column(values: Sequence[Any]) -> NDArray[Any]:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _dicts(names: Sequence[str], rows: NDArray[Any]) -> NDArray[Any]:
    return _column([dict(zip(names, row, strict=True)) for row in rows.tolist()])
