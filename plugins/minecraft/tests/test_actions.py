"""The base actions of Minecraft tasks, and their translation to the parts of MineDojo's action."""

import numpy as np
import pytest
from rlgpt_minecraft.actions import HAND_CHOICES, MOVES, BaseActions, hand_choices
from rlgpt_minecraft.moves import LEVEL, SPACE, bins, crafting, move
from voxeldojo.names import CRAFTS
from voxeldojo.spaces import FUNCTIONS


class Pockets:
    """An inventory, which is the part of a parsed observation that the translation of actions uses."""

    def __init__(self, **slots: int) -> None:
        self._slots = slots

    def slot(self, item: str) -> int | None:
        return self._slots.get(item)


def official(first: int, second: int) -> list[int]:
    """Return the reference action, as ``transform_action`` of the official code does."""
    action = [0, 0, 0, 12, 12, 0, 0, 0]
    if 1 <= first <= 2:
        action[0] = first
    elif first in (3, 4):
        action[1] = first - 2
    elif first in (5, 6, 7):
        action[2] = first - 4
    elif first >= 8:
        action[3 if first < 10 else 4] = 10 if first in (8, 10) else 14
    action[5] = {0: 0, 1: 1, 2: 3}[second]
    return action


def test_base_actions_equal_those_of_the_papers_official_code() -> None:
    actions = BaseActions(HAND_CHOICES)
    assert actions.space.nvec.tolist() == [12, 3]
    for first in range(12):
        for second in range(3):
            assert actions.translate((first, second), Pockets()).tolist() == official(first, second)


def test_hand_choices_craft_place_and_equip_the_named_items() -> None:
    choices = hand_choices(("planks", "iron_ingot"), ("crafting_table",), ("wooden_pickaxe",))
    actions = BaseActions(choices)
    assert actions.space.nvec.tolist() == [12, 7]
    full = Pockets(crafting_table=4, wooden_pickaxe=7)
    translated = {name: actions.translate((0, i), full).tolist() for i, name in enumerate(choices)}
    assert translated["craft_planks"][5:7] == [FUNCTIONS.index("craft"), CRAFTS.index("planks")]
    assert translated["craft_iron_ingot"][5:7] == [FUNCTIONS.index("craft"), CRAFTS.index("iron_ingot")]
    assert translated["place_crafting_table"][5:] == [FUNCTIONS.index("place"), 0, 4]
    assert translated["equip_wooden_pickaxe"][5:] == [FUNCTIONS.index("equip"), 0, 7]


@pytest.mark.parametrize("choice", ["place_crafting_table", "equip_wooden_pickaxe"])
def test_choice_to_place_or_equip_a_missing_item_only_moves(choice: str) -> None:
    """MineDojo raises an error if the action equips or places air."""
    choices = hand_choices((), ("crafting_table",), ("wooden_pickaxe",))
    found = BaseActions(choices).translate((1, choices.index(choice)), Pockets())
    assert found.tolist() == move(1).tolist()


def test_every_base_action_is_in_minedojos_action_space() -> None:
    actions = BaseActions(hand_choices(("planks",), ("furnace",), ("stone_pickaxe",)))
    for pair in np.ndindex(*actions.space.nvec):
        for pockets in (Pockets(), Pockets(furnace=35, stone_pickaxe=0)):
            assert actions.translate(np.array(pair), pockets) in SPACE


def test_function_move_sets_every_part_of_minedojos_action() -> None:
    assert len(MOVES) == 12
    assert move(forward=-1)[0] == 2
    assert move(left=-1)[1] == 2
    assert move(up=1)[3] == LEVEL - 1
    assert move(right=-3)[4] == LEVEL - 3
    assert move(up=99)[3] == 0
    assert crafting("stick") in SPACE
    assert [bins(d) for d in (-180, -8, -7, 7, 8, 29, 180)] == [-12, -1, 0, 0, 1, 2, 12]
