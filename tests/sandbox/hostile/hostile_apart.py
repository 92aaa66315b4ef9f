"""Plays one hostile program in a process of its own: ``python hostile_apart.py NAME``; prints its two verdicts."""

from __future__ import annotations

import sys

from hostile_programs import programs
from hostile_stage import TASK, Stage, straight
from rlgpt.domain import CodedAction, Verdict
from rlgpt.plugin.library import library
from rlgpt.sandbox import Sandbox
from rlgpt.testing.grid import GridPlugin


def main(name: str) -> None:
    program = next(p for p in programs() if p.name == name)
    sandbox = Sandbox()
    stage = Stage(program.source, sandbox)
    stage.attack()
    action = CodedAction(name="hostile", doc="", source=program.source)
    for verdict in (stage.verdicts[0], straight(sandbox.open(library(GridPlugin(), TASK), [action], seed=0))):
        assert isinstance(verdict, Verdict)
        print(f"{verdict.kind}: {verdict.message}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
