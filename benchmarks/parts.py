"""Benchmarks of several parts: the command line they share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping


def main(doc: str, parts: Mapping[str, Callable[..., None]]) -> int:
    """Measure the parts that the command line names.

    :param doc: of the script; its first paragraph becomes the help's summary.
    :param parts: what measures each, called with ``quick=``; ``training`` takes minutes and is left out of ``--quick``.
    """
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0])
    parser.add_argument("--parts", nargs="+", choices=tuple(parts), help="default: all; with --quick, not training")
    parser.add_argument("--quick", action="store_true", help="few blocks: that it runs, not what it costs")
    arguments = parser.parse_args()
    for part in arguments.parts or [p for p in parts if not (arguments.quick and p == "training")]:
        parts[part](quick=arguments.quick)
    return 0
