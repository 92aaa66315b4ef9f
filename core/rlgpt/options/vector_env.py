"""``ExtendedVectorEnv`` is a gymnasium vector of environments with coded actions in each of its *lanes*."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate

from rlgpt.domain import CodedAction
from rlgpt.errors import ConfigError, StateError
from rlgpt.options.effects import Effects, Reset, Step
from rlgpt.options.lane import Lane
from rlgpt.options.lane_setup import LaneSetup, Settings
from rlgpt.options.scheduler import Scheduler
from rlgpt.options.simulator import First, batch_of, simulator_of
from rlgpt.options.space import Choice

OnLaneStep = Callable[[int, int], None]
"""A function that is called at the start of each episode and after each primitive step, with the number of the lane and
the number of primitive steps of the lane's episode (0 at its start).
"""


class Arrival(NamedTuple):
    """The result of a lane's decision. The fields of ``Arrival`` are the results of :meth:`gymnasium.Env.step` for one
    lane.

    If the episode ended and the vector resets in the same step, ``observation`` and ``info`` are the first observation
    and info of the next episode. After a reset in the same step, ``info["final_obs"]`` and ``info["final_info"]`` are
    the last observation and info of the ended episode.
    """

    lane: int
    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @property
    def decided(self) -> Mapping[str, Any]:
        """The info dict of the decision, with ``duration``, ``ended`` and the other keys of :class:`ExtendedEnv`.
        ``duration`` is 0 if the decision of the lane was only a reset.
        """
        final: Mapping[str, Any] = self.info.get("final_info", self.info)
        return final


class ExtendedVectorEnv(VectorEnv[Any, Any, Any]):
    """The vector environment ``venv`` with K coded actions in each of its lanes. :func:`rlgpt.extend_vector` makes an
    ``ExtendedVectorEnv``.

    A *lane* is one environment of the vector with its own guest. Each lane behaves like a separate
    :class:`~rlgpt.options.env.ExtendedEnv`, and its ``info`` has the same keys. One call of the simulator takes a
    primitive step in many lanes.

    :meth:`step` follows the interface of gymnasium, so every lane of the vector gets an action and takes one decision.
    A simulator that steps all its environments in every call cannot let one lane wait for the other lanes. With such a
    simulator, ``step`` returns as soon as at least one lane has finished its decision. ``infos["decided"]``, bool
    ``(N,)``, marks the lanes that have finished their decision. A lane that has not finished its decision continues its
    coded action in the next ``step``, which ignores the lane's part of ``actions`` without a check. In
    ``infos["action_mask"]``, such a lane has its newest mask; in the other entries of ``infos``, it has zeros. With
    :meth:`send` and :meth:`recv`, each lane gets its next action when it has finished its decision.

    Episodes are reset by the autoreset mode of ``venv``. With ``AutoresetMode.NEXT_STEP``, the decision after the end
    of an episode is the reset; the ``duration`` of this decision is 0.

    :ivar lanes: the state of each lane.
    """

    def __init__(
        self,
        venv: VectorEnv[Any, Any, Any],
        actions: Sequence[CodedAction],
        *,
        threads: int = 1,
        on_step: OnLaneStep | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        plugin = settings["plugin"]
        models = [plugin.lane_model(venv, lane) for lane in range(venv.num_envs)]
        self.venv, self._simulator = venv, simulator_of(venv)
        self.setup = setup = LaneSetup(
            venv.single_action_space, venv.single_observation_space, models[0], actions, settings
        )
        quarantined = settings.get("quarantined")
        quarantined = None if quarantined is None else tuple(quarantined)
        counted = [None if on_step is None else partial(on_step, lane) for lane in range(venv.num_envs)]
        self.lanes = [
            Lane(setup, model, quarantined=quarantined, on_step=count)
            for model, count in zip(models, counted, strict=True)
        ]
        self._scheduler = Scheduler(plugin.views, [lane.context for lane in self.lanes], threads)
        self.num_envs, self.spec, self.render_mode = venv.num_envs, venv.spec, venv.render_mode
        self.metadata = dict(venv.metadata)
        self.single_observation_space, self.observation_space = venv.single_observation_space, venv.observation_space
        self.single_action_space = setup.extension.space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.extension, self.layout, self.load_verdicts = setup.extension, setup.layout, setup.load_verdicts
        self._going: dict[int, Effects[Arrival]] = {}
        self._results: dict[int, Any] = {}
        self._waiting: dict[int, Step | Reset] = {}
        self._arrived: list[Arrival] = []
        self._over: dict[int, bool] = {}  # lane -> whether the simulator (not the horizon) ended the lane's episode
        self._ended: dict[int, bool] = {}
        self._first: dict[int, First] = {}
        self._stopped: set[int] = set()
        self._begun = False

    # -- gymnasium ----------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every lane, or only in the lanes of ``options["reset_mask"]``, bool ``(N,)``.

        :param seed: the seed of the first lane (lane i gets ``seed + i``), or a list with one seed for each lane.
        """
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        if mask is not None and np.shape(mask) != (self.num_envs,):
            raise ConfigError(
                f"reset_mask is {mask!r:.80}; valid: {self.num_envs} bools, one for each lane, True to reset the lane."
            )
        if mask is not None and not self._begun:
            raise StateError("reset_mask before the first reset: call reset() without reset_mask first.")
        chosen = range(self.num_envs) if mask is None else [int(lane) for lane in np.flatnonzero(mask)]
        seeds = _seeds(seed, self.num_envs)
        arrivals = self.begin({lane: seeds[lane] for lane in chosen}, options or None)
        infos: dict[str, Any] = {}
        for arrival in arrivals:
            infos = self._add_info(infos, arrival.info, arrival.lane)
        return self._stacked(), self._with_masks(infos)

    def begin(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None = None) -> list[Arrival]:
        """Begin an episode in each lane that is a key of ``seeds``. A decision in progress in a lane of ``seeds`` is
        dropped.

        :param seeds: lane -> seed.
        :raises ConfigError: ``seeds`` is not a mapping, or a key of ``seeds`` is not the number of a lane.
        """
        self._check_lanes("begin", "seed", seeds)
        for lane in seeds:
            self._drop(lane)
        for lane, first in self._simulator.reset(seeds, options).items():
            self._going[lane] = self._beginning(lane, first, seeds[lane])
            self._results[lane] = None
        self._resume()
        arrivals = [a for a in self._arrived if a.lane in seeds]
        self._arrived = [a for a in self._arrived if a.lane not in seeds]
        self._begun = True
        return sorted(arrivals)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        given = self._each(actions)
        chosen = {lane: action for lane, action in enumerate(given) if lane not in self._going}
        self.send(chosen)
        arrivals = self.recv(1 if self.moves_all else len(chosen))
        rewards, ends, infos = np.zeros(self.num_envs), np.zeros((2, self.num_envs), np.bool_), dict[str, Any]()
        decided = np.zeros(self.num_envs, np.bool_)
        for a in arrivals:
            rewards[a.lane], ends[:, a.lane], decided[a.lane] = a.reward, (a.terminated, a.truncated), True
            infos = self._add_info(infos, a.info, a.lane)
        infos["decided"] = decided
        return self._stacked(), rewards, ends[0], ends[1], self._with_masks(infos)

    def render(self) -> Any:
        return self.venv.render()

    def close_extras(self, **kwargs: Any) -> None:
        for lane in range(self.num_envs):
            self._drop(lane)
            self.lanes[lane].close()
        self._scheduler.close()
        self.venv.close(**kwargs)

    @property
    def moves_all(self) -> bool:
        """Whether every call of the simulator takes a primitive step in all lanes, so that no lane can wait."""
        return self._simulator.moves_all

    def stop(self, lane: int) -> None:
        """Exclude ``lane`` until :meth:`reset` or :meth:`begin` begins a new episode in it. The episode and the
        decision in progress in the excluded lane are dropped. A simulator that steps all lanes in every call steps an
        excluded lane with the idle action; the results of these steps are ignored.

        :raises StateError: the autoreset mode of the vector is not ``DISABLED``.
        """
        if self._simulator.mode is not AutoresetMode.DISABLED:
            raise StateError(f"stop() needs a vector with AutoresetMode.DISABLED, not {self._simulator.mode}.")
        self._drop(lane)
        self._simulator.reset({lane: None})
        self._stopped.add(lane)
        self._over[lane] = False

    # -- asynchronous -------------------------------------------------------------------------------------------------

    def send(self, actions: Mapping[int, Any]) -> None:
        """Send the next actions to lanes that have finished their decisions.

        :param actions: for each lane, an action of :attr:`single_action_space`. The action of a lane is ignored if its
            episode is over and the next decision is the reset.
        :raises StateError: a lane has not finished its decision, or its episode is over and waits for :meth:`reset`.
        :raises ConfigError: ``actions`` is not a mapping, a key of ``actions`` is not the number of a lane, or an
            action is not in :attr:`single_action_space`. After an error, no lane has got an action.
        """
        if not self._begun:
            raise StateError("no reset before the first actions: call reset() first; it returns the observations.")
        self._check_lanes("send", "action", actions)
        choices: dict[int, Choice] = {}
        for lane, action in actions.items():
            if lane in self._going:
                raise StateError(f"lane {lane} has not finished its decision; recv() returns the lanes that have.")
            if lane in self._over and self._simulator.mode is AutoresetMode.DISABLED:
                raise StateError(
                    f"the episode of lane {lane} is over: reset(options={{'reset_mask': mask}}) begins the next one."
                )
            if lane not in self._over:
                try:
                    choices[lane] = self.extension.read(action)
                except ConfigError as fault:
                    raise ConfigError(f"lane {lane}: {fault}") from fault
        for lane in actions:
            self._going[lane] = self._next_episode(lane) if lane in self._over else self._deciding(lane, choices[lane])
            self._results[lane] = None

    def recv(self, at_least: int = 1, *, steps: int | None = None) -> list[Arrival]:
        """Take primitive steps until at least ``at_least`` lanes have finished their decisions.

        :param at_least: the least number of lanes that must finish their decisions. ``at_least`` must be 1 for a
            simulator that steps all its environments in every call, because such a simulator cannot step while a lane
            has no action.
        :param steps: maximal number of calls of the simulator. After these calls, ``recv`` returns the results of the
            lanes that have finished their decisions, even if there are fewer than ``at_least``. None: no maximum.
        :returns: the results of the lanes that have finished their decisions, in the order of the lanes.
        :raises StateError: fewer than ``at_least`` lanes have an action; or the simulator needs an action for every
            lane.
        """
        if at_least > len(self._going) + len(self._arrived):
            raise StateError(
                f"recv({at_least}) waits for {at_least} lanes; {len(self._going)} have an action. Call send() first."
            )
        self._resume()
        for _ in itertools.count() if steps is None else range(steps):
            if len(self._arrived) >= at_least:
                break
            self._move()
        arrivals, self._arrived = sorted(self._arrived, key=lambda a: a.lane), []
        return arrivals

    def _move(self) -> None:
        """Reset the lanes that wait for a reset, then take one primitive step in every lane that waits for a step."""
        waiting, self._waiting = self._waiting, {}
        if resets := [lane for lane, effect in waiting.items() if isinstance(effect, Reset)]:
            self._waiting = {lane: effect for lane, effect in waiting.items() if lane not in resets}
            self._results.update(self._simulator.reset(dict.fromkeys(resets)))
        else:
            actions = {n: e.action for n, e in waiting.items() if isinstance(e, Step)}
            if self.moves_all:
                actions |= dict.fromkeys(self._stopped, self.setup.idle)
            if self.moves_all and len(actions) < self.num_envs:
                idle = [lane for lane in range(self.num_envs) if lane not in actions]
                self._waiting = waiting
                raise StateError(
                    f"the simulator steps all lanes in every call, but these have no action: {idle[:8]}. Send the "
                    "next action to each lane that recv() returns; recv(1) returns when one lane has decided."
                )
            for lane, (result, first) in self._simulator.step(actions).items():
                over = bool(result[2] or result[3])
                if lane not in self._stopped:
                    self._results[lane], self._ended[lane] = result, over
                elif over:
                    self._simulator.reset({lane: None})
                if first is not None:
                    self._first[lane] = first
        self._resume()

    def _resume(self) -> None:
        """Run each lane that has a result until its next primitive step or the end of its decision."""
        results, self._results = self._results, {}
        waiting, arrived = self._scheduler.run(self._going, results)
        self._waiting.update(waiting)
        for lane, arrival in arrived.items():
            del self._going[lane]
            self._arrived.append(arrival)

    def _drop(self, lane: int) -> None:
        """Drop the decision in progress in ``lane`` and the result of that decision."""
        for table in (self._going, self._results, self._waiting, self._over, self._ended, self._first):
            table.pop(lane, None)
        self._stopped.discard(lane)
        self._arrived = [a for a in self._arrived if a.lane != lane]

    # -- one lane -----------------------------------------------------------------------------------------------------

    def _beginning(self, lane: int, first: First, seed: int | None) -> Effects[Arrival]:
        """Begin an episode in ``lane``. The start of an episode gives an :class:`Arrival` with reward 0."""
        observation, info = first
        report = yield from self.lanes[lane].begin(observation, info, seed)
        self._over.pop(lane, None)
        return Arrival(lane, observation, 0.0, False, False, report)

    def _deciding(self, lane: int, choice: Choice) -> Effects[Arrival]:
        """Carry out one decision of ``lane``, and the reset after it if the autoreset mode is ``SAME_STEP``."""
        decided = yield from self.lanes[lane].decide(choice)
        arrival = Arrival(lane, *decided)
        if not (decided.terminated or decided.truncated):
            return arrival
        self._over[lane] = self._ended.pop(lane, False)
        if self._simulator.mode is not AutoresetMode.SAME_STEP:
            return arrival
        first: First = self._first.pop(lane) if lane in self._first else (yield Reset())
        begun = yield from self._beginning(lane, first, None)
        info = {**begun.info, "final_obs": decided.observation, "final_info": decided.info}
        return arrival._replace(observation=begun.observation, info=info)

    def _next_episode(self, lane: int) -> Effects[Arrival]:
        """Carry out the decision of ``lane`` that follows the end of an episode. The decision after the end of an
        episode is only the reset.
        """
        if self._over[lane] and self._simulator.resets_itself:
            observation, _, _, _, info = yield Step(self.setup.idle)
        else:
            observation, info = yield Reset()
        return (yield from self._beginning(lane, (observation, info), None))

    def _check_lanes(self, method: str, value: str, given: object) -> None:
        """Check the argument of a method that takes a value for each of some lanes."""
        if not isinstance(given, Mapping):
            raise ConfigError(
                f"{method}() takes a mapping from the number of a lane to its {value}, such as {{0: {value}}}; got "
                f"{given!r:.80}."
            )
        for lane in given:
            if not isinstance(lane, (int, np.integer)) or not 0 <= lane < self.num_envs:
                raise ConfigError(f"{method}() got the lane {lane!r:.40}; valid: 0 to {self.num_envs - 1}.")

    def _each(self, actions: Any) -> list[Any]:
        """The action of each lane in a batch of actions."""
        try:
            each = list(iterate(self.action_space, actions))
        except (TypeError, ValueError, IndexError):
            each = []
        if len(each) != self.num_envs:
            raise ConfigError(
                f"step() got {actions!r:.120} for {self.num_envs} lanes; valid: one action for each lane, as in "
                f"{self.action_space!s:.200}. send() gives actions to some of the lanes."
            )
        return each

    def _with_masks(self, infos: dict[str, Any]) -> dict[str, Any]:
        """``infos`` with an action mask of every lane. gymnasium gives zeros to a lane without an info, and a policy
        that masks all its choices computes NaN.
        """
        return infos | {"action_mask": np.stack([lane.action_mask for lane in self.lanes])}

    def _stacked(self) -> Any:
        """The newest observations of all lanes of the vector as one batch."""
        space, rows = self.single_observation_space, [lane.context.observation for lane in self.lanes]
        return batch_of(space, rows)


def _seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """The seed of each lane.

    :raises ConfigError: the number of seeds differs from the number of lanes.
    """
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + lane for lane in range(count)]
    seeds = list(seed)
    if len(seeds) != count:
        raise ConfigError(
            f"there are {len(seeds)} seeds for {count} lanes; give one seed for each lane, or only the first seed."
        )
    return seeds
