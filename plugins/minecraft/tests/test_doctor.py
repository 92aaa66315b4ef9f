"""The checks of ``rlgpt doctor`` for the Minecraft plugin, with each requirement present, missing and wrong. Also the
settings and options of the backend.
"""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from rlgpt.errors import ConfigError, UnknownNameError
from rlgpt_minecraft import doctor
from rlgpt_minecraft.backend import check_server, log_if_slow, make_minedojo, make_task, mission_options
from rlgpt_minecraft.interpreter import VARIABLE
from rlgpt_minecraft.plugin import MinecraftPlugin
from voxeldojo.malmo.__main__ import DEFAULT_GAMES
from voxeldojo.mission import Box, Mission, Placement, Stack


def program(folder: Path, name: str, output: str, status: int = 0) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nprintf '%s\\n' '{output}' >&2\nexit {status}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("output", "ok", "detail"),
    [
        ('openjdk version "1.8.0_412"', True, "1.8.0_412"),
        ('openjdk version "17.0.15" 2025-04-15', False, "17.0.15"),
        ("no virtual machine", False, "of unknown version"),
    ],
)
def test_doctor_check_accepts_only_java_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, ok: bool, detail: str
) -> None:
    found = program(tmp_path, "bin/java", output)
    for home in (str(tmp_path), None):
        monkeypatch.setenv("PATH", "/nowhere" if home else f"{found.parent}:/bin:/usr/bin")
        monkeypatch.setenv("JAVA_HOME", home) if home else monkeypatch.delenv("JAVA_HOME")
        check = doctor.java()
        assert (check.ok, check.detail) == (ok, f"{detail}, {found}")
        assert "JDK 8" in check.advice


def test_doctor_check_reports_a_missing_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert doctor.java().detail == "no java in PATH"
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert doctor.java().detail == "no java in JAVA_HOME=/nowhere"
    assert not doctor.java().ok


def test_doctor_check_accepts_a_display_or_a_virtual_display(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":3")
    assert (doctor.display().ok, doctor.display().detail) == (True, "DISPLAY=:3")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not doctor.display().ok
    assert "xvfb" in doctor.display().advice
    found = program(tmp_path, "xvfb-run", "")
    assert (doctor.display().ok, doctor.display().detail) == (True, f"virtual, {found}")


def test_doctor_check_accepts_only_the_supported_minedojo_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    check = doctor.minedojo()
    assert (check.ok, check.detail) == (False, "no interpreter that has it")
    assert "make minedojo" in check.advice
    for output, status, ok, detail in (
        ("0.1", 0, True, "0.1, "),
        ("0.2", 0, False, "0.2, "),
        ("x", 1, False, "has no"),
    ):
        python = program(tmp_path, "python", output, status)
        monkeypatch.setenv(VARIABLE, str(python))
        check = doctor.minedojo()
        assert check.ok == ok
        assert detail in check.detail
        assert "make minedojo" in check.advice


def test_doctor_check_of_the_malmo_server_reads_the_port_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setenv(doctor.MALMO_PORT, str(port))
        assert doctor.server().ok
        check_server(port)
    assert not doctor.server().ok
    assert f"none on port {port}" in doctor.server().detail
    assert "task_settings.port" in doctor.server().advice
    with pytest.raises(ConfigError, match=f"no Malmo server answers on localhost:{port}"):
        check_server(port)
    for wrong in ("0", "x", "65536"):
        monkeypatch.setenv(doctor.MALMO_PORT, wrong)
        assert "is no port" in doctor.server().detail


def test_doctor_check_of_the_numba_cache_requires_a_writable_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor.numba().ok
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new"))
    assert doctor.numba().detail.endswith(str(tmp_path / "new"))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert not doctor.numba().ok
    assert "NUMBA_CACHE_DIR" in doctor.numba().advice


def test_minecraft_plugin_offers_all_doctor_checks() -> None:
    names = {check.name for check in MinecraftPlugin().doctor()}
    assert names == {"numba cache", "minedojo package", "Java 8", "display", "Malmo server"}


def test_minedojo_backend_error_names_the_missing_requirements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(words: str) -> None:
        for make in (lambda: make_minedojo(Mission()), lambda: make_task("harvest_1_log")):
            with pytest.raises(ConfigError, match=words):
                make()

    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("JAVA_HOME", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    fails(r"cannot start on this machine. Java 8: no java in PATH.*JAVA_HOME.*display: none")
    monkeypatch.setenv("DISPLAY", ":3")
    monkeypatch.setenv("JAVA_HOME", str(program(tmp_path, "bin/java", 'java version "1.8.0"').parents[1]))
    monkeypatch.setenv(VARIABLE, "/nowhere/python")
    fails(r"backend=minedojo needs MineDojo.*make minedojo")


WRONG = (
    *({"backend": "real"}, {"port": 70_000}, {"port": "x"}, {"port": 9000, "backend": "embedded"}),
    *({"image_size": (0, 64)}, {"image_size": (64, 4096)}, {"biome": "forrest"}, {"biome": "hell"}),
)


@pytest.mark.parametrize("wrong", WRONG)
def test_limits_of_the_minecraft_plugin_refuse_an_invalid_setting(wrong: dict[str, Any]) -> None:
    plugin = MinecraftPlugin()
    task = plugin.tasks()["minecraft/harvest_log"]
    assert plugin.limits(task).max_envs > 2
    assert plugin.limits(task.model_copy(update={"settings": {**task.settings, "backend": "minedojo"}})).max_envs == 2
    with pytest.raises((ConfigError, UnknownNameError), match=next(iter(wrong))):
        plugin.limits(task.model_copy(update={"settings": {**task.settings, **wrong}}))


def test_limits_of_the_minecraft_plugin_refuse_a_port_without_a_server() -> None:
    plugin = MinecraftPlugin()
    task = plugin.tasks()["minecraft/harvest_log"]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        task = task.model_copy(update={"settings": {**task.settings, "backend": "minedojo", "port": port}})
        assert 2 < plugin.limits(task).max_envs <= DEFAULT_GAMES - 2
    with pytest.raises(ConfigError, match=f"no Malmo server answers on localhost:{port}"):
        plugin.limits(task)


def test_log_if_slow_logs_a_wait_that_exceeds_the_limit(caplog: pytest.LogCaptureFixture) -> None:
    logged = threading.Event()
    caplog.handler.addFilter(lambda record: logged.set() or True)
    with log_if_slow("a place (--games)", seconds=0.0):
        assert logged.wait(60.0)
    assert "still waiting after 0 s: a place (--games)" in caplog.text
    caplog.clear()
    with log_if_slow("nothing", seconds=600.0):
        timer = next(thread for thread in threading.enumerate() if isinstance(thread, threading.Timer))
    timer.join(60.0)
    assert (timer.is_alive(), caplog.text) == (False, "")


def test_every_field_of_a_mission_becomes_an_option_of_minedojo() -> None:
    mission = Mission(
        inventory=(Stack(slot=0, name="bucket"),),
        start=Placement(x=1.0, y=70.0, z=2.0, yaw=90.0),
        time=6000,
        biome="plains",
        seed=7,
        voxels=Box(xmin=-4),
        rays=((0.0, 0.5, 10.0),),
    )
    options = mission_options(mission)
    assert options["initial_inventory"] == [{"slot": 0, "name": "bucket", "quantity": 1, "variant": 0}]
    assert options["start_position"] == {"x": 1.0, "y": 70.0, "z": 2.0, "yaw": 90.0, "pitch": 0.0}
    assert (options["generate_world_type"], options["specified_biome"]) == ("specified_biome", "plains")
    assert (options["start_time"], options["world_seed"]) == (6000, "7")
    assert options["use_voxel"] is True
    assert options["voxel_size"] == {"xmin": -4, "ymin": -1, "zmin": -1, "xmax": 1, "ymax": 1, "zmax": 1}
    assert options["lidar_rays"] == [[0.0, 0.5, 10.0]]
    bare = mission_options(Mission())
    assert (bare["generate_world_type"], bare["world_seed"]) == ("default", "")
    assert not {"specified_biome", "start_position", "use_voxel", "use_lidar"} & set(bare)
