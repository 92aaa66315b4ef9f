"""What the language model is told of the arm and the parts: pages whose words and numbers follow the settings."""

from __future__ import annotations

from string import Template

from rlgpt.domain import Task
from rlgpt.plugin.shipped import page

from rlgpt_furniture.furniture import PLUG
from rlgpt_furniture.settings import read

PACKAGE = "rlgpt_furniture"
_PAGES = {"lamp": ("arm", "lamp"), "desk": ("arm", "legs", "desk")}
_OTHERS = ("arm", "legs", "table")


def knowledge(task: Task) -> str:
    """The text for ``task``, as its settings make the world."""
    asked = read(task)
    way = "connector" if asked.connectors else "peg"
    told = {
        "control": page(PACKAGE, "control_joints" if asked.by_joints else "control_hand"),
        "joined": page(PACKAGE, f"joined_{way}"),
        "advice": page(PACKAGE, f"advice_{way}"),
        "clearance_mm": f"{1000 * asked.clearance:.3g}",
        "lamp_hole": f"{PLUG + asked.clearance:.5g}",
    }
    pages = _PAGES.get(asked.furniture, _OTHERS)
    return "\n".join(Template(page(PACKAGE, name)).substitute(told) for name in pages)
