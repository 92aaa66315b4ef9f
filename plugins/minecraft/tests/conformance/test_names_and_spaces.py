"""The plugin's spaces, names, recipes, masks and actions equal those of the real MineDojo package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces as gym
from numpy.typing import NDArray
from voxeldojo import masks, names, spaces
from voxeldojo.command import Command, EmptySlotError, slot_name, translate
from voxeldojo.delta import delta
from voxeldojo.mission import Box
from voxeldojo.world.items import ID, NAMES
from voxeldojo.world.recipes import CRAFT, MATRIX

KINDS = {"TextArray": "Text"}
"""The plugin's class of a space -> MineDojo's class. Gymnasium's own ``Text`` is a single string."""


def described(space: gym.Space[Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(space, gym.Dict):
        for name, part in space.spaces.items():
            yield from described(part, f"{path}/{name}")
        return
    kind, dtype = type(space).__name__, np.dtype(space.dtype)
    leaf: dict[str, Any] = {"kind": KINDS.get(kind, kind), "shape": list(space.shape or ())}
    leaf["dtype"] = dtype.kind if dtype.kind == "U" else dtype.name
    if isinstance(space, gym.Box):
        leaf["low"], leaf["high"] = (sorted({str(float(x)) for x in a.flatten()}) for a in (space.low, space.high))
    elif isinstance(space, gym.Discrete):
        leaf["n"] = int(space.n)
    elif isinstance(space, gym.MultiDiscrete):
        leaf["nvec"] = space.nvec.tolist()
    yield path, leaf


def test_observation_spaces_equal_those_of_minedojo(questions: dict[str, Any], answers: dict[str, Any]) -> None:
    for options, theirs in zip(questions["options"], answers["spaces"], strict=True):
        box = Box(**options.get("voxel_size", {})).shape if options.get("use_voxel") else None
        ours = spaces.observation_space(tuple(options["image_size"]), box, len(options.get("lidar_rays", ())))
        assert dict(described(ours)) == theirs


def test_action_spaces_equal_those_of_minedojo(questions: dict[str, Any], answers: dict[str, Any]) -> None:
    for interval, theirs in zip(questions["intervals"], answers["actions"], strict=True):
        space = spaces.action_space(interval)
        no_op = spaces.no_op(interval)
        assert {"nvec": space.nvec.tolist(), "dtype": np.dtype(space.dtype).name, "no_op": no_op.tolist()} == theirs
        assert space.contains(no_op)


def test_names_of_items_biomes_and_statistics_equal_those_of_minedojo(answers: dict[str, Any]) -> None:
    theirs = answers["names"]
    assert list(names.ITEMS) == theirs["items"]
    assert list(names.CRAFTS) == theirs["crafts"] == list(CRAFT)
    assert tuple(frozenset(theirs[where]) for where in ("hand", "table", "furnace")) == (
        names.HAND,
        names.TABLE,
        names.FURNACE,
    )
    assert [names.craft_place(name) for name in names.CRAFTS] == [
        where for where in ("hand", "table", "furnace") for _ in theirs[where]
    ]
    assert sorted(map(names.spaced, names.PLACEABLE)) == theirs["placeable"]
    assert Counter(map(names.spaced, names.WORN)) == Counter(theirs["not_for_the_hand"])
    assert theirs["biomes"] == names.BIOMES
    assert [["stat", name] for name in names.STATS] == [key for key in theirs["stats"] if key[0] == "stat"]
    assert [["achievement", name] for name in names.ACHIEVEMENTS] == [k for k in theirs["stats"] if k[0] != "stat"]
    assert list(names.ENTITIES) == theirs["killed"]
    assert list(names.ITEMS) == theirs["used"]
    assert theirs["slots"] == names.INVENTORY


def test_recipes_equal_those_of_minedojo(answers: dict[str, Any]) -> None:
    theirs = answers["recipes"]["matrix"]
    ours = [{NAMES[item]: float(row[item]) for item in np.flatnonzero(row)} for row in MATRIX]
    assert dict(zip(CRAFT, ours, strict=True)) == dict(zip(CRAFT, theirs, strict=True))


def slots(question: dict[str, Any]) -> tuple[NDArray[np.int64], masks.Counts]:
    item, counts = np.array([ID[name.replace(" ", "_")] for name in question["name"]]), np.zeros(len(NAMES))
    masks.count(item, np.array(question["quantity"], np.float32), counts)
    return item, counts


def test_masks_equal_those_of_minedojo(questions: dict[str, Any], answers: dict[str, Any]) -> None:
    seen: Counter[str] = Counter()
    for question, theirs in zip(questions["inventories"], answers["masks"], strict=True):
        item, counts = slots(question)
        ours = np.zeros(masks.SIZE, np.bool_)
        masks.fill(item, counts, question["table"], question["furnace"], ours)
        assert {name: mask.tolist() for name, mask in masks.as_observation(ours).items()} == theirs
        seen.update(name for name, mask in theirs.items() if np.any(mask))
    assert min(seen[name] for name in ("craft_smelt", "equip", "place", "destroy")) > 50


def test_delta_inventory_equals_that_of_minedojo(questions: dict[str, Any], answers: dict[str, Any]) -> None:
    seen: Counter[str] = Counter()
    for question, theirs in zip(questions["deltas"], answers["deltas"], strict=True):
        function, craft = question["action"][5], question["action"][6]
        before, after = (slots(question[name])[1] for name in ("before", "after"))
        ours = delta(before, after, craft if function == 4 else None, question["mask"][craft])
        assert {name: part.tolist() for name, part in ours.items()} == theirs
        seen.update(name for name, part in theirs.items() if part[0] not in ("air", 0.0))
    assert len(seen) == 8
    assert min(seen.values()) > 20


def expected(theirs: dict[str, Any]) -> Command:
    """Convert MineDojo's dictionary to the plugin's command."""
    craft = [theirs[name] for name in ("craft", "craft_with_table", "smelt") if theirs[name] != "none"]
    keys = ("forward", "back", "left", "right", "jump", "sneak", "sprint", "use", "attack", "drop")
    slot = theirs["destroy"]
    return Command(
        **{key: bool(theirs[key]) for key in keys},
        pitch=theirs["camera"][0],
        yaw=theirs["camera"][1],
        craft=craft[0] if craft else None,
        equip=None if theirs["equip"] == "none" else theirs["equip"],
        place=None if theirs["place"] == "none" else theirs["place"],
        chat=None if slot is None else f"/replaceitem entity @p {slot_name(slot)} minecraft:air 1 0",
    )


def test_actions_are_translated_to_the_same_commands_as_in_minedojo(
    questions: dict[str, Any], answers: dict[str, Any]
) -> None:
    errors = 0
    for question, theirs in zip(questions["actions"], answers["commands"], strict=True):
        held = [name.replace(" ", "_") for name in question["name"]]
        if theirs == "error":
            errors += 1
            with pytest.raises(EmptySlotError, match="which is empty"):
                translate(question["action"], held)
            assert translate(question["action"], held, strict=False).equip is None
        else:
            assert translate(question["action"], held) == expected(theirs)
    assert 20 < errors < 300


def test_mission_xml_of_minedojo_is_valid_by_its_own_schema(questions: dict[str, Any], answers: dict[str, Any]) -> None:
    for task in questions["missions"]:
        assert answers["missions"][task]["valid"], answers["missions"][task]["errors"]
