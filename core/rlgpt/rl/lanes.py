"""A vector environment for training whose environments are the lanes of one batch simulator
(:func:`rlgpt.extend_vector`).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from rlgpt.domain import Verdict
from rlgpt.errors import PluginError
from rlgpt.options import Arrival, extend_vector
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.base_only import Masks, Phase
from rlgpt.rl.policy_env import actions_of, arguments_of, on_error, plugin_of, training_seeds
from rlgpt.rl.policy_lane import EpisodeLog, Moment, Observation, PolicyFormat
from rlgpt.rl.position import Position
from rlgpt.rl.primitive_steps import PrimitiveLog
from rlgpt.rl.step_counter import StepCounter
from rlgpt.rl.vector import LocalVector, Transition, Vector


class LaneVector(Vector):
    """The environments of a plugin's vector (:meth:`~rlgpt.plugin.base.EnvironmentPlugin.make_vector`), in this
    process. A batch simulator steps all environments in one call. The policy chooses the next action of an environment
    when the environment's last decision is over, independently of the other environments.

    :param venv: the plugin's vector environment, whose autoreset mode is ``DISABLED`` or ``NEXT_STEP``.
    :param seeds: one seed for each environment. The lanes draw the seeds of their episodes in the same way as a
        :class:`~rlgpt.rl.policy_env.PolicyEnv`. A vector environment with the mode ``NEXT_STEP`` uses ``seeds`` only
        for the first episodes; it chooses the seeds of later episodes by itself.
    :param step_file: the file in which a :class:`~rlgpt.rl.step_counter.StepCounter` counts primitive steps; None if
        only :attr:`taken` counts them.
    :param first: the cell of ``step_file`` in which the steps of the first lane are counted; the next lanes count in
        the next cells.
    :param beat: a function that is called at each primitive step of a lane and before each turn of a coded action.
    :ivar taken: for each lane, the number of its primitive steps so far.
    :raises PluginError: the number of environments differs from the number of seeds, or the autoreset mode is neither
        ``DISABLED`` nor ``NEXT_STEP``.
    """

    def __init__(
        self,
        spec: EnvSpec,
        venv: VectorEnv[Any, Any, Any],
        seeds: Sequence[int],
        step_file: Path | None = None,
        *,
        first: int = 0,
        beat: Callable[[], None] | None = None,
    ) -> None:
        plugin, self._mode = plugin_of(spec), venv.metadata.get("autoreset_mode")
        if venv.num_envs != len(seeds) or self._mode not in (AutoresetMode.DISABLED, AutoresetMode.NEXT_STEP):
            raise PluginError(
                f"make_vector() of {plugin.name!r} made {venv.num_envs} environments with the autoreset mode "
                f"{self._mode!r}; valid: {len(seeds)}, and AutoresetMode.DISABLED or NEXT_STEP, because the policy "
                "sees the last observation of an episode."
            )
        self._steps = None if step_file is None else StepCounter(step_file, first + len(seeds))
        self.taken, self._first, self._beat = [0] * len(seeds), first, beat
        arguments = arguments_of(spec, venv.single_action_space, plugin, on_turn=beat)
        self._env = extend_vector(venv, actions_of(spec), on_step=self._count, **arguments)
        keys, space = spec.setup.observation_keys, venv.single_observation_space
        self._form = PolicyFormat(self._env.setup, space, keys, spec.setup.plan_prior)
        self._logs = [EpisodeLog(lane) for lane in self._env.lanes]
        self._primitive = [PrimitiveLog(self._form, lane, spec.setup.gamma) for lane in self._env.lanes]
        self._seeds = [training_seeds(seed) for seed in seeds]
        self._ended: dict[int, Transition] = {}
        self._masks: Masks | None = None
        self._phases = [Phase() for _ in seeds]

    @classmethod
    def open(cls, spec: EnvSpec, seeds: Sequence[int], step_file: Path | None = None, **more: Any) -> Self | None:
        """Make the lanes of a training, one for each seed. The parameters are those of the class.

        :returns: None if the environments cannot be lanes: the plugin has no batch simulator for the task, or episodes
            begin in states of the setup's reset option.
        """
        venv = _batch_simulator(spec, len(seeds), seeds[0])
        if venv is None:
            return None
        with on_error(venv.close):
            return cls(spec, venv, seeds, step_file, **more)

    @classmethod
    def at(
        cls, spec: EnvSpec, seeds: Sequence[int], positions: Sequence[Position]
    ) -> tuple[Self, list[Observation]] | None:
        """Make lanes that are at positions in their episodes (:meth:`repeat`).

        :returns: the lanes with their newest observations, which are missing if no episode has begun. None if the
            environments cannot be lanes (:meth:`open`), or if the batch simulator resets its environments itself and so
            cannot repeat their episodes.
        :raises TrainerError: a lane does not repeat its episode.
        """
        venv = _batch_simulator(spec, len(seeds), seeds[0])
        if venv is None:
            return None
        if venv.metadata.get("autoreset_mode") is not AutoresetMode.DISABLED:
            venv.close()
            return None
        with on_error(venv.close):
            lanes = cls(spec, venv, seeds)
        with on_error(lanes.close):
            return lanes, lanes.repeat(positions) if positions[0].begun else []

    @property
    def form(self) -> PolicyFormat:
        """The format of the policy's observations and actions."""
        return self._form

    @property
    def episode_steps(self) -> list[int]:
        """For each lane, the number of primitive steps of the episode in progress."""
        return [lane.primitive_steps for lane in self._env.lanes]

    def repeat(self, positions: Sequence[Position]) -> list[Observation]:
        """Bring new lanes to positions in their episodes, by repeating the episodes in progress. A batch simulator
        steps all lanes in every call, so no lane can wait at its position. Therefore the episodes begin at different
        moments, the longest one first, and all lanes are at their positions after the same step of the simulator.

        :returns: the newest observation of each lane.
        :raises TrainerError: a lane does not repeat its episode.
        """
        env, longest = self._env, max(position.progress.steps for position in positions)
        begins = [longest - position.progress.steps for position in positions]
        actions = [position.actions_to_repeat() for position in positions]
        newest: dict[int, Observation] = {}
        for lane, position in enumerate(positions):
            next(itertools.islice(self._seeds[lane], position.begun - 1, position.begun - 1), None)
        now, ready = 0, list[int]()
        while True:
            beginning = [lane for lane, begin in enumerate(begins) if begin == now]
            for masks in dict.fromkeys(positions[lane].masks for lane in beginning):
                self._masks = masks
                together = [lane for lane in beginning if positions[lane].masks == masks]
                newest |= {lane: seen for lane, (seen, _) in self._begin(together).items()}
            if now == 0:
                for lane in sorted(set(range(len(positions))) - set(beginning)):
                    env.stop(lane)
            ready += beginning
            for lane in ready:
                if (flat := next(actions[lane], None)) is not None:
                    env.send({lane: self._form.codec.decode(self._form.layout.to_space(flat))})
                elif now < longest:
                    positions[lane].check(None)
            if now == longest:
                break
            arrivals = env.recv(steps=min(begin for begin in (*begins, longest) if begin > now) - now)
            ready = [arrival.lane for arrival in arrivals]
            for lane, transition in self._transitions(arrivals).items() if arrivals else ():
                newest[lane] = transition.observation
                if transition.last is not None:
                    positions[lane].check(None)
            now = env.lanes[begins.index(0)].primitive_steps
        for lane, position in enumerate(positions):
            waits = (lane in ready) == (position.progress.action is None)
            same = waits and next(actions[lane], None) is None
            same = same and env.lanes[lane].primitive_steps == position.progress.steps
            position.check(newest[lane]["obs"] if same else None)
        return [newest[lane] for lane in range(len(positions))]

    def reset(self) -> list[tuple[Observation, tuple[Verdict, ...]]]:
        self._ended.clear()
        return list(self._begin(range(len(self._seeds))).values())

    def exchange(self, slots: Sequence[int], actions: NDArray[np.float32]) -> list[tuple[int, Transition]]:
        form = self._form
        chosen = {
            slot: form.codec.decode(form.layout.to_space(flat)) for slot, flat in zip(slots, actions, strict=True)
        }
        self._env.send(chosen)
        ready: dict[int, Transition] = {}
        while not ready:
            arrivals = self._env.recv(1 if self._env.moves_all else len(slots))
            ready = self._transitions(arrivals)
        return sorted(ready.items())

    def mask(self, masks: Masks) -> None:
        self._masks = masks

    def close(self) -> None:
        self._env.close()
        if self._steps is not None:
            self._steps.__exit__(None, None, None)

    def _count(self, lane: int, step: int) -> None:
        if self._beat is not None:
            self._beat()
        if step:
            self.taken[lane] += 1
            if self._steps is not None:
                self._steps.add(self._first + lane)

    def _transitions(self, arrivals: Sequence[Arrival]) -> dict[int, Transition]:
        """The transitions of the lanes that are complete. The transition at the end of an episode is complete when the
        first observation of the next episode is known.
        """
        found: dict[int, Transition] = {}
        verdicts = {a.lane: self._phases[a.lane].counted(a.info.get("verdicts", ())) for a in arrivals}
        lead_ended = {
            a.lane for a in arrivals if a.lane not in self._ended and self._phases[a.lane].add(int(a.info["duration"]))
        }
        for arrival, seen in zip(arrivals, self._observations(arrivals), strict=True):
            lane, info = arrival.lane, arrival.info
            if lane in self._ended:
                found[lane] = self._joined(lane, seen, self._begun(lane, info))
                continue
            began = self._decided(lane, info)
            over = arrival.terminated or arrival.truncated
            transition = Transition(
                seen,
                arrival.reward,
                int(info["duration"]),
                arrival.terminated,
                arrival.truncated,
                seen if over else None,
                self._ended_episode(lane) if over else None,
                dict(self._logs[lane].usage) if over else {},
                verdicts[lane],
                began,
                self._primitive[lane].take(arrival.terminated),
            )
            if lane in lead_ended:
                self._primitive[lane].begin(collects=False)
            (self._ended if over else found)[lane] = transition
        if waiting := [a.lane for a in arrivals if a.lane in self._ended]:
            if self._mode is AutoresetMode.NEXT_STEP:
                self._draw(waiting)
                self._env.send(dict.fromkeys(waiting))  # This only resets the environments; None is not used.
            else:
                found |= {lane: self._joined(lane, *start) for lane, start in self._begin(waiting).items()}
        return found

    def _decided(self, lane: int, info: Mapping[str, Any]) -> str | None:
        """Log a decision.

        :returns: the name of the action whose call began; None if no call began.
        """
        return self._logs[lane].add(info)

    def _ended_episode(self, lane: int) -> dict[str, Any]:
        return {**self._logs[lane].figures(), "base_only": self._phases[lane].compared}

    def _joined(self, lane: int, first: Observation, verdicts: tuple[Verdict, ...]) -> Transition:
        """The transition from the end of an episode to the start of the next episode."""
        end = self._ended.pop(lane)
        return dataclasses.replace(end, observation=first, verdicts=(*end.verdicts, *verdicts))

    def _begin(self, lanes: Iterable[int]) -> dict[int, tuple[Observation, tuple[Verdict, ...]]]:
        seeds: Mapping[int, int | None] = self._draw(lanes)
        arrivals = self._env.begin(seeds)
        seen = self._observations(arrivals)
        return {a.lane: (o, self._begun(a.lane, a.info, seeds[a.lane])) for a, o in zip(arrivals, seen, strict=True)}

    def _draw(self, lanes: Iterable[int]) -> dict[int, int]:
        """Draw the seeds of the next episodes in ``lanes``, which decide the masks of these episodes."""
        seeds = {lane: next(self._seeds[lane]) for lane in lanes}
        if self._masks is not None:
            for lane, seed in seeds.items():
                self._env.lanes[lane].quarantine(self._masks.of_episode(seed))
                self._phases[lane].begin(self._masks, seed)
        return seeds

    def _begun(self, lane: int, info: Mapping[str, Any], seed: int | None = None) -> tuple[Verdict, ...]:
        self._logs[lane].begin(0 if seed is None else seed, info)
        collects = self._masks is not None and self._masks.collects
        self._primitive[lane].begin(collects and not self._phases[lane].base_only)
        verdicts: tuple[Verdict, ...] = info.get("verdicts", ())
        return verdicts

    def _observations(self, arrivals: Sequence[Arrival]) -> list[Observation]:
        """The policy's observation in each lane. The views that no lane has built yet are built in one batch."""
        lanes = self._env.lanes
        seen = self._form.observe(
            [Moment(lanes[a.lane], a.observation, a.info, int(a.info.get("duration", 0))) for a in arrivals]
        )
        return [self._phases[a.lane].flagged(observation) for a, observation in zip(arrivals, seen, strict=True)]


def vector_in_process(spec: EnvSpec, seeds: Sequence[int], step_file: Path, *, first: int = 0) -> Vector:
    """Make the environments of a training in this process. They are lanes of a batch simulator if possible
    (:meth:`LaneVector.open`), and else separate environments. The parameters are those of the two classes.
    """
    lanes = LaneVector.open(spec, seeds, step_file, first=first)
    return LocalVector(spec, seeds, step_file, first=first) if lanes is None else lanes


def learns_from_lanes(spec: EnvSpec) -> bool:
    """Whether the environments of a training can be lanes (:meth:`LaneVector.open`)."""
    venv = _batch_simulator(spec, 1, 0)
    if venv is not None:
        venv.close()
    return venv is not None


def _batch_simulator(spec: EnvSpec, count: int, seed: int) -> VectorEnv[Any, Any, Any] | None:
    if spec.setup.reset_option is not None:
        return None
    return plugin_of(spec).make_vector(spec.task, count=count, seed=seed)
