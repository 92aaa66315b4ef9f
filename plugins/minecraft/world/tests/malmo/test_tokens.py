"""Wrong tokens of MineDojo's client: the server refuses the tokens, logs the reason, and other games continue."""

from __future__ import annotations

import json
import logging
import subprocess
from pathlib import Path

import pytest

from ..recording_server import RecordingServer

INTRUDER = Path(__file__).with_name("intruder.py")
REASONS = [
    "'a:name:0:0:1:true' is not a token; a token is EXPERIMENT:ROLE:RESET:AGENTS:SYNCHRONOUS[:SEED]",
    "'e:0:0:1:true:once' is not a token; a token is EXPERIMENT:ROLE:RESET:AGENTS:SYNCHRONOUS[:SEED]",
    "the token 'the-first-player:1:0:2:true' is of a mission for several players; this world supports one player",
    "the token 'the-first-player:1:0:1:true' is of a mission for several players; this world supports one player",
    "the token 'the-first-player:0:0:2:true' is of a mission for several players; this world supports one player",
]
HUNG_UP = "TypeError: a bytes-like object is required, not 'NoneType'"
"""MineDojo's error when the server closes the connection. If the server sent no reply, the error would be a timeout."""
OVER = "RuntimeError: Attempted to step an environment server with done=True"


@pytest.mark.slow
def test_server_refuses_a_wrong_token_of_minedojo_and_other_games_continue(
    minedojo: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with RecordingServer(games=2) as server:
        done = subprocess.run([minedojo, INTRUDER, str(server.port)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    result = json.loads(done.stdout)

    refused = {"error": HUNG_UP, "ended": True, "again": OVER, "recovers": True}
    assert result["refused"] == [refused] * len(REASONS)
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [line.partition("disconnected: ")[2] for line in warnings] == REASONS

    mission, *others, same = server.games[2:]
    steps = len(REASONS) + 2
    assert result["host"] == list(range(1, steps + 1))
    assert (mission.steps, mission.done) == (steps, False)
    assert [game.steps for game in others] == [1] * len(REASONS)
    assert (same.steps, result["same"]) == (3, [1, 2, 3])
