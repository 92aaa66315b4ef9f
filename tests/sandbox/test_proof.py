"""The proof of ``rlgpt doctor``, which tries escapes from the sandbox: it passes on this machine, and it reports each
way in which a sandbox can fail.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from rlgpt.domain import CodedAction, Verdict
from rlgpt.sandbox import Ask, Done, Library, Sandbox, Turn, proof


def test_prove_finds_no_escape_on_this_machine() -> None:
    before = dict(os.environ)
    assert proof.prove() == []
    assert dict(os.environ) == before
    assert len({e.name for e in proof.ESCAPES}) == len(proof.ESCAPES) >= 5


class Leaky(Sandbox):
    """A sandbox without protection. It applies ``harm`` to the host and answers the attacks on files with ``turn``."""

    def __init__(self, turn: Turn, harm: Any = lambda source: None) -> None:
        super().__init__()
        self.turn, self.harm = turn, harm

    def open(self, library: Library, actions: Any, *, seed: int) -> Any:
        return Leaky.Guest(self, actions[0])

    class Guest:
        def __init__(self, sandbox: Leaky, action: CodedAction) -> None:
            self.sandbox, self.action = sandbox, action

        def start(self, name: str, parameters: Any = None) -> Turn:
            if "FILE" not in self.action.source:
                return Ask(())
            self.sandbox.harm(self.action.source)
            return self.sandbox.turn


def _writes(source: str) -> None:
    Path(source.splitlines()[0].split("'")[3]).write_text("was here")


def verdict(message: str) -> Verdict:
    return Verdict(kind="error", action="proof", message=message)


@pytest.mark.parametrize(
    ("leaky", "noticed"),
    [
        (Leaky(Done()), "read a key: Done is not an expected result"),
        (Leaky(verdict("")), "loop for ever: error is not an expected result"),
        (Leaky(verdict(proof.SECRET)), "read a file: the attack read the secret"),
        (Leaky(verdict(""), _writes), "write a file: the attack made a file"),
    ],
)
def test_proof_reports_a_broken_boundary(leaky: Leaky, noticed: str) -> None:
    assert any(fault.startswith(noticed) for fault in proof.prove(leaky))


def test_proof_reports_a_disturbed_next_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Leaky.Guest, "start", lambda self, name, parameters=None: verdict("broken"))
    assert "loop for ever: the attack changed the next episode" in proof.prove(Leaky(Done()))
