"""``backend=minedojo``: the real MineDojo package in its own interpreter, with rlgpt's Malmo server and the plugin's
spaces.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from rlgpt.cli import main
from rlgpt.config.settings import with_settings
from rlgpt.domain import Evaluation
from rlgpt.errors import WorkerError
from rlgpt.testing.stage import Stage
from rlgpt_minecraft.backend import MineDojoBackend, make_minedojo, make_task
from rlgpt_minecraft.plugin import MinecraftPlugin
from voxeldojo.env import MineDojoEnv
from voxeldojo.malmo.game import Game
from voxeldojo.mission import Box, Mission, Stack
from voxeldojo.world.items import ID as ITEMS
from voxeldojo.world.mob_kinds import ID as MOBS

from ...world.tests.malmo.conftest import Client
from ...world.tests.recording_server import RecordingServer

MISSION = Mission(
    inventory=(Stack(slot=0, name="bucket"), Stack(slot=3, name="log", quantity=9), Stack(slot=5, name="dirt")),
    time=6000,
    biome="plains",
    weather="clear",
    image_size=(24, 32),
    voxels=Box(xmin=-2, xmax=3),
    rays=((0.0, 0.0, 10.0), (0.3, 0.1, 20.0)),
)


@pytest.fixture
def server(minedojo: Path) -> Iterator[RecordingServer]:
    watched = RecordingServer()
    yield watched
    watched.close()


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for key in sorted(node):
            yield from leaves(node[key], f"{path}/{key}")
    else:
        yield path, node


def differences(first: Any, second: Any) -> list[str]:
    """Return the paths of leaves that are not bitwise equal. The dtype of text can have any width."""
    found = []
    for (path, a), (other, b) in zip(leaves(first), leaves(second), strict=True):
        kinds = (np.asarray(a).dtype.kind, np.asarray(b).dtype.kind)
        same_dtype = kinds == ("U", "U") or np.asarray(a).dtype == np.asarray(b).dtype
        if path != other or not same_dtype or np.shape(a) != np.shape(b) or not np.array_equal(a, b):
            found.append(f"{path}: {a} {b}")
    return found


def test_embedded_world_and_minedojo_give_equal_observations(server: RecordingServer) -> None:
    """The same world and the same actions give equal observations, leaf by leaf."""
    real, ours = make_minedojo(MISSION, port=server.port), MineDojoEnv(MISSION, strict=False)
    assert isinstance(real, gymnasium.Env)
    assert (real.observation_space, real.action_space) == (ours.observation_space, ours.action_space)
    seen, info = real.reset(seed=5)
    ours.reset(seed=0)
    known, our_info = ours.load(server.sim.save())
    assert real.observation_space.contains(seen)
    assert not differences(seen, known)
    assert set(our_info) <= set(info)
    assert info["success"] is False
    real.action_space.seed(3)
    for step in range(80):
        action = real.action_space.sample()
        action[3:5] = 12 + (step % 3 - 1), 12 + step % 2
        (seen, reward, *over, info), (known, _, *also, our_info) = real.step(action), ours.step(action)
        assert not differences(seen, known), (step, action)
        assert (reward, over) == (0.0, also)
        assert info["inventory"] == our_info["inventory"]
    real.close()


@pytest.mark.slow
def test_seed_determines_the_episode_of_the_minedojo_backend(server: RecordingServer) -> None:
    env = make_minedojo(MISSION, mobs=("cow", "sheep"), spread=6.0, port=server.port)
    first = [env.reset(seed=seed)[0] for seed in (1, 2, 1)]
    assert not differences(first[0], first[2])
    assert differences(first[0], first[1])
    assert server.seeds[0] == server.seeds[2] != server.seeds[1]
    env.reset()
    assert server.seeds[3] not in server.seeds[:3]
    assert int(server.sim.world.mobs["kind"].astype(bool).sum()) >= 2
    env.close()


@pytest.mark.parametrize(
    ("name", "succeed"),
    [
        ("combat_cow_forest_barehand", lambda world: world.kills.__setitem__(MOBS["cow"], 1)),
        ("harvest_1_torch", lambda world: world.slots.__setitem__(3, (ITEMS["torch"], 1, 0, 0))),
    ],
)
def test_minedojo_itself_makes_and_judges_its_own_tasks(server: RecordingServer, name: str, succeed: Any) -> None:
    plugin = MinecraftPlugin()
    changed = {"backend": "minedojo", "port": server.port}
    env = plugin.make_env(with_settings(plugin.unlisted_tasks()[f"minecraft/{name}"], changed), seed=0)
    env.reset(seed=1)
    assert env.step(env.action_space.sample())[-1]["success"] is False
    succeed(server.sim.world)
    _, reward, terminated, truncated, info = env.step((0, 0))
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    env.close()


@pytest.mark.slow
def test_observation_of_the_minedojo_backend_has_no_image_by_default(server: RecordingServer) -> None:
    plain = MISSION.model_copy(update={"image_size": None})
    env = make_minedojo(plain, port=server.port, render_mode="rgb_array")
    seen, _ = env.reset(seed=1)
    assert "rgb" not in seen
    assert env.observation_space == MineDojoEnv(plain).observation_space
    frame = env.render()
    assert (frame.shape, frame.dtype) == ((160, 256, 3), np.uint8)
    assert np.array_equal(frame, server.sim.rgb())
    env.close()


@pytest.mark.slow
def test_crash_of_the_minedojo_worker_truncates_the_episode_and_reset_starts_a_new_worker(
    server: RecordingServer, caplog: pytest.LogCaptureFixture
) -> None:
    env = make_minedojo(MISSION, port=server.port)
    env.reset(seed=1)
    os.kill(env.worker.pid, signal.SIGKILL)
    *_, terminated, truncated, info = env.step(env.no_op())
    assert (terminated, truncated) == (False, True)
    assert "SIGKILL" in info["crash"]
    assert "SIGKILL" in caplog.text
    assert env.reset(seed=1)[1]["success"] is False
    assert env.step(env.no_op())[2:4] == (False, False)
    server.close()
    *_, terminated, truncated, info = env.step(env.no_op())
    assert (terminated, truncated) == (False, True)
    assert "no longer answers" in info["crash"]
    with pytest.raises(WorkerError, match="No Malmo"):
        env.reset()
    env.close()


def fail_inside(game: Game) -> None:
    """Make the server close the connection at the next message."""
    game.picture = lambda: bytes(1 // 0)  # type: ignore[method-assign]


def end_mission(game: Game) -> None:
    game.done = True


@pytest.mark.slow
def test_each_connection_fault_ends_at_most_one_episode_of_the_minedojo_backend(
    server: RecordingServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The faults are: a server without a free game, a player that dies, a connection that breaks, and a mission that
    the server ended.
    """
    other = Client(server)
    assert other.begin() == 1

    def leave_when_busy(record: logging.LogRecord) -> bool:
        if "every place is taken" in record.getMessage():
            other.close()
        return True

    caplog.handler.addFilter(leave_when_busy)
    env = make_minedojo(MISSION, port=server.port)
    env.reset(seed=1)
    assert "every place is taken" in caplog.text
    assert env.step(env.no_op())[2:4] == (False, False)
    server.sim.chat("/kill")
    *_, terminated, truncated, info = env.step(env.no_op())
    assert (terminated, truncated, info["success"]) == (True, False, False)
    for harm in (fail_inside, end_mission):
        env.reset(seed=2)
        assert env.step(env.no_op())[2:4] == (False, False)
        harm(server.games[-1])
        *_, terminated, truncated, info = env.step(env.no_op())
        assert (terminated, truncated) == (False, True)
        assert "the mission ended or the game no longer answers" in info["crash"]
    env.reset(seed=3)
    assert env.step(env.no_op())[2:4] == (False, False)
    env.close()


def test_task_made_by_minedojo_reports_its_own_success(server: RecordingServer) -> None:
    """The task is to milk a cow. The test summons a cow in front of the player."""
    env: MineDojoBackend = make_task("harvest_milk_with_empty_bucket_and_cow", image_size=(16, 24), port=server.port)
    seen, info = env.reset(seed=2)
    assert seen["inventory"]["name"][0] == "bucket"
    assert info["success"] is False
    server.sim.chat("/kill @e[type=cow]")
    server.sim.chat("/summon cow ~ ~ ~1.5")
    down, use = env.no_op(), env.no_op()
    down[3] += 2
    use[5] = 1
    env.step(down)
    for _ in range(20):
        _, reward, terminated, _, info = env.step(use)
        if terminated:
            break
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    env.close()


def test_minecraft_task_and_primitive_run_on_both_backends(server: RecordingServer) -> None:
    """Tasks and primitives do not depend on the backend."""
    plugin = MinecraftPlugin()
    task = plugin.tasks()["minecraft/harvest_milk"]
    walk = next(p for p in plugin.primitives(task) if p.name == "walk")
    known = {p.name: p.default for p in walk.parameters}
    spaces = []
    for chosen in ({"backend": "minedojo", "port": server.port}, {"backend": "embedded"}):
        settings = {**task.settings, **chosen}
        with Stage(plugin, task.model_copy(update={"settings": settings}), seed=3) as stage:
            assert isinstance(stage.env.unwrapped.base, MineDojoBackend) == ("port" in chosen)  # type: ignore[attr-defined]
            spaces.append((stage.env.observation_space, stage.env.action_space))
            call = stage.call(walk, known)
            assert call.outcome
            assert call.actions
            assert set(plugin.view(stage.context)) == {key.name for key in plugin.view_keys(task)}
    assert spaces[0] == spaces[1]


def run_elsewhere(folder: Path, port: int, episodes: int, *train: str) -> dict[str, Evaluation]:
    """Train in the embedded world and evaluate the best policy in MineDojo."""
    few = ("iterations=1", "selection_episodes=2", "report_episodes=2", "video=false")
    assert main(["train", "task=minecraft/harvest_milk", f"folder={folder}", *few, *train]) == 0
    chosen = ("task_settings.backend=minedojo", f"task_settings.port={port}")
    assert main(["evaluate", str(folder), *chosen, "--episodes", str(episodes)]) == 0
    found = (Evaluation.model_validate_json(path.read_text()) for path in (folder / "evaluations").iterdir())
    return {evaluation.mode: evaluation for evaluation in found}


@pytest.mark.slow
def test_code_from_the_embedded_world_succeeds_in_an_evaluation_on_minedojo(
    server: RecordingServer, tmp_path: Path
) -> None:
    found = run_elsewhere(tmp_path / "run", server.port, 4, "llm=replay", "budget=3000")
    assert list(found) == ["code"]
    assert found["code"].success_rate >= 0.5
    assert len(server.games) >= 4


@pytest.mark.slow
def test_policy_from_the_embedded_world_can_be_evaluated_on_minedojo(server: RecordingServer, tmp_path: Path) -> None:
    found = run_elsewhere(tmp_path / "run", server.port, 2, "agents=rl_only", "trainer=ppo", "budget=1200")
    assert set(found) == {"sampled", "greedy"}
    assert all(episode.primitive_steps == 200 or episode.success for e in found.values() for episode in e.episodes)
    assert len(server.games) >= 4
