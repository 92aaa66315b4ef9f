"""The messages between the Malmo server and its clients. A client that fails does not affect the next client."""

from __future__ import annotations

import logging
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from voxeldojo.errors import ConfigError
from voxeldojo.malmo import game
from voxeldojo.malmo.__main__ import main
from voxeldojo.malmo.protocol import MAX_FRAME_BYTES
from voxeldojo.malmo.server import Server

from ..recording_server import RecordingServer
from .conftest import HEIGHT, NOTHING, WIDTH, Connect, mission

SILENT = 1.0
DEFAULT = '<DefaultWorldGenerator forceReset="{}" seed="{}" generatorOptions="{{}}"/>'


@pytest.fixture(autouse=True)
def log_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def test_client_can_start_observe_and_step_a_mission(
    server: RecordingServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    client = connect()
    client.say(b"<Quit/>")
    assert client.hear() == struct.pack("!I", 1)
    assert client.begin() == 1
    picture, facts, done = client.peek()
    assert not done
    assert np.array_equal(picture[::-1], server.sim.rgb())
    assert facts == server.sim.info()
    before = facts
    for _ in range(10):
        shown, done, facts = client.step("camera 10.0 5.0\nforward 1")
    assert not done
    assert (len(shown), server.games[0].steps) == (HEIGHT * WIDTH * 3, 10)
    assert (facts["total_time"], round(facts["pitch"])) == (before["total_time"] + 10, 90)
    assert [record.getMessage() for record in caplog.records if "mission 1" in record.getMessage()] == [
        f"127.0.0.1:{client.socket.getsockname()[1]}: mission 1: plains, seed 7, picture 6 x 8"
    ]


def test_server_answers_a_step_message_that_requests_no_facts(server: RecordingServer, connect: Connect) -> None:
    client = connect()
    client.begin()
    client.say(f"<StepClient1>{NOTHING}</StepClient1 >".encode(), b"<Echo/>")
    assert [len(client.hear()) for _ in range(2)] == [HEIGHT * WIDTH * 3, 10]
    assert client.hear() == b"<Echo><Echo/></Echo>"


def test_invalid_command_of_a_client_is_logged_and_takes_one_tick(
    server: RecordingServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    client = connect()
    client.begin()
    start = client.peek()[1]["total_time"]
    for text in ("chat /effect @p speed", "chat /gamerule x", "chat /summon dragon", "craft cheese", "chat hello"):
        assert client.step(text)[2]["total_time"] == (start := start + 1)
    for words in ("'/effect'", "'/gamerule'", "'dragon'", "craft cheese"):
        assert words in caplog.text
    assert "hello" not in caplog.text
    caplog.clear()
    for _ in range(game.MAX_LOGGED_REMARKS):
        client.step("chat /effect")
    assert len(caplog.records) == game.MAX_LOGGED_REMARKS - 4 + 1


def test_chat_commands_of_a_client_change_the_world(server: RecordingServer, connect: Connect) -> None:
    client = connect()
    client.begin()
    for text in ("/give @p log 3", "/replaceitem entity @p slot.hotbar.4 minecraft:shears 1 0", "/time set 6000"):
        facts = client.step(f"chat {text}")[2]
    held = {slot["name"]: slot["quantity"] for slot in facts["inventory"] if slot["name"] != "air"}
    assert held == {"log": 3, "shears": 1}
    assert facts["world_time"] in (6000, 6001)
    client.step("chat /kill")
    where = client.step("chat /spreadplayers ~ ~ 0 50 false @p")[2]
    assert where["is_alive"]
    assert {slot["name"] for slot in where["inventory"]} == {"air"}


@pytest.mark.parametrize(
    ("changes", "text", "steps"),
    [
        ({"world": '<BiomeGenerator seed="7" biome="1"/><ServerQuitFromTimeUp timeLimitMs="250"/>'}, NOTHING, 5),
        ({"handlers": "<AgentQuitFromDeath/>"}, "chat /kill", 1),
        (
            {"handlers": "<AgentQuitFromPossessingItem><Item type='log' amount='2'/></AgentQuitFromPossessingItem>"},
            "chat /give @p log",
            2,
        ),
    ],
)
def test_mission_ends_when_its_quit_condition_is_true(
    server: RecordingServer, connect: Connect, changes: dict[str, str], text: str, steps: int
) -> None:
    client = connect()
    client.begin(mission(**changes))
    done = [client.step(text)[1] for _ in range(steps + 2)]
    assert done == [False] * (steps - 1) + [True] * 3
    assert server.games[0].steps == steps
    assert client.peek()[2]
    assert client.begin() == 1
    assert not client.peek()[2]


def test_mission_with_force_reset_generates_new_land(
    make_server: Callable[..., RecordingServer], connect: Connect
) -> None:
    lands = []
    for _ in range(2):
        server = make_server(seed=5)
        client = connect(server)
        for fresh, seed in (("false", ""), ("false", ""), ("true", ""), ("false", "31"), ("true", "31")):
            assert client.begin(mission(world=DEFAULT.format(fresh, seed))) == 1
        lands.append(server.seeds)
    first, again, other, *named = lands[0]
    assert first == again != other
    assert named == [31, 31]
    assert lands[0] == lands[1]


def test_seed_in_a_token_determines_random_numbers_but_not_the_land(server: RecordingServer, connect: Connect) -> None:
    client, states = connect(), []
    for token in (b"e:0:0:1:true:3", b"e:0:0:1:true:4", b"e:0:0:1:true:3"):
        assert client.begin(token=token) == 1
        states.append(int(server.sim.world.clock["rng"][0]))
    assert states[0] == states[2] != states[1]
    assert server.seeds == [7, 7, 7]


def test_busy_server_refuses_a_mission_until_another_client_leaves(
    server: RecordingServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = connect(), connect()
    assert first.begin() == 1
    assert second.begin() == 0
    assert "every place is taken" in caplog.text
    first.step()
    first.say(b"<Disconnect/>")
    assert first.hung_up()
    assert second.begin() == 1
    second.say(b"<Quit/>")
    assert second.hear() == struct.pack("!I", 1)
    third = connect()
    assert third.begin() == 1
    assert len(server.games) == 3


def test_server_runs_several_games_concurrently(make_server: Callable[..., RecordingServer], connect: Connect) -> None:
    server = make_server(games=2)
    clients = [connect(server) for _ in range(3)]
    assert [client.begin() for client in clients] == [1, 1, 0]
    clients[0].step("forward 1")
    clients[1].step("chat /time set 9000")
    assert clients[0].step()[2]["world_time"] < 100 < clients[1].step()[2]["world_time"]


def nothing(client: Any) -> None:
    client.socket.shutdown(socket.SHUT_WR)


MISDEEDS: list[tuple[str, Callable[[Any], None], str]] = [
    ("a wrong token", lambda client: client.say(mission(), b"e:0"), "is not a token"),
    ("a token for several", lambda client: client.say(mission(), b"e:1:0:2:true"), "several players"),
    ("no mission", lambda client: client.say(b"<Peek/>"), "before it began a mission"),
    ("no XML", lambda client: client.say(b"<MissionInit", b"e:0:0:1:true"), "is not XML"),
    ("nonsense", lambda client: client.say(b"<Dance/>"), "<Dance/>"),
    ("too large", lambda client: client.socket.sendall(struct.pack("!I", MAX_FRAME_BYTES + 1)), "is the largest"),
    ("half a frame", lambda client: (client.socket.sendall(b"\0\0\0\x09<Pe"), nothing(client)), "after 3 bytes of 9"),
    ("half a length", lambda client: (client.socket.sendall(b"\0\0"), nothing(client)), "after 2 bytes of 4"),
    ("no frame", lambda client: (client.socket.sendall(b"\0\0\0\x09"), nothing(client)), "before a frame"),
    ("no token", lambda client: (client.say(mission()), nothing(client)), "between a mission and its token"),
    ("a broken step", lambda client: (client.begin(), client.say(b"<StepClient0>")), "is not a step"),
]


@pytest.mark.parametrize(("deed", "words"), [deed[1:] for deed in MISDEEDS], ids=[deed[0] for deed in MISDEEDS])
def test_misbehaving_client_is_disconnected_and_the_next_client_can_play(
    server: RecordingServer, connect: Connect, caplog: pytest.LogCaptureFixture, deed: Callable[[Any], None], words: str
) -> None:
    client = connect()
    deed(client)
    while not client.hung_up():
        pass
    assert words in caplog.text
    assert "Traceback" not in caplog.text
    assert connect().begin() == 1


def test_server_disconnects_a_client_with_another_protocol(
    server: RecordingServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    assert connect(hello=b"GET / HTTP/1.1").hung_up()
    assert connect(hello=b"<MalmoEnv1.0/>").hung_up()
    assert caplog.text.count("not with <MalmoEnv0.37.0/>") == 2


def test_connection_without_data_is_not_logged(
    server: RecordingServer, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    socket.create_connection(("127.0.0.1", server.port)).close()
    assert connect().begin() == 1
    assert len(caplog.records) == 1


def test_silent_client_is_disconnected_after_the_time_limit(
    make_server: Callable[..., RecordingServer], connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    server = make_server(silence=SILENT)
    silent = connect(server)
    assert silent.begin() == 1
    assert silent.hung_up()
    assert "the client sent nothing for 1 s" in caplog.text
    assert connect(server).begin() == 1


def test_game_is_free_after_its_client_closed_the_connection_without_a_message(
    make_server: Callable[..., RecordingServer], connect: Connect
) -> None:
    server = make_server(place_timeout=60.0)
    gone = connect(server)
    assert gone.begin() == 1
    gone.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    gone.say(f"<StepClient0>{NOTHING}</StepClient0 >".encode())
    gone.close()
    assert connect(server).begin() == 1


def test_internal_error_of_the_server_ends_only_one_game(
    server: RecordingServer, connect: Connect, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = connect()
    client.begin()
    with monkeypatch.context() as patch:
        patch.setattr(server.games[0], "picture", lambda: 1 / 0)
        client.say(b"<Peek/>")
        assert client.hung_up()
    assert "ZeroDivisionError" in caplog.text
    assert connect().begin() == 1


def test_client_cannot_stop_the_server(server: RecordingServer, connect: Connect) -> None:
    client = connect()
    client.say(b"<Exit>NOW</Exit>")
    assert client.hear() == struct.pack("!I", 0)
    assert connect().begin() == 1


def test_closing_the_malmo_server_disconnects_all_clients(server: RecordingServer, connect: Connect) -> None:
    client = connect()
    client.begin()
    server.close()
    assert client.hung_up()
    with pytest.raises(OSError, match="refused"):
        connect()


def test_server_refuses_a_port_in_use_and_invalid_options(
    server: RecordingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match=f"{server.port}.*in use.*--port"):
        Server(server.port)
    for wrong in ({"games": 0}, {"silence": 0}, {"port": 70_000}):
        with pytest.raises(ConfigError, match="valid"):
            Server(**wrong)  # type: ignore[arg-type]
    assert main(["--port", str(server.port)]) == 2
    assert "cannot listen at 127.0.0.1" in capsys.readouterr().err


def test_command_line_of_the_malmo_server_serves_clients_and_prints_help() -> None:
    command = [sys.executable, "-m", "voxeldojo.malmo"]
    help_text = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
    for word in ("--port", "--games", "--silence", "add_existing_instance"):
        assert word in help_text
    process = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split(";")[0].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=30.0) as connection:
            connection.sendall(struct.pack("!I", 5) + b"hello")
            assert connection.recv(1) == b""
        process.terminate()
        _, log = process.communicate(timeout=60.0)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "disconnected: the client began with b'hello'" in log
