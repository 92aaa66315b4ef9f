"""Skips a law of the contract if it would fail for a reason that an earlier law has reported, so that one cause gives
one failure.

A law that is marked with :func:`cause` (a *cause law*) stores the tasks that break the law. A law that is marked with
:func:`needs` and the name of a cause law is skipped for the tasks that break the cause law. Laws of a base class run
first, in the order of their definition, so cause laws run before the laws that depend on them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest

from rlgpt.domain import Task

PLAYED = "test_it_can_be_played"
SEEDED = "test_the_seed_determines_the_episode"
LABELLED = "test_labels_name_every_part_of_the_action"
VALID = "test_it_passes_check_env"
DOCUMENTED = "test_primitives_are_documented"
ENDED = "test_primitives_yield_valid_actions_and_end"
BOUNDED = "test_reward_terms_keep_their_bounds"
SAVED = "test_episodes_can_be_saved_and_restored"
KEYS = "test_view_keys_are_documented"
VIEWED = "test_the_view_matches_its_keys"
FITTED = "test_the_view_fits_the_sandbox"

CAUSES = (PLAYED, LABELLED, SEEDED, VALID, KEYS, VIEWED, FITTED, BOUNDED, DOCUMENTED, ENDED, SAVED)
"""The names of the cause laws, in the order in which these laws are tested."""

Law = Callable[..., None]


class Causes:
    """The record, for one contract, of which tasks break which cause laws.

    :cvar broken: a pair (name of the law, task id) for each cause law that a task breaks.
    """

    broken: ClassVar[set[tuple[str, str]]]

    def __init_subclass__(cls) -> None:
        cls.broken = set()

    @pytest.fixture(autouse=True)
    def _cause_known(self, request: pytest.FixtureRequest) -> None:
        if "task" in request.fixturenames:
            known = known_cause(self, request.function, request.getfixturevalue("task"))
            if known:
                pytest.skip(known)


def cause(law: Law) -> Law:
    """Mark a law as a cause law. If a plugin breaks a cause law, other laws would fail for the same reason."""

    @functools.wraps(law)
    def recorded(self: Causes, *given: Any, **named: Any) -> None:
        try:
            law(self, *given, **named)
        except pytest.skip.Exception:
            raise
        except Exception:
            task = inspect.signature(law).bind(self, *given, **named).arguments["task"]
            type(self).broken.add((law.__name__, task.id))
            raise

    return recorded


def needs(*causes: str) -> Callable[[Law], Law]:
    """Mark a law with the names of the cause laws that must hold before the law is tested. Default: :data:`PLAYED`."""

    def marked(law: Law) -> Law:
        law.needs = causes  # type: ignore[attr-defined]
        return law

    return marked


def known_cause(contract: Causes, law: Law, task: Task) -> str:
    """The reason why the law ``law`` is not tested on ``task``; empty if the law is tested."""
    wanted: Sequence[str] = getattr(law, "needs", (PLAYED,))
    for name in wanted:
        if name != law.__name__ and (name, task.id) in type(contract).broken:
            return f"{task.id} breaks {name}; this law would fail for the same reason. Fix {name} first."
    return ""
