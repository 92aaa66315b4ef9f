"""The notebooks run from top to bottom, without an API key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs").glob("**/*.ipynb"))


def code_of(notebook: Path) -> Iterator[str]:
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_committed_without_outputs(notebook: Path) -> None:
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_without_an_api_key_and_its_code_beats_random_actions(
    notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.pyplot as plt

    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(notebook.parent)
    plt.switch_backend("agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(code_of(notebook)):
        exec(compile(source, f"{notebook.name}, cell {number}", "exec"), names)
    (figure,) = map(plt.figure, plt.get_fignums())
    assert figure.axes[0].lines
    plt.close("all")
    assert names["bundle"].tested_on.success_rate == 1
    assert sum(names["by_code"]) > 5 * sum(names["by_chance"])
