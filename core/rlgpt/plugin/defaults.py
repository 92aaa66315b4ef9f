"""Defaults of a plugin: labels, primitives and a view that follow from the spaces of an environment."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium

from rlgpt.domain import Plain, Task
from rlgpt.plugin.actions import ActionCodec, default_labels, names
from rlgpt.plugin.observations import ObservationCodec
from rlgpt.plugin.skills import Look, env_reward, skills
from rlgpt.plugin.types import Context, Primitive, RewardTerm, ViewKey

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin

Meaning = str | Sequence[str] | Mapping[str, str]
"""The meaning of a part, with its unit; or, of a part that is a vector, names or name -> meaning of its numbers."""

Named = Sequence[str] | Mapping[str, Meaning]
"""Names; or name -> meaning with its unit, for agents to read."""

Meanings = dict[str, str | dict[str, str]]

ENV_REWARD = RewardTerm(
    "env_reward", "the environment's own reward", env_reward, "step", low=float("-inf"), high=float("inf")
)
"""The reward of the environment as it is, without bounds."""

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
"""What an RLSetup may set of the trainer. Outside of these ranges PPO hardly learns, or one update takes minutes. The
number of environments is left out: the machine decides it."""


def _success(ctx: Context) -> float:
    return float(bool(ctx.info.get("success", False)))


SUCCESS = RewardTerm("success", "1 at the first step that is a success", _success, "event")
"""Pays once an episode, where ``info["success"]`` is True. An RLSetup may weigh it in every environment."""


def reward_terms_of(plugin: EnvironmentPlugin, task: Task) -> tuple[RewardTerm, ...]:
    """The plugin's reward terms, and :data:`SUCCESS` if the plugin has no term of this name."""
    terms = tuple(plugin.reward_terms(task))
    return terms if any(term.name == SUCCESS.name for term in terms) else (*terms, SUCCESS)


class SpaceDefaults:
    """What a plugin that says nothing offers for one environment.

    :param labels: names of the action's parts (:class:`~rlgpt.plugin.types.Labels`), or name -> meaning; the numbers of
        a vector within a Tuple or Dict have names as well: name -> names. Default: ``action_0``, ``action_1``, ...
    :param observations: names of the numbers of a one-dimensional observation, or name -> meaning. Of a Dict or Tuple:
        part -> meaning, or part -> names of its numbers; parts that are left out keep their names. Default: names from
        the parts of the space.
    :ivar labels: name -> meaning; the meaning is empty if none is given.
    :raises ConfigError: the action space has no parameters, or names do not fit their space.
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
        told = observations if observations is None else with_meanings(observations)
        self._observations = ObservationCodec(observation_space, told)

    @classmethod
    def of(
        cls, env: gymnasium.Env[Any, Any], *, labels: Named | None = None, observations: Named | None = None
    ) -> SpaceDefaults:
        """The defaults of ``env``. Labels default to its ``get_action_meanings()`` or its enum ``actions``."""
        if labels is None:
            labels = _action_meanings(env)
        return cls(env.action_space, env.observation_space, labels=labels, observations=observations)

    def primitives(self, labels: Named, view_keys: Sequence[ViewKey], look: Look) -> tuple[Primitive, ...]:
        """``act``, ``repeat`` and, if the view has numbers for a policy, ``act_until``.

        :param labels: of the parts of the action, as the plugin names them.
        :param look: the value of one key of the view.
        """
        return skills(ActionCodec(self.actions.space, with_meanings(labels)), view_keys, look)

    @property
    def view_keys(self) -> tuple[ViewKey, ...]:
        return self._observations.keys

    @property
    def alone(self) -> tuple[str, ...]:
        """Observation keys of pictures and long arrays, whose numbers no key of the view holds."""
        return self._observations.alone

    def view(self, ctx: Context) -> dict[str, Plain]:
        return self._observations.view(ctx)

    def view_value(self, ctx: Context, key: str) -> Plain:
        """The value of one key; the other keys are not computed."""
        return self._observations.value(ctx, key)


def with_meanings(named: Named) -> Meanings:
    """Name -> meaning, or name -> name -> meaning; the meaning is empty where only names are given."""
    if not isinstance(named, Mapping):
        return dict.fromkeys(named, "")
    return {name: said if isinstance(said, str) else _flat(said) for name, said in named.items()}


def _flat(named: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(named) if isinstance(named, Mapping) else dict.fromkeys(named, "")


def summarize(view: Mapping[str, Plain]) -> str:
    """``name: value`` with four significant digits, lists cut after twelve numbers, at most 1,500 characters."""
    text = "; ".join(f"{key}: {_format(value)}" for key, value in view.items())
    return text if len(text) <= 1500 else text[:1497] + "..."


def _action_meanings(env: gymnasium.Env[Any, Any]) -> tuple[str, ...]:
    """The labels that the environment gives, if there is one for each part of the action; else the default labels."""
    labels = default_labels(env.action_space)
    meanings, actions = (getattr(env.unwrapped, name, None) for name in ("get_action_meanings", "actions"))
    given: list[str] = []
    if callable(meanings):
        given = [str(m) for m in meanings()]
    elif inspect.isclass(actions) and issubclass(actions, enum.Enum):
        given = [member.name for member in actions]
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
