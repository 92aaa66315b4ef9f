"""The skill library is a folder with the proved results of earlier runs, which later runs can use.

A *skill* is a bundle with a record. The record says in words what the skill does. The record also contains the task,
and the start states and results of the episodes in which the skill was tested. It lists the primitives and keys of the
view that the skill's code needs.

A run *proves* its result if the lower end of the 95 % confidence interval of the success rate in its report is at least
0.5. In a task without success, a run proves its result if the mean score reaches the target score, or if the run has no
target score.
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
