"""Evaluates an environment's coded functions (features, reward terms, predicates) after each reset and each primitive
step.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium

from rlgpt.domain import CodedFeatures, CodedFunction, CodedReward, Plain, Task, Verdict
from rlgpt.errors import SandboxError
from rlgpt.plugin.defaults import reward_terms_of
from rlgpt.plugin.parts import shown
from rlgpt.plugin.types import Context, RewardTerm, ViewKey

if TYPE_CHECKING:
    from rlgpt.plugin.base import EnvironmentPlugin
    from rlgpt.sandbox import Answers, Functions, Library, Sandbox


NUMBER_BYTES = 32
"""Maximal number of bytes of one number in a view, including the quotes of its key, the colon and the comma."""


@dataclass(frozen=True)
class Taken:
    """The names that an environment already uses. No coded function and no output of a coded function may have one of
    these names.
    """

    actions: Collection[str] = ()
    reward_terms: Collection[str] = ()
    observations: Collection[str] = ()

    @classmethod
    def of(
        cls, plugin: EnvironmentPlugin, task: Task, observation_space: gymnasium.Space[Any], actions: Iterable[str]
    ) -> Taken:
        """The names that an environment uses, which are those of its coded actions, of the plugin's reward terms, and
        of the parts of its observations.
        """
        keys = plugin.view_keys(task)
        parts = (*shown(observation_space, keys), *(key.name for key in keys if key.alone))
        return cls(tuple(actions), tuple(term.name for term in reward_terms_of(plugin, task)), parts)

    def check(self, functions: Sequence[CodedFunction]) -> None:
        """:raises SandboxError: a coded function, or an output of a coded function, has a name that is already used."""
        rewards = [f.name for f in functions if isinstance(f, CodedReward)]
        outputs = [o.name for f in functions if isinstance(f, CodedFeatures) for o in f.outputs]
        _check_taken([f.name for f in functions], "actions", self.actions)
        _check_taken(rewards, "reward terms of the environment", self.reward_terms)
        _check_taken(outputs, "parts of the observation", self.observations)


_NONE = Taken()


def _check_taken(names: Collection[str], what: str, taken: Collection[str]) -> None:
    if doubles := sorted(set(names) & set(taken)):
        raise SandboxError(f"{', '.join(doubles)}: {what} already have these names; rename the functions or outputs.")


class StepFunctions:
    """Calls the coded functions of one environment with each view and stores their answers.

    :param library: the library of the task, without the outputs of ``functions``.
    :param taken: the names that coded functions and their outputs may not have.
    :ivar names: the names of the functions.
    :ivar sandbox: the given sandbox with a larger limit for the size of views, so that the outputs of one function
        cannot make another function fail.
    :ivar answers: the answers of all coded functions at the newest primitive step.
    :ivar view: the view at the newest primitive step, with the outputs of features.
    :raises SandboxError: two functions or outputs have the same name, or there are too many functions.
    """

    def __init__(
        self, functions: Sequence[CodedFunction], library: Library, sandbox: Sandbox, taken: Taken = _NONE
    ) -> None:
        from rlgpt.sandbox import Sandbox
        from rlgpt.sandbox.functions import check

        check(functions, library, sandbox.limits)
        self._functions, self._library = tuple(functions), library
        self.names = tuple(f.name for f in functions)
        taken.check(self._functions)
        room = sum(len(k.name) + NUMBER_BYTES for k in self.view_keys)
        limits = sandbox.limits.model_copy(update={"view_bytes": sandbox.limits.view_bytes + room})
        self.sandbox = Sandbox(limits, on_turn=sandbox.on_turn)
        self.answers: Answers
        self.view: Mapping[str, Plain]
        self._open: Functions

    @property
    def library(self) -> Library:
        """The library of the task with the outputs of features among the keys of the view."""
        return self._library.with_features(self._functions)

    @property
    def view_keys(self) -> tuple[ViewKey, ...]:
        """The outputs of coded features as keys of the view, which coded actions and policies can read."""
        features = [f for f in self._functions if isinstance(f, CodedFeatures)]
        return tuple(ViewKey(o.name, o.doc, o.unit, size=1) for f in features for o in f.outputs)

    @property
    def reward_terms(self) -> tuple[RewardTerm, ...]:
        """The coded reward terms. Each coded reward term reads its value from :attr:`answers` and ignores its context
        argument.
        """
        rewards = [f for f in self._functions if isinstance(f, CodedReward)]
        return tuple(
            RewardTerm(r.name, r.doc, functools.partial(self._reward, r.name), r.kind, r.low, r.high) for r in rewards
        )

    def reset(self, view: Mapping[str, Plain], *, seed: int, quarantined: Collection[str]) -> tuple[Verdict, ...]:
        """Begin an episode. Clear the memory of each coded function and call each function with the first view.

        :param quarantined: names of quarantined functions, which are not called; the answer of such a function is zero
            or False.
        :returns: the verdicts on the coded functions that failed.
        """
        skipped = [name for name in self.names if name in quarantined]
        self._open = self.sandbox.open_functions(self._library, self._functions, seed=seed, quarantined=skipped)
        return self.update(view)

    def update(self, view: Mapping[str, Plain]) -> tuple[Verdict, ...]:
        """Call each coded function with the newest view.

        :returns: the verdicts on the coded functions that failed.
        """
        view = dict(view)
        self.answers = self._open.evaluate(view)
        self.view = {**view, **self.answers.features}
        return self.answers.verdicts

    def fuel_used(self, name: str) -> int:
        """Units of fuel that the function ``name`` used for its newest answer; 0 if the function was not called."""
        return self._open.fuel_used(name)

    def _reward(self, name: str, ctx: Context) -> float:
        return self.answers.rewards[name]
