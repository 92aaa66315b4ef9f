"""Assembles the expert knowledge about the world for prompts. The pages of knowledge contain facts and no solutions of
tasks.
"""

from __future__ import annotations

from rlgpt.domain import Task
from rlgpt.plugin.shipped import page

from rlgpt_minecraft.settings import is_blind, pixels
from rlgpt_minecraft.tasks import Spec, spec_of

_BY_ITEM = {
    "log": ("wood",),
    "sand": ("sand",),
    "milk_bucket": ("animals", "milk"),
    "wool": ("animals", "wool"),
    "beef": ("animals", "meat"),
    "mutton": ("animals", "meat"),
    "planks": ("making",),
    "cobblestone": ("stone",),
    **dict.fromkeys(("iron_ore", "gold_ore", "coal", "redstone", "emerald", "diamond"), ("ores",)),
    "wheat": ("farming",),
    "obsidian": ("fluids",),
    "water_bucket": ("fluids",),
}
"""Item on the path of a task -> pages about it."""

_AT_TABLE = {
    "wooden_pickaxe": "3 planks + 2 sticks = wooden pickaxe",
    "stone_pickaxe": "3 cobblestone + 2 sticks = stone pickaxe",
    "iron_pickaxe": "3 iron ingots + 2 sticks = iron pickaxe",
    "furnace": "8 cobblestone = furnace",
    "bed": "3 wool + 3 planks = bed",
}
_BY_HAND = {"log": "a log 60", "sand": "sand 15", "stone": "stone 150", "leaves": "leaves 6"}


def knowledge(task: Task) -> str:
    """Return the pages of knowledge for a task, which are the page about the world and the pages about the items on the
    task's path, and for MineDojo's own tasks the facts of the module ``facts``.
    """
    from rlgpt_minecraft.task_env import choices

    spec = spec_of(task)
    pages = dict.fromkeys(("world", *(page for item in spec.path for page in _BY_ITEM.get(item, ()))))
    size = pixels(task)
    if size is not None:
        pages["pixels"] = None
    said = [_page(name, spec, choices(task), size or (0, 0), is_blind(task)) for name in pages]
    if spec.minedojo_id:
        from rlgpt_minecraft.facts import facts

        said.append(facts(spec))
    return "\n".join(said)


def _for_blind_code(text: str) -> str:
    """Return the page about the world (without the lines about keys of the view that the tier ``paper`` does not have),
    followed by the page about this tier.
    """
    lines = [line for line in text.splitlines() if not line.startswith("Observing.")]
    return "\n".join([*lines, page("rlgpt_minecraft", "paper")])


def _page(name: str, spec: Spec, hands: tuple[str, ...], size: tuple[int, int], blind: bool) -> str:
    text = page("rlgpt_minecraft", name)
    if name == "world":
        others = "".join(f", {choice}" for choice in hands[3:])
        digging = [said for thing, said in _BY_HAND.items() if thing in spec.sights]
        text = text.format(hands=others, digging=", ".join((*digging, "dirt 15, grass 18")))
        return _for_blind_code(text) if blind else text
    if name == "pixels":
        return text.format(height=size[0], width=size[1])
    if name == "making":
        table = "; ".join(said for item, said in _AT_TABLE.items() if item in spec.crafts)
        return text.format(table=table or "tools and more")
    return text
