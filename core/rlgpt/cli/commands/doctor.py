"""The command ``rlgpt doctor`` checks whether this machine has everything that a run needs."""

from __future__ import annotations

import argparse
import json

from rlgpt.cli.checks import all_checks


def main(arguments: argparse.Namespace) -> int:
    """Run the checks and print their results.

    :returns: 1 if this machine lacks something that every run needs, else 0.
    """
    checks = list(all_checks())
    failed = any(essential and not check.ok for check, essential in checks)
    if arguments.json:
        rows = [{"name": c.name, "ok": c.ok, "essential": e, "detail": c.detail, "advice": c.advice} for c, e in checks]
        print(json.dumps(rows, indent=1))
        return int(failed)
    width = max(len(check.name) for check, _ in checks)
    for check, essential in checks:
        mark = "ok     " if check.ok else "MISSING" if essential else "-      "
        print(f"{mark} {check.name:<{width}}  {check.detail}".rstrip())
        if not check.ok and check.advice:
            print(f"        {'':<{width}}  {check.advice}")
    print("Something essential is missing: see above." if failed else "Ready: everything essential is installed.")
    return int(failed)
