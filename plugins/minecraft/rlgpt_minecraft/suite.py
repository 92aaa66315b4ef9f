"""MineDojo's own programmatic tasks, as tasks of this plugin under MineDojo's ids.

The file ``data/minedojo_tasks.csv`` has a row for each programmatic task for which the embedded world has everything.
The columns up to ``spread`` are MineDojo's specification. The other columns describe one way to the target
(``benchmarks/minedojo_tasks.py``).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from rlgpt_minecraft.tasks import Spec

COLUMNS = (
    *("id", "goal", "kind", "target", "quantity", "horizon", "biome", "time", "time_passes", "mobs_spawn"),
    *("inventory", "mobs", "spread", "path", "crafts", "smelts", "places", "equips", "sights", "seek", "needs"),
)


@cache
def suite() -> Mapping[str, Spec]:
    """Return the definition of each task by its name, which is MineDojo's id of the task."""
    text = files("rlgpt_minecraft").joinpath("data", "minedojo_tasks.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return {row["id"]: read_row(row) for row in csv.DictReader(lines)}


def read_row(row: Mapping[str, str]) -> Spec:
    """Return the definition of the task of one row of the file."""
    stacks = [stack.split(":") for stack in row["inventory"].split()]
    lists: Mapping[str, Any] = {
        name: tuple(row[name].split())
        for name in ("mobs", "sights", "seek", "path", "crafts", "smelts", "places", "equips")
    }
    return Spec(
        row["goal"],
        row["target"],
        int(row["horizon"]),
        f"MineDojo's {row['id']}; the horizon is this plugin's",
        kind=row["kind"],  # type: ignore[arg-type]
        quantity=int(row["quantity"]),
        biome=row["biome"],
        time=int(row["time"]),
        time_passes=row["time_passes"] == "1",
        mobs_spawn=row["mobs_spawn"] == "1",
        inventory=tuple((name, int(quantity)) for _, name, quantity in stacks),
        slots=tuple(int(slot) for slot, _, _ in stacks),
        spread=int(row["spread"]),
        needs=tuple((name, int(count)) for name, count in (need.split(":") for need in row["needs"].split())),
        minedojo_id=row["id"],
        **lists,
    )
