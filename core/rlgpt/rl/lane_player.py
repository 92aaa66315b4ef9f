"""Plays the episodes of an evaluation side by side, in the lanes of a plugin's batch simulator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from gymnasium.vector import AutoresetMode, VectorEnv

from rlgpt.domain import Episode, Verdict
from rlgpt.options import Arrival, OnStep, extend_vector
from rlgpt.options.lane import Lane
from rlgpt.rl.base import EnvSpec
from rlgpt.rl.play import Acting, Limits, Played, Recorder, Stuck, cut_of, generator_of
from rlgpt.rl.policy_env import actions_of, arguments_of, on_error, plugin_of
from rlgpt.rl.policy_lane import EpisodeLog, Moment, Observation, PolicyFormat

LANES = 16
"""Number of lanes. The number is the same for all evaluations, because some simulators compile a program for each
number of lanes.
"""

LEAST_EPISODES = 8
"""Minimal number of episodes for which a batch simulator is made."""


class LanePlayer:
    """Plays episodes in lanes. Each lane plays one episode at a time and takes the next seed when its episode is over.
    An episode in a lane is the same as in a single environment, because the episode depends only on its seed.

    A lane without a further seed waits until the other lanes have finished. The simulator also steps a waiting lane,
    but the results of these steps are ignored and the steps are not counted.

    :param venv: the plugin's vector environment, with the autoreset mode ``DISABLED``.
    :param limit: maximal number of primitive steps of an episode.
    :param on_step: a function that is called at every primitive step of an episode; its first argument is ``venv``.
    """

    def __init__(
        self, spec: EnvSpec, venv: VectorEnv[Any, Any, Any], *, trace: bool, limit: int | None, on_step: OnStep | None
    ) -> None:
        arguments = arguments_of(spec, venv.single_action_space, plugin_of(spec), evaluation=True, limit=limit)
        arguments["trace"] = trace
        self._task, self._trace, self._limit = spec.task, trace, limit
        simulator: Any = venv
        count = None if on_step is None else lambda lane, step: on_step(simulator, step)
        self._env = extend_vector(venv, actions_of(spec), on_step=count, **arguments)
        self._stopped: set[int] = set()
        space = venv.single_observation_space
        self._form = PolicyFormat(self._env.setup, space, spec.setup.observation_keys, spec.setup.plan_prior)

    @classmethod
    def open(cls, spec: EnvSpec, *, trace: bool, limit: int | None, on_step: OnStep | None) -> LanePlayer | None:
        """Make a player of lanes; None if the plugin has no batch simulator with the autoreset mode ``DISABLED``."""
        venv = plugin_of(spec).make_vector(spec.task, count=LANES, seed=0)
        if venv is None:
            return None
        if venv.metadata.get("autoreset_mode") is not AutoresetMode.DISABLED:
            venv.close()
            return None
        with on_error(venv.close):
            return cls(spec, venv, trace=trace, limit=limit, on_step=on_step)

    def play(self, acting: Acting, seeds: Sequence[int], limits: Limits) -> list[Played]:
        """Play one episode for each seed. When ``limits`` are reached, no further episode begins in any lane.

        :returns: the episodes, in the order of the seeds.
        """
        waiting = iter(enumerate(seeds))
        idle, playing = list(range(LANES)), dict[int, _Turn]()
        played: dict[int, Played] = {}
        arrivals = self._begin(idle, playing, waiting, acting, limits)
        while arrivals:
            actions: dict[int, Any] = {}
            for arrival, seen in zip(arrivals, self._observe(arrivals), strict=True):
                lane = arrival.lane
                turn = playing[lane]
                if not turn.is_over_after(arrival):
                    actions[lane] = self._form.codec.decode(turn.choose(seen))
                    continue
                played[turn.number] = done = turn.finish()
                limits.add(done.episode)
                del playing[lane]
                idle.append(lane)
            self._env.send(actions)
            arrivals = self._begin(idle, playing, waiting, acting, limits)
            if not arrivals and playing:
                arrivals = self._env.recv()
        return [played[number] for number in sorted(played)]

    def close(self) -> None:
        """Close the simulator."""
        self._env.close()

    def _begin(
        self,
        idle: list[int],
        playing: dict[int, _Turn],
        waiting: Iterator[tuple[int, int]],
        acting: Acting,
        limits: Limits,
    ) -> list[Arrival]:
        """Begin the next episodes in the lanes that have no episode."""
        seeds: dict[int, int | None] = {}
        while (
            idle
            and limits.allow([t.steps for t in playing.values()])
            and (following := next(waiting, None)) is not None
        ):
            lane, (number, seed) = idle.pop(0), following
            playing[lane] = _Turn(self._env.lanes[lane], self._form, acting, number, seed, self._trace, self._limit)
            seeds[lane] = seed
        arrivals = self._env.begin(seeds) if seeds else []
        for lane in idle:
            if lane not in self._stopped:
                self._env.stop(lane)
        self._stopped = set(idle)
        return arrivals

    def _observe(self, arrivals: Sequence[Arrival]) -> list[Observation]:
        lanes = self._env.lanes
        return self._form.observe(
            [Moment(lanes[a.lane], a.observation, a.info, int(a.info.get("duration", 0))) for a in arrivals]
        )


class _Turn:
    """One episode in a lane.

    :param number: the position of the episode's seed among the seeds of the evaluation.
    """

    def __init__(
        self, lane: Lane, form: PolicyFormat, acting: Acting, number: int, seed: int, trace: bool, limit: int | None
    ) -> None:
        self.number, self._lane, self._seed, self._limit = number, lane, seed, limit
        self._task = lane.setup.task
        self._chooser, self._rng = acting.chooser(form), generator_of(seed)
        self._log = EpisodeLog(lane)
        self._recorder = Recorder() if trace else None
        self._stuck = Stuck(self._task.horizon) if acting.may_stop else None
        self._verdicts: list[Verdict] = []
        self._begun = False
        self._cut: Literal["stuck", "limit"] | None = None

    @property
    def steps(self) -> int:
        """Number of primitive steps of the episode so far."""
        return self._lane.primitive_steps if self._begun else 0

    def choose(self, seen: Observation) -> Any:
        """Return the next action of the policy or the code in the lane."""
        return self._chooser(seen, self._rng)

    def is_over_after(self, arrival: Arrival) -> bool:
        """Add the result of a decision to the episode, and return whether the episode is over."""
        info = arrival.info
        self._verdicts += info.get("verdicts", ())
        if not self._begun:
            self._log.begin(self._seed, info)
            self._begun = True
            return False
        self._log.add(info)
        if self._recorder is not None:
            self._recorder.add(info["decision"])
        over = arrival.terminated or arrival.truncated
        stuck = not over and self._stuck is not None and self._stuck.after(info, self._lane.view)
        if over or stuck:
            last = {**info, "terminated": arrival.terminated}
            self._cut = cut_of(last, self._limit, self._task.horizon, stuck=stuck)
        return over or stuck

    def finish(self) -> Played:
        """The record of the finished episode."""
        episode, recorder = Episode(**self._log.figures(), cut=self._cut), self._recorder
        trace = None if recorder is None else recorder.trace(episode, self._task, unpaid=self._lane.unpaid)
        return Played(episode, dict(self._log.usage), trace, tuple(self._verdicts))
