"""Text about the coded actions of the iteration in progress."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rlgpt.agents import history_text
from rlgpt.agents.base import History
from rlgpt.agents.rendering import render_attempts, render_signatures
from rlgpt.agents.text import code_block
from rlgpt.domain import ActionPlan, CodedAction, Rehearsal, SubAction
from rlgpt.skills import Offered


def notes_of(
    plan: ActionPlan,
    actions: Sequence[CodedAction],
    rehearsals: Mapping[str, Sequence[Rehearsal]],
    history: History,
    offered: Sequence[Offered] = (),
) -> dict[str, str]:
    """A text for each coded sub-action, which says how its rehearsals went. For kept code, the text says where the code
    comes from.
    """
    notes = {name: render_attempts(attempts, actions) for name, attempts in rehearsals.items()}
    return {**notes, **{s.name: history_text.kept_from(history, s.name, offered) for s in plan.coded if s.keep}}


def render_written_so_far(
    plan: ActionPlan,
    sub_action: SubAction,
    written: Sequence[CodedAction],
    history: History,
    offered: Sequence[Offered] = (),
) -> str:
    """Text about the coded actions of the iteration in progress that were written before ``sub_action``, or that the
    plan keeps.
    """
    known = {a.name: a for a in written}
    kept = {s.name: history_text.kept_action(history, s.name, offered) for s in plan.coded if s.keep}
    found = (known.get(s.name) or kept.get(s.name) for s in plan.coded if s.name != sub_action.name)
    notes = {
        name: history_text.kept_from(history, name, offered) for name, action in kept.items() if action is not None
    }
    return render_signatures([a for a in found if a is not None], notes)


def render_written(actions: Iterable[CodedAction], notes: Mapping[str, str], limit: int = 12_000) -> str:
    """Coded actions with their sources as text, about ``limit`` characters long.

    :param notes: for the name of a coded action, a text about its rehearsals or about its origin.
    """
    listed = list(actions)
    room = limit // max(1, len(listed))
    blocks = [f"`{a.name}`{f': {notes[a.name]}' if a.name in notes else ''}\n{code_block(a, room)}" for a in listed]
    return "\n\n".join(blocks) or "(none)"
