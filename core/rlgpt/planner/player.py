"""The executor plays a graph of sub-goals in one environment, like one policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

import gymnasium
import numpy as np

from rlgpt.domain import Call, Episode, Evaluation, GoalGraph, GraphEpisode, GraphEvaluation, Mode, SubGoal, Task
from rlgpt.domain.graph import MAX_CALLS, CallEnd
from rlgpt.options import ExtendedEnv, OnStep, extend
from rlgpt.options.functions import StepFunctions
from rlgpt.planner.agenda import Agenda
from rlgpt.planner.sub_task import PartPlugin
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.library import library_of
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.acting import by_code, by_policy, code_spec
from rlgpt.rl.base import EnvSpec, Policy
from rlgpt.rl.play import Acting, Camera, OnFrame, Stuck
from rlgpt.rl.policy_env import PolicyEnv, build
from rlgpt.sandbox import Sandbox, SandboxLimits

ATTEMPTS = 5
"""Maximal number of episodes that are played to reach the start of a sub-goal in an environment without saved states.
"""


@dataclass(frozen=True)
class Actor:
    """The code or the policy that plays one sub-goal.

    :ivar spec: description of how to make the environment of the sub-goal.
    :ivar mode: ``code`` if the actor plays the coded actions of ``spec`` in their order; else the mode in which
        ``policy`` acts.
    :ivar policy: the policy that plays the sub-goal; None if ``mode`` is ``code``.
    :ivar sharpness: exponent to which the policy's probabilities are raised; 1 does not change the probabilities.
    """

    spec: EnvSpec
    mode: Mode
    policy: Policy | None = None
    sharpness: float = 1.0

    @property
    def acting(self) -> Acting:
        if self.policy is None:
            return by_code(self.spec.actions, may_stop=True)
        return by_policy(self.policy, self.mode, self.sharpness)

    @property
    def played(self) -> EnvSpec:
        """The description of the environment in which the actor of a sub-goal plays."""
        return code_spec(self.spec, self.spec.actions) if self.policy is None else self.spec


class _Heard(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Records what the environment of the whole task reports, during the calls of all sub-goals.

    :param hear: a function that gets the info dict and the reward of each step.
    :ivar info: the newest info.
    :ivar over: whether the environment of the whole task has ended the episode.
    :ivar success: whether the environment of the whole task reported success at any step of the episode.
    :ivar steps: number of primitive steps of the episode so far.
    :ivar total: sum of the environment's own rewards in the episode so far.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], hear: Callable[[Mapping[str, Any], float], None]) -> None:
        super().__init__(env)
        self._hear = hear
        self.begin({})

    def begin(self, info: Mapping[str, Any]) -> None:
        self.info, self.over, self.steps, self.total = info, False, 0, 0.0
        self.success = bool(info.get("success", False))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.info, self.over = info, bool(terminated or truncated)
        self.steps, self.total = self.steps + 1, self.total + float(reward)
        self.success = self.success or bool(info.get("success", False))
        self._hear(info, float(reward))
        return observation, reward, terminated, truncated, info


class Played(NamedTuple):
    """The result of one episode, with the values that every evaluation records and the calls of sub-goals."""

    episode: Episode
    graph: GraphEpisode


class GraphPlayer:
    """Plays a graph of sub-goals in an environment of the whole task.

    The call of a sub-goal ends when its predicate is True, its horizon is reached, its code is stuck, or the episode
    ends. After each call, the predicates of all sub-goals decide which sub-goal is called next
    (:class:`~rlgpt.planner.agenda.Agenda`). A standing sub-goal that no longer holds interrupts the current call after
    a decision, or between two primitives of a coded action.

    :param plugin: the plugin of the whole task.
    :param actors: for each sub-goal, the code or policy that plays it. If a sub-goal that is missing in ``actors`` must
        be called, the episode ends early.
    :param on_step: a function that is called after each primitive step (:data:`rlgpt.options.OnStep`).
    :param on_frame: a function that gets each rendered frame, with the names of the current sub-goal and action.
    :param env: an existing environment of the task, which the player uses and does not close. If ``env`` is None, the
        player makes an environment and closes it at the end.
    :ivar stopped: whether the last :meth:`play` ended before the call of the sub-goal ``until``.
    :ivar context: the context of the newest primitive step.
    """

    def __init__(
        self,
        plugin: EnvironmentPlugin,
        task: Task,
        graph: GoalGraph,
        actors: Mapping[str, Actor],
        *,
        limits: SandboxLimits,
        on_step: OnStep | None = None,
        on_frame: OnFrame | None = None,
        env: gymnasium.Env[Any, Any] | None = None,
    ) -> None:
        self._plugin, self._task, self._graph, self._actors = plugin, task, graph, actors
        self._owns, self._on_step = env is None, on_step
        self._camera = None if on_frame is None else Camera(on_frame)
        render = None if on_frame is None else "rgb_array"
        self._env = plugin.make_env(task, seed=0, render_mode=render) if env is None else env
        self._root: ExtendedEnv = extend(self._env, plugin=plugin, task=task)
        self._heard = _Heard(self._env, self._root.measurement.add)
        self._envs: dict[str, PolicyEnv] = {}
        enough = limits.model_copy(update={"instances": max(limits.instances, len(graph.nodes))})
        predicates = tuple(n.predicate for n in graph.nodes)
        self._predicates = StepFunctions(predicates, library_of(plugin, task), Sandbox(enough))
        self.stopped, self.context = False, self._root.context

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for env in self._envs.values():
            env.extended.lane.close()
        if self._owns:
            self._env.close()

    @property
    def info(self) -> Mapping[str, Any]:
        """The newest info dict of the environment."""
        return self._heard.info

    def save(self) -> EpisodeState | None:
        """The saved state of the episode; None at the start of the episode.

        :raises StateError: the plugin cannot save the state of an episode of this task.
        """
        if not self._heard.steps:
            return None
        self._root.take_over(self.context, self._heard.info)
        return self._root.save_episode()

    def begin(self, seed: int) -> Mapping[str, bool]:
        """Begin an episode.

        :returns: for each sub-goal, whether it holds at the start of the episode.
        """
        _, info = self._root.reset(seed=seed)
        self._heard.begin(info)
        self.context, self.stopped = self._root.context, False
        self._predicates.reset(self._view(), seed=0, quarantined=())
        self._asked = 0
        return self._predicates.answers.predicates

    def play(self, seed: int, *, until: str | None = None) -> Played:
        """Play one episode.

        :param until: name of the sub-goal before whose first call the episode ends.
        """
        holds, heard, graph = self.begin(seed), self._heard, self._graph
        agenda, rng = Agenda(graph, {*self._actors, until or graph.last.name}), np.random.default_rng([seed, 0xE7A1])
        calls, reached, decisions = list[Call](), dict[str, int](), Counter[str]()
        cut = False
        while not (heard.over or heard.success):
            self._note(reached, holds)
            node = agenda.next(holds)
            self.stopped = node.name == until
            if self.stopped or node.name not in self._actors:
                break
            start, holding = heard.steps, tuple(sorted(n for n, held in holds.items() if held))
            ended, count = self._call(node, agenda, seed, rng)
            calls.append(Call(node=node.name, start=start, steps=heard.steps - start, ended=ended, holding=holding))
            agenda.ended(calls[-1])
            decisions[node.name] += count
            holds = self._holds()
            cut = [(c.node, c.ended) for c in calls[-2:]] == [(node.name, "stuck")] * 2
            if cut:
                break
        self._note(reached, holds)
        if heard.success:
            reached.setdefault(graph.last.name, heard.steps)
        return self._result(seed, calls, reached, decisions, holds, cut)

    def evaluate(self, seeds: Sequence[int], *, steps: int | None = None) -> GraphEvaluation:
        """Play one episode for each seed.

        :param steps: maximal number of primitive steps of all episodes together. No episode begins after ``steps``
            primitive steps have been taken.
        """
        played: list[Played] = []
        for seed in seeds:
            if played and steps is not None and sum(p.episode.primitive_steps for p in played) >= steps:
                break
            played.append(self.play(seed))
        usage: Counter[str] = Counter()
        for p in played:
            for call in p.graph.calls:
                usage[call.node] += call.steps
        total = max(1, usage.total())
        evaluation = Evaluation(
            mode="code" if all(a.policy is None for a in self._actors.values()) else "sampled",
            episodes=tuple(p.episode for p in played),
            usage={name: count / total for name, count in sorted(usage.items())},
            has_success=bool(self._task.success),
            score=self._task.score,
        )
        return GraphEvaluation(evaluation=evaluation, episodes=tuple(p.graph for p in played))

    def _call(self, node: SubGoal, agenda: Agenda, seed: int, rng: np.random.Generator) -> tuple[CallEnd, int]:
        """Call one sub-goal.

        :returns: how the call of the sub-goal ended, and the number of its decisions.
        """
        env, actor, heard = self._open(node), self._actors[node.name], self._heard
        observation, _ = env.take_over(self.context, heard.info, seed)
        self.context = env.extended.context
        interrupts = partial(self._interrupts, node, agenda) if self._graph.standing else None
        env.extended.lane.interrupts = interrupts
        acting, decisions = actor.acting, 0
        choose = acting.chooser(env.form)
        stuck = Stuck(node.horizon) if acting.may_stop else None
        while True:
            action = choose(observation, rng)
            if self._camera is not None:
                self._camera.action = f"{node.name}: {env.form.branch(action)}"
            observation, _, _, truncated, info = env.step(action)
            decisions += 1
            last = node.name == self._graph.last.name
            if heard.success if last else info["success"]:
                return "done", decisions
            if heard.over or heard.success:
                return "episode", decisions
            if truncated:
                return "horizon", decisions
            if stuck is not None and stuck.after(info, env.extended.view):
                return "stuck", decisions
            if interrupts is not None and interrupts():
                return "interrupted", decisions

    def _open(self, node: SubGoal) -> PolicyEnv:
        if node.name not in self._envs:
            spec = self._actors[node.name].played
            self._envs[node.name] = build(spec, seed=0, evaluation=True, env=self._heard, on_step=self._step)
        return self._envs[node.name]

    def _step(self, env: gymnasium.Env[Any, Any], step: int) -> None:
        if step and self._on_step is not None:
            self._on_step(env, step)
        if step and self._camera is not None:
            self._camera(env, step)

    def _view(self) -> dict[str, Any]:
        return self._plugin.view(self.context)

    def _interrupts(self, node: SubGoal, agenda: Agenda) -> bool:
        return agenda.interrupts(node, self._holds())

    def _holds(self) -> Mapping[str, bool]:
        """For each sub-goal, whether it holds now. Predicates are called at most once at each primitive step."""
        if self._asked != self._heard.steps:
            self._asked = self._heard.steps
            self._predicates.update(self._view())
        return self._predicates.answers.predicates

    def _note(self, reached: dict[str, int], holds: Mapping[str, bool]) -> None:
        for name, held in holds.items():
            if held:
                reached.setdefault(name, self._heard.steps)

    def _result(
        self,
        seed: int,
        calls: Sequence[Call],
        reached: Mapping[str, int],
        decisions: Counter[str],
        holds: Mapping[str, bool],
        cut: bool,
    ) -> Played:
        heard = self._heard
        measured: dict[str, Any] = {}
        self._root.measurement.report(measured)
        episode = Episode(
            seed=seed,
            success=heard.success,
            total_reward=heard.total,
            primitive_steps=heard.steps,
            decisions=decisions.total(),
            cut="stuck" if cut else None,
            ending=str(heard.info.get("cause", ""))[:200],
            reached=reached,
            score=measured.get("score"),
            metrics=measured.get("metrics", {}),
        )
        graph = GraphEpisode(
            seed=seed,
            success=heard.success,
            primitive_steps=heard.steps,
            calls=tuple(calls[:MAX_CALLS]),
            reached=reached,
            agrees=holds[self._graph.last.name] == heard.success,
            view="" if heard.success else self._plugin.summarize(self._view())[:2000],
        )
        return Played(episode, graph)


@dataclass(frozen=True)
class PlayedWay:
    """Reaches the start of a sub-goal by playing the graph until just before the first call of this sub-goal.
    ``PlayedWay`` is used if the environment cannot restore states (see :class:`~rlgpt.planner.sub_task.Way`). If
    :data:`ATTEMPTS` episodes do not reach the sub-goal, its episode begins at the start of the whole task.
    """

    task: Task
    graph: GoalGraph
    node: str
    actors: Mapping[str, Actor]
    limits: SandboxLimits
    _players: WeakKeyDictionary[ExtendedEnv, GraphPlayer] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False, compare=False
    )

    def __reduce__(self) -> tuple[Any, ...]:
        return PlayedWay, (self.task, self.graph, self.node, self.actors, self.limits)

    def __call__(self, env: ExtendedEnv, seed: int) -> tuple[Any, dict[str, Any]]:
        if (player := self._players.get(env)) is None:
            player = self._players[env] = self._player(env)
        for attempt in range(ATTEMPTS):
            player.play(seed + 7919 * attempt, until=self.node)
            if player.stopped:
                return env.take_over(player.context, player.info)
        return env.reset_whole(seed)

    def _player(self, env: ExtendedEnv) -> GraphPlayer:
        plugin, count = env.plugin, env.on_step
        assert isinstance(plugin, PartPlugin)

        def on_step(base: gymnasium.Env[Any, Any], step: int) -> None:
            if count is not None:
                count(base, -1)

        return GraphPlayer(
            plugin.base, self.task, self.graph, self.actors, limits=self.limits, on_step=on_step, env=env.env
        )
