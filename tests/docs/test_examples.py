"""The Python blocks of the documents run, the command lines parse, and every link leads to a file.

The blocks of one document run in order and share their variables. Three kinds of blocks do not run: a block below
the line ``<!-- not run: REASON -->``, a block that includes a file of the repository (``--8<--``), and the blocks
of the plugin tutorial, which tests/plugin/test_tutorial.py runs.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from rlgpt.cli.main import main, parse

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "core/README.md", "plugins/**/README.md", "examples/*/README.md")
    for path in ROOT.glob(pattern)
)
PLUGIN_TUTORIAL = ROOT / "docs" / "tutorials" / "plugin.md"
_BLOCK = re.compile(r"^(<!-- not run: [^\n]+ -->\n)?```(\w+)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a document, with the line on which its text begins."""

    language: str
    line: int
    text: str
    runs: bool


def blocks(document: Path, *languages: str) -> list[Block]:
    text = document.read_text()
    return [
        Block(
            match[2], text.count("\n", 0, match.start(3)) + 1, match[3], match[1] is None and "--8<--" not in match[3]
        )
        for match in _BLOCK.finditer(text)
        if match[2] in languages
    ]


def name(document: Path) -> str:
    return str(document.relative_to(ROOT))


WITH_PYTHON = [d for d in DOCUMENTS if d != PLUGIN_TUTORIAL and any(b.runs for b in blocks(d, "python"))]
COMMANDS = {
    line: f"{name(document)}:{block.line}:{line[:40]}"
    for document in DOCUMENTS
    for block in blocks(document, "sh", "bash", "console")
    for line in (raw.removeprefix("$ ").split("  #")[0].strip() for raw in block.text.replace("\\\n", " ").splitlines())
    if line.startswith(("rlgpt ", "make "))
}
"""Command line -> document and line of its last occurrence."""

NEEDS_A_SERVER = ("task_settings.backend=", "task_settings.port=")


@pytest.mark.parametrize("document", WITH_PYTHON, ids=name)
def test_python_blocks_of_a_document_run_and_print_the_text_of_their_comments(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line ``print(...) # text`` must print the text."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in blocks(document, "python"):
        if block.runs:
            exec(compile("\n" * (block.line - 1) + block.text, str(document), "exec"), names)
            promised = re.findall(r"^print\(.*\)  # (.*)$", block.text, flags=re.MULTILINE)
            printed = capsys.readouterr().out.splitlines()
            assert not promised or printed == promised, f"{name(document)}:{block.line}"


@pytest.mark.parametrize("line", COMMANDS, ids=COMMANDS.get)
def test_command_lines_in_the_documents_are_valid(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The flag ``--cfg`` resolves a configuration without a run. Commands of ``examples/`` are only parsed, because
    their distributions are not installed.
    """
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(line)
    if program == "make":
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
        assert {a for a in arguments if "=" not in a and not a.startswith("-")} <= targets
        return
    command = parse(arguments).command
    if command == "train" and not COMMANDS[line].startswith("examples/"):
        installed = [re.sub(r"^task=mountain/\w+$", "task=kitchen/kettle", a) for a in arguments]
        installed = [a for a in installed if not a.startswith(NEEDS_A_SERVER)]
        assert main([*installed, "--cfg"]) == 0


DESIGN = (
    "import json, sys\nfrom rlgpt.cli import main\nfor line in json.loads(sys.argv[1]): assert main(line) == 0, line"
)


def test_design_command_lines_in_the_documents_are_valid(tmp_path: Path) -> None:
    """The commands make environments, so they run in a separate process."""
    lines = [[*shlex.split(line)[1:], "--cfg"] for line in COMMANDS if line.startswith("rlgpt design ")]
    assert lines
    run = [sys.executable, "-c", DESIGN, json.dumps(lines)]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)


def test_links_of_the_documents_lead_to_existing_files() -> None:
    missing = [
        f"{name(document)}: {target}"
        for document in DOCUMENTS
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text())
        if "://" not in target and not (document.parent / target).exists()
    ]
    assert not missing


def test_python_blocks_of_the_documents_import_only_the_public_modules_of_rlgpt() -> None:
    """The package ``rlgpt`` and its direct subpackages, such as ``rlgpt.rl``, are public. Deeper modules are not."""
    deep = {
        f"{name(document)}: {module}"
        for document in DOCUMENTS
        for block in blocks(document, "python")
        for module in re.findall(r"^\s*(?:from|import) (rlgpt[\w.]*)", block.text, re.M)
        if module.count(".") > 1 and module not in INTERFACE_BELOW_A_ROOM
    }
    assert not deep


INTERFACE_BELOW_A_ROOM = {"rlgpt.sandbox.guest"}
"""The package with the module ``vec`` of coded actions. Users can import it to test their own functions."""
