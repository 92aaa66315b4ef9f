"""Measures the CPU time until ``rlgpt view`` can show its first list of runs, and the CPU time of each later list."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from reporting import commit, emit

RUNS = 1_000
UNITS = {
    "import": "CPU seconds of a new process that imports the page",
    "first": "CPU seconds of the first list of {} runs, after the import",
    "again": "CPU seconds of a later list of {} runs, of which none has changed",
}

LIST = """
import json, sys, time
from pathlib import Path
begun = time.process_time()
from rlgpt.view.library import Library
import rlgpt.view.server
figures = {"import": time.process_time() - begun}
library = Library([Path(sys.argv[1])])
for name in ("first", "again"):
    begun = time.process_time()
    text = json.dumps(library.runs())
    figures[name] = time.process_time() - begun
assert text.count('"finished"') == int(sys.argv[2]), "a run is missing in the list"
print(json.dumps(figures))
"""


def write_runs(folder: Path, number: int) -> None:
    """Write records of finished runs with the default configuration, in folders of 50 runs each, as a sweep would write
    them.
    """
    from rlgpt.config import RunConfig
    from rlgpt.runs import Run

    config = RunConfig(task="kitchen/kettle").model_dump(mode="json")
    run = Run.create(folder / "0" / "0", task="kitchen/kettle", seed=0, config=config)
    run.update(status="finished", success_rate=0.85, iterations=2)
    text = (run.folder / "run.json").read_text()
    for n in range(1, number):
        copy = folder / str(n // 50) / str(n)
        copy.mkdir(parents=True)
        (copy / "run.json").write_text(text)


def measure(number: int, repeats: int) -> None:
    """Print the median over ``repeats`` new processes for each figure in :data:`UNITS`."""
    now = commit()
    with tempfile.TemporaryDirectory() as folder:
        write_runs(Path(folder), number)
        found = [_listed(folder, number) for _ in range(repeats)]
    for name, unit in UNITS.items():
        values = [one[name] for one in found]
        rows = [{"cpu": round(v, 4), "commit": now} for v in values]
        emit(f"live_page/{name}", round(float(np.median(values)), 4), unit.format(number), rows=rows)


def _listed(folder: str, number: int) -> dict[str, Any]:
    command = [sys.executable, "-c", LIST, folder, str(number)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"the runs could not be listed: {result.stderr[-500:]}")
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 runs and one process: a check that it runs")
    quick = parser.parse_args().quick
    measure(20 if quick else RUNS, 1 if quick else 5)
