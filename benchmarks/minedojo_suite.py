"""Counts MineDojo's programmatic tasks for which voxeldojo, the embedded Minecraft world, has everything.

    python benchmarks/minedojo_suite.py --out runs/minedojo_suite.jsonl     # resumes, and keeps decisions in the file
    python benchmarks/minedojo_suite.py --table                             # the tables of the committed results
    python benchmarks/minedojo_suite.py --tasks        # writes the tasks of the Minecraft plugin from MineDojo's

The unmodified package MineDojo (``make minedojo``) lists its tasks. For each task, ``minedojo_needs.py`` decides what
the world lacks. Then MineDojo's client plays a sample of the tasks on the Malmo server of voxeldojo, with random
actions and MineDojo's own reward, to check that the tasks start as decided. Nothing here shows that a task can be
solved.

The file of results has one line for each task: what the world lacks, and what happened when the task was played.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})

from reporting import commit
from rlgpt.files import write_atomic
from rlgpt_minecraft.interpreter import HINT, minedojo_python

CLIENT = Path(__file__).with_name("minedojo_client.py")
COMMITTED = Path(__file__).with_name("results") / "minedojo_suite.jsonl"
ROOT = Path(__file__).resolve().parents[1]
TASKS = ROOT / "plugins/minecraft/rlgpt_minecraft/data/minedojo_tasks.csv"
SURVEYED = (0, 1)
"""Seeds of the worlds whose blocks count as the blocks of a landscape."""
SAMPLE_SEED = 0
LIMIT_S = 600.0
"""Seconds after which a task without an answer of the client counts as failed."""

Result = dict[str, Any]


def load(path: Path) -> dict[str, Result]:
    """Return the results of the file by task, or nothing if the file does not exist."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {result["task"]: result for result in map(json.loads, lines)}


def save(path: Path, results: Mapping[str, Result]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, "".join(f"{json.dumps(result)}\n" for result in results.values()))


def specifications(python: Path) -> list[dict[str, Any]]:
    """Return the specifications of MineDojo's programmatic tasks, from MineDojo itself."""
    listed = subprocess.run([python, CLIENT, "list"], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in listed.stdout.splitlines()]


def make_judge() -> Any:
    from minedojo_needs import Judge, survey

    return Judge(lambda biome: survey(biome, SURVEYED))


def decide(python: Path) -> dict[str, Result]:
    """Decide for each task of MineDojo what the world lacks."""
    judge, now, results = make_judge(), commit(), {}
    for task in specifications(python):
        lacks = [str(lack) for lack in judge.lacks(task)]
        known = {"task": task["id"], "category": task["category"], "possible": not lacks, "lacks": lacks}
        results[task["id"]] = {**known, "commit": now}
    return results


def sample(results: Mapping[str, Result], possible: int, impossible: int) -> list[str]:
    """Draw the tasks to play: so many for which the world has everything, and so many for which it has not. Both kinds
    are mixed, so that an unfinished run has some of each.
    """
    draw = random.Random(SAMPLE_SEED)
    groups = ([task for task, result in results.items() if result["possible"] is flag] for flag in (True, False))
    chosen = [
        task
        for group, count in zip(groups, (possible, impossible), strict=True)
        for task in draw.sample(group, len(group))[:count]
    ]
    return draw.sample(chosen, len(chosen))


class Remarks(logging.Handler):
    """Collects the warnings of the Malmo server."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage().split(": ", 1)[-1][:160]
        if text not in self.texts:
            self.texts.append(text)

    def take(self) -> list[str]:
        taken, self.texts = self.texts, []
        return taken


def _compile() -> None:
    """Run a step of the world, which compiles its functions. MineDojo's client waits at most 240 s for an answer."""
    from voxeldojo.env import MineDojoEnv
    from voxeldojo.mission import Box, Mission

    env = MineDojoEnv(Mission(voxels=Box(), image_size=(32, 48)))
    env.reset(seed=0)
    env.step(env.no_op())


def play(python: Path, tasks: Iterable[str], steps: int) -> Iterator[tuple[str, Result]]:
    """Let MineDojo's client play tasks for ``steps`` random steps each. Yield each task with its result."""
    from voxeldojo.malmo.server import Server

    _compile()
    remarks, logger, now = Remarks(), logging.getLogger("voxeldojo.malmo"), commit()
    logger.addHandler(remarks)
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        server.start()
        command = [str(python), str(CLIENT), "play", str(server.port), str(steps)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
        ) as client:
            assert client.stdin is not None
            assert client.stdout is not None
            for task in tasks:
                client.stdin.write(f"{task}\n")
                client.stdin.flush()
                ready = select.select([client.stdout], [], [], LIMIT_S)[0]
                answer = client.stdout.readline() if ready else ""
                failed = {"steps": 0, "reward": 0.0, "success": False, "error": "the client did not answer"}
                yield task, {**(json.loads(answer) if answer else failed), "remarks": remarks.take(), "commit": now}
                if not answer:
                    client.kill()
                    break
            client.stdin.close()
    logger.removeHandler(remarks)


def tables(results: Mapping[str, Result]) -> Iterator[str]:
    """Yield the lines of the tables: tasks by category and cause, what is lacking, and the played tasks."""
    every = list(results.values())
    causes = Counter(cause for result in every for cause in _causes(result))
    columns = [cause for cause, _ in causes.most_common()]
    yield f"| category | tasks | the world has everything | {' | '.join(columns)} |"
    yield "|---" * (3 + len(columns)) + "|"
    for category in (*dict.fromkeys(result["category"] for result in every), ""):
        group = [result for result in every if category in ("", result["category"])]
        lacking = Counter(cause for result in group for cause in _causes(result))
        counts = (len(group), sum(result["possible"] for result in group), *(lacking[cause] for cause in columns))
        yield f"| {category or '*all*'} | {' | '.join(map(str, counts))} |"
    needing = Counter(lack for result in results.values() for lack in result["lacks"])
    alone = Counter(result["lacks"][0] for result in results.values() if len(result["lacks"]) == 1)
    yield ""
    yield "| the world lacks | tasks | tasks that lack nothing else |"
    yield "|---|---|---|"
    for lack, count in sorted(needing.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"| {lack} | {count} | {alone[lack]} |"
    yield ""
    yield "| decided | played | began and stepped | without a remark of the server |"
    yield "|---|---|---|---|"
    for flag, name in ((True, "has everything"), (False, "lacks something")):
        played = [r["played"] for r in results.values() if r["possible"] is flag and "played" in r]
        began = [p for p in played if p["steps"] and not p["error"]]
        yield f"| {name} | {len(played)} | {len(began)} | {sum(not p['remarks'] for p in began)} |"
    for result in results.values():
        if "played" in result and (result["played"]["error"] or result["played"]["remarks"]):
            yield f"{result['task']}: {result['played']['error']} {result['played']['remarks']}"


def _causes(result: Result) -> set[str]:
    return {lack.split(":")[0] for lack in result["lacks"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, help="file of results")
    parser.add_argument("--possible", type=int, default=40, help="number of played tasks for which the world suffices")
    parser.add_argument("--impossible", type=int, default=40, help="number of played tasks for which it does not")
    parser.add_argument("--steps", type=int, default=10, help="number of random steps in each played task")
    parser.add_argument("--table", action="store_true", help="only print the tables of the results")
    parser.add_argument("--tasks", action="store_true", help=f"only write {TASKS.relative_to(ROOT)}")
    arguments = parser.parse_args()
    path = arguments.out or COMMITTED
    python = None if arguments.table else minedojo_python()
    if not arguments.table:
        if arguments.out is None and not arguments.tasks:
            parser.error("name the file of results with --out, or print the committed results with --table")
        if python is None:
            raise SystemExit(f"MineDojo is not installed: {HINT}")
    if arguments.tasks and python is not None:
        from minedojo_tasks import table

        write_atomic(TASKS, table(specifications(python), make_judge()))
        return 0
    if python is not None:
        results = load(path) or decide(python)
        save(path, results)
        chosen = sample(results, arguments.possible, arguments.impossible)
        waiting = [task for task in chosen if "played" not in results[task]]
        for number, (task, played) in enumerate(play(python, waiting, arguments.steps), 1):
            results[task]["played"] = played
            save(path, results)
            print(f"{number} of {len(waiting)}: {task}", file=sys.stderr, flush=True)
    print("\n".join(tables(load(path))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
