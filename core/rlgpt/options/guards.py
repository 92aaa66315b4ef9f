"""Decides which coded actions may start now. An action must not be quarantined, and both the plugin's ``applicable``
and the action's own ``can_start`` must allow it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from rlgpt.domain import Plain, Verdict
from rlgpt.sandbox import Guest

View = dict[str, Plain]


@dataclass(frozen=True)
class Offer:
    """The coded actions that are offered at one moment.

    :ivar allowed: names of the actions that may start.
    :ivar refusals: the verdicts on actions whose ``can_start`` failed, by name.
    """

    allowed: frozenset[str]
    refusals: Mapping[str, Verdict] = field(default_factory=dict)


class Guards:
    """Applies the guards in order of cost, the cheapest first. A view is built only if a guard needs it.

    :param names: the coded actions.
    :param conditional: the actions whose code defines ``can_start(view)``.
    :param applicable: the plugin's guard, called with an action's name and the view; None if the plugin has no guard.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        conditional: Collection[str],
        applicable: Callable[[str, View], bool] | None,
    ) -> None:
        self._names, self._conditional, self._applicable = names, frozenset(conditional), applicable

    @property
    def vary(self) -> bool:
        """Whether the set of offered actions can change within an episode."""
        return bool(self._names) and (self._applicable is not None or bool(self._conditional))

    def offer(self, quarantined: Collection[str], view: Callable[[], View], guest: Callable[[], Guest]) -> Offer:
        """The actions that may start now. Each guard checks only the actions that passed the earlier guards."""
        names = [name for name in self._names if name not in quarantined]
        if not self.vary:
            return Offer(frozenset(names))
        opened = guest() if self._conditional else None
        current = view()
        if self._applicable is not None:
            names = [name for name in names if self._applicable(name, current)]
        if opened is None:
            return Offer(frozenset(names))
        answers = opened.can_start_each([name for name in names if name in self._conditional], current)
        refusals = {name: answer for name, answer in answers.items() if isinstance(answer, Verdict)}
        return Offer(frozenset(name for name in names if answers.get(name, True) is True), refusals)
