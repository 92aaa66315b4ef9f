"""The command line of benchmark scripts with several parts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping


def run_parts(doc: str, parts: Mapping[str, Callable[..., None]]) -> int:
    """Measure the benchmark parts that the command line names.

    :param doc: the docstring of the script, whose first paragraph becomes the summary in the help.
    :param parts: for each part of the benchmark, its name and the function that measures the part, which has an
        argument ``quick``. The flag ``--quick`` leaves out the part ``training``, which takes minutes.
    """
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0])
    parser.add_argument("--parts", nargs="+", choices=tuple(parts), help="default: all; with --quick, not training")
    parser.add_argument("--quick", action="store_true", help="few blocks: a smoke test, its figures mean nothing")
    arguments = parser.parse_args()
    for part in arguments.parts or [p for p in parts if not (arguments.quick and p == "training")]:
        parts[part](quick=arguments.quick)
    return 0
