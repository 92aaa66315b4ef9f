"""How many of MineDojo's own tasks does RL-GPT solve in the embedded world? A sample, played with a language model.

    python benchmarks/minedojo_solved.py --commands llm.model=openai/gpt-5    # the runs of the sample, as commands
    python benchmarks/minedojo_solved.py --add RUN ...                        # adds runs of this commit to the results
    python benchmarks/minedojo_solved.py                                      # prints the table of the results

The sample has 24 tasks, drawn before any of them was played. The first half is played without a library of skills, the
second half with one. Each run has one iteration. A task is solved if the lower end of the 95 % interval of the success
rate in fresh worlds is at least 0.5, which is also the condition for a skill.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reporting import commit
from rlgpt.files import write_atomic
from rlgpt.loop.skills import PROVED
from rlgpt.runs import Run
from rlgpt.skills.measure import Measure, success_of
from rlgpt_minecraft.suite import suite
from skills import figures

COMMITTED = Path(__file__).with_name("results") / "minedojo_solved.jsonl"
SAMPLE_SEED, SAMPLE = 20, 24
SETTINGS = ("budget=200000", "iterations=1", "report_episodes=20", "video=false")


def sample() -> list[str]:
    """Return the names of the sample's tasks, in the order in which they are played."""
    return random.Random(SAMPLE_SEED).sample(sorted(suite()), SAMPLE)


def commands(settings: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(sample()):
        library = ["skills=my_skills"] if number >= SAMPLE // 2 else []
        yield " ".join(("rlgpt train", f"task=minecraft/{name}", *library, *SETTINGS, *settings))


def result(folder: Path) -> dict[str, Any]:
    """Return the figures of a finished run (``skills.figures``), and what acts in it."""
    run, found = Run.open(folder), figures(folder)
    best = run.iterations()[0].kept
    return {
        **{name: value for name, value in found.items() if name != "versions"},
        "acting": "code" if best is None or best.mode == "code" else "policy",
        "library": (folder / "skills.json").exists(),
    }


def rate(entry: dict[str, Any]) -> Measure:
    """Return the success rate with its 95 % interval."""
    succeeded = round(entry["success"] * entry["episodes"])
    return success_of([i < succeeded for i in range(entry["episodes"])])


def table(results: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table of the sample's played tasks, and how many of them are solved."""
    yield "| task | library | success [95 % interval] | acts | steps | requests | tokens | kept actions |"
    yield "|" + "---|" * 8
    played = [results[f"minecraft/{name}"] for name in sample() if f"minecraft/{name}" in results]
    for entry in played:
        found = rate(entry)
        tokens = entry["prompt_tokens"] + entry["completion_tokens"]
        yield (
            f"| {entry['task'].partition('/')[2]} | {'yes' if entry['library'] else 'no'} | {found.point:.2f} "
            f"[{found.low:.2f}, {found.high:.2f}] | {entry['acting']} | {entry['steps']:,} | {entry['requests']} | "
            f"{tokens:,} | {entry['kept']} |"
        )
    yield ""
    for library, name in ((False, "without"), (True, "with")):
        half = [entry for entry in played if entry["library"] is library]
        solved = sum(rate(entry).low >= PROVED for entry in half)
        requests = sum(entry["requests"] for entry in half) / max(1, len(half))
        yield f"{name} a library: {solved} of {len(half)} tasks solved, {requests:.1f} requests for each task"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=COMMITTED, help="file of results")
    parser.add_argument("--commands", nargs="*", metavar="KEY=VALUE", help="print the commands of the runs")
    parser.add_argument("--add", nargs="+", type=Path, metavar="RUN", help="folders of finished runs")
    arguments = parser.parse_args(argv)
    if arguments.commands is not None:
        print("\n".join(commands(arguments.commands)))
        return 0
    path: Path = arguments.out
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    results = {entry["task"]: entry for entry in map(json.loads, lines)}
    for folder in arguments.add or ():
        found = result(folder)
        results[found["task"]] = {**found, "commit": commit()}
    if arguments.add:
        write_atomic(path, "".join(f"{json.dumps(entry)}\n" for entry in results.values()))
    print("\n".join(table(results)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
