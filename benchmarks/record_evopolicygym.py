"""Records the replies of a language model for one environment of the benchmark EvoPolicyGym.

    python benchmarks/record_evopolicygym.py fetch_push --llm openai/NAME --api-base URL --folder runs/fetch_push

The recording is the file ``transcript.jsonl`` of the run. To replay a recording, copy it to
``examples/design/transcripts/evopolicygym/NAME/N.jsonl``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evopolicygym import BUDGETS, EVO, KITCHEN, EvoRunner
from evopolicygym_cases import CASES
from result_table import Cell, ResultTable


def record(name: str, llm: Mapping[str, Any], folder: Path, *, seed: int) -> Path:
    """Record the replies of a language model in one run of RL-GPT.

    :param name: the name of the environment.
    :param llm: the settings of the language model.
    :param folder: the folder of the run.
    :returns: the path of the recording.
    """
    from rlgpt.llm.build import LLMSettings

    cell = Cell(f"evopolicygym/{name}", "rlgpt", seed)
    settings = {
        "budget": BUDGETS[cell.task],
        "iterations": EVO.iterations,
        "episodes": 20,
        "trainer": EVO.trainer if name == KITCHEN else CASES[name].trainer,
    }
    table = ResultTable(folder / "recording.jsonl")
    runner = EvoRunner(cell, table, settings)
    runner.llm = LLMSettings.model_validate(llm)
    table.add(cell, {**settings, **runner.measure()})
    return runner.folder("rlgpt") / "transcript.jsonl"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("name", choices=(*CASES, KITCHEN))
    parser.add_argument("--llm", required=True, help="a model's name in litellm's form")
    parser.add_argument("--api-base", help="of your own server; the model is then openai/NAME")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each attempt")
    parser.add_argument("--folder", type=Path, required=True, help="of the run; an existing run is resumed")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    llm = {"model": given.llm, "api_base": given.api_base, "timeout": given.timeout}
    print(record(given.name, llm, given.folder, seed=given.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
