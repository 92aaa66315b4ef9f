"""The class ``PolicyEnv`` is an extended environment in the form that a policy network needs. A ``PolicyEnv`` has one
observation vector, an action mask, a duration and normalised actions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlgpt.domain import CodedAction
from rlgpt.errors import StateError, UnknownNameError
from rlgpt.options import Arguments, ExtendedEnv, OnStep, extend
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.states import EpisodeState
from rlgpt.plugin.types import Context
from rlgpt.rl.policy_lane import EpisodeLog, Moment, Observation, PolicyFormat
from rlgpt.rl.starts import LateStarts, SavedStarts, late_starts

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.rl.base import EnvSpec

TRAINING_SEEDS = (2**30, 2**31)
"""The range from which a reset without a seed draws its seed. Seeds of evaluations are outside this range."""


def training_seeds(seed: int) -> Iterator[int]:
    """The seeds of the training episodes in an environment with the seed ``seed``."""
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    while True:
        yield int(rng.integers(*TRAINING_SEEDS))


class PolicyEnv(gymnasium.Wrapper[Observation, Any, Any, Any]):
    """An extended environment (see :mod:`rlgpt.options`) with the observations and actions of a policy network.

    An observation is a dict. The entry ``obs`` is the observation vector, float32 ``(D,)``, and each image has an entry
    ``image_KEY``. The entry ``action_mask``, float32 ``(branches,)``, is 1 for each branch that may be chosen (a single
    1 if the action space has no selector). The entry ``duration``, float32 ``(1,)``, is the number of primitive steps
    of the last decision (0 after a reset).

    The action space is a Discrete, a Box with the bounds -1 and 1, or a Tuple of such spaces with the selector first.
    When an episode ends, ``info`` has ``episode`` (the fields of a :class:`rlgpt.domain.Episode`) and ``usage`` (for
    each action, the number of decisions for this action in the episode). :func:`build` makes a ``PolicyEnv`` from a
    recipe.

    :param keys: observation keys of the RLSetup, in order.
    :param seed: seed of the random generator from which a reset without a seed draws one of :data:`TRAINING_SEEDS`.
    :param late: states from which some training episodes begin instead of the task's own start. The seed of an episode
        decides whether the episode begins in a state of ``late``, and in which state.
    :param plan_prior: the RLSetup's ``plan_prior``. If ``plan_prior`` is above 0, or if decisions may interrupt coded
        actions, ``obs`` ends with the numbers of :class:`~rlgpt.rl.plan_features.PlanFeatures`.
    :ivar form: the format of the policy's observations and actions.
    :ivar layout: the layout of the action space, for a :class:`~rlgpt.rl.distribution.BranchedDistribution`.
    :ivar observation_names: a name for each number of ``obs``.
    """

    def __init__(
        self,
        env: ExtendedEnv,
        keys: tuple[str, ...],
        *,
        seed: int,
        late: LateStarts | SavedStarts | None = None,
        plan_prior: float = 0.0,
    ) -> None:
        super().__init__(env)
        self.extended, self._late = env, late
        form = self.form = PolicyFormat(env.setup, env.observation_space, keys, plan_prior)
        self.codec, self.layout, self.plan_prior = form.codec, form.layout, form.plan_prior
        self.gamma, self.task = env.gamma, env.task
        self.observation_names = form.observation_names
        self.action_space: gymnasium.Space[Any] = form.action_space
        self.observation_space: gymnasium.Space[Any] = form.observation_space
        self._seeds = training_seeds(seed)
        self._log = EpisodeLog(env.lane)
        self._begun: EpisodeState | Mapping[str, Any] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        seed = next(self._seeds) if seed is None else seed
        late = self._begun = None if self._late is None else self._late.draw(seed)
        if isinstance(late, EpisodeState):
            observation, info = self.extended.restore_episode(late, seed=seed)
        else:
            options = {**late, **(options or {})} if late is not None else options
            observation, info = self.extended.reset(seed=seed, options=options)
        self._log.begin(seed, info)
        return self._seen(observation, info, 0), info

    def take_over(self, context: Context, info: Mapping[str, Any], seed: int) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in the current state of the base environment (see :meth:`ExtendedEnv.take_over`)."""
        observation, first_info = self.extended.take_over(context, info)
        self._log.begin(seed, first_info)
        return self._seen(observation, first_info, 0), first_info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.extended.step(self.codec.decode(action))
        info["began"] = self._log.add(info)
        if terminated or truncated:
            info["episode"], info["usage"] = self.figures(), dict(self.usage)
        elif self._begun is None and not self._log.success:
            self._add_start(info)
        return self._seen(observation, info, info["duration"]), float(reward), terminated, truncated, info

    def _add_start(self, info: Mapping[str, Any]) -> None:
        """Save the state after a decision if later training episodes may begin in this state."""
        late = self._late
        if isinstance(late, LateStarts) and late.begins_after(info):
            with contextlib.suppress(StateError):  # The training goes on without a state that cannot be saved.
                late.add(self.extended.save_episode())

    def _seen(self, observation: Any, info: dict[str, Any], duration: int) -> Observation:
        return self.form.observe([Moment(self.extended.lane, observation, info, duration)])[0]

    def figures(self) -> dict[str, Any]:
        """The fields of a :class:`rlgpt.domain.Episode`, for the part of the episode that was played so far."""
        return self._log.figures()

    @property
    def usage(self) -> Mapping[str, int]:
        """For each action, the number of decisions for this action in the episode so far."""
        return self._log.usage

    @property
    def reached(self) -> tuple[EpisodeState, ...]:
        """The start states that the training itself reached in this environment (:class:`LateStarts`)."""
        return tuple(self._late.reached) if isinstance(self._late, LateStarts) else ()

    def restore_reached(self, states: Iterable[EpisodeState]) -> None:
        """Restore the states that :attr:`reached` returned."""
        for state in states:
            if isinstance(self._late, LateStarts):
                self._late.add(state)

    def quarantine(self, names: Iterable[str]) -> None:
        """From the next reset on, mask exactly the coded actions in ``names``."""
        self.extended.quarantine(names)


def plugin_of(spec: EnvSpec) -> EnvironmentPlugin:
    """Make the plugin whose name ``spec`` contains, or the plugin that the factory in ``spec`` makes.

    :raises UnknownNameError: no plugin with the name in ``spec`` is installed.
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
    begin: Mapping[int, EpisodeState] | None = None,
    env: gymnasium.Env[Any, Any] | None = None,
) -> PolicyEnv:
    """Make the environment that a recipe describes.

    A training uses the horizon of the RLSetup (if it is below the task's own horizon), its reset option and its reward
    weights. An evaluation uses the task's own horizon and reset, and the plugin's default reward weights, so that the
    rewards of different setups can be compared. In an evaluation, the setup's other reward terms have the weight 0.

    :param seed: seed of the random generator that draws the seed of each reset without a seed.
    :param limit: number of primitive steps after which an episode is truncated. If ``limit`` is None, the horizon is
        the limit.
    :param trace: whether ``info["decision"]`` contains a :class:`rlgpt.domain.Decision`.
    :param on_step: a function that is called after each reset and each primitive step (:data:`rlgpt.options.OnStep`).
    :param on_turn: a function that is called before each turn of a coded action. A turn of a coded action may take as
        much time as many primitive steps.
    :param begin: for the seeds of some episodes, the saved state in which the episode begins. ``begin`` is valid only
        for evaluations.
    :param env: an environment of the task that already exists. If ``env`` is None, the plugin makes an environment. If
        ``build`` raises an error, it closes the environment.
    :raises UnknownNameError: the setup contains an unknown action, observation key, reward term or reset option.
    """
    plugin, task, setup = plugin_of(spec), spec.task, spec.setup
    if env is None:
        env = plugin.make_env(task, seed=seed, render_mode=render_mode)
    with on_error(env.close):
        arguments = arguments_of(spec, env.action_space, plugin, evaluation=evaluation, limit=limit, on_turn=on_turn)
        arguments["trace"] = trace
        extended = extend(env, actions_of(spec), on_step=on_step, **arguments)
        late = SavedStarts(begin or {}) if evaluation else late_starts(plugin, task, setup, spec.starts)
        return PolicyEnv(extended, setup.observation_keys, seed=seed, late=late, plan_prior=setup.plan_prior)


@contextlib.contextmanager
def on_error(close: Callable[[], object]) -> Iterator[None]:
    """Call ``close`` if the ``with`` block raises an error."""
    try:
        yield
    except BaseException:
        close()
        raise


def actions_of(spec: EnvSpec) -> tuple[CodedAction, ...]:
    """The coded actions that the setup chooses, in the order of the plan.

    :raises UnknownNameError: the setup contains an unknown coded action.
    """
    known = [a.name for a in spec.actions]
    for name in spec.setup.coded_actions:
        if name not in known:
            raise UnknownNameError(
                "coded action", name, known, "The RLSetup may choose among the actions it was given."
            )
    return tuple(a for a in spec.actions if a.name in spec.setup.coded_actions)


def arguments_of(
    spec: EnvSpec,
    action_space: gymnasium.Space[Any],
    plugin: EnvironmentPlugin,
    *,
    evaluation: bool = False,
    limit: int | None = None,
    on_turn: Callable[[], None] | None = None,
) -> Arguments:
    """The arguments with which :func:`rlgpt.extend` and :func:`rlgpt.extend_vector` make the environment of a recipe.
    The parameters of ``arguments_of`` are those of :func:`build`.
    """
    task, setup, coded = spec.task, spec.setup, bool(spec.setup.coded_actions)
    horizon = min(h for h in (task.horizon, limit, None if evaluation else setup.horizon) if h is not None)
    return Arguments(
        plugin=plugin,
        task=task,
        gamma=setup.gamma,
        base_actions=setup.base_actions,
        reward_weights=judged_weights(plugin, spec) if evaluation else setup.reward_weights,
        sandbox=_sandbox(spec, on_turn),
        quarantined=[n for n in spec.quarantined if n in spec.maskable],
        horizon=horizon if horizon < task.horizon else None,
        functions=spec.functions,
        interrupt_every=setup.interrupt_every if coded else None,
        residual=setup.residual if coded and isinstance(action_space, spaces.Box) else 0.0,
    )


def judged_weights(plugin: EnvironmentPlugin, spec: EnvSpec) -> dict[str, float]:
    """The reward weights of an evaluation. Reward terms of the plugin's default setup have their default weights in an
    evaluation. All other reward terms of the setup have the weight 0 in an evaluation.
    """
    known = {t.name for t in reward_terms_of(plugin, spec.task)} | {f.name for f in spec.functions}
    others = dict.fromkeys((name for name in spec.setup.reward_weights if name in known), 0.0)
    return {**others, **plugin.default_setup(spec.task).reward_weights}


def _sandbox(spec: EnvSpec, on_turn: Callable[[], None] | None) -> Any:
    if not spec.setup.coded_actions and not spec.functions:
        return None
    from rlgpt.sandbox import Sandbox, SandboxLimits

    return Sandbox(SandboxLimits(**spec.sandbox), on_turn=on_turn)
