"""Features, reward terms and predicates of one environment, asked at its resets and after every primitive step."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rlgpt.domain import CodedFeatures, CodedFunction, CodedReward, Plain, Verdict
from rlgpt.plugin.types import Context, RewardTerm, ViewKey

if TYPE_CHECKING:
    from rlgpt.sandbox import Answers, Functions, Library, Sandbox


class StepFunctions:
    """Asks the functions about each view, and holds what they say.

    :param library: of the task, without the outputs of ``functions``.
    :ivar names: of the functions.
    :ivar answers: at the newest primitive step.
    :raises SandboxError: names are equal, or there are too many functions.
    """

    def __init__(self, functions: Sequence[CodedFunction], library: Library, sandbox: Sandbox) -> None:
        from rlgpt.sandbox.functions import check

        check(functions, library, sandbox.limits)
        self._functions, self._library, self._sandbox = tuple(functions), library, sandbox
        self.names = tuple(f.name for f in functions)
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
        """Begin an episode: memories are empty again, and each function is asked about the first view.

        :param quarantined: functions that are not asked; they give neutral answers.
        :returns: the verdicts on functions that failed.
        """
        skipped = [name for name in self.names if name in quarantined]
        self._open = self._sandbox.open_functions(self._library, self._functions, seed=seed, quarantined=skipped)
        return self.update(view)

    def update(self, view: Mapping[str, Plain]) -> tuple[Verdict, ...]:
        """Ask each function about the newest view. :returns: the verdicts on functions that failed."""
        self.answers = self._open.evaluate(view)
        return self.answers.verdicts

    def _reward(self, name: str, ctx: Context) -> float:
        return self.answers.rewards[name]
