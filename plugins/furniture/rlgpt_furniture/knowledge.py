"""Assembles the expert knowledge for the language model. The knowledge consists of pages about the arm and the parts,
whose text and numbers depend on the task's settings.
"""

from __future__ import annotations

from string import Template

from rlgpt.domain import Task
from rlgpt.plugin.shipped import page

from rlgpt_furniture.furniture import PLUG_RADIUS
from rlgpt_furniture.settings import read_settings

PACKAGE = "rlgpt_furniture"
_PAGES = {"lamp": ("arm", "lamp"), "desk": ("arm", "legs", "desk")}
_OTHERS = ("arm", "legs", "table")


def knowledge(task: Task) -> str:
    """Return the expert knowledge about ``task`` and its settings, for prompts."""
    settings = read_settings(task)
    way = "connector" if settings.connectors else "peg"
    values = {
        "control": page(PACKAGE, "control_joints" if settings.by_joints else "control_hand"),
        "joined": page(PACKAGE, f"joined_{way}"),
        "advice": page(PACKAGE, f"advice_{way}"),
        "clearance_mm": f"{1000 * settings.clearance:.3g}",
        "lamp_hole": f"{PLUG_RADIUS + settings.clearance:.5g}",
    }
    pages = _PAGES.get(settings.furniture, _OTHERS)
    if settings.tag_error:
        pages, values["error_mm"] = (*pages, "tags"), f"{1000 * settings.tag_error:.3g}"
    return "\n".join(Template(page(PACKAGE, name)).substitute(values) for name in pages)
