"""On randomly changed copies of a real run, every command ends with success or a message and changes no file outside
the folder.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mutations import mutate
from rlgpt.errors import BundleError
from rlgpt.options import load_bundle
from stranger import CANARY, checksums, rlgpt

ENVIRONMENT = "canary-0815-of-the-environment"
SECONDS = 120


class Late(BaseException):
    """A command takes too long. No ``except Exception`` of the command catches this."""


@contextmanager
def within(seconds: int, what: str) -> Iterator[None]:
    def late(*_: object) -> None:
        raise Late(f"still at work after {seconds} s: {what}")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def play(seed: int, own_run: Path, folder: Path, private: Path, commands: tuple[tuple[str, ...], ...]) -> None:
    shutil.copytree(own_run, folder)
    done = f"seed {seed}: {mutate(folder, private, random.Random(seed))}"
    before = checksums(private)
    for command in commands:
        with within(SECONDS, f"{command} on {done}"):
            outcome = rlgpt(command[0], folder, *command[1:])
        what = f"{command} on {done} ended with {outcome.status}:\n{outcome.text[-2000:]}"
        assert outcome.status in (0, 2), what
        assert "Traceback" not in outcome.text, what
        assert outcome.status == 0 or outcome.err.strip(), what
        assert checksums(private) == before, what
        assert CANARY not in outcome.text, what
        assert ENVIRONMENT not in outcome.text, what
    with within(SECONDS, f"load_bundle on {done}"):
        try:
            load_bundle(folder / "bundle")
        except BundleError as error:
            assert len(str(error)) < 2000, done  # noqa: PT017
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1 and path.stat().st_size < 1 << 30:
            content = path.read_bytes()
            assert CANARY.encode() not in content, f"{path} after {done}"
            assert ENVIRONMENT.encode() not in content, f"{path} after {done}"


EVALUATE = ("evaluate", "--episodes", "1", "--seed", "5")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_OF_THE_FUZZ", ENVIRONMENT)


@pytest.mark.parametrize("block", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_commands_on_a_randomly_changed_run_read_and_change_no_private_file(
    own_run: Path, tmp_path: Path, private: Path, block: int
) -> None:
    """The seeds of this test are a sample of the slow test's seeds. Each changed run is reported, and a few changed
    runs are also evaluated or resumed.
    """
    for seed in range(8 * block, 8 * block + 8):
        more = {0: (EVALUATE,), 4: (("resume",),)}.get(seed % 8, ())
        play(seed, own_run, tmp_path / str(seed), private, (("report",), *more))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_commands_on_two_hundred_changed_runs_read_and_change_no_private_file(
    own_run: Path, tmp_path: Path, private: Path, block: int
) -> None:
    for seed in range(10 * block, 10 * block + 10):
        play(seed, own_run, tmp_path / str(seed), private, (("report",), EVALUATE, ("resume",)))


def test_fixture_run_has_coded_functions_and_late_start_states(own_run: Path) -> None:
    assert {p.stem for p in (own_run / "bundle" / "functions").iterdir()} == {"geometry", "nearer", "there"}
    assert {p.parent.name for p in (own_run / "iterations" / "0" / "functions").rglob("*.json")} == {
        "geometry",
        "nearer",
        "there",
    }
    assert json.loads((own_run / "iterations/0/starts.json").read_text())["states"]
