"""Measures the speed of the embedded Minecraft world on one core, and its start-up time.

    python benchmarks/minecraft_world.py               # a few minutes
    python benchmarks/minecraft_world.py --quick       # a smoke test, one minute
    python benchmarks/minecraft_world.py --parts world start

The part ``world`` measures the steps per CPU-second of physics and mobs, of rendering pictures, and of the environment
with MineDojo's dictionary. The part ``minedojo`` measures the steps per CPU-second of MineDojo's own client (``make
minedojo``), of the Malmo server to which the client connects, and of client and server together. The part ``start``
measures the seconds until a new process has its first observation and picture, in three cases: numba compiles the
functions on all cores, compiles them on one core, or reads them from disk.

The benchmark plays random actions in six biomes, by day and by night. The measured kinds of work alternate in short
blocks. Each printed figure is the median of the blocks; its rows have the figure of each biome. The script prints lines
of JSON.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

import numpy as np
from interleaved import block_order, bootstrap_median
from reporting import commit, emit
from rlgpt_minecraft.interpreter import HINT, minedojo_python
from rlgpt_minecraft.rays import RAYS
from voxeldojo.env import MineDojoEnv
from voxeldojo.malmo.server import Server
from voxeldojo.mission import Box, Mission
from voxeldojo.world.chunks import generate
from voxeldojo.world.render import Camera
from voxeldojo.world.state import ACTION, World
from voxeldojo.world.tick import tick

BIOMES = ("plains", "forest", "birch_forest", "extreme_hills", "desert", "river")
GOALS = {"physics": 100_000, "observation": 5_000, "rgb_64x64": 1_500, "rgb_160x256": 200}
START_GOALS = {"cold": 15.0, "cold_one_core": 15.0, "warm": 3.0}
LENGTH = {"physics": 2_000, "observation": 100, "rgb_64x64": 40, "rgb_160x256": 8, "everything_64x64": 40}
"""Number of steps in one block, which takes about 20 ms."""
UNITS = {
    "physics": "steps per CPU-second: the player, mobs, blocks, the clock",
    "observation": f"steps per CPU-second of the environment: MineDojo's whole dictionary, 27 voxels, {len(RAYS)} rays",
    "rgb_64x64": "steps per CPU-second, each with a picture of 64 x 64",
    "rgb_160x256": "steps per CPU-second, each with a picture of 160 x 256",
    "everything_64x64": "steps per CPU-second of the environment: that dictionary and rgb of 64 x 64",
}
START = """
from voxeldojo.env import MineDojoEnv
from voxeldojo.mission import Box, Mission
from rlgpt_minecraft.rays import RAYS
env = MineDojoEnv(Mission(voxels=Box(), rays=RAYS, image_size=(64, 64)))
env.reset(seed=0)
env.step(env.no_op())
import resource
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(u.ru_utime + u.ru_stime for u in used), flush=True)
"""

CLIENT = Path(__file__).with_name("minedojo_client.py")
CLIENT_STEPS = 40
CLIENT_UNITS = {
    "minedojo_client": "steps per CPU-second of MineDojo's own client: 27 voxels, rgb of 64 x 64; on our Malmo server",
    "minedojo_server": "steps per CPU-second of that server",
    "minedojo_both": "steps per CPU-second of both together",
}

Work = Callable[[int], float]
"""A function that runs a number of steps and returns their CPU seconds."""


def _play(count: int, seed: int) -> np.ndarray[Any, np.dtype[np.void]]:
    """Make ``count`` random actions that walk, turn the view, jump and dig."""
    draw = np.random.default_rng(seed)
    actions = np.zeros(count, ACTION)
    actions["yaw"], actions["pitch"] = draw.normal(0, 8, count), draw.normal(0, 3, count)
    actions["forward"], actions["strafe"] = draw.integers(0, 2, count), draw.integers(-1, 2, count)
    for name, share in (("jump", 0.2), ("attack", 0.5), ("sprint", 0.3), ("use", 0.05)):
        actions[name] = draw.random(count) < share
    return actions


def _kept(world: World) -> None:
    """Keep the player of the world alive, and its view direction near the horizon."""
    player = world.player
    player["life"], player["food"], player["air"], player["dead"] = 20, 20, 300, False
    player["pitch"] = np.clip(player["pitch"], -40, 40)


def _raw(biome: str, night: bool, camera: Camera | None) -> Work:
    world = generate(1, biome)
    world.clock["time"] = 18_000 if night else 1_000
    actions = _play(4_096, 0)
    single = [actions[i : i + 1] for i in range(len(actions))]
    at = 0

    def work(steps: int) -> float:
        nonlocal at
        _kept(world)
        before = time.process_time()
        for _ in range(steps):
            tick(world, single[at])
            if camera is not None:
                camera.picture(world)
            at = (at + 1) % len(single)
        return time.process_time() - before

    return work


def _environment(biome: str, night: bool, image: tuple[int, int] | None) -> Work:
    env = MineDojoEnv(
        Mission(biome=biome, voxels=Box(), rays=RAYS, image_size=image, time=18_000 if night else 1_000), strict=False
    )
    env.reset(seed=1)
    env.action_space.seed(0)
    chosen = [env.action_space.sample() for _ in range(1_024)]
    for action in chosen:
        action[3:5] = np.clip(action[3:5], 11, 13)
        action[5] = action[5] if action[5] in (0, 1, 3) else 3
    at = 0

    def work(steps: int) -> float:
        nonlocal at
        _kept(env.sim.world)
        before = time.process_time()
        for _ in range(steps):
            env.step(chosen[at])
            at = (at + 1) % len(chosen)
        return time.process_time() - before

    return work


def _contestants(biome: str, night: bool) -> dict[str, Work]:
    return {
        "physics": _raw(biome, night, None),
        "rgb_64x64": _raw(biome, night, Camera(64, 64)),
        "rgb_160x256": _raw(biome, night, Camera(160, 256)),
        "observation": _environment(biome, night, None),
        "everything_64x64": _environment(biome, night, (64, 64)),
    }


def measure_world(*, quick: bool) -> None:
    blocks, now = (3, commit()) if quick else (40, commit())
    rates: dict[str, dict[str, list[float]]] = {name: {} for name in UNITS}
    for number, biome in enumerate(BIOMES):
        contestants = _contestants(biome, night=number % 2 == 1)
        for work in contestants.values():
            work(2)
        for block in range(blocks):
            for name in block_order(tuple(contestants), block):
                rates[name].setdefault(biome, []).append(LENGTH[name] / contestants[name](LENGTH[name]))
        print(f"world: {biome} done", file=sys.stderr, flush=True)
    _report(rates, UNITS, now)


def _report(rates: dict[str, dict[str, list[float]]], units: dict[str, str], now: str) -> None:
    for name, found in rates.items():
        # Total steps divided by the total time of all biomes: the rate of a player who takes equally many steps in each
        # biome.
        times = [[1.0 / rate for rate in rates_of] for rates_of in found.values()]
        together = [len(times) / sum(block) for block in zip(*times, strict=True)]
        point, low, high = bootstrap_median(together)
        emit(
            f"minecraft_world/{name}",
            round(point),
            units[name],
            goal=GOALS.get(name),
            interval=[round(low), round(high)],
            rows=[
                {"biome": b, "value": round(bootstrap_median(r)[0]), "blocks": len(r), "commit": now}
                for b, r in found.items()
            ],
            commit=now,
        )


def measure_start(*, quick: bool) -> None:
    now = commit()
    confines = hasattr(os, "sched_setaffinity")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in START_GOALS if confines or "one" not in name}
    for _ in range(1 if quick else 3):
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as other:
            found["cold"].append(_begin(cache))
            found["warm"].append(_begin(cache))
            if confines:
                found["cold_one_core"].append(_begin(other, confined=True))
    for name, seconds in found.items():
        emit(
            f"minecraft_world/start/{name}",
            round(float(np.median([wall for wall, _ in seconds])), 2),
            "seconds of a new process until its first observation and picture",
            goal=START_GOALS[name],
            rows=[{"seconds": round(wall, 2), "cpu": round(cpu, 2), "commit": now} for wall, cpu in seconds],
            cores=1 if name == "cold_one_core" else len(os.sched_getaffinity(0)) if confines else os.cpu_count(),
            commit=now,
        )


def _begin(cache: str, *, confined: bool = False) -> tuple[float, float]:
    """Return the wall seconds and CPU seconds until a new process has started a Minecraft mission. The argument
    ``cache`` is the folder of numba's cache.
    """
    clock = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", START],
        stdout=subprocess.PIPE,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        preexec_fn=(lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})) if confined else None,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        wall = time.monotonic() - clock
    if process.returncode:
        raise SystemExit(f"a new process ended with status {process.returncode} before its first picture")
    return wall, float(line)


def measure_minedojo(*, quick: bool) -> None:
    python, blocks, now = minedojo_python(), 3 if quick else 20, commit()
    if python is None:
        print(f"minedojo: left out: {HINT}", file=sys.stderr, flush=True)
        return
    rates: dict[str, dict[str, list[float]]] = {name: {} for name in CLIENT_UNITS}
    for number, biome in enumerate(BIOMES[:1] if quick else BIOMES):
        for client, server in _client_blocks(str(python), biome, number % 2 == 1, blocks):
            for name, seconds in zip(CLIENT_UNITS, (client, server, client + server), strict=True):
                rates[name].setdefault(biome, []).append(CLIENT_STEPS / seconds)
        print(f"minedojo: {biome} done", file=sys.stderr, flush=True)
    _report(rates, CLIENT_UNITS, now)


def _client_blocks(python: str, biome: str, night: bool, blocks: int) -> Iterator[tuple[float, float]]:
    """Return the CPU seconds that MineDojo's client (a separate process) and the Malmo server (this process) take for
    each block.
    """
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        server.start()
        command = [python, str(CLIENT), "speed", str(server.port), biome, str(int(night)), "64", "64"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for block in range(blocks + 1):
                before = time.process_time()
                process.stdin.write(f"{CLIENT_STEPS}\n")
                process.stdin.flush()
                answer = process.stdout.readline()
                if not answer:
                    raise SystemExit(f"minedojo: the client ended; run it by hand: {CLIENT}")
                if block:  # the first block contains the client's reset and compilation
                    yield float(answer), time.process_time() - before
            process.stdin.close()


PARTS = {"start": measure_start, "world": measure_world, "minedojo": measure_minedojo}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    parser.add_argument("--quick", action="store_true", help="few blocks: a smoke test, its figures mean nothing")
    arguments = parser.parse_args()
    for part in arguments.parts:
        PARTS[part](quick=arguments.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
