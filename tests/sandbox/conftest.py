"""Fixtures: a small library, and a function that plays a coded action with scripted outcomes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import CodedAction, Parameter, Plain
from rlgpt.sandbox import Ask, Guest, Library, Sandbox, SandboxLimits, Signature, Turn, ViewDoc

sys.path.insert(0, str(Path(__file__).parent))  # Other processes import modules from this folder.

Play = Callable[..., list[Turn]]


@pytest.fixture(scope="session")
def library() -> Library:
    return Library(
        primitives=(
            Signature(
                name="move_to",
                doc="Move the hand in a straight line to a point of the world frame.\nIt stops where it is blocked.",
                parameters=(
                    Parameter(name="x", low=-1.5, high=1.5, default=0.0, unit="m", doc="to the right"),
                    Parameter(name="y", low=0.0, high=2.0, default=0.5, unit="m", doc="forward"),
                    Parameter(name="speed", kind="choice", choices=("slow", "fast"), default="slow"),
                    Parameter(name="tries", kind="int", low=1, high=20, default=3, doc="attempts"),
                    Parameter(name="hold", kind="bool", default=False, doc="keep the gripper as it is"),
                ),
                outcome={"reached": "bool: within 2 cm of the point", "error": "distance left, m"},
            ),
            Signature(name="grasp", doc="Close the gripper."),
        ),
        view=(
            ViewDoc(name="hand", doc="position of the hand", unit="m", size=3),
            ViewDoc(name="kettle", doc="position of the kettle", unit="m", source="privileged", size=3),
            ViewDoc(name="step", doc="primitive steps so far", size=1),
            ViewDoc(name="note", doc="what happened last"),
        ),
    )


@pytest.fixture(scope="session")
def open_guest(library: Library) -> Callable[..., Guest]:
    """``open_guest(source, ..., seed=0, limits=SandboxLimits())`` returns a guest with the actions a, b, ... from
    sources or CodedActions.
    """

    def opened(*sources: str | CodedAction, seed: int = 0, limits: SandboxLimits | None = None) -> Guest:
        actions = [
            s if isinstance(s, CodedAction) else CodedAction(name="abcdefgh"[i], doc="", source=s)
            for i, s in enumerate(sources)
        ]
        return Sandbox(limits or SandboxLimits()).open(library, actions, seed=seed)

    return opened


@pytest.fixture(scope="session")
def play(open_guest: Callable[..., Guest]) -> Play:
    """``play(source, replies)`` returns every turn until the call is over. The answer to each request is the next of
    ``replies``.
    """

    def played(source: str, replies: Sequence[Plain] = (), **options: Any) -> list[Turn]:
        guest = open_guest(source, **options)
        turns = [guest.start("a", {})]
        while isinstance(turns[-1], Ask):
            n = len(turns) - 1
            reply = replies[n] if n < len(replies) else {}
            turns.append(guest.send([reply] * len(turns[-1].requests) if turns[-1].many else reply))
        return turns

    return played
