"""Applies the user's values for fields of the RL setup, for example ``setup.gamma=0.97``. The values of the user have
priority over the values of agents and plugin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from rlgpt.agents.base import Brief, FastAgent, History
from rlgpt.agents.brief import make_brief
from rlgpt.agents.checks import setup_faults, trainer_faults
from rlgpt.domain import (
    ActionPlan,
    CodedAction,
    CodedFunction,
    FunctionPlan,
    FunctionRehearsal,
    Rehearsal,
    RLSetup,
    SubAction,
    Task,
)
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import reward_terms_of


class SetupOverrides(RLSetup):
    """The user's values for fields of an RL setup. The fast agent or the plugin decides the fields of the setup for
    which the user gives no value.

    :ivar reward_weights: weights of reward terms. If the user and the setup give a weight to the same reward term, the
        user's weight counts; all other weights of the setup stay. The hyperparameters in ``trainer`` are merged in the
        same way.
    """

    reward_weights: Mapping[str, float] = Field(default_factory=dict)
    observation_keys: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _only_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write only fields that the user has set into a run's record, because null is a valid value of some fields."""
        return {key: value for key, value in handler(self).items() if key in self.model_fields_set}

    def apply(self, setup: RLSetup) -> RLSetup:
        """The setup ``setup`` after the user's values replaced the values of its fields."""
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        if "reward_weights" in fields:
            fields["reward_weights"] = {**setup.reward_weights, **self.reward_weights}
        if "trainer" in fields:
            fields["trainer"] = {**setup.trainer, **self.trainer}
        return setup.model_copy(update=fields)

    def check(self, plugin: EnvironmentPlugin, task: Task) -> None:
        """Check the user's values for the fields whose valid values are known before a run begins.

        :raises UnknownNameError: the plugin has no such reward term, observation key, base action or reset option.
        :raises ConfigError: the horizon is longer than the task's own, or ``reset_option`` needs saved states, which
            the task does not support. Or the plugin allows no setup to set a given hyperparameter, or not to this
            value.
        """
        set_ = self.model_fields_set
        if "reward_weights" in set_:
            _known("reward term", self.reward_weights, (t.name for t in reward_terms_of(plugin, task)))
        if "observation_keys" in set_:
            _known("observation key", self.observation_keys, (key for key, _ in make_brief(plugin, task).observations))
        if "base_actions" in set_:
            _known("base action", self.base_actions or (), plugin.labels(task).actions)
        if self.start_after is not None:
            if plugin.states(task) is None:
                raise ConfigError(
                    f"setup.reset_option={self.reset_option}: states of {task.id} cannot be saved and restored, so "
                    "training episodes cannot begin where an action returned. Remove this setting."
                )
        elif "reset_option" in set_ and self.reset_option is not None:
            _known("reset option", (self.reset_option,), (o.name for o in plugin.reset_options(task)))
        if faults := trainer_faults(self.trainer, plugin.trainer_bounds(task)):
            raise ConfigError(f"the setup's hyperparameters cannot be used: {faults[0]}.")
        if self.horizon is not None and self.horizon > task.horizon:
            raise ConfigError(
                f"setup.horizon={self.horizon}: episodes of {task.id} end after {task.horizon} primitive steps, and "
                "training episodes may only be shorter."
            )


class OverriddenSetup(FastAgent):
    """A fast agent that changes each setup of another fast agent by the user's values."""

    def __init__(self, fast: FastAgent, overrides: SetupOverrides) -> None:
        self._fast, self._overrides = fast, overrides

    def write(
        self,
        brief: Brief,
        plan: ActionPlan,
        sub_action: SubAction,
        *,
        written: Sequence[CodedAction],
        attempts: Sequence[Rehearsal],
        history: History,
    ) -> CodedAction:
        return self._fast.write(brief, plan, sub_action, written=written, attempts=attempts, history=history)

    def write_function(
        self,
        brief: Brief,
        plan: ActionPlan,
        function: FunctionPlan,
        *,
        attempts: Sequence[FunctionRehearsal],
        history: History,
    ) -> CodedFunction | None:
        return self._fast.write_function(brief, plan, function, attempts=attempts, history=history)

    def setup(
        self,
        brief: Brief,
        plan: ActionPlan,
        *,
        actions: Sequence[CodedAction],
        history: History,
        rehearsals: Mapping[str, Sequence[Rehearsal]] | None = None,
    ) -> RLSetup:
        """Return the setup of the wrapped fast agent, changed by the user's values.

        :raises ConfigError: the user's values do not fit the environment or the coded actions of the iteration.
        """
        setup = self._fast.setup(brief, plan, actions=actions, history=history, rehearsals=rehearsals)
        setup = self._overrides.apply(setup)
        if faults := setup_faults(setup, brief, actions):
            fields = ", ".join(f"setup.{name}" for name in sorted(self._overrides.model_fields_set))
            raise ConfigError(f"the setup with {fields} cannot be used: {faults[0]}.")
        return setup


def _known(kind: str, names: Iterable[str], valid: Iterable[str]) -> None:
    offered = list(valid)
    for name in names:
        if name not in offered:
            raise UnknownNameError(kind, name, offered)
