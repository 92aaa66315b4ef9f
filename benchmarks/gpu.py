"""Measures the steps per second of trainings with numbers and with pixels, and of Craftax in a batch of 1,024 lanes, on
a GPU or on the CPU.

    python benchmarks/gpu.py                        # at most ten minutes, on a machine with a GPU
    python benchmarks/gpu.py --device cpu           # the same rows on the CPU
    python benchmarks/gpu.py --device cpu --quick   # a smoke test, its figures mean nothing

===========================================  =======================================================================
``gpu/DEVICE/KIND/TRAINER/WORKERS``          primitive steps per second of a training
``gpu/DEVICE/craftax/simulator``             of Craftax alone, with random actions and without resets
``gpu/DEVICE/craftax/options``               of Craftax with six coded actions, with resets, without learning
===========================================  =======================================================================

``KIND`` is ``numbers`` (59 numbers) or ``pixels`` (3 x 64 x 64 bytes). A step of the environment takes 1 ms of CPU time
and has no meaning. ``TRAINER`` is ``ppo`` (the built-in PPO), ``sample_factory`` (Sample Factory with rlgpt's adapter),
``plain_sample_factory``, or ``ppo_overlap`` (``ppo`` with ``trainer.overlap=true``). All trainers have 16 environments
in ``WORKERS`` processes, rollouts of 32 steps, minibatches of 128 and 4 epochs. The image encoders differ a little:
``nature`` for rlgpt, and ``convnet_simple`` for plain Sample Factory.

Each row runs in a process of its own. The measurement of a training begins after its second rollout, and includes whole
rollouts with their updates. A row that may not end before the time limit is left out. The results are appended to
``benchmarks/results/gpu.jsonl``; rows in this file are not measured again. Craftax on a GPU needs JAX with CUDA
(``pip install 'jax[cuda12]'``, in the version that the plugin requires).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.update({f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")})
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import psutil
from gpu_training import ENVS, ROLLOUT, TRAINERS, simulate, train
from reporting import commit, line
from rlgpt.rl.step_counter import STEPS_FILE, steps_in

RESULTS = Path(__file__).parent / "results" / "gpu.jsonl"
WORKERS = (1, 2, 4, 8, 16)
KINDS = ("numbers", "pixels")
CRAFTAX = ("simulator", "options")
SLICE = ENVS * ROLLOUT
UNIT = "primitive steps per second"
POLL_SECONDS = 0.005
START_SECONDS = 45.0
"""Time for the start of a row. A row is left out if its start and its measurement might not fit into the time left."""
TRAINING_SECONDS = 120.0
"""Time limit of the row of a training. A failed learner of plain Sample Factory does not end its process."""


def rows(workers: Sequence[int]) -> list[str]:
    """All rows, the most important rows first. Rows at the end of the list are left out if there is no time."""
    first = sorted(workers, key=lambda count: (count not in (min(workers), max(workers)), -count))
    trainings = [f"{kind}/{name}/{count}" for count in first for kind in KINDS for name in TRAINERS[:3]]
    overlapping = [f"{kind}/{name}/{count}" for count in first for kind in KINDS for name in TRAINERS[3:]]
    return [*(f"craftax/{part}" for part in CRAFTAX), *trainings, *overlapping]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--device", choices=("cpu", "gpu"), default="gpu")
    parser.add_argument("--minutes", type=float, default=10.0, help="time limit of the whole measurement")
    parser.add_argument("--workers", type=int, nargs="+", help="numbers of worker processes (default: up to the cores)")
    parser.add_argument("--seconds", type=float, default=5.0, help="duration of the measurement of a training")
    parser.add_argument("--lanes", type=int, default=1024, help="number of lanes of Craftax")
    parser.add_argument("--rows", nargs="+", default=[""], help="only the rows whose names begin with one of these")
    parser.add_argument("--out", type=Path, help=f"file of the results (default: {RESULTS.name}; with --quick: none)")
    parser.add_argument("--quick", action="store_true", help="few steps: a smoke test, its figures mean nothing")
    parser.add_argument("--child", nargs=2, metavar=("ROW", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.quick:
        given.seconds, given.lanes = 0.5, 16
    if given.child:
        child(*given.child, given)
        return 0
    cores = os.cpu_count() or 1
    workers = given.workers or [count for count in WORKERS if count <= max(cores, 1)]
    if any(ENVS % count for count in workers):
        parser.error(f"--workers: each number must divide the {ENVS} environments")
    if given.out is None and not given.quick:
        given.out = RESULTS
    wanted = [row for row in rows(workers) if row.startswith(tuple(given.rows))]
    return measure(wanted, given, {"commit": commit(), **machine(given.device)})


def machine(device: str) -> dict[str, Any]:
    """The facts about this machine that each result contains.

    :raises SystemExit: ``device`` is ``gpu``, and torch finds no CUDA.
    """
    import torch

    if device == "gpu" and not torch.cuda.is_available():
        raise SystemExit("torch finds no CUDA on this machine: use --device cpu, or a build of torch with CUDA.")
    name = torch.cuda.get_device_name() if device == "gpu" else "none"
    return {"gpu": name, "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}


def measure(wanted: Sequence[str], given: argparse.Namespace, facts: Mapping[str, Any]) -> int:
    """Measure the rows that the file of results does not contain, as long as there is time."""
    began, results = time.monotonic(), dict(stored(given.out))
    end, left_out, failed = began + 60 * given.minutes, list[str](), list[str]()
    for row in wanted:
        name = f"gpu/{given.device}/{row}"
        if name in results:
            continue
        left = end - time.monotonic()
        if left < given.seconds + START_SECONDS:
            left_out.append(name)
            continue
        try:
            result = json.loads(simulation(row, given, left) if "craftax" in row else training(row, given, left))
        except RowError as error:
            failed.append(name)
            print(f"{name} failed: {error}", file=sys.stderr, flush=True)
            continue
        text = line(name, result.pop("value"), UNIT, **{k: v for k, v in result.items() if k not in ("name", "unit")})
        results[name] = {**json.loads(text), **facts}
        print(json.dumps(results[name]), flush=True)
        if given.out is not None:
            with given.out.open("a") as file:
                file.write(json.dumps(results[name]) + "\n")
    print(table(results, given.device), file=sys.stderr)
    used = (time.monotonic() - began) / 60
    print(f"{used:.1f} of {given.minutes:g} minutes; {len(failed)} rows failed; left out: {left_out or 'none'}")
    return 1 if failed else 0


class RowError(Exception):
    """A row has no figure. The message contains the end of the output of its process."""


def stored(out: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    if out is not None and out.exists():
        for text in out.read_text().splitlines():
            result = json.loads(text)
            yield result["name"], result


def command(row: str, folder: Path, given: argparse.Namespace) -> list[str]:
    options = ["--device", given.device, "--lanes", str(given.lanes), *(["--quick"] if given.quick else [])]
    return [sys.executable, __file__, *options, "--child", row, str(folder)]


def child(row: str, folder: str, given: argparse.Namespace) -> None:
    """The main function of the process of one row."""
    kind, name, *count = row.split("/")
    if kind == "craftax":
        print(simulate(name, given.lanes, 200 if given.quick else 100 * given.lanes))
    else:
        train(kind, name, int(count[0]), given.device, Path(folder))


def simulation(row: str, given: argparse.Namespace, left: float) -> str:
    environment = {**os.environ, "JAX_PLATFORMS": "cuda" if given.device == "gpu" else "cpu"}
    try:
        done = subprocess.run(
            command(row, Path(), given), env=environment, capture_output=True, text=True, timeout=left, check=False
        )
    except subprocess.TimeoutExpired:
        raise RowError("it did not end before the time limit") from None
    if done.returncode:
        raise RowError(done.stderr[-1000:])
    return done.stdout.splitlines()[-1]


def training(row: str, given: argparse.Namespace, left: float) -> str:
    """Measure a training from the end of its second rollout, for at least ``given.seconds`` and one rollout."""
    end = time.monotonic() + min(left, TRAINING_SECONDS)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        folder, log = Path(made) / "training", Path(made) / "log"
        folder.mkdir()
        with log.open("wb") as output:
            process = subprocess.Popen(command(row, folder, given), stdout=output, stderr=output)

        def reached(steps: int) -> tuple[int, float]:
            while (counted := steps_in(folder / STEPS_FILE)) < steps:
                if process.poll() is not None or time.monotonic() > end:
                    reason = "the time limit" if process.poll() is None else "its process ended"
                    raise RowError(f"{counted} of {steps} steps, then {reason}: {log.read_text()[-1500:]}")
                time.sleep(POLL_SECONDS)
            return counted, time.monotonic()

        try:
            first, begin = reached(2 * SLICE + 1)
            last, now = first, begin
            while now - begin < given.seconds or last == first:
                last, now = reached((last // SLICE + 1) * SLICE + 1)
        finally:
            stop(process)
        return json.dumps({"value": round((last - first) / (now - begin)), "seconds": round(now - begin, 2)})


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a training and all processes that it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        started = psutil.Process(process.pid)
        for one in [*started.children(recursive=True), started]:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
    process.wait()


def table(results: Mapping[str, Mapping[str, Any]], device: str) -> str:
    """A table in Markdown with the steps per second on ``device``."""
    found = {tuple(name.split("/")[2:]): result["value"] for name, result in results.items() if f"/{device}/" in name}
    counts = sorted({int(key[2]) for key in found if len(key) == 3})
    lines = ["| " + " | ".join(["observation", "trainer", *(f"{count} workers" for count in counts)]) + " |"]
    lines.append("|---" * (2 + len(counts)) + "|")
    for kind, name in ((kind, name) for kind in KINDS for name in TRAINERS):
        values = [found.get((kind, name, str(count))) for count in counts]
        if any(value is not None for value in values):
            cells = [kind, name, *("" if value is None else f"{value:,}" for value in values)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, *(f"craftax/{key[1]}: {found[key]:,}" for key in found if key[0] == "craftax")])


if __name__ == "__main__":
    sys.exit(main())
