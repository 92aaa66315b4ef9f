"""``rlgpt doctor`` tests the sandbox on this machine, and gives advice if code can escape from it."""

from __future__ import annotations

import argparse
import json

import pytest
from rlgpt.cli.checks import boundary
from rlgpt.cli.commands import doctor
from rlgpt.sandbox import proof


def test_doctor_reports_that_no_escape_from_the_sandbox_succeeded(capsys: pytest.CaptureFixture[str]) -> None:
    doctor.main(argparse.Namespace(json=True))
    (row,) = [r for r in json.loads(capsys.readouterr().out) if r["name"] == "boundary"]
    assert row["ok"] is True
    assert row["essential"] is True
    assert row["detail"] == f"{len(proof.ESCAPES)} attacks tried, all were stopped"


def test_doctor_check_fails_with_advice_when_an_escape_from_the_sandbox_succeeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proof, "prove", lambda: ["read a key: the attack read the secret"])
    check = boundary()
    assert not check.ok
    assert check.detail == "read a key: the attack read the secret"
    assert "docs/security.md" in check.advice
