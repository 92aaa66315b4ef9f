"""``PolicyEnv``: the environment that every trainer uses. It has one observation vector, an action mask,
a duration and normalised actions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlgpt.errors import UnknownNameError
from rlgpt.options import ActionLayout, ExtendedEnv, OnStep, extend
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.states import EpisodeState
from rlgpt.rl.codec import ActionCodec
from rlgpt.rl.observation import ObservationBuilder
from rlgpt.rl.plan_features import PlanFeatures
from rlgpt.rl.starts import LateStarts, late_starts

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.rl.base import EnvSpec

Observation = dict[str, np.ndarray]

TRAINING_SEEDS = (2**30, 2**31)
"""A reset without a seed draws its seed from this range. Seeds of evaluations (``loop.Seeds``) are outside it."""


class PolicyEnv(gymnasium.Wrapper[Observation, Any, Any, Any]):
    """An extended environment (see :mod:`rlgpt.options`) with the observations and actions of a policy network.

    Observation: ``obs`` float32 ``(D,)``; ``image_KEY`` for each image; ``action_mask`` float32 ``(branches,)``, 1 for
    each branch that may be chosen (a single 1 if the action space has no selector); ``duration`` float32 ``(1,)``, the
    number of primitive steps of the last decision, 0 after a reset.

    Action space: Discrete, Box(-1, 1), or a Tuple of those, the selector first. When an episode ends, info has
    ``episode`` (the fields of a :class:`rlgpt.domain.Episode`) and ``usage`` (action -> number of decisions for it in
    the episode). :func:`build` makes a ``PolicyEnv`` from a recipe.

    :param keys: observation keys of the RLSetup, in order.
    :param seed: seeds the generator from which a reset without a seed draws one of :data:`TRAINING_SEEDS`.
    :param late: states from which some training episodes begin instead of the task's own start. The seed of an episode
        decides whether it begins in one of them, and in which.
    :param plan_prior: the RLSetup's ``plan_prior``. If it is above 0, or if decisions may interrupt coded actions,
        ``obs`` ends with the numbers of :class:`~rlgpt.rl.plan_features.PlanFeatures`.
    :ivar layout: the layout of the action space, for a :class:`~rlgpt.rl.distribution.BranchedDistribution`.
    :ivar observation_names: a name for each number of ``obs``.
    """

    def __init__(
        self,
        env: ExtendedEnv,
        keys: tuple[str, ...],
        *,
        seed: int,
        late: LateStarts | None = None,
        plan_prior: float = 0.0,
    ) -> None:
        super().__init__(env)
        self.extended, self._late = env, late
        self.codec = ActionCodec(env.action_space, env.layout)
        self.layout: ActionLayout = env.layout
        self.gamma, self.task = env.gamma, env.task
        self._builder = ObservationBuilder(env.observation_space, env.view_keys, keys)
        guided = bool(env.actions) and (plan_prior > 0 or env.interrupt_every is not None)
        self._plan = PlanFeatures(env) if guided else None
        self.plan_prior = plan_prior if guided else 0.0
        self.observation_names = (*self._builder.names, *(self._plan.names if self._plan else ()))
        self.action_space = self.codec.space
        mask = spaces.Box(0, 1, (max(1, self.layout.choices),), np.float32)
        duration = spaces.Box(0, np.inf, (1,), np.float32)
        vector = spaces.Box(-np.inf, np.inf, (len(self.observation_names),), np.float32)
        entries = {**self._builder.spaces, "obs": vector, "action_mask": mask, "duration": duration}
        self.observation_space: gymnasium.Space[Any] = spaces.Dict(entries)
        self._seeds = np.random.default_rng(np.random.SeedSequence(seed))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        self._seed = int(self._seeds.integers(*TRAINING_SEEDS)) if seed is None else seed
        self._decisions, self._reward = 0, 0.0
        self._terms: Counter[str] = Counter()
        self._usage: Counter[str] = Counter()
        late = None if self._late is None else self._late.draw(self._seed)
        if isinstance(late, EpisodeState):
            observation, info = self.extended.restore_episode(late, seed=self._seed)
        else:
            options = {**late, **(options or {})} if late is not None else options
            observation, info = self.extended.reset(seed=self._seed, options=options)
        self._success = bool(info.get("success", False))
        self._reached: dict[str, int] = {}
        self._watch(info)
        return self._observe(observation, info, 0), info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.extended.step(self.codec.decode(action))
        self._decisions += 1
        self._reward += info["total_reward"]
        self._success = self._success or bool(info.get("success", False))
        self._usage[info["action"]] += 1
        for name, value in info.get("reward_terms", {}).items():
            self._terms[name] += value
        self._watch(info)
        if terminated or truncated:
            info["episode"] = self.figures()
            info["usage"] = dict(self._usage)
        return self._observe(observation, info, info["duration"]), float(reward), terminated, truncated, info

    def figures(self) -> dict[str, Any]:
        """The fields of a :class:`rlgpt.domain.Episode` for the episode so far."""
        measured: dict[str, Any] = {}
        self.extended.measurement.report(measured)
        return {
            "score": measured.get("score"),
            "metrics": measured.get("metrics", {}),
            "seed": self._seed,
            "success": self._success,
            "total_reward": self._reward,
            "primitive_steps": self.extended.primitive_steps,
            "decisions": self._decisions,
            "reward_terms": dict(self._terms),
            "reached": dict(self._reached),
            "ending": self._ending,
        }

    def _watch(self, info: Mapping[str, Any]) -> None:
        """Record which sub-goals are reached for the first time, and the environment's information about the episode's
        end.
        """
        self._ending = str(info.get("cause", ""))[:200]
        for name, done in info.get("predicates", {}).items():
            if done:
                self._reached.setdefault(name, self.extended.primitive_steps)

    @property
    def usage(self) -> Mapping[str, int]:
        """Action -> number of decisions for it in the episode so far."""
        return self._usage

    def quarantine(self, names: Iterable[str]) -> None:
        """From the next reset on, mask exactly these coded actions."""
        self.extended.quarantine(names)

    def coded(self, name: str, parameters: Mapping[str, float] | None = None) -> Any:
        """The policy's action that chooses the coded action ``name``. A parameter that is not given has its default.

        :raises UnknownNameError: there is no action or parameter of that name.
        """
        return self.codec.encode(self.extended.extension.write(name, parameters))

    def branch(self, action: Any) -> str:
        """The name of the branch that ``action`` chooses."""
        if not self.layout.choices:
            return self.layout.branches[0]
        selector = action[0] if isinstance(self.action_space, spaces.Tuple) else action
        return self.layout.branches[int(selector)]

    def _observe(self, observation: Any, info: Mapping[str, Any], duration: int) -> Observation:
        view: dict[str, Any] = dict(self.extended.view()) if self._builder.needs_view else {}
        if self._builder.policy_keys:
            numbers = self.extended.plugin.policy_view(self.extended.context)
            view.update((key, numbers[key]) for key in self._builder.policy_keys if key in numbers)
        seen = self._builder.build(observation, view)
        if self._plan is not None:
            seen["obs"] = np.concatenate([seen["obs"], self._plan.build(info)])
        seen["action_mask"] = info["action_mask"].astype(np.float32) if self.layout.choices else np.ones(1, np.float32)
        seen["duration"] = np.array([duration], np.float32)
        return seen


def plugin_of(spec: EnvSpec) -> EnvironmentPlugin:
    """The plugin that ``spec`` names, or that its factory makes.

    :raises UnknownNameError: no plugin of that name is installed.
    """
    if callable(spec.factory):
        plugin: EnvironmentPlugin = spec.factory(spec.task)
        return plugin
    from rlgpt.plugin.manager import PluginManager

    return PluginManager().plugin(spec.factory or spec.task.plugin)


def build(
    spec: EnvSpec,
    *,
    seed: int,
    evaluation: bool = False,
    limit: int | None = None,
    render_mode: str | None = None,
    trace: bool = False,
    on_step: OnStep | None = None,
    on_turn: Callable[[], None] | None = None,
) -> PolicyEnv:
    """Make the environment that a recipe describes.

    Training uses the RLSetup's horizon (if it is below the task's own), reset option and reward weights. Evaluation
    uses the task's own horizon and reset, and the plugin's default reward weights, so that the rewards of different
    setups can be compared. In an evaluation, the setup's other reward terms have weight 0.

    :param seed: seeds the generator that draws the seed of each reset without a seed.
    :param limit: primitive steps after which an episode is truncated; None: the horizon.
    :param trace: whether ``info["decision"]`` contains a :class:`rlgpt.domain.Decision`.
    :param on_step: see :data:`rlgpt.options.OnStep`.
    :param on_turn: called before each turn of a coded action (from one ``yield`` to the next). A turn may take as long
        as many primitive steps.
    :raises UnknownNameError: the setup contains an unknown action, observation key, reward term or reset option.
    """
    plugin, task, setup = plugin_of(spec), spec.task, spec.setup
    known = [a.name for a in spec.actions]
    for name in setup.coded_actions:
        if name not in known:
            raise UnknownNameError(
                "coded action", name, known, "The RLSetup may choose among the actions it was given."
            )
    actions = tuple(a for a in spec.actions if a.name in setup.coded_actions)  # in the order of the plan
    late = None if evaluation else late_starts(plugin, task, setup, spec.starts)
    horizon = min(h for h in (task.horizon, limit, None if evaluation else setup.horizon) if h is not None)
    env = plugin.make_env(task, seed=seed, render_mode=render_mode)
    extended = extend(
        env,
        actions,
        plugin=plugin,
        task=task,
        gamma=setup.gamma,
        base_actions=setup.base_actions,
        reward_weights=judged_weights(plugin, spec) if evaluation else setup.reward_weights,
        sandbox=_sandbox(spec, on_turn),
        quarantined=[n for n in spec.quarantined if n in (*setup.coded_actions, *(f.name for f in spec.functions))],
        horizon=horizon if horizon < task.horizon else None,
        on_step=on_step,
        trace=trace,
        functions=spec.functions,
        interrupt_every=setup.interrupt_every if actions else None,
        residual=setup.residual if actions and isinstance(env.action_space, spaces.Box) else 0.0,
    )
    return PolicyEnv(extended, setup.observation_keys, seed=seed, late=late, plan_prior=setup.plan_prior)


def judged_weights(plugin: EnvironmentPlugin, spec: EnvSpec) -> dict[str, float]:
    """The reward weights of an evaluation: the plugin's defaults, and 0 for each other reward term of the setup that
    exists.
    """
    known = {t.name for t in reward_terms_of(plugin, spec.task)} | {f.name for f in spec.functions}
    others = dict.fromkeys((name for name in spec.setup.reward_weights if name in known), 0.0)
    return {**others, **plugin.default_setup(spec.task).reward_weights}


def _sandbox(spec: EnvSpec, on_turn: Callable[[], None] | None) -> Any:
    if not spec.setup.coded_actions and not spec.functions:
        return None
    from rlgpt.sandbox import Sandbox, SandboxLimits

    return Sandbox(SandboxLimits(**spec.sandbox), on_turn=on_turn)
