"""Fields of the RL setup that the user fixes (``setup.gamma=0.97``): they win over agents and plugin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from rlgpt.agents.base import Brief, FastAgent, History
from rlgpt.agents.brief import make_brief
from rlgpt.agents.checks import setup_faults, trainer_faults
from rlgpt.domain import ActionPlan, CodedAction, Rehearsal, RLSetup, SubAction, Task
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt.plugin.base import EnvironmentPlugin
from rlgpt.plugin.defaults import reward_terms_of


class SetupOverrides(RLSetup):
    """Fields of an RL setup. A field that is not set is left to the fast agent or the plugin.

    :ivar reward_weights: these weights replace or join those of the setup; the other weights stay. So do
        hyperparameters of ``trainer``.
    """

    reward_weights: Mapping[str, float] = Field(default_factory=dict)
    observation_keys: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _only_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Unset fields are not written to a run's record, because null is a valid value of some fields."""
        return {key: value for key, value in handler(self).items() if key in self.model_fields_set}

    def apply(self, setup: RLSetup) -> RLSetup:
        """``setup`` with the overridden fields."""
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        if "reward_weights" in fields:
            fields["reward_weights"] = {**setup.reward_weights, **self.reward_weights}
        if "trainer" in fields:
            fields["trainer"] = {**setup.trainer, **self.trainer}
        return setup.model_copy(update=fields)

    def check(self, plugin: EnvironmentPlugin, task: Task) -> None:
        """Checks the fields whose valid values are known before a run begins.

        :raises UnknownNameError: the plugin has no such reward term, observation key, base action or reset option.
        :raises ConfigError: the horizon is longer than the task's own; the task cannot be restored; a hyperparameter is
            outside the plugin's bounds.
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
                    f"setup.reset_option={self.reset_option}: {task.id} cannot be saved and restored, so training "
                    "cannot begin where an action led to. Leave it out."
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
    """A fast agent whose setups carry the user's overrides."""

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

    def setup(
        self,
        brief: Brief,
        plan: ActionPlan,
        *,
        actions: Sequence[CodedAction],
        history: History,
        rehearsals: Mapping[str, Sequence[Rehearsal]] | None = None,
    ) -> RLSetup:
        """The setup of the wrapped agent with the overrides.

        :raises ConfigError: the overrides do not fit the environment or the coded actions of this iteration.
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
