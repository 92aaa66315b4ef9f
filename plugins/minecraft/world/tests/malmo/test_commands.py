"""The lines of a step message become a command. Invalid lines are ignored."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from voxeldojo.command import NOTHING, Command
from voxeldojo.malmo.commands import KEYS, read
from voxeldojo.malmo.errors import ProtocolError
from voxeldojo.malmo.protocol import read_step, read_token
from voxeldojo.names import CRAFTS, ITEMS


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", {}),
        ("forward 1\nback 0\njump 1\nattack 1", {"forward": True, "jump": True, "attack": True}),
        ("camera -15.0 30.5", {"pitch": -15.0, "yaw": 30.5}),
        ("craft planks\ncraftNearby none\nsmeltNearby none", {"craft": "planks"}),
        ("craftNearby wooden_pickaxe", {"craft": "wooden_pickaxe"}),
        ("craftNearby stick", {"craft": "stick"}),
        ("smeltNearby iron_ingot", {"craft": "iron_ingot"}),
        ("equip minecraft:iron_axe\nplace none", {"equip": "iron_axe"}),
        ("place dirt", {"place": "dirt"}),
        ("chat /summon cow ~1 ~ ~2", {"chat": "/summon cow ~1 ~ ~2"}),
        ("swapInventoryItems 3 40", {"swap": (3, 40)}),
        ("hotbar.9 1\nhotbar.1 0\npickItem 0", {"hotbar": 8}),
    ],
)
def test_text_of_a_step_message_becomes_a_command(text: str, fields: dict[str, Any]) -> None:
    assert read(text) == (NOTHING._replace(**fields), [])


@pytest.mark.parametrize(
    "text",
    [
        *("fly 1", "camera 1", "camera nan 0", "camera inf 0", "craft cheese", "craft wooden_pickaxe", "smelt planks"),
        *("equip cheese", "swapInventoryItems 1", "swapInventoryItems 1 99", "hotbar.0 1", "hotbar.x 1", "forward x"),
    ],
)
def test_invalid_line_of_a_step_message_is_ignored_with_a_remark(text: str) -> None:
    command, remarks = read(f"attack 1\n{text}\nforward 1" if text != "forward x" else f"attack 1\n{text}")
    assert command._replace(forward=False) == NOTHING._replace(attack=True)
    assert len(remarks) == 1
    assert text in remarks[0]


@given(st.text(max_size=120))
def test_any_text_of_a_step_message_gives_a_command_with_valid_types(text: str) -> None:
    command, _ = read(text)
    assert all(isinstance(getattr(command, key), bool) for key in KEYS)
    assert math.isfinite(command.pitch)
    assert math.isfinite(command.yaw)
    assert command.craft is None or command.craft in CRAFTS
    assert all(item is None or item in ITEMS for item in (command.equip, command.place))
    assert isinstance(command, Command)


def test_valid_malmo_tokens_are_parsed_and_invalid_tokens_are_refused() -> None:
    assert read_token(b"6f-1:0:0:1:true") == ("6f-1", None)
    assert read_token(b"e:0:3:1:true:-77").seed == -77
    for wrong in (b"", b"e", b"e:0:0:1", b"e:x:0:1:true", b"e:0:0:1:true:x", b"\xff:0:0:1:true", b"e:" * 90):
        with pytest.raises(ProtocolError, match="not a token"):
            read_token(wrong)
    for several in (b"e:1:0:1:true", b"e:0:0:2:true"):
        with pytest.raises(ProtocolError, match="several players"):
            read_token(several)


def test_valid_step_messages_are_parsed_and_invalid_messages_are_refused() -> None:
    assert read_step(b"<StepClient0>a 1\nb 2</StepClient0 >") == ("a 1\nb 2", True)
    assert read_step(b"<StepClient1>a</StepClient1 >") == ("a", False)
    for wrong in (b"<StepClient0>", b"<StepClient00></StepClient0>", b"<StepClient0></Step>"):
        with pytest.raises(ProtocolError, match="not a step"):
            read_step(wrong)
