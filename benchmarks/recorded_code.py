"""The coded actions of a recording, without a run: the last attempt at each action of its first plan."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rlgpt.agents.replies import ActionReply, PlanReply, SetupReply
from rlgpt.domain import CodedAction, RLSetup
from rlgpt.llm.extract import find
from rlgpt.llm.transcript import Entry, Transcript


def recorded_code(path: Path) -> tuple[tuple[CodedAction, ...], RLSetup]:
    """The actions of iteration 0 in the plan's order, and its RLSetup.

    A run keeps the newest attempt that breaks no rule of the sandbox; here it is the newest one with a source.

    :raises SystemExit: the transcript holds no plan or no setup.
    """
    entries = [e for e in Transcript.read(path).entries if e.key.iteration == 0]
    plan = _last(PlanReply, (e for e in entries if e.key.role == "slow"), path).value()
    actions = []
    for sub_action in plan.coded:
        written = [e for e in entries if e.key.role == "fast" and e.key.sub_action == sub_action.name]
        if written:
            actions.append(_last(ActionReply, written, path).value(sub_action.name))
    setup = _last(SetupReply, (e for e in entries if e.key.role == "setup"), path).value()
    return tuple(actions), setup


def _last(schema: Any, entries: Iterable[Entry], path: Path) -> Any:
    """The newest valid reply of a schema."""
    for entry in sorted(entries, key=lambda e: (e.key.attempt, e.key.ask), reverse=True):
        found = find(entry.text)
        for given in reversed(found.objects):
            filled = {**given, "source": found.code} if schema is ActionReply and found.code is not None else given
            try:
                reply = schema.model_validate(filled)
                if schema is ActionReply:
                    reply.value(entry.key.sub_action)
                return reply
            except ValueError:
                continue
    raise SystemExit(f"{path} holds no {schema.__name__}.")
