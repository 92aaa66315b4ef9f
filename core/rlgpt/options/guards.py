"""Which coded actions may start now: quarantine, the plugin's ``applicable``, the action's own ``can_start``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from rlgpt.domain import Plain, Verdict
from rlgpt.sandbox import Guest

View = dict[str, Plain]


@dataclass(frozen=True)
class Offer:
    """What is offered at one moment.

    :ivar allowed: names of the coded actions that may start.
    :ivar refusals: the verdicts on those whose ``can_start`` failed.
    """

    allowed: frozenset[str]
    refusals: Mapping[str, Verdict] = field(default_factory=dict)


class Guards:
    """Asks, cheapest first; a view is built only where somebody wants to see it.

    :param names: of the coded actions.
    :param conditional: of those that define a ``can_start``.
    :param applicable: the plugin's say, given a name and the view; None where it has none.
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
        """Whether the answer may differ from step to step of an episode."""
        return bool(self._names) and (self._applicable is not None or bool(self._conditional))

    def offer(self, quarantined: Collection[str], view: Callable[[], View], guest: Callable[[], Guest]) -> Offer:
        """What may start now, each guard asked about what those before it let pass."""
        names = [name for name in self._names if name not in quarantined]
        if not self.vary:
            return Offer(frozenset(names))
        asked = guest() if self._conditional else None
        seen = view()
        if self._applicable is not None:
            names = [name for name in names if self._applicable(name, seen)]
        if asked is None:
            return Offer(frozenset(names))
        answers = asked.can_start_each([name for name in names if name in self._conditional], seen)
        refusals = {name: answer for name, answer in answers.items() if isinstance(answer, Verdict)}
        return Offer(frozenset(name for name in names if answers.get(name, True) is True), refusals)
