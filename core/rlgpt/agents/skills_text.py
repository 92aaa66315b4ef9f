"""Renders the skills that a skill library offers to a run, as text for prompts."""

from __future__ import annotations

from collections.abc import Sequence

from rlgpt.agents.text import code_block, number, shorten, source_block
from rlgpt.domain import CodedAction, CodedFunction
from rlgpt.skills import Offered

DOC_LIMIT = 400


def render_skills(offered: Sequence[Offered]) -> str:
    """Text about the offered skills. The text has one line for the task and the result of each skill, and one line for
    each action of a skill.
    """
    return "\n\n".join(_skill(skill) for skill in offered)


def render_earlier(offered: Sequence[Offered], name: str, *, source: bool) -> str:
    """Text with the code that a skill has under the name ``name``, for the agent that writes a new version of this
    code. The text is empty if no skill has code with this name.
    """
    for skill in offered:
        for code in (*skill.actions, *skill.functions):
            if code.name == name:
                had = f"The library of skills has a `{name}` ({_result(skill)})."
                if not source:
                    return had
                text = code_block(code) if isinstance(code, CodedAction) else source_block(code.source)
                return f"{had} Keep what works of it. It is:\n{text}"
    return ""


def skill_action(offered: Sequence[Offered], name: str) -> CodedAction | None:
    """The coded action with the name ``name`` in the offered skills; None if no skill has such an action."""
    return next((a for skill in offered for a in skill.actions if a.name == name), None)


def skill_function(offered: Sequence[Offered], name: str) -> CodedFunction | None:
    """The coded function with the name ``name`` in the offered skills; None if no skill has such a function."""
    return next((f for skill in offered for f in skill.functions if f.name == name), None)


def skill_of(offered: Sequence[Offered], name: str) -> str:
    """Id and result, as text, of the skill that offers the coded action ``name``; empty if no skill offers it."""
    found = next((skill for skill in offered if any(a.name == name for a in skill.actions)), None)
    return "" if found is None else f"{found.id}: {_result(found)}"


def _skill(skill: Offered) -> str:
    order = "in this order" if len(skill.actions) > 1 else "its action"
    how = "a policy chose among its actions" if skill.by_policy else order
    goal = shorten(" ".join(skill.goal.split()), DOC_LIMIT)
    lines = [f'Skill {skill.id}, from the task "{goal}": {_result(skill)}; {how}:']
    for action in skill.actions:
        parameters = ", ".join(
            f"{p.name} {number(p.low or 0.0)} to {number(p.high or 0.0)} {p.unit}".rstrip() for p in action.parameters
        )
        doc = shorten(" ".join(action.doc.split()), DOC_LIMIT, "the doc")
        reads = "".join(f" It reads the feature `{f.name}`, which is kept with it." for f in skill.needed_by(action))
        lines.append(f"- `{action.name}`{f' ({parameters})' if parameters else ''}: {doc}{reads}")
    return "\n".join(lines)


def _result(skill: Offered) -> str:
    parts = []
    if skill.success is not None:
        low, high = number(skill.success.low), number(skill.success.high)
        parts.append(f"success {number(skill.success.point)} ({low} to {high})")
    if skill.score is not None:
        parts.append(f"score {number(skill.score.point)}")
    measured = skill.success or skill.score
    episodes = f" in {measured.episodes} episodes" if measured is not None else ""
    own = ", with the names of its own task" if skill.changed else ""
    return f"{', '.join(parts) or 'proved'}{episodes}, {round(skill.steps)} steps{own}"
