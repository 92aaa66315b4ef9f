"""The command ``rlgpt report`` writes an HTML page about one run, or a page that compares several runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from rlgpt.terminal import say


def main(arguments: argparse.Namespace) -> int:
    """Write the page and print its table."""
    from rlgpt.report.write import table, write_page

    folders = [Path(run) for run in arguments.runs]
    name = "report.html" if len(folders) == 1 else "comparison.html"
    out = Path(arguments.out) if arguments.out else folders[0] / name
    say(table(write_page(folders, out)))
    say(f"report {out}")
    return 0
