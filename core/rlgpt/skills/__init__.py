"""The library of skills: what earlier runs proved, on disk, with the tests that prove it.

A *skill* is a bundle with a record. The record says in words what the skill does, in which task and from which states
it was tested, how often it succeeded, and which primitives and keys of the view its code needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlgpt.lazy import lazy_exports

__all__ = [
    "Needs",
    "Offered",
    "Served",
    "Skill",
    "SkillId",
    "SkillLibrary",
    "SkillRecord",
    "SkillTest",
    "Start",
    "Wanted",
    "needs_of",
    "offer",
    "retest",
]

if TYPE_CHECKING:
    from rlgpt.skills.library import Skill, SkillLibrary
    from rlgpt.skills.needs import Needs, Wanted, needs_of
    from rlgpt.skills.offering import Offered, offer
    from rlgpt.skills.record import Served, SkillId, SkillRecord, SkillTest, Start
    from rlgpt.skills.testing import retest
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "rlgpt.skills.library": ("Skill", "SkillLibrary"),
            "rlgpt.skills.needs": ("Needs", "Wanted", "needs_of"),
            "rlgpt.skills.offering": ("Offered", "offer"),
            "rlgpt.skills.record": ("Served", "SkillId", "SkillRecord", "Start", "SkillTest"),
            "rlgpt.skills.testing": ("retest",),
        },
    )
