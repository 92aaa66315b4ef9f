"""Features, reward terms and predicates of an environment, evaluated at resets and after every primitive step."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rlgpt.domain import CodedFeatures, CodedFunction, CodedReward, Plain, Verdict
from rlgpt.errors import SandboxError
from rlgpt.plugin.types import Context, RewardTerm, ViewKey

if TYPE_CHECKING:
    from rlgpt.sandbox import Answers, Functions, Library, Sandbox


NUMBER_BYTES = 32
"""Most bytes that a number takes in a view, with its quotes, colon and comma."""


@dataclass(frozen=True)
class Taken:
    """Names that functions and their outputs may not have, because verdicts, weights and observations use them."""

    actions: Collection[str] = ()
    reward_terms: Collection[str] = ()
    observations: Collection[str] = ()


_NONE = Taken()


def _check_taken(names: Collection[str], what: str, taken: Collection[str]) -> None:
    if doubles := sorted(set(names) & set(taken)):
        raise SandboxError(f"{', '.join(doubles)}: these names are those of {what}; give the functions others.")


class StepFunctions:
    """Calls the functions with each view, and stores their answers.

    :param library: of the task, without the outputs of ``functions``.
    :param taken: what names are taken by -> these names, for each kind of name that a function or an output may clash
        with.
    :ivar names: of the functions.
    :ivar sandbox: as given, with a larger limit for views, so that the outputs of one function do not make another one
        fail.
    :ivar answers: at the newest primitive step.
    :raises SandboxError: names are equal, or there are too many functions.
    """

    def __init__(
        self, functions: Sequence[CodedFunction], library: Library, sandbox: Sandbox, taken: Taken = _NONE
    ) -> None:
        from rlgpt.sandbox import Sandbox
        from rlgpt.sandbox.functions import check

        check(functions, library, sandbox.limits)
        self._functions, self._library = tuple(functions), library
        self.names = tuple(f.name for f in functions)
        _check_taken(self.names, "actions", taken.actions)
        _check_taken([t.name for t in self.reward_terms], "reward terms of the environment", taken.reward_terms)
        _check_taken([k.name for k in self.view_keys], "parts of the observation", taken.observations)
        room = sum(len(k.name) + NUMBER_BYTES for k in self.view_keys)
        limits = sandbox.limits.model_copy(update={"view_bytes": sandbox.limits.view_bytes + room})
        self.sandbox = Sandbox(limits, on_turn=sandbox.on_turn)
        self.answers: Answers
        self._open: Functions

    @property
    def library(self) -> Library:
        """The library with the outputs of features among the keys of the view."""
        from rlgpt.sandbox import ViewDoc

        docs = [ViewDoc(name=k.name, doc=k.doc, unit=k.unit, size=k.size) for k in self.view_keys]
        return self._library.model_copy(update={"view": (*self._library.view, *docs)})

    @property
    def view_keys(self) -> tuple[ViewKey, ...]:
        """The outputs of features, as keys that code and policies see."""
        features = [f for f in self._functions if isinstance(f, CodedFeatures)]
        return tuple(ViewKey(o.name, o.doc, o.unit, size=1) for f in features for o in f.outputs)

    @property
    def reward_terms(self) -> tuple[RewardTerm, ...]:
        """The coded reward terms. They read :attr:`answers`, not the context they are given."""
        rewards = [f for f in self._functions if isinstance(f, CodedReward)]
        return tuple(
            RewardTerm(r.name, r.doc, functools.partial(self._reward, r.name), r.kind, r.low, r.high) for r in rewards
        )

    def reset(self, view: Mapping[str, Plain], *, seed: int, quarantined: Collection[str]) -> tuple[Verdict, ...]:
        """Begin an episode: memories are empty again, and each function gets the first view.

        :param quarantined: functions that are not called; they give neutral answers.
        :returns: the verdicts on functions that failed.
        """
        skipped = [name for name in self.names if name in quarantined]
        self._open = self.sandbox.open_functions(self._library, self._functions, seed=seed, quarantined=skipped)
        return self.update(view)

    def update(self, view: Mapping[str, Plain]) -> tuple[Verdict, ...]:
        """Call each function with the newest view. :returns: the verdicts on functions that failed."""
        self.answers = self._open.evaluate(view)
        return self.answers.verdicts

    def _reward(self, name: str, ctx: Context) -> float:
        return self.answers.rewards[name]
