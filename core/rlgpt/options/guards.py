"""Decides which coded actions may start now. A coded action may start if it is not quarantined, has fuel left, and is
allowed by both the plugin's ``applicable`` and the action's own ``can_start``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from rlgpt.domain import Plain, Verdict
from rlgpt.sandbox import Guest

View = Mapping[str, Plain]


@dataclass(frozen=True)
class Offer:
    """The coded actions that may start at one moment.

    :ivar allowed: names of the coded actions that may start.
    :ivar refusals: for each coded action whose ``can_start`` failed with an error, the verdict on the error.
    """

    allowed: frozenset[str]
    refusals: Mapping[str, Verdict] = field(default_factory=dict)


@dataclass(frozen=True)
class Choices:
    """What the policy may choose at one moment.

    :ivar allowed: int8, shape (branches,), with 1 for each branch of the action space that may start.
    :ivar mask: the mask that the policy gets, which is ``allowed``, or all ones if no branch may start. If no branch
        may start and the policy chooses a branch, the decision takes one idle step.
    :ivar refusals: for each coded action whose ``can_start`` failed with an error, the verdict on the error.
    """

    allowed: np.ndarray
    mask: np.ndarray
    refusals: Mapping[str, Verdict]

    def why_masked(self, name: str, excluded: Collection[str]) -> Verdict | None:
        """The verdict that explains why a coded action is masked. The result is None if the plugin's ``applicable`` or
        the action's own ``can_start`` returned False.

        :param excluded: the coded actions that are in quarantine or have no fuel left.
        """
        if name in excluded:
            return Verdict(kind="quarantined", action=name, message="its earlier verdicts say what was wrong")
        return self.refusals.get(name)


class Guards:
    """The checks that decide whether a coded action may start. The first check of a coded action is quarantine and
    fuel, the second is the plugin's ``applicable``, the third is the action's own ``can_start``. The cheapest check of
    a coded action comes first, and each check gets only the actions that passed the earlier checks.

    :param names: the names of the coded actions.
    :param conditional: the names of the actions whose code defines ``can_start(view)``.
    :param applicable: the plugin's guard, a function of an action's name and the view; None if the plugin has no guard.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        conditional: Collection[str],
        applicable: Callable[[str, View], bool] | None,
    ) -> None:
        self._names, self._conditional, self._applicable = names, frozenset(conditional), applicable

    def choices(self, offer: Offer, running: str, branches: int) -> Choices:
        """Return the choices of the policy if the coded actions of ``offer`` may start.

        :param running: name of the coded action in progress, which may continue; empty if no coded action is in
            progress.
        :param branches: number of all branches; the coded actions are the last branches.
        """
        allowed = np.ones(branches, np.int8)
        for i, name in enumerate(self._names, start=branches - len(self._names)):
            allowed[i] = name in offer.allowed or name == running
        return Choices(allowed, allowed if allowed.any() else np.ones_like(allowed), offer.refusals)

    @property
    def vary(self) -> bool:
        """Whether the set of coded actions that may start can change within an episode."""
        return bool(self._names) and (self._applicable is not None or bool(self._conditional))

    @property
    def ask_code(self) -> bool:
        """Whether the code of any coded action defines ``can_start``."""
        return bool(self._conditional)

    def unconditional(self, excluded: Collection[str]) -> Offer:
        """The coded actions that may start, if no guard depends on the view. Call ``unconditional`` only if no guard
        depends on the view.

        :param excluded: the coded actions that are in quarantine or have no fuel left.
        """
        return Offer(frozenset(name for name in self._names if name not in excluded))

    def applicable(self, excluded: Collection[str], view: View) -> tuple[str, ...]:
        """The coded actions that the plugin's ``applicable`` allows, without the actions in ``excluded``."""
        names = tuple(name for name in self._names if name not in excluded)
        return names if self._applicable is None else tuple(name for name in names if self._applicable(name, view))

    def offer(self, applicable: Collection[str], view: View, guest: Guest) -> Offer:
        """The coded actions in ``applicable`` whose own ``can_start`` allows the start."""
        answers = guest.can_start_each([name for name in applicable if name in self._conditional], view)
        refusals = {name: answer for name, answer in answers.items() if isinstance(answer, Verdict)}
        return Offer(frozenset(name for name in applicable if answers.get(name, True) is True), refusals)
