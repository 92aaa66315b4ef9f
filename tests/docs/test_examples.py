"""What the documents show works: Python blocks run, command lines parse, and every link leads to a file.

A block that is not meant to run says so behind its language: ```` ```python signatures ````.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    p for pattern in ("*.md", "docs/**/*.md", "plugins/*/README.md", "examples/*/README.md") for p in ROOT.glob(pattern)
)
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


def blocks(*languages: str) -> Iterator[tuple[Path, int, str, str]]:
    """Document, line, what stands behind the language, text."""
    for document in DOCUMENTS:
        text = document.read_text()
        for found in _BLOCK.finditer(text):
            if found[1] in languages:
                yield document, text.count("\n", 0, found.start()) + 2, found[2].strip(), found[3]


def name(document: Path, line: int) -> str:
    return f"{document.relative_to(ROOT)}:{line}"


ELSEWHERE = {"CONTRIBUTING.md"}
"""Followed as a whole, file by file, by tests/plugin/test_contributing.py."""

PYTHON = [
    pytest.param(d, at, text, id=name(d, at))
    for d, at, info, text in blocks("python")
    if not info and d.name not in ELSEWHERE
]
SHELL = [
    pytest.param(line, id=f"{name(d, at)}:{line[:40]}")
    for d, at, _, text in blocks("sh", "bash", "console")
    for line in (raw.removeprefix("$ ").split("  #")[0].strip() for raw in text.replace("\\\n", " ").splitlines())
    if line.startswith(("rlgpt ", "make "))
]


@pytest.mark.parametrize(("document", "at", "text"), PYTHON)
def test_python_blocks_run_and_print_what_they_say(
    document: Path,
    at: int,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``print(...)  # text`` says what is printed."""
    monkeypatch.chdir(tmp_path)
    code = compile("\n" * (at - 1) + text, str(document), "exec")
    exec(code, {"__name__": "__main__"})
    promised = re.findall(r"^print\(.*\)  # (.*)$", text, flags=re.MULTILINE)
    if promised:
        assert capsys.readouterr().out.splitlines() == promised


@pytest.mark.parametrize("line", SHELL)
def test_command_lines_are_understood(line: str) -> None:
    program, *arguments = shlex.split(line)
    if program == "make":
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
        assert {a for a in arguments if "=" not in a and not a.startswith("-")} <= targets
        return
    from rlgpt.cli.hydra_app import opened
    from rlgpt.cli.main import parse
    from rlgpt.cli.overrides import check

    read = parse(arguments)
    assert read.command
    if read.command == "train":
        given = [o for o in read.overrides if not o.startswith("task=")]
        with opened() as app:
            check(given, app.config_loader, None, multirun=read.multirun)  # type: ignore[arg-type]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text())
    missing = [t for t in targets if "://" not in t and not (document.parent / t).exists()]
    assert not missing
