"""The parser of mission XML. Hostile and unplayable missions are refused with a message."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from voxeldojo.malmo import flat
from voxeldojo.malmo.errors import MissionError
from voxeldojo.malmo.game import Game, land_seed
from voxeldojo.malmo.mission import read
from voxeldojo.mission import Box, Mission, Placement, Stack
from voxeldojo.world.blocks import ID as BLOCK

from .conftest import mission

EVERYTHING: dict[str, Any] = {
    "conditions": "<Time><StartTime>13000</StartTime><AllowPassageOfTime>false</AllowPassageOfTime></Time>"
    "<AllowSpawning>false</AllowSpawning><Weather>rain</Weather>",
    "world": '<BiomeGenerator forceReset="true" seed="12" biome="1"/>'
    '<DrawingDecorator><DrawBlock x="250" y="90" z="250" type="stone"/>'
    '<DrawCuboid x1="251" y1="90" z1="250" x2="252" y2="91" z2="250" type="glass"/>'
    '<DrawLine x1="240" y1="95" z1="240" x2="244" y2="95" z2="242" type="sand"/>'
    '<DrawSphere x="260" y="100" z="260" radius="1" type="log"/>'
    '<DrawEntity x="256.5" y="90" z="256.5" type="Cow"/></DrawingDecorator>',
    "start": "<LowLevelInputs>true</LowLevelInputs><BreakSpeedMultiplier>3.0</BreakSpeedMultiplier>"
    '<StartingHealth maxHealth="20" health="13.0"/><StartingFood food="7"/>'
    '<Inventory><InventoryObject slot="0" type="planks" metadata="2" quantity="5"/>'
    '<InventoryObject slot="40" type="minecraft:shield" quantity="1"/></Inventory>'
    '<Placement x="250.5" y="91" z="250.5" yaw="30" pitch="5"/>',
    "handlers": "<ObservationFromFullInventory flat='false'/><ObservationFromGrid><Grid name='voxels'>"
    "<min x='-1' y='-2' z='-3'/><max x='1' y='2' z='3'/></Grid></ObservationFromGrid>"
    "<ObservationFromRichLidar><RayOffset pitch='0.0' yaw='0.1' distance='10.0'/></ObservationFromRichLidar>"
    "<ChatCommands/><CameraCommands/><HumanLevelCommands/>",
}


def test_mission_xml_with_every_element_is_parsed() -> None:
    order = read(mission(**EVERYTHING))
    assert order.mission(12) == Mission(
        inventory=(Stack(slot=0, name="planks", quantity=5, variant=2), Stack(slot=40, name="shield")),
        start=Placement(x=250.5, y=91, z=250.5, yaw=30, pitch=5),
        health=13.0,
        food=7,
        time=13_000,
        biome="plains",
        weather="rain",
        break_speed=3.0,
        time_passes=False,
        mobs_spawn=False,
        seed=12,
        image_size=(6, 8),
        voxels=Box(ymin=-2, ymax=2, zmin=-3, zmax=3),
        rays=((0.0, 0.1, 10.0),),
    )
    assert (order.seed, order.new_land, order.unknown, order.ticks, order.ends_on_death) == (
        "12",
        True,
        set(),
        None,
        False,
    )


def test_game_starts_with_the_blocks_player_and_mobs_of_the_mission_xml() -> None:
    game = Game(read(mission(**EVERYTHING)), 12)
    world = game.sim.world
    drawn = {place: world.blocks[place] for place in ((250, 90, 250), (252, 91, 250), (242, 95, 241), (260, 101, 260))}
    assert list(drawn.values()) == [BLOCK[name] for name in ("stone", "glass", "sand", "log")]
    facts = game.sim.facts()
    assert (facts["life"], facts["food"], facts["world_time"], facts["is_raining"]) == (13.0, 7, 13_000, True)
    assert [round(facts[axis + "pos"], 1) for axis in "xyz"] == [250.5, 91.0, 250.5]
    assert (world.mobs["kind"] > 0).sum() == 1


@pytest.mark.parametrize(
    ("changes", "attribute", "value"),
    [
        ({"conditions": "<Weather>clear</Weather><Hail/>"}, "unknown", {"Hail"}),
        ({"world": "<DefaultWorldGenerator forceReset='false' seed='x y' generatorOptions='{}'/>"}, "seed", "x y"),
        ({"world": "<ServerQuitFromTimeUp timeLimitMs='1000'/>"}, "ticks", 20),
        ({"handlers": "<AgentQuitFromDeath/>"}, "ends_on_death", True),
        (
            {"handlers": "<AgentQuitFromPossessingItem><Item type='log' amount='3'/></AgentQuitFromPossessingItem>"},
            "goal_items",
            [("log", 3)],
        ),
        ({"world": "<VillageSpawnDecorator/><DrawingDecorator><DrawSign/></DrawingDecorator>"}, "unknown", None),
    ],
)
def test_single_element_of_mission_xml_is_parsed(changes: dict[str, str], attribute: str, value: Any) -> None:
    expected = {"VillageSpawnDecorator", "DrawSign"} if value is None else value
    assert getattr(read(mission(**changes)), attribute) == expected


def drawing(shapes: str) -> bytes:
    return mission(world=f"<DrawingDecorator>{shapes}</DrawingDecorator>")


BOMB = b"""<!DOCTYPE MissionInit [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>"""
FILE = b"""<!DOCTYPE MissionInit [<!ENTITY a SYSTEM "file:///etc/passwd">]>"""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (BOMB + mission(conditions="<Weather>&b;</Weather>"), "document type"),
        (FILE + mission(conditions="<Weather>&a;</Weather>"), "document type"),
        (mission(conditions="<Weather>&b;</Weather>"), "undefined entity"),
        (b"<MissionInit>" + b"<a>" * 1000, "within each other"),
        (mission(handlers="<a/>" * 30_000), "more than 20000 elements"),
        (b"<MissionInit", "not XML"),
        (b"", "not XML"),
        (b"\xff\xfe\x00", "not XML"),
        (b"<Mission/>", "begins with <MissionInit>"),
        (mission(agents=2), "2 players"),
        (mission(agents=0), "0 players"),
        (mission(video=""), "VideoProducer"),
        (mission(video="<VideoProducer want_depth='true'/>"), "depth"),
        (mission(video="<VideoProducer><Width>w</Width></VideoProducer>"), "<VideoProducer>"),
        (mission(world="<FileWorldGenerator src='/x'/>"), "not read from files"),
        (mission(world="<BiomeGenerator seed='' biome='200'/>"), "number 200"),
        (mission(world="<FlatWorldGenerator generatorString='3;minecraft:cheese'/>"), "cheese"),
        (mission(world="<FlatWorldGenerator generatorString='3;999*stone'/>"), "999 layers"),
        (mission(start=f"<StartingHealth health='{'9' * 400}'/>"), "not finite"),
        (mission(start=f"<StartingFood food='{'9' * 4000}'/>"), "too long"),
        (mission(handlers="<RayOffset pitch='nan' yaw='0' distance='5'/>"), "not finite"),
        (drawing("<DrawSphere x='9' y='9' z='9' radius='500' type='a'/>"), "radius 500"),
        (drawing("<DrawCuboid x1='0' y1='0' z1='0' x2='500' y2='99' z2='500' type='a'/>"), "at most 65536 blocks"),
        (drawing("<DrawLine x1='0' y1='0' z1='0' x2='900000000' y2='9' z2='5' type='a'/>"), "outside the world"),
        (drawing("<DrawBlock x='0' y='0' z='0' type='a /tp'/>"), "is not the name"),
        (drawing("<DrawBlock x='0.5' y='0' z='0' type='a'/>"), "not a whole number"),
    ],
    ids=range(26),
)
def test_read_refuses_malformed_mission_xml(said: bytes, words: str) -> None:
    with pytest.raises(MissionError, match=words):
        read(said)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"conditions": "<Weather>hail</Weather>"}, "weather"),
        ({"world": "<BiomeGenerator seed='' biome='8'/>"}, "Overworld"),
        ({"start": "<Inventory><InventoryObject slot='0' type='cheese'/></Inventory>"}, "cheese"),
        ({"start": "<Placement x='-5' y='70' z='2'/>"}, "outside the world"),
        ({"video": "<VideoProducer><Width>4000</Width><Height>9</Height></VideoProducer>"}, "image_size"),
        ({"world": "<DrawingDecorator><DrawBlock x='1' y='1' z='1' type='cheese'/></DrawingDecorator>"}, "cheese"),
    ],
)
def test_game_refuses_the_mission_xml_of_an_unplayable_mission(changes: dict[str, str], words: str) -> None:
    with pytest.raises(MissionError, match=words):
        Game(read(mission(**changes)), 0)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_as_mission_xml_raise_a_mission_error(said: bytes) -> None:
    with pytest.raises(MissionError):
        read(said)


@given(st.text(alphabet="<>/=\"' &;!MissionInitGrd0123456789.", max_size=80))
def test_arbitrary_text_in_mission_xml_is_parsed_or_refused(inside: str) -> None:
    with contextlib.suppress(MissionError):
        assert read(mission(handlers=inside)).agents == 1


def test_layers_of_a_flat_world_are_parsed_as_in_the_game() -> None:
    classic = (("bedrock", "dirt", "dirt", "grass"), 1)
    assert flat.layers("") == flat.layers("2;7,2x3,2;1;village") == classic
    assert flat.layers("3;minecraft:bedrock,2*minecraft:dirt,grass;1;") == classic
    assert flat.layers("3;stone,minecraft:log:2;2") == (("stone", "birch_log"), 2)
    blocks = ("bedrock", "stone", "birch_log", "grass")
    assert flat.layers(flat.written(blocks, 4)) == (blocks, 4)
    game = Game(read(mission(world="<FlatWorldGenerator generatorString=''/>")), 3)
    assert [int(b) for b in game.sim.world.blocks[100, :5, 300]] == [
        BLOCK[name] for name in ("bedrock", "dirt", "dirt", "grass", "air")
    ]
    assert game.sim.facts()["ypos"] == 4.0
    game.step("forward 1")
    assert game.sim.facts()["ypos"] == 4.0


def test_text_of_a_land_seed_gives_the_same_number_as_in_the_game() -> None:
    assert land_seed("-5") == -5
    assert land_seed("hello") == 99162322  # Java: "hello".hashCode()
    assert land_seed("polygenelubricants") == -(2**31)
    assert land_seed("9223372036854775808") != 2**63
