"""Computes a plugin's default labels, primitives and view, which follow from the spaces of an environment."""

from __future__ import annotations

import enum
import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import gymnasium

from rlgpt.domain import Plain, RLSetup, Task
from rlgpt.errors import ConfigError
from rlgpt.plugin.actions import ActionCodec, default_labels, names
from rlgpt.plugin.observations import ObservationCodec
from rlgpt.plugin.skills import Look, env_reward, skills
from rlgpt.plugin.types import Context, Primitive, RewardTerm, ViewKey

Meaning = str | Sequence[str] | Mapping[str, str]
"""The meaning of a part of a space, with its unit. For a part that is a vector: a list with the names of its numbers,
or a dict from name to meaning.
"""

Named = Sequence[str] | Mapping[str, Meaning]
"""A list of names, or a dict from name to meaning. A meaning contains the unit; agents read the meanings."""

Meanings = dict[str, str | dict[str, str]]

ENV_REWARD = RewardTerm(
    "env_reward", "the environment's own reward", env_reward, "step", low=float("-inf"), high=float("inf")
)
"""The environment's reward, unchanged and without bounds."""

TRAINER_BOUNDS: Mapping[str, tuple[float, float]] = {
    "learning_rate": (1e-5, 1e-2),
    "ent_coef": (0.0, 0.1),
    "gae_lambda": (0.8, 1.0),
    "clip_coef": (0.05, 0.4),
    "num_steps": (4, 1024),
    "minibatch_size": (16, 1024),
    "update_epochs": (1, 20),
    "initial_std": (0.1, 1.5),
}
"""The hyperparameters that an RLSetup may set: name -> the smallest and the largest valid value. With other values, PPO
hardly learns, or one update takes minutes. An RLSetup may not set the number of environments, because this number
depends on the machine.
"""

GUIDED = ("interrupt_every", "residual", "plan_prior")
"""Fields of an RLSetup that define how a policy learns with coded actions. Each of these fields may be left unset."""

DECISIONS, DEVIATIONS = 60, 1.8
"""Two numbers for an episode of full length in which a new policy acts: the maximal number of decisions in coded
actions, and the mean number of choices that differ from the plan's choice. A policy with fewer such choices learns
too little; a policy with more such choices performs worse than the code.
"""


class Offers(Protocol):
    """The interface of a plugin whose default setup and reward terms this module completes."""

    def default_setup(self, task: Task) -> RLSetup: ...

    def reward_terms(self, task: Task) -> Sequence[RewardTerm]: ...


def default_setup_of(plugin: Offers, task: Task) -> RLSetup:
    """The plugin's default setup. If the plugin leaves fields in :data:`GUIDED` unset, the function sets values for
    these fields. With these values, an untrained policy mostly acts as the plan's code does, and may correct or
    interrupt the code up to :data:`DECISIONS` times in an episode.
    """
    setup = plugin.default_setup(task)
    every = max(5, round(task.horizon / DECISIONS))
    prior = max(0.5, round(1 - DEVIATIONS * every / task.horizon, 2))
    values = {"interrupt_every": every, "residual": 0.2, "plan_prior": prior}
    return setup.model_copy(update={name: values[name] for name in GUIDED if name not in setup.model_fields_set})


def _success(ctx: Context) -> float:
    return float(bool(ctx.info.get("success", False)))


SUCCESS = RewardTerm("success", "1 at the first step that is a success", _success, "event")
"""A reward term that is 1 once in an episode, at the first step with ``info["success"]``, else 0. Every environment has
this reward term.
"""


def reward_terms_of(plugin: Offers, task: Task) -> tuple[RewardTerm, ...]:
    """The plugin's reward terms, and the reward term :data:`SUCCESS` if the plugin has no term of this name."""
    terms = tuple(plugin.reward_terms(task))
    return terms if any(term.name == SUCCESS.name for term in terms) else (*terms, SUCCESS)


class SpaceDefaults:
    """The default labels, primitives and view for one environment, derived from the spaces of the environment.

    :param labels: names of the action's parts (:class:`~rlgpt.plugin.types.Labels`), or a dict from name to meaning. If
        a part of a Tuple or Dict space is a vector, its value in ``labels`` may also name the vector's numbers, as a
        list of names or as a dict from name to meaning. Default: ``action_0``, ``action_1``, ...
    :param observations: names of the numbers of a one-dimensional observation, or a dict from name to meaning. For a
        Dict or Tuple, ``observations`` is a dict from the name of a part to its meaning. If a part is a vector, its
        value may also name the vector's numbers, as a list of names or as a dict from name to meaning. A part of the
        observation that is missing in the dict keeps its name. Default: names from the parts of the space.
    :ivar labels: name -> meaning. A name whose meaning is not given has an empty text as meaning.
    :raises ConfigError: the action space is not supported, or names do not fit their space.
    """

    def __init__(
        self,
        action_space: gymnasium.Space[Any],
        observation_space: gymnasium.Space[Any],
        *,
        labels: Named | None = None,
        observations: Named | None = None,
    ) -> None:
        self.labels: Meanings = with_meanings(default_labels(action_space) if labels is None else labels)
        self.actions = ActionCodec(action_space, self.labels)
        meanings = observations if observations is None else with_meanings(observations)
        self._observations = ObservationCodec(observation_space, meanings)

    @classmethod
    def of(
        cls, env: gymnasium.Env[Any, Any], *, labels: Named | None = None, observations: Named | None = None
    ) -> SpaceDefaults:
        """The defaults for ``env``. Without the argument ``labels``, the environment's own labels are used, if the
        environment has labels.
        """
        if labels is None:
            labels = _action_meanings(env)
        return cls(env.action_space, env.observation_space, labels=labels, observations=observations)

    def primitives(self, labels: Named, view_keys: Sequence[ViewKey], look: Look) -> tuple[Primitive, ...]:
        """The primitives ``act``, ``repeat`` and, if the view has a number that it can watch, ``act_until``.

        :param labels: the plugin's names for the parts of the action.
        :param look: a function that returns the value of one key of the view.
        """
        return skills(ActionCodec(self.actions.space, with_meanings(labels)), view_keys, look)

    @property
    def view_keys(self) -> tuple[ViewKey, ...]:
        return self._observations.keys

    @property
    def alone(self) -> tuple[str, ...]:
        """The observation keys of pictures and long arrays. The view does not contain their numbers, so only a policy
        observes them.
        """
        return self._observations.alone

    def view(self, ctx: Context) -> dict[str, Plain]:
        return self._observations.view(ctx)

    def view_value(self, ctx: Context, key: str) -> Plain:
        """The value of one key of the view; the function computes no other key."""
        return self._observations.value(ctx, key)


def with_meanings(named: Named) -> Meanings:
    """Convert names to a dict from name to meaning, or to a dict from name to a dict from name to meaning. A name whose
    meaning is not given gets an empty text as meaning.

    :raises ConfigError: ``named`` is neither a list of different names nor a dict.
    """
    if (
        isinstance(named, str)
        or not isinstance(named, Mapping | Sequence)
        or not all(isinstance(n, str) for n in named)
    ):
        raise ConfigError(
            f"labels and observations are lists of names, or mappings from each name to its meaning; got {named!r:.80}"
        )
    if not isinstance(named, Mapping):
        if doubles := [name for name, count in Counter(named).items() if count > 1]:
            raise ConfigError(f"labels must differ, and so must observations; used twice: {', '.join(doubles)}")
        return dict.fromkeys(named, "")
    return {name: meaning if isinstance(meaning, str) else _flat(meaning) for name, meaning in named.items()}


def _flat(named: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(named) if isinstance(named, Mapping) else dict.fromkeys(named, "")


def summarize(view: Mapping[str, Plain]) -> str:
    """A view as text of at most 1,500 characters. Numbers have four significant digits, and lists are cut after twelve
    numbers.
    """
    text = "; ".join(f"{key}: {_format(value)}" for key, value in view.items())
    return text if len(text) <= 1500 else text[:1497] + "..."


def _action_meanings(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    """The environment's own labels if it has a label for each part of the action, else the default labels. An
    environment's own labels are in a method ``get_action_meanings()``, in an enum ``actions``, or in a mapping
    ``actions`` from values of a Discrete to labels. The mapping may be an attribute of ``action_type`` (highway-env).
    """
    plain, labels = env.unwrapped, default_labels(env.action_space)
    meanings = getattr(plain, "get_action_meanings", None)
    given = [str(m) for m in meanings()] if callable(meanings) else []
    for owner in (plain, getattr(plain, "action_type", None)):
        actions = getattr(owner, "actions", None)
        if given:
            break
        if inspect.isclass(actions) and issubclass(actions, enum.Enum):
            given = [member.name for member in actions]
        elif isinstance(actions, Mapping) and isinstance(env.action_space, gymnasium.spaces.Discrete):
            values = [int(env.action_space.start) + i for i in range(len(labels))]
            given = [str(actions[value]) for value in values] if {*values} == {*actions} else []
    return tuple(names(given)) if len(given) == len(labels) else labels


def _format(value: Plain) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        more = f", ... {len(value) - 12} more" if len(value) > 12 else ""
        return f"[{', '.join(_format(v) for v in value[:12])}{more}]"
    if isinstance(value, dict):
        return ", ".join(f"{k} {_format(v)}" for k, v in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)
